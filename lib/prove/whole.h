/*
 * Schedules of whole events. The model has some of the trace's events as several: a call on a lock reads the lock's
 * memory and then takes it. A search may stop a thread between two such parts, but a listed schedule (steps.h in
 * lib/report, lib/schedule) says only how many events of the trace a thread has run.
 */
#ifndef LIB_PROVE_WHOLE_H
#define LIB_PROVE_WHOLE_H

#include "lib/anomaly/goal.h"

/* True if each of the trace's events is one of the model's: then all schedules are of whole events. */
bool whole_always(const struct model *m);
/* True if the schedule says nothing that a listed one could not: threads stop behind whole events and at the goal. */
bool whole_is(const struct model *m, const struct schedule *s, const struct goal *goal);

/*
 * Appends the schedule to *out with each event's parts together: where the last of them that waits for another thread
 * is, or, early, where the first is. It may be no witness. False without memory.
 */
bool whole_make(const struct model *m, const struct schedule *s, const struct goal *goal, bool early,
                struct schedule *out);

#endif
