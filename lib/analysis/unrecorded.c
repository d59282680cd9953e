/*
 * Anomalies in a trace that lacks threads, or events; see unrecorded.h.
 *
 * An observed race stays observed if nothing that is missing can have come between its accesses (losses_may_order). A
 * schedule of another run proves nothing beyond the first loss: the missing events may forbid it. Threads that wait for
 * one another do so in any case; but where a trace that begins late lacks part of the state at its start, a lock may
 * have been released.
 */
#include "lib/analysis/unrecorded.h"

#include "lib/trace/losses.h"

static bool is_late(const struct model *m, uint32_t e)
{
	return losses_before(&m->losses, m->events[e].number);
}

static bool may_order(const struct model *m, uint32_t a, uint32_t b)
{
	uint32_t e1 = a < b ? a : b, e2 = a < b ? b : a;
	return losses_may_order(&m->losses, model_thread_of(m, e1), m->events[e1].number, model_thread_of(m, e2),
	                        m->events[e2].number);
}

/* The steps of a left-out schedule are unknown. */
static bool schedule_is_late(const struct model *m, const struct anomaly *a)
{
	const struct schedule *s = a->schedule;
	for (uint32_t i = 0; s && i < s->count; i++)
		if (is_late(m, m->threads[s->steps[i].thread].events[s->steps[i].to]))
			return true;
	return !s;
}

static bool is_doubtful(const struct model *m, const struct anomaly *a)
{
	bool late = false;
	for (uint32_t i = 0; i < a->event_count; i++)
		late |= is_late(m, a->events[i]);
	if (a->verdict != VERDICT_OBSERVED)
		return late || schedule_is_late(m, a);
	if (!m->losses.calls && !m->losses.threads &&
	    !m->losses.orders) /* nothing is missing after the trace's start */
		return false;
	if (a->kind == ANOMALY_DEADLOCK)
		return m->losses.start && m->losses.calls;
	return late && (a->kind != ANOMALY_RACE || may_order(m, a->events[0], a->events[1]));
}

void unrecorded_cap(const struct model *m, struct anomaly *a)
{
	if (!m->losses.count || a->verdict <= VERDICT_PREDICTED || !is_doubtful(m, a))
		return;
	if (m->losses.calls)
		anomaly_cap(a, REASON_UNKNOWN_CALL, NULL);
	if (m->losses.orders)
		anomaly_cap(a, REASON_UNKNOWN_ORDER, NULL);
	if (m->losses.threads)
		anomaly_cap(a, REASON_UNRECORDED_THREAD, NULL);
	if (m->losses.start)
		anomaly_cap(a, REASON_START, NULL);
}
