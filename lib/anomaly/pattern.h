/*
 * Patterns of access anomalies as data (PECAN, section 3): sequences of equal length that say of each event its thread,
 * the cell that it accesses, the atomic region that it is in and what it does. Equal entries of a sequence mean the
 * same thread (cell, region), different ones different threads (cells, regions); an event whose region is named once
 * may be outside of all regions.
 */
#ifndef LIB_ANOMALY_PATTERN_H
#define LIB_ANOMALY_PATTERN_H

#include "lib/anomaly/anomaly.h"

/* What an event does: bits. An atomic update counts as a write: what it read is part of what it wrote. */
enum { PATTERN_READ = 1, PATTERN_WRITE = 2 };

struct pattern {
	const char *name;
	enum anomaly_kind kind;
	uint8_t count;
	bool asked; /* searched for only when it is asked for by name */
	/* T, SV, AR and AT, event by event in the pattern's order: numbers from 0, in the order of first use; bits. */
	uint8_t threads[ANOMALY_EVENTS_MAX], cells[ANOMALY_EVENTS_MAX], regions[ANOMALY_EVENTS_MAX];
	uint8_t accesses[ANOMALY_EVENTS_MAX];
	uint16_t any; /* bit i: the region of event i may be any, also one that another event is in */
};

/* The built-in patterns of atomicity violations and of ASVs; ends with a NULL name. Races are race.c's. */
extern const struct pattern patterns[];

/* Is the event's access one that the pattern has at this place? */
static inline bool pattern_fits(const struct pattern *p, uint32_t place, unsigned op)
{
	return p->accesses[place] & (rt_op_writes(op) ? PATTERN_WRITE : PATTERN_READ);
}
/* The first built-in pattern of this kind with exactly these accesses on these cells and threads; NULL: none. */
const struct pattern *pattern_find(const struct pattern *like);

#endif
