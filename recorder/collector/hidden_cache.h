/*
 * Atomic instructions without a hook, found once for the same modules: each process of a recording that executes the
 * same program, or was forked from one that did, has the same. Not thread-safe.
 */
#ifndef RECORDER_COLLECTOR_HIDDEN_CACHE_H
#define RECORDER_COLLECTOR_HIDDEN_CACHE_H

#include "recorder/collector/hidden.h"

struct hidden_cache {
	struct hidden_entry *entries;
	size_t count, size;
};

/* As hidden_atomics_find. The items' names live as long as the debug information and the cache do. */
enum rt_status hidden_cache_find(struct hidden_cache *c, struct hidden_atomics *a, struct debug *d,
                                 struct rt_error *err);
void hidden_cache_release(struct hidden_cache *c);

#endif
