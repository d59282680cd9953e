/* Separates uninstrumented modules of the program from those that are never instrumented; see modules.h. */
#include "lib/report/modules.h"

#include "lib/trace/modules.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A module may have been loaded several times. */
static size_t drop_repeats(const char **paths, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (!kept || strcmp(paths[kept - 1], paths[i]) != 0)
			paths[kept++] = paths[i];
	return kept;
}

bool plain_modules_find(const struct rt_trace *trace, struct plain_modules *out)
{
	size_t n, plain = 0;
	const struct rt_module *m = rt_trace_modules(trace, &n);
	*out = (struct plain_modules){.paths = malloc((n + 1) * sizeof *out->paths)};
	if (!out->paths)
		return false;
	for (size_t i = 0; i < n; i++)
		if (m[i].plain)
			out->paths[plain++] = m[i].path;
	qsort(out->paths, plain, sizeof *out->paths, by_name);
	plain = drop_repeats(out->paths, plain);
	for (size_t i = 0; i < plain; i++)
		if (module_is_system(out->paths[i]))
			out->system++;
		else
			out->paths[out->count++] = out->paths[i];
	return true;
}

void plain_modules_release(struct plain_modules *m)
{
	free(m->paths);
	*m = (struct plain_modules){0};
}
