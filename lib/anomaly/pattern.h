/*
 * Patterns of access anomalies as data (PECAN, section 3): sequences of equal length that give, for each event, its
 * thread, its cell, its atomic region and its kind of access. Equal entries of a sequence mean the same thread (cell,
 * region), different ones different threads (cells, regions). An event whose region is named once may be outside of all
 * regions.
 */
#ifndef LIB_ANOMALY_PATTERN_H
#define LIB_ANOMALY_PATTERN_H

#include "lib/anomaly/anomaly.h"

/* Kinds of access: bits. An atomic update counts as a write: the value it read is part of the one it wrote. */
enum { PATTERN_READ = 1, PATTERN_WRITE = 2 };

struct pattern {
	const char *name;
	enum anomaly_kind kind;
	uint8_t count;
	bool asked; /* searched for only if named by --pattern */
	/* T, SV, AR and AT, event by event in the pattern's order: numbers from 0, in the order of first use; bits. */
	uint8_t threads[ANOMALY_EVENTS_MAX], cells[ANOMALY_EVENTS_MAX], regions[ANOMALY_EVENTS_MAX];
	uint8_t accesses[ANOMALY_EVENTS_MAX];
	uint16_t any; /* bit i: event i may be in any region, including one of another event */
};

/* The built-in patterns of atomicity violations and ASVs; ends with a NULL name. race.c has those of races. */
extern const struct pattern patterns[];

/* Check, then act, in two critical sections of one lock. Of a look-up the act is on the object that was found. */
extern const struct pattern pattern_check_act, pattern_lookup_act;

/* True if the event is an access of the kind that the pattern has at this place. */
static inline bool pattern_fits(const struct pattern *p, uint32_t place, unsigned op)
{
	return p->accesses[place] & (rt_op_writes(op) ? PATTERN_WRITE : PATTERN_READ);
}
/* The first built-in pattern of this kind with exactly these accesses on these cells and threads; NULL if there is
 * none. */
const struct pattern *pattern_find(const struct pattern *like);

#endif
