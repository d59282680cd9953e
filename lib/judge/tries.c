/*
 * Tries that failed: of a lock that is held, of a semaphore that is zero. A schedule may have one only where that is so
 * at some moment between what the thread did before and what it does next, which may depend on it. A try of a join
 * needs nothing: a thread that has done all of its events need not have ended.
 *
 * Only the locks and semaphores that were tried in vain are looked at. A schedule's first events, as far as they are
 * the trace's, have happened, with their tries.
 */
#include "lib/base/free.h"
#include "lib/base/lower_bound.h"
#include "lib/judge/judge.h"

#include <stdlib.h>
#include <string.h>

/* An event of such an object; or a try, which comes before the thread's event at `pos`. */
struct judge_try {
	uint32_t event; /* the try: the trace's first event behind it */
	uint32_t thread, pos, object;
	uint8_t op; /* RT_OP_NONE: the event; else what was tried */
};

/* What the walk along a schedule knows. */
struct walk {
	const struct judge *j;
	uint32_t *next, *done;      /* by thread: its next item, of by_thread; how many of its events have occurred */
	uint32_t *writers, *others; /* by object: exclusive holders; shared ones, or a semaphore's value */
	/* Threads whose try comes next, by its object: lists. That behind all objects' has those that have not begun.
	 * Threads are numbered from 1 in them, lists as well. */
	uint32_t *first, *behind, *before, *list;
	bool *forks, begins; /* by thread: it forks; one that does has run on since the last event of such an object */
};

static const struct judge_try *item(const struct walk *w, uint32_t thread)
{
	const struct judge_tries *t = &w->j->tries;
	return w->next[thread] < t->first[thread + 1] ? &t->items[t->by_thread[w->next[thread]]] : NULL;
}

/* The release, or the wait's begin, gives back what its partner took. */
static void give(struct walk *w, uint32_t e, uint32_t lock)
{
	uint32_t acquire = w->j->partner[e];
	if (acquire == MODEL_NONE)
		return;
	uint32_t *count = model_op(w->j->m, acquire) == RT_OP_ACQUIRE_SHARED ? w->others : w->writers;
	count[lock] -= count[lock] > 0;
}

static void occur(struct walk *w, const struct judge_try *i)
{
	const struct model *m = w->j->m;
	enum rt_op op = model_op(m, i->event);
	if (op == RT_OP_SEM_INIT)
		w->others[i->object] = model_arg(m, i->event) == MODEL_NONE ? 0 : model_arg(m, i->event);
	else if (op == RT_OP_SEM_POST || op == RT_OP_ACQUIRE_SHARED)
		w->others[i->object]++;
	else if (op == RT_OP_SEM_WAIT)
		w->others[i->object] -= w->others[i->object] > 0;
	else if (model_lock_taken(m, i->event) != MODEL_NONE)
		w->writers[i->object]++;
	else
		give(w, i->event, i->object);
}

static bool can_fail(const struct walk *w, const struct judge_try *i)
{
	if (i->op == RT_OP_SEM_WAIT)
		return !w->others[i->object];
	return w->writers[i->object] || (i->op == RT_OP_ACQUIRE && w->others[i->object]);
}

static bool has_begun(const struct walk *w, uint32_t thread)
{
	const struct model *m = w->j->m;
	uint32_t fork = m->threads[thread].fork;
	return w->done[thread] || fork == MODEL_NONE || m->events[fork].pos < w->done[model_thread_of(m, fork)];
}

static void enlist(struct walk *w, uint32_t thread, uint32_t list)
{
	uint32_t behind = w->first[list];
	w->list[thread] = list + 1;
	w->before[thread] = 0;
	w->behind[thread] = behind;
	if (behind)
		w->before[behind - 1] = thread + 1;
	w->first[list] = thread + 1;
}

static void unlist(struct walk *w, uint32_t thread)
{
	uint32_t before = w->before[thread], behind = w->behind[thread];
	if (!w->list[thread])
		return;
	*(before ? &w->behind[before - 1] : &w->first[w->list[thread] - 1]) = behind;
	if (behind)
		w->before[behind - 1] = before;
	w->list[thread] = 0;
}

/* The thread's tries that come next in it fail now, as far as they can. */
static void fail(struct walk *w, uint32_t thread)
{
	const struct judge_try *i;
	bool begun = has_begun(w, thread);
	unlist(w, thread);
	while (begun && (i = item(w, thread)) && i->op && i->pos == w->done[thread] && can_fail(w, i))
		w->next[thread]++;
	i = item(w, thread);
	if (i && i->op && i->pos == w->done[thread])
		enlist(w, thread, begun ? i->object : w->j->m->object_count);
}

static void fail_of(struct walk *w, uint32_t list)
{
	for (uint32_t u = w->first[list], behind; u; u = behind) {
		behind = w->behind[u - 1];
		fail(w, u - 1);
	}
}

/* Threads that have begun since the last event of such an object: their tries fail, as far as they can. */
static void fail_begun(struct walk *w)
{
	if (w->begins)
		fail_of(w, w->j->m->object_count);
	w->begins = false;
}

/* After an event of the object: whatever can fail now does. Elsewhere nothing has changed. */
static void fail_all(struct walk *w, uint32_t thread, uint32_t object)
{
	fail(w, thread);
	fail_of(w, object);
	fail_begun(w);
}

/* Runs the thread's events before `to`. False if a try before one of them cannot have failed. */
static bool run(struct walk *w, uint32_t thread, uint32_t to)
{
	const struct judge_try *i;
	while ((i = item(w, thread)) && i->pos < to) {
		if (i->op) {
			w->done[thread] = i->pos;
			fail(w, thread);
			if (item(w, thread) == i)
				return false;
			continue;
		}
		w->done[thread] = i->pos;
		w->begins |= w->forks[thread];
		fail_begun(w);
		occur(w, i);
		w->next[thread]++;
		w->done[thread] = i->pos + 1;
		w->begins |= w->forks[thread];
		fail_all(w, thread, i->object);
	}
	w->done[thread] = to;
	w->begins |= w->forks[thread];
	fail(w, thread);
	return true;
}

/* Runs the trace's first events. */
static void run_prefix(struct walk *w, uint32_t events)
{
	const struct judge_tries *t = &w->j->tries;
	const struct model *m = w->j->m;
	for (uint32_t u = 0; events && u < m->thread_count; u++)
		w->done[u] = model_executed(m, u, events);
	for (uint32_t k = 0; k < t->count && t->items[k].event < events; k++) {
		w->next[t->items[k].thread]++;
		if (!t->items[k].op)
			occur(w, &t->items[k]);
	}
	for (uint32_t u = 0; u < m->thread_count; u++)
		fail(w, u);
}

static bool is_goal(const struct model *m, const struct goal *goal, uint32_t thread, uint32_t pos)
{
	for (uint32_t i = 0; i < goal->count; i++)
		if (model_thread_of(m, goal->events[i]) == thread && m->events[goal->events[i]].pos == pos)
			return true;
	return false;
}

static bool walk(struct walk *w, const struct schedule *s, const struct goal *goal)
{
	const struct model *m = w->j->m;
	uint32_t events, at = judge_prefix(w->j, s, &events);
	run_prefix(w, events);
	for (uint32_t u = 0; u < m->thread_count; u++)
		if (m->threads[u].fork != MODEL_NONE)
			w->forks[model_thread_of(m, m->threads[u].fork)] = true;
	for (; at < s->count; at++)
		if (!run(w, s->steps[at].thread, s->steps[at].to + 1))
			return false;
	fail_begun(w);
	for (uint32_t u = 0; u < m->thread_count; u++) {
		const struct judge_try *i = item(w, u);
		if (i && i->op && i->pos == w->done[u] && is_goal(m, goal, u, i->pos))
			return false;
	}
	return true;
}

bool judge_tries_fail(const struct judge *j, const struct schedule *s, const struct goal *goal)
{
	const struct model *m = j->m;
	if (!m->try_count)
		return true;
	size_t threads = m->thread_count, objects = m->object_count;
	struct walk w = {.j = j,
	                 .next = malloc((threads + 1) * sizeof *w.next),
	                 .done = calloc(threads + 1, sizeof *w.done),
	                 .writers = calloc(objects + 1, sizeof *w.writers),
	                 .others = calloc(objects + 1, sizeof *w.others),
	                 .first = calloc(objects + 1, sizeof *w.first),
	                 .behind = calloc(threads + 1, sizeof *w.behind),
	                 .before = calloc(threads + 1, sizeof *w.before),
	                 .list = calloc(threads + 1, sizeof *w.list),
	                 .forks = calloc(threads + 1, sizeof *w.forks)};
	bool ok = w.next && w.done && w.writers && w.others && w.first && w.behind && w.before && w.list && w.forks;
	if (ok) {
		memcpy(w.next, j->tries.first, threads * sizeof *w.next);
		for (size_t o = 0; o < objects; o++)
			w.others[o] = (uint32_t)j->initial[o];
		ok = walk(&w, s, goal);
	}
	free_all(w.next, w.done, w.writers, w.others, w.first, w.behind, w.before, w.list, w.forks);
	return ok;
}

/* ---- The items, in the trace's order and by thread ---- */

static void add(struct judge_tries *t, struct judge_try item)
{
	t->items[t->count++] = item;
	t->first[item.thread + 1]++;
}

/* The lock or semaphore of an event of synchronisation; MODEL_NONE: it is of another kind. */
static uint32_t object_of(const struct model *m, uint32_t e)
{
	uint32_t taken = model_lock_taken(m, e), released = model_lock_released(m, e);
	if (rt_op_group(model_op(m, e)) == RT_GROUP_SEMAPHORE)
		return m->events[e].object;
	return taken != MODEL_NONE ? taken : released;
}

static void list(struct judge_tries *t, const struct model *m, const bool *tried)
{
	uint32_t next = 0;
	for (uint32_t i = 0; i <= m->sync_count; i++) {
		uint32_t e = i < m->sync_count ? m->sync[i] : m->event_count;
		uint32_t end = i < m->sync_count ? m->events[e].number : UINT32_MAX;
		for (; next < m->try_count && m->tries[next].number < end; next++) {
			const struct model_try *tr = &m->tries[next];
			uint32_t behind = lower_bound(k, 0, m->event_count, m->events[k].number < tr->number);
			uint32_t pos = model_executed(m, tr->thread, behind);
			add(t, (struct judge_try){behind, tr->thread, pos, tr->object, tr->op});
		}
		uint32_t object = e < m->event_count ? object_of(m, e) : MODEL_NONE;
		if (object != MODEL_NONE && tried[object])
			add(t, (struct judge_try){e, model_thread_of(m, e), m->events[e].pos, object, RT_OP_NONE});
	}
}

static void sort_by_thread(struct judge_tries *t, const struct model *m, uint32_t *fill)
{
	for (uint32_t u = 0; u < m->thread_count; u++)
		t->first[u + 1] += t->first[u];
	memcpy(fill, t->first, m->thread_count * sizeof *fill);
	for (uint32_t k = 0; k < t->count; k++)
		t->by_thread[fill[t->items[k].thread]++] = k;
}

bool judge_scan_tries(struct judge *j)
{
	const struct model *m = j->m;
	struct judge_tries *t = &j->tries;
	if (!m->try_count)
		return true;
	size_t most = (size_t)m->try_count + m->sync_count + 1;
	bool *tried = calloc((size_t)m->object_count + 1, sizeof *tried);
	uint32_t *fill = calloc((size_t)m->thread_count + 1, sizeof *fill);
	t->items = calloc(most, sizeof *t->items);
	t->by_thread = malloc(most * sizeof *t->by_thread);
	t->first = calloc((size_t)m->thread_count + 2, sizeof *t->first);
	bool ok = tried && fill && t->items && t->by_thread && t->first;
	if (ok) {
		for (uint32_t i = 0; i < m->try_count; i++)
			tried[m->tries[i].object] = true;
		list(t, m, tried);
		sort_by_thread(t, m, fill);
	}
	free_all(tried, fill);
	return ok;
}

void judge_tries_release(struct judge_tries *t)
{
	free_all(t->items, t->by_thread, t->first);
}
