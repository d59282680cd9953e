/* PECAN's schedules; see pecan.h. */
#include "lib/witness/pecan.h"

#include <string.h>

struct pecan {
	const struct model *m;
	const struct segment_order *por;
	const struct goal *goal;
	struct schedule *out;
	uint32_t last; /* the goal's last event in the trace */
	uint32_t cuts[ANOMALY_EVENTS_MAX],
	    cursors[ANOMALY_EVENTS_MAX]; /* where threads are held up; where they are now */
	uint32_t cut_count, line;        /* line: where the rest of the trace is now */
	bool ok;
};

/* Where the outermost critical section that an event is in begins; the event itself without one. */
static uint32_t outermost_lock(const struct model *m, uint32_t e)
{
	const struct model_thread *t = &m->threads[model_thread_of(m, e)];
	uint32_t pos = m->events[e].pos;
	while (pos && m->locksets[model_lockset_of(m, t->events[pos - 1])].count)
		pos--;
	return t->events[pos];
}

/* The thread of the goal that holds up this event: the first whose cut comes before it. cut_count: none. */
static uint32_t cut_of(const struct pecan *p, uint32_t e)
{
	uint32_t i = 0;
	while (i < p->cut_count && (e < p->cuts[i] || !segment_order_before(p->por, p->cuts[i], e)))
		i++;
	return i;
}

/* The held-up thread that a goal event belongs to. cut_count: it is in the line. */
static uint32_t cut_of_goal(const struct pecan *p, uint32_t e)
{
	uint32_t i = 0;
	while (i < p->cut_count && model_thread_of(p->m, p->cuts[i]) != model_thread_of(p->m, e))
		i++;
	return i;
}

static void make_cuts(struct pecan *p)
{
	const struct goal *g = p->goal;
	p->last = g->events[0];
	for (uint32_t i = 1; i < g->count; i++)
		p->last = g->events[i] > p->last ? g->events[i] : p->last;
	for (uint32_t i = 0; i < g->count; i++) {
		uint32_t e = g->events[i];
		if (model_thread_of(p->m, e) == model_thread_of(p->m, p->last))
			continue;
		uint32_t known = cut_of_goal(p, e), cut = outermost_lock(p->m, e);
		if (known == p->cut_count)
			p->cuts[p->cut_count++] = cut;
		else if (cut < p->cuts[known])
			p->cuts[known] = cut;
	}
	memcpy(p->cursors, p->cuts, sizeof p->cursors);
}

/* Appends the part of the line, or of what one cut holds up, before `end`. */
static void advance(struct pecan *p, uint32_t *at, uint32_t part, uint32_t end)
{
	for (; *at < end && p->ok; ++*at)
		if (cut_of(p, *at) == part)
			p->ok = schedule_push(p->out, p->m, *at);
}

/* How far the line may go before goal event i: to the next goal event in it. */
static uint32_t line_end(const struct pecan *p, uint32_t i)
{
	for (; i < p->goal->count; i++)
		if (cut_of_goal(p, p->goal->events[i]) == p->cut_count)
			return p->goal->events[i];
	return p->last;
}

bool pecan_schedule(const struct segment_order *por, const struct goal *goal, struct schedule *out)
{
	struct pecan p = {.m = por->m, .por = por, .goal = goal, .out = out, .ok = true};
	make_cuts(&p);
	for (uint32_t i = 0; i < goal->count && p.ok; i++) {
		uint32_t e = goal->events[i], part = cut_of_goal(&p, e);
		/* A sequence's events are in the schedule, those of other goals come after it. */
		uint32_t end = e + (goal->kind == GOAL_SEQUENCE);
		advance(&p, &p.line, p.cut_count, line_end(&p, i));
		advance(&p, part < p.cut_count ? &p.cursors[part] : &p.line, part, end);
	}
	return p.ok;
}
