/*
 * PECAN's schedules (Algorithms 3 and 4 of the paper, section 6), generalised to any number of events. Linear in the
 * trace, and no proof: they keep the partial order relation and, by the rule of the outermost lock, the order of nested
 * critical sections, but not reads-from. The judge decides on them as on any other schedule.
 *
 * Events that all come last, as a race's: the last of them in the trace stays in place, with its thread. Every other
 * thread is suspended where it takes the outermost lock that protects its event.
 *
 * A sequence: a thread that must act after an event that comes later in the trace is suspended where it takes the
 * outermost lock that protects its event. If an event of its own comes before in the same section, it is suspended at
 * the last point in between where it excludes none of the others (v_x).
 *
 * Events that the partial order relation puts after a suspension wait as well; the rest of the trace runs in its order
 * up to the goal's next event. A thread that holds a lock which a thread of the goal needs runs until it releases it. A
 * thread that requests a lock held by a suspended one is left behind. Events after the goal are left out.
 */
#ifndef LIB_PROVE_PECAN_H
#define LIB_PROVE_PECAN_H

#include "lib/prove/search.h"
#include "lib/relation/por.h"

/*
 * Appends the schedule to *out (from zeroed). *built: about the number of its events behind those that it begins with
 * as the trace does, which cost nothing; SEARCH_GAVE_UP if these are more than the budget.
 */
enum search_answer pecan_schedule(const struct segment_order *por, const struct goal *goal, uint64_t budget,
                                  struct schedule *out, uint64_t *built);

#endif
