/* The facts of the trace, in one pass; see judge.h. */
#include "lib/base/free.h"
#include "lib/judge/judge.h"

#include <stdlib.h>
#include <string.h>

struct waiter {
	uint32_t event, thread;
};

struct barrier {
	uint32_t round, arrived, parties;
	bool leaving;
};

/* State of the pass over the trace, by object. */
struct scan {
	uint32_t *holder;        /* locks: the acquiring event of the exclusive holder */
	uint32_t *once_end;      /* last ONCE_END */
	struct barrier *barrier; /* current round */
	uint32_t *round_of;      /* by thread: round of its last arrival */
	uint32_t *held;          /* shared holds: stack of acquiring events, all threads */
	uint32_t held_count;
	struct waiter *waiting; /* open untimed waits, oldest first */
	uint32_t waiting_count;
	uint32_t *signal; /* by thread: signal matched with its wait; MODEL_NONE: none yet */
	int64_t *level;
	bool *started;
};

static void scan_acquire(struct scan *s, uint32_t e, uint32_t lock, bool shared)
{
	if (shared)
		s->held[s->held_count++] = e;
	else
		s->holder[lock] = e;
}

/* The hold of this thread that a release of the lock ends. */
static uint32_t scan_release(struct judge *j, struct scan *s, uint32_t e, uint32_t lock)
{
	const struct model *m = j->m;
	uint32_t thread = model_thread_of(m, e);
	uint32_t holder = s->holder[lock];
	if (holder != MODEL_NONE && model_thread_of(m, holder) == thread) {
		s->holder[lock] = MODEL_NONE;
		return holder;
	}
	for (uint32_t i = s->held_count; i-- > 0;) {
		uint32_t h = s->held[i];
		if (m->events[h].object != lock || model_thread_of(m, h) != thread)
			continue;
		s->held[i] = s->held[--s->held_count];
		return h;
	}
	return MODEL_NONE;
}

/* A signal wakes the oldest untimed wait of its condition that has no signal yet; a broadcast wakes all of them. */
static void scan_signal(struct judge *j, struct scan *s, uint32_t e, bool all)
{
	const struct model *m = j->m;
	for (uint32_t i = 0; i < s->waiting_count; i++) {
		struct waiter *w = &s->waiting[i];
		if (m->events[w->event].object != m->events[e].object || s->signal[w->thread] != MODEL_NONE)
			continue;
		s->signal[w->thread] = e;
		if (!all)
			return;
	}
}

/* A wait that ends without a signal takes the one matched with another wait, which is still open. */
static void scan_take_signal(struct judge *j, struct scan *s, const struct waiter *w)
{
	for (uint32_t i = 0; s->signal[w->thread] == MODEL_NONE && i < s->waiting_count; i++) {
		const struct waiter *other = &s->waiting[i];
		uint32_t *signal = &s->signal[other->thread];
		if (j->m->events[other->event].object != j->m->events[w->event].object || *signal == MODEL_NONE ||
		    *signal < w->event)
			continue;
		s->signal[w->thread] = *signal;
		*signal = MODEL_NONE;
	}
}

static void scan_wait_end(struct judge *j, struct scan *s, uint32_t e)
{
	uint32_t thread = model_thread_of(j->m, e);
	for (uint32_t i = 0; i < s->waiting_count; i++) {
		if (s->waiting[i].thread != thread)
			continue;
		scan_take_signal(j, s, &s->waiting[i]);
		s->waiting_count--;
		memmove(&s->waiting[i], &s->waiting[i + 1], (s->waiting_count - i) * sizeof *s->waiting);
		break;
	}
	j->partner[e] = s->signal[thread];
	s->signal[thread] = MODEL_NONE;
	uint32_t mutex = model_arg(j->m, e);
	if (mutex != MODEL_NONE)
		scan_acquire(s, e, mutex, false);
}

uint32_t judge_wait_end(const struct model *m, uint32_t begin)
{
	const struct model_thread *t = &m->threads[model_thread_of(m, begin)];
	for (uint32_t pos = m->events[begin].pos + 1; pos < t->count; pos++)
		if (model_op(m, t->events[pos]) == RT_OP_WAIT_END)
			return t->events[pos];
	return MODEL_NONE;
}

/* True if the wait may end without a signal, and return the same. For a wait that is open when the trace ends this is
 * unknown. A timed wait's signal orders nothing, but that wait returns something else without it. */
static bool wait_is_timed(const struct model *m, uint32_t begin)
{
	uint32_t end = judge_wait_end(m, begin);
	unsigned flags = end != MODEL_NONE ? m->sites[m->events[end].site].flags : 0;
	return flags & (RT_F_TIMED | RT_F_TIMEOUT) && !(flags & RT_F_SIGNALLED);
}

static void scan_wait_begin(struct judge *j, struct scan *s, uint32_t e)
{
	uint32_t mutex = model_arg(j->m, e);
	if (mutex != MODEL_NONE)
		j->partner[e] = scan_release(j, s, e, mutex);
	if (!wait_is_timed(j->m, e))
		s->waiting[s->waiting_count++] = (struct waiter){e, model_thread_of(j->m, e)};
}

/* Rounds: `parties` arrivals make one. If that number is unknown, the first leave ends the round's arrivals. */
static void scan_barrier(struct judge *j, struct scan *s, uint32_t e, bool arrive)
{
	const struct model *m = j->m;
	uint32_t thread = model_thread_of(m, e);
	struct barrier *b = &s->barrier[m->events[e].object];
	if (!arrive) {
		j->partner[e] = s->round_of[thread];
		if (s->round_of[thread] == b->round)
			b->leaving = true;
		return;
	}
	if (b->round == MODEL_NONE || b->leaving || (b->parties && b->arrived == b->parties)) {
		uint32_t parties = model_arg(m, e);
		*b = (struct barrier){j->round_count++, 0, parties == MODEL_NONE ? 0 : parties, false};
	}
	b->arrived++;
	j->round_size[b->round]++;
	j->partner[e] = s->round_of[thread] = b->round;
}

static void scan_event(struct judge *j, struct scan *s, uint32_t e)
{
	const struct model *m = j->m;
	uint32_t object = m->events[e].object;
	switch (model_op(m, e)) {
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
		scan_acquire(s, e, object, model_op(m, e) == RT_OP_ACQUIRE_SHARED);
		break;
	case RT_OP_RELEASE:
		j->partner[e] = scan_release(j, s, e, object);
		break;
	case RT_OP_WAIT_BEGIN:
		scan_wait_begin(j, s, e);
		break;
	case RT_OP_WAIT_END:
		scan_wait_end(j, s, e);
		break;
	case RT_OP_SIGNAL:
	case RT_OP_BROADCAST:
		scan_signal(j, s, e, model_op(m, e) == RT_OP_BROADCAST);
		break;
	case RT_OP_BARRIER_ARRIVE:
	case RT_OP_BARRIER_LEAVE:
		scan_barrier(j, s, e, model_op(m, e) == RT_OP_BARRIER_ARRIVE);
		break;
	case RT_OP_ONCE_END:
		s->once_end[object] = e;
		break;
	case RT_OP_ONCE_SEEN:
		j->partner[e] = s->once_end[object];
		break;
	case RT_OP_SEM_INIT:
		s->started[object] = true;
		break;
	case RT_OP_SEM_POST:
		s->level[object]++;
		break;
	case RT_OP_SEM_WAIT:
		s->level[object]--;
		/* Without its initialisation in the trace, it must have held as much as was taken. */
		if (!s->started[object] && -s->level[object] > j->initial[object])
			j->initial[object] = -s->level[object];
		break;
	/* What they mean to others needs no look ahead. scan_objects and scan_cells see to some of them. */
	case RT_OP_FENCE:
	case RT_OP_ONCE_BEGIN:
	case RT_OP_FORK:
	case RT_OP_JOIN:
	case RT_OP_REGION_BEGIN:
	case RT_OP_REGION_END:
	case RT_OP_HB_BEFORE:
	case RT_OP_HB_AFTER:
	case RT_OP_ALLOC:
	case RT_OP_BLOCK:
	RT_CASES_ACCESS:
		break;
	MODEL_CASES_NEVER_KEPT:
		j->without_rule = e;
	}
}

static bool is_listed(enum rt_op op)
{
	return op == RT_OP_HB_BEFORE || op == RT_OP_BARRIER_ARRIVE || rt_op_has(op, RT_WAKES) ||
	       rt_op_group(op) == RT_GROUP_SEMAPHORE;
}

/* Groups HB_BEFORE events, arrivals, signals and those on semaphores by object; partner[HB_AFTER] then becomes a count
 * within the object's group. */
static bool scan_objects(struct judge *j)
{
	const struct model *m = j->m;
	uint32_t *first = j->by_object_first;
	uint32_t total = 0;
	for (uint32_t i = 0; i < m->sync_count; i++)
		if (is_listed(model_op(m, m->sync[i]))) {
			first[m->events[m->sync[i]].object + 1]++;
			total++;
		}
	for (uint32_t o = 0; o < m->object_count; o++)
		first[o + 1] += first[o];
	j->by_object = malloc((total + 1) * sizeof *j->by_object);
	uint32_t *fill = calloc(m->object_count + 1, sizeof *fill);
	if (!j->by_object || !fill) {
		free(fill);
		return false;
	}
	for (uint32_t i = 0; i < m->sync_count; i++) {
		uint32_t e = m->sync[i], object = m->events[e].object;
		if (is_listed(model_op(m, e)))
			j->by_object[first[object] + fill[object]++] = e;
		else if (model_op(m, e) == RT_OP_HB_AFTER)
			j->partner[e] = fill[object];
	}
	free(fill);
	return true;
}

static bool scan_sync(struct judge *j)
{
	const struct model *m = j->m;
	size_t objects = m->object_count + 1, threads = m->thread_count + 1;
	struct scan s = {malloc(objects * sizeof *s.holder),
	                 malloc(objects * sizeof *s.once_end),
	                 calloc(objects, sizeof *s.barrier),
	                 malloc(threads * sizeof *s.round_of),
	                 malloc((m->sync_count + 1) * sizeof *s.held),
	                 0,
	                 malloc((threads + m->sync_count) * sizeof *s.waiting),
	                 0,
	                 malloc(threads * sizeof *s.signal),
	                 calloc(objects, sizeof *s.level),
	                 calloc(objects, sizeof *s.started)};
	bool ok = s.holder && s.once_end && s.barrier && s.round_of && s.held && s.waiting && s.signal && s.level &&
	          s.started;
	if (ok) {
		memset(s.holder, 0xff, objects * sizeof *s.holder);
		memset(s.once_end, 0xff, objects * sizeof *s.once_end);
		memset(s.round_of, 0xff, threads * sizeof *s.round_of);
		memset(s.signal, 0xff, threads * sizeof *s.signal);
		for (size_t o = 0; o < objects; o++)
			s.barrier[o].round = MODEL_NONE;
		for (uint32_t i = 0; i < m->sync_count; i++)
			scan_event(j, &s, m->sync[i]);
		ok = scan_objects(j);
	}
	free_all(s.holder, s.once_end, s.barrier, s.round_of, s.held, s.waiting, s.signal, s.level, s.started);
	return ok;
}

/* The write that each access comes after, in each of its cells. */
static bool scan_cells(struct judge *j)
{
	const struct model *m = j->m;
	bool several = false;
	for (uint32_t i = 0; i < m->site_count; i++)
		several |= m->sites[i].cells > 1;
	if (several && !(j->before = malloc(((size_t)model_entries(m) + 1) * sizeof *j->before)))
		return false;
	for (uint32_t c = 0; c < m->cell_count; c++) {
		uint32_t last = MODEL_NONE;
		for (uint32_t i = m->cells[c].first; i < m->cells[c].first + m->cells[c].count; i++) {
			uint32_t e = m->cell_events[i];
			if (several)
				j->before[i] = last;
			if (m->events[e].object == c)
				j->partner[e] = m->sites[m->events[e].site].cells > 1 ? i
				                : last == MODEL_NONE                  ? last
				                                                      : m->cell_events[last];
			if (rt_op_writes(model_op(m, e)))
				last = i;
		}
	}
	return true;
}

bool judge_scan(struct judge *j)
{
	return scan_cells(j) && scan_sync(j);
}
