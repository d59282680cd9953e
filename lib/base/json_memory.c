/* Allocations of jansson; see json_memory.h. */
#include "lib/base/json_memory.h"

#include <jansson.h>
#include <stdlib.h>

static _Thread_local bool failed;

/* Both allocate by malloc, so memory allocated before the switch may be freed after it. */
static void *watched_malloc(size_t size)
{
	void *memory = malloc(size);
	failed |= !memory;
	return memory;
}

void rt_json_memory_watch(void)
{
	failed = false;
	json_set_alloc_funcs(watched_malloc, free);
}

bool rt_json_memory_failed(void)
{
	return failed;
}
