/* The bounds of the searches, and which of them a search has reached. */
#ifndef LIB_SEARCH_LIMITS_H
#define LIB_SEARCH_LIMITS_H

#include <stdbool.h>

/* What the searches left out since there was too much of it. */
struct search_limits {
	bool regions;      /* a region had more accesses, by cell and source position, than are combined for ASVs */
	bool combinations; /* nothing was found among as many combinations as are tried, and there were more */
	bool races;        /* accesses of one cell race at more pairs of source positions than are listed */
	bool anomalies;    /* there are more anomalies of one kind than are kept */
	bool pairs;        /* a cell had more groups of accesses than are compared with one another */
};
/* The bounds of these: of the accesses of a region; of what is tried, at least; of pairs of positions of a cell; of
 * pairs of groups of accesses, of all cells with many; of anomalies of a kind, by source positions. */
enum {
	SEARCH_REGION = 64,
	SEARCH_COMBINATIONS = 8192,
	SEARCH_RACES = 1000,
	SEARCH_PAIRS = 1 << 26,
	SEARCH_ANOMALIES = 25000
};

#endif
