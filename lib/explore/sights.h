/*
 * What reads see: a position that reads, and one whose write it sees. A run in which a read sees another write than in
 * all runs before may take another branch. So may one in which its thread has seen other writes before: of two
 * variables a new value and an old one.
 */
#ifndef LIB_EXPLORE_SIGHTS_H
#define LIB_EXPLORE_SIGHTS_H

#include "lib/explore/delay.h"

struct sight {
	uint64_t read, write; /* pcs; write 0: none, what was there before */
	uint64_t state;       /* the same of two: a thread reads it after the same sights */
	bool seen;            /* the trace has it */
	bool same;            /* the value is the one that the read saw */
	struct delay delay;   /* how another run comes to it, if it can */
};
struct sights {
	struct sight *items; /* distinct: those of the trace first */
	size_t count, room;
};

/* On RT_OK the caller releases them. */
enum rt_status sights_of(const struct delays *d, struct sights *out, struct rt_error *err);
void sights_release(struct sights *s);

#endif
