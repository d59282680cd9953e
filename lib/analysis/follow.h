/*
 * The causes of races. By the language each pair of conflicting accesses that happens-before leaves unordered
 * is a data race. If SHB orders the pair, it does so by what some read saw: a read that races itself, or one of a
 * relaxed atomic. The pair is then a consequence of that cause, and is listed under it. So is a predicted race that
 * beside such reads only the order in which locks were taken orders.
 */
#ifndef LIB_ANALYSIS_FOLLOW_H
#define LIB_ANALYSIS_FOLLOW_H

#include "lib/anomaly/anomaly.h"
#include "lib/relation/facts.h"

/* A race, or a relaxed atomic. */
struct cause {
	uint32_t anomaly; /* index into the list of a race that follows no other; MODEL_NONE: a relaxed atomic */
	uint32_t write,
	    read; /* event indices of an instance: the read may have seen the write; of a relaxed atomic, it saw it */
};

struct causes {
	struct cause *items;
	uint32_t count, capacity;
	uint32_t *named; /* what anomaly.causes point into */
	bool cut;        /* the bound was reached: some races may follow others without saying so */
};

/*
 * work: comparisons of clocks that it may take. Sets `causes` of the races in the list, and `follows`. exact: the
 * trace's order is. The list must not be sorted or changed afterwards. causes must outlive it.
 */
enum rt_status follow_find(struct facts *facts, bool exact, uint64_t work, struct anomaly_list *list,
                           struct causes *causes, struct rt_error *err);
void causes_release(struct causes *c);

#endif
