/*
 * Cells for the STD exporter: memory cut at every boundary of every access, so that each access covers whole cells. A
 * cell whose memory is renewed (allocated, mapped, a new stack) becomes another cell: its generation rises.
 */
#ifndef TRACEFMT_STD_CELLS_H
#define TRACEFMT_STD_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A zeroed struct is the empty set. First cells_cut for every access, then cells_finish, then the others. */
struct cells {
	uint64_t *cuts; /* cell i is [cuts[i], cuts[i + 1]) */
	size_t count, room;
	uint32_t *steps; /* Fenwick tree over the differences of generations */
};

/* False: no memory. */
bool cells_cut(struct cells *cells, uint64_t address, uint64_t size);
bool cells_finish(struct cells *cells);

/* The first cell that begins at address or later; the next ones follow. cells->count if there is none. */
size_t cells_at(const struct cells *cells, uint64_t address);
/* [address, address + size) is new memory. */
void cells_renew(struct cells *cells, uint64_t address, uint64_t size);
uint32_t cells_generation(const struct cells *cells, size_t cell);
void cells_release(struct cells *cells);

#endif
