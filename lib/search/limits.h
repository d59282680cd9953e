/* The bounds of the searches, and which of them were reached. */
#ifndef LIB_SEARCH_LIMITS_H
#define LIB_SEARCH_LIMITS_H

#include <stdbool.h>

/* Bounds that a search reached. */
struct search_limits {
	bool regions;      /* a region had more accesses, by cell and source position, than are combined for ASVs */
	bool combinations; /* nothing was found in the combinations tried, and there were more */
	bool races;        /* accesses of one cell race at more pairs of source positions than are listed */
	bool anomalies;    /* there are more anomalies of one kind than are kept */
	bool pairs;        /* a cell had more groups of accesses than are compared with one another */
};
/* The bounds: accesses of a region; combinations tried, at least; pairs of positions of a cell; pairs of groups of
 * accesses, of all cells with many; anomalies of a kind, by source positions; those of a kind that are listed
 * one by one. */
enum {
	SEARCH_REGION = 64,
	SEARCH_COMBINATIONS = 8192,
	SEARCH_RACES = 1000,
	SEARCH_PAIRS = 1 << 26,
	SEARCH_ANOMALIES = 25000,
	SEARCH_EVERY = 500000
};

#endif
