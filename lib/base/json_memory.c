/* Allocations of jansson; see json_memory.h. */
#include "lib/base/json_memory.h"

#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>

static _Thread_local bool failed;

/* Both allocate by malloc, so memory allocated before the switch may be freed after it. */
static void *watched_malloc(size_t size)
{
	void *memory = malloc(size);
	failed |= !memory;
	return memory;
}

static void watch(void)
{
	json_set_alloc_funcs(watched_malloc, free);
}

void rt_json_memory_watch(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	failed = false;
	pthread_once(&once, watch);
}

bool rt_json_memory_failed(void)
{
	return failed;
}
