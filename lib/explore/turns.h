/*
 * In which order threads took turns at one object: pairs of positions, of two threads, one directly after the other at
 * a lock or an atomic variable. A run in which a pair comes the other way round may take another branch, though nothing
 * in it races.
 */
#ifndef LIB_EXPLORE_TURNS_H
#define LIB_EXPLORE_TURNS_H

#include "tracefmt/trace.h"

struct turn {
	uint64_t first, second; /* pcs */
};

/* The distinct pairs of a trace, by their first occurrence; one more pass over it. On RT_OK the caller frees *turns. */
enum rt_status turns_of(struct rt_trace *trace, struct turn **turns, size_t *count, struct rt_error *err);

#endif
