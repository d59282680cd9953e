/*
 * PECAN's schedules (Algorithms 3 and 4 of the paper, section 6), generalised to any number of events. Linear in the
 * trace, and no proof: they keep the partial order relation and, by the rule of the outermost lock, the order of nested
 * critical sections, but not what reads see. So they go to the judge like any other.
 *
 * Events that all come last, a race's: the last of them in the trace stays where it is, with its thread; every other
 * thread is held up from where it takes the outermost lock that protects its event.
 *
 * A sequence: whoever is to act after an event that comes later in the trace is held up, from where it takes the
 * outermost lock that protects its event; or, if an event of its own comes before in the same section, from the last
 * point in between where it keeps none of the others out (v_x).
 *
 * With a thread stays behind whatever the partial order relation puts after where it is held up; the rest of the trace
 * goes on in its order as far as the goal's next event. Whoever then holds a lock that a thread of the goal needs on
 * its way is run on to where it lets it go; and who asks for a lock that one of those held up has is left behind. What
 * comes after the goal is left out.
 */
#ifndef LIB_PROVE_PECAN_H
#define LIB_PROVE_PECAN_H

#include "lib/anomaly/goal.h"
#include "lib/relation/por.h"

/* Appends the schedule to *out (from zeroed). False without memory. */
bool pecan_schedule(const struct segment_order *por, const struct goal *goal, struct schedule *out);

#endif
