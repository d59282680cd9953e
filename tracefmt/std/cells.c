/* Cells for the STD exporter; see cells.h. */
#include "tracefmt/std/cells.h"

#include "lib/base/lower_bound.h"
#include "lib/base/sort.h"
#include "lib/base/vec.h"

#include <stdlib.h>

/* Sorts and removes duplicates, so that a loop over a few cells stays small. */
static void tidy(struct cells *cells)
{
	size_t kept = 0;
	if (cells->count)
		qsort(cells->cuts, cells->count, sizeof *cells->cuts, compare_u64);
	for (size_t i = 0; i < cells->count; i++)
		if (!kept || cells->cuts[kept - 1] != cells->cuts[i])
			cells->cuts[kept++] = cells->cuts[i];
	cells->count = kept;
}

bool cells_cut(struct cells *cells, uint64_t address, uint64_t size)
{
	if (cells->count + 2 > cells->room) {
		tidy(cells);
		if (!vec_reserve(&cells->cuts, &cells->room, cells->count * 2 + 2, sizeof *cells->cuts))
			return false;
	}
	cells->cuts[cells->count++] = address;
	cells->cuts[cells->count++] = address + size;
	return true;
}

bool cells_finish(struct cells *cells)
{
	tidy(cells);
	cells->steps = calloc(cells->count + 1, sizeof *cells->steps);
	return cells->steps != NULL;
}

size_t cells_at(const struct cells *cells, uint64_t address)
{
	return lower_bound(middle, 0, cells->count, cells->cuts[middle] < address);
}

static void add(struct cells *cells, size_t cell, uint32_t by)
{
	for (size_t i = cell + 1; i <= cells->count; i += i & -i)
		cells->steps[i] += by;
}

void cells_renew(struct cells *cells, uint64_t address, uint64_t size)
{
	add(cells, cells_at(cells, address), 1);
	add(cells, cells_at(cells, address + size), UINT32_MAX);
}

uint32_t cells_generation(const struct cells *cells, size_t cell)
{
	uint32_t sum = 0;
	for (size_t i = cell + 1; i; i -= i & -i)
		sum += cells->steps[i];
	return sum;
}

void cells_release(struct cells *cells)
{
	free(cells->cuts);
	free(cells->steps);
	*cells = (struct cells){0};
}
