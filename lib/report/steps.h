/*
 * A schedule as a report writes it (racetrace.schedule/1): runs of one thread's consecutive events, by ordinals, so
 * that they include events that the model dropped. Those of a window come after the recorded events up to
 * model.recorded.
 */
#ifndef LIB_REPORT_STEPS_H
#define LIB_REPORT_STEPS_H

#include "lib/analysis/analysis.h"
#include "lib/report/describe.h"

struct step {
	uint32_t thread;
	uint64_t from, to; /* ordinals, both included */
};

struct steps {
	struct step *items;
	size_t count;
};

/* The last event of step i of the schedule. steps_init needs the ordinals of these. */
uint32_t steps_end(const struct model *m, const struct schedule *s, uint32_t i);
/*
 * The steps of an anomaly's schedule. If the schedule does not run an event of the anomaly itself (a race's, a
 * deadlock's), the event's thread runs until the event is next. False without memory.
 */
bool steps_init(struct steps *steps, const struct model *m, const struct descriptions *d,
                const struct anomaly *anomaly);
void steps_release(struct steps *steps);

#endif
