/*
 * Units: pairs of accesses to two cells in one atomic region, the subject of atomic-set serializability (Vaziri, Tip
 * and Dolby, POPL 2006). Only units that another thread's region can interfere with: a cell is contested in a region if
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
 * A unit; or, if a class has many, the units of one POR epoch: those between two synchronisation events of their thread
 * other than locks. POR does not distinguish them, so the first and the last represent all.
 */
struct unit {
	uint32_t class;             /* its place before sorting */
	uint32_t first[2], last[2]; /* their two events, in program order */
	uint32_t epochs[2];
	uint32_t count;
};

struct units {
	/* Sorted by their numbers, as by memcmp. next: 1 if the units follow one another, 0 if some are nested
	 * (recursion). */
	struct classes classes;
	struct unit *items; /* class by class, in the order of their first events */
	uint32_t count;
	struct gaps gaps;
	bool cut;  /* a region had more accesses than LIMIT_REGION_ACCESSES_MAX, and not all pairs of them are units */
	bool full; /* there was no memory for more of them */
	bool some; /* not all regions have units, or not all of each */
};

/* What they may take; units beyond are left out. */
struct units_bounds {
	uint64_t memory; /* bytes; 0: there is no bound */
	uint64_t steps;  /* combinations of accesses, unless each is a unit */
};

/*
 * Finds them. each: every pair of accesses of a region is a unit. Otherwise every pair of a region with few accesses;
 * in a larger one only the nearest of those that agree in cells and sites, and with very many cells not all of these.
 * Where all regions would take too many steps or too much memory, some have units (region_sample.h). False without
 * memory. The caller releases it in any case.
 */
bool units_find(struct units *u, const struct model *m, bool each, struct units_bounds bounds);
void units_release(struct units *u);

#endif
