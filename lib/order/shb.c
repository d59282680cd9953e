/*
 * shb: schedulable happens-before (Mathur, Kini, Viswanathan, OOPSLA 2018). It is happens-before and an edge from each
 * write to the reads that saw it. e1 and e2 are unordered when hb leaves them unordered and e1 is not SHB-before the
 * event that precedes e2 in its thread. Every such pair is a race that a reordering of the trace shows.
 *
 * A read's own edge from its writer counts from the next event on. Most reads' clocks have their writer already: one
 * compare of epochs (FastTrack, PLDI 2009).
 */
#include "lib/order/builtin.h"
#include "lib/relation/por.h"
#include "lib/relation/timeline.h"

#include <stdlib.h>

struct order_result {
	const struct model *m;
	struct clocks clocks;
	struct timeline timeline;       /* clock at pos: of the events before the one at pos, its own edges left out */
	const struct segment_order *hb; /* borrowed; only if accesses can have edges of their own: acquiring atomics */
};

void shb_free(struct order_result *r)
{
	if (!r)
		return;
	clocks_release(&r->clocks);
	timeline_release(&r->timeline);
	free(r);
}

/* Processes one event. An atomic's edge from its last writer comes first: what the atomic releases comes after that,
 * too. */
static void step(struct order_result *r, struct stamp *writers, struct por *p, uint32_t e, bool sync)
{
	const struct model_event *event = &r->m->events[e];
	const struct model_site *site = &r->m->sites[event->site];
	uint32_t thread = model_thread_of(r->m, e);
	bool access = rt_op_is_access(site->op);
	if (access && rt_op_reads(site->op)) /* the edges from the last writes */
		por_set_now(
		    p, thread,
		    clock_receive_all(&r->clocks, por_now(p, thread), &writers[event->object], site->cells, thread));
	if (sync)
		por_step(p, e);
	if (!access || !rt_op_writes(site->op))
		return;
	for (uint32_t c = event->object; c < event->object + site->cells; c++)
		writers[c] = (struct stamp){por_now(p, thread), thread, event->pos + 1};
}

static bool walk(struct order_result *r, struct stamp *writers, struct por *p)
{
	const struct model *m = r->m;
	for (uint32_t e = 0, sync = 0; e < m->event_count; e++) {
		uint32_t thread = model_thread_of(m, e), pos = m->events[e].pos;
		uint32_t before = por_now(p, thread);
		bool is_sync = sync < m->sync_count && m->sync[sync] == e;
		if (pos == 0)
			timeline_add(&r->timeline, thread, 0, before);
		step(r, writers, p, e, is_sync);
		sync += is_sync;
		/* The edges into a synchronisation event count from the next event on. Only accesses are asked about,
		 * so this makes no difference. */
		if (por_now(p, thread) != before)
			timeline_add(&r->timeline, thread, pos + 1, por_now(p, thread));
	}
	return por_ok(p) && !r->timeline.failed;
}

/* Accesses with edges of their own: atomics. */
static bool has_atomics(const struct model *m)
{
	for (unsigned op = 0; op < RT_OP_COUNT; op++)
		if (m->ops >> op & 1 && rt_op_is_atomic(op))
			return true;
	return false;
}

enum rt_status shb_compute(struct facts *f, struct order_result **out, struct rt_error *err)
{
	const struct model *m = f->m;
	struct order_result *r = calloc(1, sizeof *r);
	struct stamp *writers = calloc((size_t)m->cell_count + 1, sizeof *writers);
	struct por *p = NULL;
	bool ok =
	    r && writers && clocks_init(&r->clocks, m->thread_count) && timeline_init(&r->timeline, m->thread_count);
	if (ok) {
		r->m = m;
		p = por_create(m, &r->clocks, true);
		ok = p && walk(r, writers, p);
	}
	por_free(p);
	free(writers);
	if (ok && has_atomics(m))
		ok = (r->hb = facts_hb(f)) != NULL;
	*out = r;
	if (ok)
		return RT_OK;
	shb_free(r);
	*out = NULL;
	return rt_error_set(err, RT_EMEMORY, "no memory to order the trace's events");
}

uint32_t shb_horizon(const struct order_result *r, uint32_t e2, uint32_t thread)
{
	uint32_t own = model_thread_of(r->m, e2), pos = r->m->events[e2].pos;
	if (own == thread)
		return pos + 1;
	uint32_t ordered = clock_get(&r->clocks, timeline_at(&r->timeline, own, pos), thread);
	if (r->hb && rt_op_is_atomic(model_op(r->m, e2))) {
		uint32_t hb = segment_order_horizon(r->hb, e2, thread);
		if (hb > ordered)
			ordered = hb;
	}
	return ordered;
}

bool shb_unordered(const struct order_result *r, uint32_t e1, uint32_t e2)
{
	return r->m->events[e1].pos >= shb_horizon(r, e2, model_thread_of(r->m, e1));
}
