/* Where a thread is to wait so that others come before an event of an anomaly; see explore.h. */
#include "cmd/explore/explore.h"

#include "lib/trace/model.h"

uint64_t explore_gate(const struct report *r, const struct anomaly *a, uint32_t i)
{
	const struct model *m = r->analysis->model;
	const struct description *d = report_event(r, a->events[i]);
	uint64_t first = 0, before = 0;
	for (uint32_t k = 0; k < i; k++)
		if (model_thread_of(m, a->events[k]) == model_thread_of(m, a->events[i]))
			before = m->events[a->events[k]].number;
	for (size_t k = 0; d && k < d->lock_count; k++)
		if (d->locks[k].acquired > before && (!first || d->locks[k].acquired < first))
			first = d->locks[k].acquired;
	const struct description *acquire = first ? description_of(r->descriptions, first) : NULL;
	return i && acquire ? acquire->event.pc : 0;
}
