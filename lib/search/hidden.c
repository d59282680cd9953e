/*
 * A passage is the stretch of a thread's events in which the instruction was executed, once or more: from the ENTER of
 * its function, or the last event before it, to the first event after it, or the LEAVE. While a call lasts its caller
 * executes nothing. It may release what came before its end, and acquire before all that comes after its beginning. Of
 * a module that is not instrumented it is any stretch between its own events, which are its calls of functions that are
 * recorded.
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
#include "lib/base/vec.h"
#include "lib/relation/por.h"
#include "lib/search/search.h"
#include "lib/trace/jumps.h"
#include "lib/trace/modules.h"

#include <stdlib.h>
#include <string.h>

struct passage {
	uint64_t open, close; /* event numbers; close is UINT64_MAX if the trace ends inside */
	uint32_t atomic;      /* index */
};

/* An activation of a function. */
struct frame {
	uint64_t last;   /* its last event, or the ENTER */
	uint64_t open;   /* of the passage */
	uint32_t atomic; /* MODEL_NONE: the activation is in none */
	bool early;      /* if it is in a passage: its last event came before the instruction */
	bool done;       /* its last event came after the instruction */
};

struct hidden_thread {
	struct passage *passages; /* one after the other */
	struct frame *frames;     /* while the trace is read; the first is the code outside of all functions */
	uint32_t count, capacity, frame_count, frame_capacity;
	uint32_t next;        /* pos of the next kept event */
	uint32_t settled;     /* the same, when the last passage ended */
	uint64_t lock_open;   /* of the first passage that may take a lock; UINT64_MAX if there is none */
	uint32_t lock_atomic; /* its atomic */
	struct jumps jumps;
};

/* A moment at which a passage may release or acquire, by event number. */
struct moment {
	uint64_t number;
	uint32_t thread, atomic;
};

struct hidden {
	const struct model *m;
	const struct rt_hidden_atomic *atomics; /* by start */
	bool *plain;                            /* of each: it is a whole module that is not instrumented */
	size_t atomic_count;
	struct hidden_thread *threads; /* of the model */
	struct moment *releases;       /* room for one a thread */
	bool failed;
};

/* ---- Passages ---- */

/*
 * Inner activations end first, so the new passage may contain the last ones. It is also joined to the last one if no
 * kept event is between: nothing can distinguish the two then.
 */
static void add_passage(struct hidden *h, struct hidden_thread *t, const struct frame *f, uint64_t close)
{
	struct passage new = {f->open, close, f->atomic};
	if (h->atomics[f->atomic].may_lock && f->open < t->lock_open) {
		t->lock_open = f->open;
		t->lock_atomic = f->atomic;
	}
	if (t->count && t->settled == t->next && t->passages[t->count - 1].open < new.open)
		new.open = t->passages[t->count - 1].open;
	while (t->count && t->passages[t->count - 1].close >= new.open) {
		t->count--;
		new.open = t->passages[t->count].open < new.open ? t->passages[t->count].open : new.open;
	}
	if (!vec_reserve(&t->passages, &t->capacity, (uint64_t)t->count + 1, sizeof *t->passages)) {
		h->failed = true;
		return;
	}
	t->passages[t->count++] = new;
	t->settled = t->next;
}

static void close_frame(struct hidden *h, struct hidden_thread *t, struct frame *f, uint64_t number)
{
	if (f->atomic != MODEL_NONE)
		add_passage(h, t, f, number);
	f->atomic = MODEL_NONE;
}

static bool is_call(const struct rt_hidden_atomic *a)
{
	return a->end == a->start;
}

/* The last one that begins at the pc or before; MODEL_NONE if there is none. */
static uint32_t last_from(const struct hidden *h, uint64_t pc)
{
	size_t low = lower_bound(middle, 0, h->atomic_count, h->atomics[middle].start <= pc);
	return low ? (uint32_t)low - 1 : MODEL_NONE;
}

/* The function whose code has the pc. Calls in its code are its own, or those of inlined functions. */
static uint32_t code_of(const struct hidden *h, uint64_t pc)
{
	uint32_t i = last_from(h, pc);
	while (i != MODEL_NONE && is_call(&h->atomics[i]))
		i = i ? i - 1 : MODEL_NONE;
	return i != MODEL_NONE && pc < h->atomics[i].end ? i : MODEL_NONE;
}

static uint32_t call_from(const struct hidden *h, uint64_t pc)
{
	uint32_t i = last_from(h, pc);
	return i != MODEL_NONE && h->atomics[i].start == pc && is_call(&h->atomics[i]) ? i : MODEL_NONE;
}

static void push_frame(struct hidden *h, struct hidden_thread *t, uint64_t number, uint32_t atomic)
{
	if (!vec_reserve(&t->frames, &t->frame_capacity, (uint64_t)t->frame_count + 1, sizeof *t->frames)) {
		h->failed = true;
		return;
	}
	if (t->frame_count) {
		const struct frame *caller = &t->frames[t->frame_count - 1];
		if (caller->atomic != MODEL_NONE && !caller->early)
			add_passage(h, t, caller, number);
	}
	t->frames[t->frame_count++] = (struct frame){.last = number, .open = number, .atomic = atomic};
}

static void pop_frame(struct hidden *h, struct hidden_thread *t, uint64_t number)
{
	if (t->frame_count < 2)
		return;
	close_frame(h, t, &t->frames[--t->frame_count], number);
	struct frame *caller = &t->frames[t->frame_count - 1];
	caller->last = caller->open = number;
}

/* An event of a module that is not instrumented, which the innermost activation has called. */
static void note_plain(struct hidden *h, struct hidden_thread *t, struct frame *f, uint32_t i, uint64_t number)
{
	if (f->atomic != MODEL_NONE && f->atomic != i)
		close_frame(h, t, f, number);
	if (f->atomic == MODEL_NONE)
		f->open = f->last;
	f->atomic = i;
	close_frame(h, t, f, number);
	*f = (struct frame){.last = number, .open = number, .atomic = i, .early = true};
}

/* An event of the innermost activation. */
static void note(struct hidden *h, struct hidden_thread *t, const struct rt_event *e)
{
	struct frame *f = &t->frames[t->frame_count - 1];
	uint32_t i = code_of(h, e->pc);
	if (i != MODEL_NONE && h->plain[i]) {
		note_plain(h, t, f, i, e->number);
		return;
	}
	if (i == MODEL_NONE && f->atomic != MODEL_NONE && h->plain[f->atomic])
		close_frame(h, t, f, e->number);
	if (i != MODEL_NONE) {
		const struct rt_hidden_atomic *a = &h->atomics[i];
		if (f->atomic != MODEL_NONE && f->atomic != i && !is_call(&h->atomics[f->atomic]))
			close_frame(h, t, f, e->number);
		if (f->atomic == MODEL_NONE && !(f->done && e->pc >= a->until))
			f->open = f->last;
		if (f->atomic != MODEL_NONE || !(f->done && e->pc >= a->until))
			f->atomic = i;
		f->early = e->pc < a->from;
		if (f->early)
			f->open = e->number;
		f->done = e->pc >= a->until;
		if (f->done)
			close_frame(h, t, f, e->number);
	}
	f->last = e->number;
}

static void take(struct hidden *h, const struct rt_event *e)
{
	struct hidden_thread *t = &h->threads[e->thread];
	const struct model_thread *kept = &h->m->threads[e->thread];
	while (t->next < kept->count && h->m->events[kept->events[t->next]].number < e->number)
		t->next++;
	if (!t->frame_count) {
		t->lock_open = UINT64_MAX;
		push_frame(h, t, e->number, MODEL_NONE);
	}
	if (h->failed)
		return;
	switch (e->op) {
	case RT_OP_ENTER:
		note(h, t, e);
		push_frame(h, t, e->number, call_from(h, e->pc));
		return;
	case RT_OP_LEAVE:
		pop_frame(h, t, e->number);
		return;
	case RT_OP_SETJMP:
		h->failed |= !jumps_set(&t->jumps, e->addr, t->frame_count);
		return;
	case RT_OP_LONGJMP:
		for (uint64_t target = jumps_target(&t->jumps, e->addr, t->frame_count);
		     t->frame_count > 1 && t->frame_count > target;)
			pop_frame(h, t, e->number);
		return;
	case RT_OP_BEGIN:
	case RT_OP_TLS:
	case RT_OP_END: /* their pc is where the thread begins */
		return;
	default:
		note(h, t, e);
	}
}

static enum rt_status read_trace(struct hidden *h, struct rt_error *err)
{
	struct rt_pass pass;
	for (struct rt_event *e = rt_pass_first(&pass, h->m->trace, err); e && !h->failed; e = rt_pass_next(&pass))
		if (e->thread < h->m->thread_count)
			take(h, e);
	for (uint32_t i = 0; i < h->m->thread_count && !h->failed; i++) {
		struct hidden_thread *t = &h->threads[i];
		for (; t->frame_count; t->frame_count--)
			close_frame(h, t, &t->frames[t->frame_count - 1], UINT64_MAX);
		free(t->frames);
		t->frames = NULL;
		jumps_release(&t->jumps);
	}
	return pass.status;
}

enum rt_status hidden_load(const struct model *m, struct hidden **out, struct rt_error *err)
{
	size_t n;
	const struct rt_hidden_atomic *atomics = rt_trace_hidden_atomics(m->trace, &n);
	*out = NULL;
	if (!n || n >= MODEL_NONE)
		return RT_OK;
	struct hidden *h = calloc(1, sizeof *h);
	if (!h)
		return rt_error_set(err, RT_EMEMORY, "no memory for the passages of hidden atomics");
	*h = (struct hidden){.m = m, .atomics = atomics, .atomic_count = n};
	h->plain = calloc(n, sizeof *h->plain);
	h->threads = calloc((size_t)m->thread_count + 1, sizeof *h->threads);
	h->releases = calloc((size_t)m->thread_count + 1, sizeof *h->releases);
	h->failed = !h->plain || !h->threads || !h->releases;
	for (size_t i = 0; i < n && h->plain; i++) {
		const struct rt_module *module = module_at(m->trace, atomics[i].start);
		h->plain[i] = module && module->plain && !is_call(&atomics[i]);
	}
	enum rt_status status = h->failed ? RT_OK : read_trace(h, err);
	if (!status && h->failed)
		status = rt_error_set(err, RT_EMEMORY, "no memory for the passages of hidden atomics");
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
	for (uint32_t i = 0; h->threads && i < h->m->thread_count; i++) {
		free(h->threads[i].passages);
		free(h->threads[i].frames);
		jumps_release(&h->threads[i].jumps);
	}
	free(h->plain);
	free(h->threads);
	free(h->releases);
	free(h);
}

/* ---- Between two events ---- */

struct query {
	const struct hidden *h;
	const struct segment_order *por;
	const struct order *hb;
	const struct order_result *order;
	bool recorded; /* of the recorded run alone */
};

static uint64_t number_of(const struct query *q, uint32_t e)
{
	return q->h->m->events[e].number;
}

/* From which event number on all of a thread happens after e; UINT64_MAX: from none. */
static uint64_t after(const struct query *q, uint32_t e, uint32_t thread)
{
	const struct model *m = q->h->m;
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
	const struct model *m = q->h->m;
	if (thread == model_thread_of(m, e))
		return number_of(q, e);
	uint32_t horizon = q->hb->horizon(q->order, e, thread);
	return horizon ? number_of(q, m->threads[thread].events[horizon - 1]) : 0;
}

/* Number of the thread's passages that end at the number or before. */
static uint32_t ended(const struct hidden_thread *t, uint64_t number)
{
	return lower_bound(middle, 0, t->count, t->passages[middle].close <= number);
}

/* The first moment at which the thread may release after e. */
static bool find_release(const struct query *q, uint32_t e, uint32_t thread, struct moment *out)
{
	const struct hidden_thread *t = &q->h->threads[thread];
	uint64_t from = t->count ? after(q, e, thread) : UINT64_MAX;
	if (from == UINT64_MAX)
		return false;
	uint32_t i = ended(t, from);
	*out = (struct moment){UINT64_MAX, thread, MODEL_NONE};
	if (i < t->count)
		*out = (struct moment){t->passages[i].open, thread, t->passages[i].atomic};
	if (t->lock_open < out->number)
		*out = (struct moment){t->lock_open, thread, t->lock_atomic};
	if (out->number < from)
		out->number = from;
	return out->atomic != MODEL_NONE;
}

/* The last moment at which the thread may acquire before e. */
static bool find_acquire(const struct query *q, uint32_t e, uint32_t thread, struct moment *out)
{
	const struct hidden_thread *t = &q->h->threads[thread];
	uint64_t until = t->count ? before(q, e, thread) : 0;
	uint32_t i = until ? ended(t, until) : 0;
	/* A passage that ends later may have begun. */
	if (until && i < t->count && t->passages[i].open < until) {
		*out = (struct moment){until, thread, t->passages[i].atomic};
		return true;
	}
	if (!i)
		return false;
	*out = (struct moment){t->passages[i - 1].close, thread, t->passages[i - 1].atomic};
	return true;
}

/* pos of the first kept event of a thread with this number or a higher one. */
static uint32_t kept_from(const struct model *m, uint32_t thread, uint64_t number)
{
	return lower_bound(middle, 0, m->threads[thread].count,
	                   m->events[m->threads[thread].events[middle]].number < number);
}

/* True if, in every run of these events, every moment that `last` may be comes before every moment that `first` may
 * be. */
static bool surely_before(const struct query *q, const struct moment *last, const struct moment *first)
{
	const struct model *m = q->h->m;
	uint32_t x = kept_from(m, last->thread, last->number);
	uint32_t y = kept_from(m, first->thread, first->number + 1);
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
	for (uint32_t at = kept_from(m, thread, number); at < t->count;) {
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
	uint32_t end = number < UINT64_MAX ? kept_from(m, thread, number + 1) : t->count;
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
	uint64_t after = stamp_after(q->h->m, last->thread, last->number);
	return after != UINT64_MAX && after <= stamp_before(q->h->m, first->thread, first->number);
}

static bool is_before(const struct query *q, const struct moment *last, const struct moment *first)
{
	return surely_before(q, last, first) || (q->recorded && was_before(q, last, first));
}

static const struct rt_hidden_atomic *may_order(const struct query *q, uint32_t e1, uint32_t e2)
{
	const struct hidden *h = q->h;
	uint32_t t1 = model_thread_of(h->m, e1), t2 = model_thread_of(h->m, e2), n = 0;
	struct moment *release = h->releases, acquire;
	for (uint32_t u = 0; u < h->m->thread_count; u++)
		n += u != t2 && find_release(q, e1, u, &release[n]);
	for (uint32_t v = 0; n && v < h->m->thread_count; v++) {
		if (v == t1 || !find_acquire(q, e2, v, &acquire))
			continue;
		for (uint32_t i = 0; i < n; i++)
			if (release[i].thread != v && !is_before(q, &acquire, &release[i]))
				return &h->atomics[release[i].atomic];
	}
	return NULL;
}

static const struct rt_hidden_atomic *between(const struct hidden *h, const struct search_context *c, uint32_t e1,
                                              uint32_t e2, bool recorded)
{
	struct query q = {.h = h, .por = c->por, .hb = &orders[c->hb], .recorded = recorded};
	if (!h || !(q.order = search_order(c, c->hb)))
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
		if (found && !found->function && found->module && module_is_plain(c->m->trace, found->module))
			anomaly_cap(a, REASON_PLAIN_MODULE, found->module);
		else if (found)
			anomaly_cap(a, REASON_HIDDEN_ATOMIC, found->function);
	}
}
