/*
 * A passage (passages.h) may release what came before its end, and acquire before all that comes after its beginning.
 *
 * e1 may be ordered before e2 if a passage P1 may come before a passage P2 of another thread. P1 ends after e1, in e1's
 * thread or in one that e1 happens before. P2 begins before e2, or before an event that happens before e2. P1 certainly
 * does not come before P2 only if P2 happens before P1. A function that may take a lock releases it by a plain store at
 * any later time: P1 then has no end.
 *
 * In the recorded run it also did not if a stamp tells. A stamp is taken by a locked instruction, so all that its
 * thread did before has taken effect before it, all else after it, and stamps are numbered in the order of these
 * instructions. If one of P2's thread after P2 has a lower number than one of P1's thread before P1, P2 had acquired
 * before P1 released. Orders by several passages need no more: the first release of such a chain is a P1, its last
 * acquire a P2, and each step of it goes forward in time. So if no P1 came before a P2, what the trace leaves unordered
 * was so in the run.
 */
#include "lib/search/hidden.h"

#include "lib/base/lower_bound.h"
#include "lib/relation/por.h"
#include "lib/search/passages.h"
#include "lib/search/search.h"
#include "lib/search/unseen.h"
#include "lib/trace/modules.h"

#include <stdlib.h>
#include <string.h>

/* A moment at which a passage may release or acquire, by event number. */
struct moment {
	uint64_t number;
	uint32_t thread, atomic;
};

struct hidden {
	struct passages of[PASSAGES_KINDS];
	struct moment *releases; /* room for one a thread */
};

enum rt_status hidden_load(const struct model *m, struct hidden **out, struct rt_error *err)
{
	size_t n;
	*out = NULL;
	rt_trace_hidden_atomics(m->trace, &n);
	if (!n)
		return RT_OK;
	struct hidden *h = calloc(1, sizeof *h);
	if (h)
		h->releases = calloc((size_t)m->thread_count + 1, sizeof *h->releases);
	enum rt_status status = h && h->releases
	                            ? passages_load(m, h->of, err)
	                            : rt_error_set(err, RT_EMEMORY, "no memory for the passages of hidden atomics");
	if (status)
		hidden_free(h);
	else
		*out = h;
	return status;
}

void hidden_free(struct hidden *h)
{
	if (!h)
		return;
	for (unsigned k = 0; k < PASSAGES_KINDS; k++)
		passages_release(&h->of[k]);
	free(h->releases);
	free(h);
}

/* ---- Between two events ---- */

struct query {
	const struct passages *p;
	struct moment *releases;
	const struct segment_order *por;
	const struct order *hb;
	const struct order_result *order;
	bool recorded; /* of the recorded run alone */
};

static uint64_t number_of(const struct query *q, uint32_t e)
{
	return q->p->m->events[e].number;
}

/* From which event number on all of a thread happens after e; UINT64_MAX: from none. */
static uint64_t after(const struct query *q, uint32_t e, uint32_t thread)
{
	const struct model *m = q->p->m;
	const struct model_thread *t = &m->threads[thread];
	uint32_t own = model_thread_of(m, e);
	if (thread == own)
		return number_of(q, e);
	uint32_t at = lower_bound(i, 0, t->count, q->hb->horizon(q->order, t->events[i], own) <= m->events[e].pos);
	if (!at) /* its fork does: so does all of it */
		return t->count ? 0 : UINT64_MAX;
	return at < t->count ? number_of(q, t->events[at]) : UINT64_MAX;
}

/* Up to which event number all of a thread happens before e; 0: up to none. */
static uint64_t before(const struct query *q, uint32_t e, uint32_t thread)
{
	const struct model *m = q->p->m;
	if (thread == model_thread_of(m, e))
		return number_of(q, e);
	uint32_t horizon = q->hb->horizon(q->order, e, thread);
	return horizon ? number_of(q, m->threads[thread].events[horizon - 1]) : 0;
}

/* The first moment at which the thread may release after e. */
static bool find_release(const struct query *q, uint32_t e, uint32_t thread, struct moment *out)
{
	const struct passages_thread *t = &q->p->threads[thread];
	uint64_t from = t->count ? after(q, e, thread) : UINT64_MAX;
	if (from == UINT64_MAX)
		return false;
	uint32_t i = passages_ended(t, from);
	*out = (struct moment){UINT64_MAX, thread, MODEL_NONE};
	if (i < t->count)
		*out = (struct moment){t->items[i].open, thread, t->items[i].atomic};
	if (t->lock_open < out->number)
		*out = (struct moment){t->lock_open, thread, t->lock_atomic};
	if (out->number < from)
		out->number = from;
	return out->atomic != MODEL_NONE;
}

/* The last moment at which the thread may acquire before e. */
static bool find_acquire(const struct query *q, uint32_t e, uint32_t thread, struct moment *out)
{
	const struct passages_thread *t = &q->p->threads[thread];
	uint64_t until = t->count ? before(q, e, thread) : 0;
	uint32_t i = until ? passages_ended(t, until) : 0;
	/* A passage that ends later may have begun. */
	if (until && i < t->count && t->items[i].open < until) {
		*out = (struct moment){until, thread, t->items[i].atomic};
		return true;
	}
	if (!i)
		return false;
	*out = (struct moment){t->items[i - 1].close, thread, t->items[i - 1].atomic};
	return true;
}

/* True if, in every run of these events, every moment that `last` may be comes before every moment that `first` may
 * be. */
static bool surely_before(const struct query *q, const struct moment *last, const struct moment *first)
{
	const struct model *m = q->p->m;
	uint32_t x = passages_kept_from(m, last->thread, last->number);
	uint32_t y = passages_kept_from(m, first->thread, first->number + 1);
	if (!y) /* as much as its fork */
		return x < clock_get(&q->por->clocks, q->por->begin[first->thread], last->thread);
	return x < segment_order_horizon(q->por, m->threads[first->thread].events[y - 1], last->thread);
}

/* True if the recorder takes an exact stamp for each such event, in the event's thread. */
static bool is_stamped(enum rt_op op)
{
	enum rt_group group = rt_op_group(op);
	return (group >= RT_GROUP_ATOMIC && group <= RT_GROUP_ONCE) || op == RT_OP_FORK || op == RT_OP_JOIN;
}

/* Number of a stamp that was taken after what the thread did before the event number; UINT64_MAX: there is none. */
static uint64_t stamp_after(const struct model *m, uint32_t thread, uint64_t number)
{
	const struct model_thread *t = &m->threads[thread];
	for (uint32_t at = passages_kept_from(m, thread, number); at < t->count;) {
		const struct model_event *e = &m->events[t->events[at]];
		if (is_stamped(m->sites[e->site].op))
			return e->number;
		at = lower_bound(i, at + 1, t->count, m->events[t->events[i]].segment == e->segment);
	}
	return t->join != MODEL_NONE ? m->events[t->join].number : UINT64_MAX;
}

/* Number of a stamp that was taken before what the thread did after the event number; 0: there is none. */
static uint64_t stamp_before(const struct model *m, uint32_t thread, uint64_t number)
{
	const struct model_thread *t = &m->threads[thread];
	uint32_t end = number < UINT64_MAX ? passages_kept_from(m, thread, number + 1) : t->count;
	while (end) {
		const struct model_event *e = &m->events[t->events[end - 1]];
		if (is_stamped(m->sites[e->site].op))
			return e->number;
		uint32_t first = m->segments[e->segment].first;
		end = first < end - 1 ? first + 1 : first;
	}
	return t->fork != MODEL_NONE ? m->events[t->fork].number : 0;
}

/* True if, in the recorded run, every moment that `last` may be came before every moment that `first` may be. */
static bool was_before(const struct query *q, const struct moment *last, const struct moment *first)
{
	uint64_t after = stamp_after(q->p->m, last->thread, last->number);
	return after != UINT64_MAX && after <= stamp_before(q->p->m, first->thread, first->number);
}

static bool is_before(const struct query *q, const struct moment *last, const struct moment *first)
{
	return surely_before(q, last, first) || (q->recorded && was_before(q, last, first));
}

static const struct rt_hidden_atomic *may_order(const struct query *q, uint32_t e1, uint32_t e2)
{
	const struct passages *p = q->p;
	uint32_t t1 = model_thread_of(p->m, e1), t2 = model_thread_of(p->m, e2), n = 0;
	struct moment *release = q->releases, acquire;
	for (uint32_t u = 0; u < p->m->thread_count; u++)
		n += u != t2 && find_release(q, e1, u, &release[n]);
	for (uint32_t v = 0; n && v < p->m->thread_count; v++) {
		if (v == t1 || !find_acquire(q, e2, v, &acquire))
			continue;
		for (uint32_t i = 0; i < n; i++)
			if (release[i].thread != v && !is_before(q, &acquire, &release[i]))
				return &p->atomics[release[i].atomic];
	}
	return NULL;
}

static const struct rt_hidden_atomic *between(const struct hidden *h, const struct search_context *c, uint32_t e1,
                                              uint32_t e2, bool recorded)
{
	if (!h || !h->of[PASSAGES_ORDER].threads)
		return NULL;
	struct query q = {.p = &h->of[PASSAGES_ORDER],
	                  .releases = h->releases,
	                  .por = c->por,
	                  .hb = &orders[c->hb],
	                  .recorded = recorded};
	if (!(q.order = search_order(c, c->hb)))
		return NULL;
	const struct rt_hidden_atomic *a = may_order(&q, e1, e2);
	return a ? a : may_order(&q, e2, e1);
}

const struct rt_hidden_atomic *hidden_between(const struct hidden *h, const struct search_context *c, uint32_t e1,
                                              uint32_t e2)
{
	return between(h, c, e1, e2, false);
}

const struct rt_hidden_atomic *hidden_in_run(const struct hidden *h, const struct search_context *c, uint32_t e1,
                                             uint32_t e2)
{
	return between(h, c, e1, e2, true);
}

/* What may order two of the anomaly's events, or NULL. Of an observed race: in the recorded run. */
static const struct rt_hidden_atomic *hidden_in(const struct hidden *h, const struct search_context *c,
                                                const struct anomaly *a)
{
	bool recorded = a->kind == ANOMALY_RACE && a->verdict == VERDICT_OBSERVED;
	for (uint32_t i = 0; i < a->event_count; i++)
		for (uint32_t k = i + 1; k < a->event_count; k++) {
			bool same = model_thread_of(c->m, a->events[i]) == model_thread_of(c->m, a->events[k]);
			const struct rt_hidden_atomic *found =
			    same ? NULL : between(h, c, a->events[i], a->events[k], recorded);
			if (found)
				return found;
		}
	return NULL;
}

void hidden_cap(const struct hidden *h, const struct search_context *c, struct anomaly_list *list)
{
	for (size_t i = 0; h && i < list->count; i++) {
		struct anomaly *a = &list->items[i];
		/* An observed deadlock exists in whatever order its threads came to wait. */
		bool fact = a->kind == ANOMALY_DEADLOCK && a->verdict == VERDICT_OBSERVED;
		const struct rt_hidden_atomic *found = fact ? NULL : hidden_in(h, c, a);
		if (!found && a->verdict == VERDICT_PROVED)
			found = unseen_in(&h->of[PASSAGES_WRITE], &h->of[PASSAGES_READ], a);
		if (found && !found->function && found->module && module_is_plain(c->m->trace, found->module))
			anomaly_cap(a, REASON_PLAIN_MODULE, found->module);
		else if (found && found->orders_nothing)
			anomaly_cap(a, REASON_BARE_ACCESS, found->function);
		else if (found)
			anomaly_cap(a, REASON_HIDDEN_ATOMIC, found->function);
	}
}
