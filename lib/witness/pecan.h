/*
 * PECAN's schedules (Algorithms 3 and 4 of the paper, section 6), generalised to any number of events. Linear in the
 * trace, and no proof: they keep the partial order relation and, by the rule of the outermost lock, the order of nested
 * critical sections, but not what reads see; locks of other threads may clash too. So they go to the judge like any
 * other.
 *
 * The goal's last event in the trace stays where it is, with its thread. Every other thread of the goal is held up from
 * where it takes the outermost lock that protects its first event of the goal (without a lock: from that event), with
 * whatever the partial order relation puts behind that; it goes on, in the order of the goal, once the rest of the
 * trace has come as far as that order lets it. What comes after the goal is left out.
 */
#ifndef LIB_WITNESS_PECAN_H
#define LIB_WITNESS_PECAN_H

#include "lib/order/por.h"
#include "lib/witness/goal.h"

/* Appends the schedule to *out (from zeroed). False without memory. */
bool pecan_schedule(const struct segment_order *por, const struct goal *goal, struct schedule *out);

#endif
