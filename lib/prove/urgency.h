/*
 * The order in which anomalies are decided, so that a budget that does not do for all is spent on the most urgent.
 * Races come first, then what threads wait for, user patterns, atomicity violations and ASVs. Of these one of each
 * finding is decided, then another of each, and so on. Those come first that are over first in the trace, which cost
 * least. A finding is here what shares the kind and the set of source positions: of an ASV the patterns' variants are
 * details.
 */
#ifndef LIB_PROVE_URGENCY_H
#define LIB_PROVE_URGENCY_H

#include "lib/anomaly/goal.h"

/*
 * Sets each anomaly's `turn`: number of its finding's anomalies that are decided before it. Returns the indices of
 * list->count anomalies in the order in which they are to be decided, owned by the caller; NULL without memory.
 */
uint32_t *urgency_order(const struct model *m, struct anomaly_list *list);

#endif
