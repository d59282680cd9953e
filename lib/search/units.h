/*
 * Units: pairs of accesses to two cells in one atomic region, what atomic-set serializability (Vaziri, Tip and Dolby,
 * POPL 2006) is about. Only what another thread's region could interfere with: a cell is contested in a region when
 * another thread's region has a conflicting access of it and no lock is held all through both.
 */
#ifndef LIB_SEARCH_UNITS_H
#define LIB_SEARCH_UNITS_H

#include "lib/search/classes.h"
#include "lib/search/gap.h"

/* Numbers of a class of units: cells, sites, thread, locks held in between and at either, whether another access like
 * one of the two is between them. */
enum { UNIT_CELL1, UNIT_CELL2, UNIT_SITE1, UNIT_SITE2, UNIT_THREAD, UNIT_GAP, UNIT_LOCKS1, UNIT_LOCKS2, UNIT_FAR };
enum { UNIT_GROUP = 4 }; /* numbers that agree in a group */

/*
 * A unit; or where a class has many, units of one POR epoch, that is: between two synchronisation events of their
 * thread other than locks. POR sees no difference between them, so the first and the last stand for all.
 */
struct unit {
	uint32_t class;             /* its place before the classes were sorted */
	uint32_t first[2], last[2]; /* their two events, in program order */
	uint32_t epochs[2];
	uint32_t count;
};

struct units {
	/* Sorted by their numbers, as memcmp does. next: 1 if the units follow one another, 0 if some are nested
	 * (recursion). */
	struct classes classes;
	struct unit *items; /* class by class, in the order of their first events */
	uint32_t count;
	struct gaps gaps;
	bool cut; /* a region had more accesses than SEARCH_REGION, and not all pairs of them are units */
};

/*
 * Finds them. each: every pair of accesses of a region, one a unit. Otherwise that of a region with few accesses; in a
 * larger one of those that agree in cells and sites the nearest to one another, and with very many cells not all of
 * these. False without memory. To be released in any case.
 */
bool units_find(struct units *u, const struct model *m, bool each);
void units_release(struct units *u);

#endif
