/* The judge; see verify.h for the definition that it applies. */
#include "lib/witness/verify.h"

#include "lib/trace/values.h"

#include <stdlib.h>
#include <string.h>

struct judge {
	const struct model *m;
	/* Worked out once from the trace. */
	uint32_t *before; /* by entry of cell_events: entry of the last write before it in the cell, MODEL_NONE: initial
	                     value */
	struct values values; /* with nothing in it if the trace has none */
	uint32_t *saw; /* by event: accesses' last write before them in their first cell: event index or MODEL_NONE */
	/*
	 * By event. RELEASE, WAIT_BEGIN: the acquiring event that it ends. WAIT_END: its signal. ONCE_SEEN: the
	 * ONCE_END. BARRIER_*: the round. HB_AFTER: how many HB_BEFORE of the object come before. MODEL_NONE: nothing.
	 */
	uint32_t *partner;
	uint32_t *round_size;
	uint32_t round_count;
	uint32_t *annotations;      /* HB_BEFORE events, object by object */
	uint32_t *annotation_first; /* by object: where its own begin */
	int64_t *initial;           /* by object: least value that a semaphore must have begun with */
	/* Replay. */
	uint32_t *next;      /* by thread: pos of its next event */
	bool *frozen;        /* by thread */
	bool *unheard;       /* by thread: the signal of the wait that it is in came before the wait began */
	uint32_t *last;      /* by cell: the last write, an event index, MODEL_NONE: initial value */
	uint32_t *owner;     /* by object: acquiring event that holds it exclusively, MODEL_NONE */
	uint32_t *readers;   /* by object: number of shared holders */
	int64_t *value;      /* by object: semaphores */
	uint32_t *annotated; /* by object: so many of its HB_BEFORE, in trace order, have occurred */
	uint32_t *arrived;   /* by round */
};

const char *verify_fault_text(enum verify_fault fault)
{
	static const char *const texts[] = {
#define X(name, text) text,
	    VERIFY_FAULTS(X)
#undef X
	};
	return texts[fault];
}

/* What the trace says, in one pass. */

struct waiter {
	uint32_t event, thread;
};

struct barrier {
	uint32_t round, arrived, parties;
	bool leaving;
};

/* State of the pass over the trace, by object. */
struct scan {
	uint32_t *holder;        /* locks: by (thread) lists below would do; exclusive holder's acquiring event */
	uint32_t *once_end;      /* last ONCE_END */
	struct barrier *barrier; /* present round */
	uint32_t *round_of;      /* by thread: round of its last arrival */
	uint32_t *held;          /* shared holds: stack of acquiring events, all threads */
	uint32_t held_count;
	struct waiter *waiting; /* untimed waits under way, oldest first */
	uint32_t waiting_count;
	uint32_t *signal; /* by thread: signal meant for its wait, MODEL_NONE: none yet */
	int64_t *level;
	bool *started;
};

static void scan_acquire(struct judge *j, struct scan *s, uint32_t e, uint32_t lock, bool shared)
{
	(void)j;
	if (shared)
		s->held[s->held_count++] = e;
	else
		s->holder[lock] = e;
}

/* Which hold of this thread does a release of the lock end? */
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

/* A signal wakes the untimed wait of its condition that began first and has no signal yet; a broadcast all of them. */
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

/* A wait that ends without a signal takes one that another, who waits on, was thought to have had. */
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
		scan_acquire(j, s, e, mutex, false);
}

/* The WAIT_END of the wait that begins here, MODEL_NONE if the trace ends before. */
static uint32_t wait_end_of(const struct model *m, uint32_t begin)
{
	const struct model_thread *t = &m->threads[model_thread_of(m, begin)];
	for (uint32_t pos = m->events[begin].pos + 1; pos < t->count; pos++)
		if (model_op(m, t->events[pos]) == RT_OP_WAIT_END)
			return t->events[pos];
	return MODEL_NONE;
}

/* Is the wait one that may end without a signal? Of one that goes on at the trace's end that is not known. */
static bool wait_is_timed(const struct model *m, uint32_t begin)
{
	uint32_t end = wait_end_of(m, begin);
	return end != MODEL_NONE && (m->sites[m->events[end].site].flags & (RT_F_TIMED | RT_F_TIMEOUT));
}

static void scan_wait_begin(struct judge *j, struct scan *s, uint32_t e)
{
	uint32_t mutex = model_arg(j->m, e);
	if (mutex != MODEL_NONE)
		j->partner[e] = scan_release(j, s, e, mutex);
	if (!wait_is_timed(j->m, e))
		s->waiting[s->waiting_count++] = (struct waiter){e, model_thread_of(j->m, e)};
}

/* Rounds: `parties` arrivals make one; where that number is unknown, the first leave ends the round's arrivals. */
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
		scan_acquire(j, s, e, object, model_op(m, e) == RT_OP_ACQUIRE_SHARED);
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
		/* Before it is initialised in the trace, it must have held what was taken. */
		if (!s->started[object] && -s->level[object] > j->initial[object])
			j->initial[object] = -s->level[object];
		break;
	default:
		break;
	}
}

/* HB_BEFORE events, grouped by object; afterwards partner[HB_AFTER] becomes a count within the object's group. */
static bool scan_annotations(struct judge *j)
{
	const struct model *m = j->m;
	uint32_t *first = j->annotation_first;
	uint32_t total = 0;
	for (uint32_t i = 0; i < m->sync_count; i++)
		if (model_op(m, m->sync[i]) == RT_OP_HB_BEFORE) {
			first[m->events[m->sync[i]].object + 1]++;
			total++;
		}
	for (uint32_t o = 0; o < m->object_count; o++)
		first[o + 1] += first[o];
	j->annotations = malloc((total + 1) * sizeof *j->annotations);
	uint32_t *fill = calloc(m->object_count + 1, sizeof *fill);
	if (!j->annotations || !fill) {
		free(fill);
		return false;
	}
	for (uint32_t i = 0; i < m->sync_count; i++) {
		uint32_t e = m->sync[i], object = m->events[e].object;
		if (model_op(m, e) == RT_OP_HB_BEFORE)
			j->annotations[first[object] + fill[object]++] = e;
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
		ok = scan_annotations(j);
	}
	free(s.holder);
	free(s.once_end);
	free(s.barrier);
	free(s.round_of);
	free(s.held);
	free(s.waiting);
	free(s.signal);
	free(s.level);
	free(s.started);
	return ok;
}

static void scan_cells(struct judge *j)
{
	const struct model *m = j->m;
	for (uint32_t c = 0; c < m->cell_count; c++) {
		uint32_t last = MODEL_NONE;
		for (uint32_t i = m->cells[c].first; i < m->cells[c].first + m->cells[c].count; i++) {
			j->before[i] = last;
			if (m->events[m->cell_events[i]].object == c)
				j->saw[m->cell_events[i]] = last == MODEL_NONE ? last : m->cell_events[last];
			if (rt_op_writes(model_op(m, m->cell_events[i])))
				last = i;
		}
	}
}

void judge_free(struct judge *j)
{
	if (!j)
		return;
	free(j->before);
	free(j->saw);
	free(j->partner);
	free(j->round_size);
	free(j->annotations);
	free(j->annotation_first);
	free(j->initial);
	free(j->next);
	free(j->frozen);
	free(j->unheard);
	free(j->last);
	free(j->owner);
	free(j->readers);
	free(j->value);
	free(j->annotated);
	free(j->arrived);
	values_release(&j->values);
	free(j);
}

struct judge *judge_create(const struct model *m)
{
	struct judge *j = calloc(1, sizeof *j);
	if (!j)
		return NULL;
	size_t objects = m->object_count + 1, threads = m->thread_count + 1;
	j->m = m;
	j->before = malloc(((size_t)model_entries(m) + 1) * sizeof *j->before);
	j->saw = malloc((m->event_count + 1) * sizeof *j->saw);
	j->partner = malloc((m->event_count + 1) * sizeof *j->partner);
	j->round_size = calloc(m->sync_count + 1, sizeof *j->round_size);
	j->annotation_first = calloc(objects + 1, sizeof *j->annotation_first);
	j->initial = calloc(objects, sizeof *j->initial);
	j->next = malloc(threads * sizeof *j->next);
	j->frozen = malloc(threads * sizeof *j->frozen);
	j->unheard = malloc(threads * sizeof *j->unheard);
	j->last = malloc((m->cell_count + 1) * sizeof *j->last);
	j->owner = malloc(objects * sizeof *j->owner);
	j->readers = malloc(objects * sizeof *j->readers);
	j->value = malloc(objects * sizeof *j->value);
	j->annotated = malloc(objects * sizeof *j->annotated);
	j->arrived = malloc((m->sync_count + 1) * sizeof *j->arrived);
	if (!j->before || !j->saw || !j->partner || !j->round_size || !j->annotation_first || !j->initial || !j->next ||
	    !j->frozen || !j->unheard || !j->last || !j->owner || !j->readers || !j->value || !j->annotated ||
	    !j->arrived) {
		judge_free(j);
		return NULL;
	}
	memset(j->partner, 0xff, (m->event_count + 1) * sizeof *j->partner);
	scan_cells(j);
	if (!scan_sync(j) || (m->value_count && !values_init(&j->values, m))) {
		judge_free(j);
		return NULL;
	}
	return j;
}

/* Replay. */

struct replay {
	struct judge *j;
	const struct goal *goal;
	struct verdict_of_judge *v;
	uint32_t reached; /* SEQUENCE: so many goal events have occurred */
};

static bool fault(struct replay *r, enum verify_fault fault, uint32_t event, uint32_t other)
{
	r->v->fault = fault;
	r->v->event = event;
	r->v->other = other;
	return false;
}

static void judge_reset(struct judge *j)
{
	size_t objects = j->m->object_count;
	memset(j->next, 0, j->m->thread_count * sizeof *j->next);
	memset(j->frozen, 0, j->m->thread_count * sizeof *j->frozen);
	memset(j->unheard, 0, j->m->thread_count * sizeof *j->unheard);
	memset(j->last, 0xff, j->m->cell_count * sizeof *j->last);
	memset(j->owner, 0xff, objects * sizeof *j->owner);
	memset(j->readers, 0, objects * sizeof *j->readers);
	memcpy(j->value, j->initial, objects * sizeof *j->value);
	memset(j->annotated, 0, objects * sizeof *j->annotated);
	memset(j->arrived, 0, j->round_count * sizeof *j->arrived);
}

static bool occurred(const struct judge *j, uint32_t e)
{
	return j->next[model_thread_of(j->m, e)] > j->m->events[e].pos;
}

/* Is e a goal event of a sequence? */
static bool is_goal(const struct replay *r, uint32_t e)
{
	for (uint32_t i = 0; i < r->goal->count && r->goal->kind == GOAL_SEQUENCE; i++)
		if (r->goal->events[i] == e)
			return true;
	return false;
}

/* The write that a read saw in one of its cells, an event index; MODEL_NONE: the initial value. */
static uint32_t saw_in(const struct judge *j, uint32_t cell, uint32_t e)
{
	const struct model *m = j->m;
	if (cell == m->events[e].object)
		return j->saw[e];
	uint32_t before = j->before[model_entry(m, cell, e)];
	return before == MODEL_NONE ? before : m->cell_events[before];
}

/* May a read see the last write, which it did not see, because its value is the same? An atomic read stays behind the
 * write that it saw. */
static bool same_value(const struct judge *j, uint32_t cell, uint32_t e, uint32_t last)
{
	const struct model *m = j->m;
	if (!j->values.like)
		return false;
	uint32_t saw = saw_in(j, cell, e),
	         like = last == MODEL_NONE ? last : j->values.like[model_entry(m, cell, last)];
	if (j->values.saw[model_entry(m, cell, e)] != like)
		return false;
	return !rt_op_is_atomic(model_op(m, e)) || saw == MODEL_NONE || occurred(j, saw);
}

/* Reads must see what they saw; writes are seen from now on. */
static bool replay_access(struct replay *r, uint32_t e, uint32_t thread)
{
	struct judge *j = r->j;
	const struct model *m = j->m;
	const struct model_site *site = &m->sites[m->events[e].site];
	uint32_t cell = m->events[e].object, end = cell + site->cells;
	bool other = false, reads = rt_op_reads(site->op), writes = rt_op_writes(site->op);
	for (; cell < end; cell++) {
		uint32_t last = j->last[cell];
		if (reads && last != saw_in(j, cell, e)) {
			bool same = same_value(j, cell, e, last);
			if (!same && !is_goal(r, e))
				return fault(r, VERIFY_READS_FROM, e, last);
			j->frozen[thread] |= !same;
			other |= same;
		}
		if (writes)
			j->last[cell] = e;
	}
	if (other && !r->v->substitutes++)
		r->v->substitute = e;
	return true;
}

static bool replay_acquire(struct replay *r, uint32_t e, uint32_t lock, bool shared)
{
	struct judge *j = r->j;
	if (j->owner[lock] != MODEL_NONE)
		return fault(r, VERIFY_LOCK_HELD, e, j->owner[lock]);
	if (!shared && j->readers[lock])
		return fault(r, VERIFY_LOCK_HELD, e, MODEL_NONE);
	if (shared)
		j->readers[lock]++;
	else
		j->owner[lock] = e;
	return true;
}

/*
 * Ends the hold that it ended in the trace. That hold is the same thread's, so program order has seen to its being
 * there, and no other release ends it: there is nothing to refuse.
 */
static void replay_release(struct judge *j, uint32_t e, uint32_t lock)
{
	uint32_t acquire = j->partner[e];
	if (acquire == MODEL_NONE)
		return; /* taken before the trace began */
	if (model_op(j->m, acquire) == RT_OP_ACQUIRE_SHARED)
		j->readers[lock]--;
	else
		j->owner[lock] = MODEL_NONE;
}

static bool replay_join(struct replay *r, uint32_t e)
{
	const struct judge *j = r->j;
	const struct model_thread *child = &j->m->threads[j->m->events[e].object];
	if (child->fork != MODEL_NONE && !occurred(j, child->fork))
		return fault(r, VERIFY_NOT_BEGUN, e, child->fork);
	uint32_t next = j->next[j->m->events[e].object];
	/* Events that the trace has after the join (a thread that outlives it is no child of this join) are not asked
	 * for. */
	if (next < child->count && child->events[next] < e)
		return fault(r, VERIFY_JOIN_EARLY, e, child->events[next]);
	return true;
}

static bool replay_annotation(struct replay *r, uint32_t e)
{
	struct judge *j = r->j;
	uint32_t object = j->m->events[e].object;
	uint32_t *list = j->annotations + j->annotation_first[object];
	uint32_t *done = &j->annotated[object];
	while (*done < j->partner[e] && occurred(j, list[*done]))
		(*done)++;
	return *done >= j->partner[e] || fault(r, VERIFY_ANNOTATION, e, list[*done]);
}

/* Has the signal that ends the wait beginning here been sent already? Then nobody hears it. */
static bool signalled_early(const struct judge *j, uint32_t begin)
{
	uint32_t end = wait_end_of(j->m, begin);
	return end != MODEL_NONE && j->partner[end] != MODEL_NONE && occurred(j, j->partner[end]);
}

static bool replay_sync(struct replay *r, uint32_t e)
{
	struct judge *j = r->j;
	const struct model *m = j->m;
	uint32_t object = m->events[e].object, partner = j->partner[e], mutex;
	switch (model_op(m, e)) {
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
		return replay_acquire(r, e, object, model_op(m, e) == RT_OP_ACQUIRE_SHARED);
	case RT_OP_RELEASE:
		replay_release(j, e, object);
		return true;
	case RT_OP_WAIT_BEGIN:
		j->unheard[model_thread_of(m, e)] = signalled_early(j, e);
		mutex = model_arg(m, e);
		if (mutex != MODEL_NONE)
			replay_release(j, e, mutex);
		return true;
	case RT_OP_WAIT_END:
		if (partner != MODEL_NONE && (!occurred(j, partner) || j->unheard[model_thread_of(m, e)]))
			return fault(r, VERIFY_NO_SIGNAL, e, partner);
		mutex = model_arg(m, e);
		return mutex == MODEL_NONE || replay_acquire(r, e, mutex, false);
	case RT_OP_JOIN:
		return replay_join(r, e);
	case RT_OP_BARRIER_ARRIVE:
		if (partner != MODEL_NONE)
			j->arrived[partner]++;
		return true;
	case RT_OP_BARRIER_LEAVE:
		return partner == MODEL_NONE || j->arrived[partner] >= j->round_size[partner] ||
		       fault(r, VERIFY_BARRIER_EARLY, e, MODEL_NONE);
	case RT_OP_SEM_INIT:
		j->value[object] = model_arg(m, e) == MODEL_NONE ? 0 : model_arg(m, e);
		return true;
	case RT_OP_SEM_POST:
		j->value[object]++;
		return true;
	case RT_OP_SEM_WAIT:
		return j->value[object]-- > 0 || fault(r, VERIFY_SEMAPHORE_ZERO, e, MODEL_NONE);
	case RT_OP_ONCE_SEEN:
		return partner == MODEL_NONE || occurred(j, partner) || fault(r, VERIFY_ONCE_EARLY, e, partner);
	case RT_OP_HB_AFTER:
		return replay_annotation(r, e);
	default:
		return true;
	}
}

/* Goal events of a sequence come in its order. */
static bool replay_goal_event(struct replay *r, uint32_t e)
{
	if (r->reached < r->goal->count && r->goal->events[r->reached] == e) {
		r->reached++;
		return true;
	}
	return fault(r, VERIFY_GOAL_ORDER, e, r->reached < r->goal->count ? r->goal->events[r->reached] : MODEL_NONE);
}

/* Is e the goal's next event, right behind the goal's last one in the same thread? */
static bool continues_goal(const struct replay *r, uint32_t e)
{
	return r->reached && r->reached < r->goal->count && r->goal->events[r->reached] == e &&
	       r->goal->events[r->reached - 1] == model_pred(r->j->m, e);
}

/* Has the thread's creation occurred? */
static bool begun(const struct judge *j, uint32_t thread)
{
	uint32_t fork = j->m->threads[thread].fork;
	return fork == MODEL_NONE || occurred(j, fork);
}

static bool replay_event(struct replay *r, uint32_t e, uint32_t thread)
{
	struct judge *j = r->j;
	const struct model *m = j->m;
	if (j->frozen[thread] && !continues_goal(r, e))
		return fault(r, VERIFY_FROZEN, e, MODEL_NONE);
	if (is_goal(r, e) && !replay_goal_event(r, e))
		return false;
	if (!(rt_op_is_access(model_op(m, e)) ? replay_access(r, e, thread) : replay_sync(r, e)))
		return false;
	j->next[thread]++;
	return true;
}

/* The goal itself. */

static bool goal_stands_before(struct replay *r)
{
	const struct judge *j = r->j;
	for (uint32_t i = 0; i < r->goal->count; i++) {
		uint32_t e = r->goal->events[i];
		if (e >= j->m->event_count)
			return fault(r, VERIFY_NO_EVENT, e, MODEL_NONE);
		uint32_t thread = model_thread_of(j->m, e);
		if (j->next[thread] != j->m->events[e].pos)
			return fault(r, VERIFY_GOAL_NOT_NEXT, e, MODEL_NONE);
		if (!begun(j, thread))
			return fault(r, VERIFY_NOT_BEGUN, e, j->m->threads[thread].fork);
	}
	return true;
}

static bool share_cell(const struct model *m, uint32_t e1, uint32_t e2)
{
	uint32_t first1 = m->events[e1].object, first2 = m->events[e2].object;
	return first1 < first2 + m->sites[m->events[e2].site].cells &&
	       first2 < first1 + m->sites[m->events[e1].site].cells;
}

static bool goal_race(struct replay *r)
{
	const struct model *m = r->j->m;
	uint32_t e1 = r->goal->events[0], e2 = r->goal->events[1];
	if (r->goal->count != 2 || !goal_stands_before(r))
		return r->v->fault != VERIFY_NONE ? false : fault(r, VERIFY_GOAL_MISSED, MODEL_NONE, MODEL_NONE);
	unsigned op1 = model_op(m, e1), op2 = model_op(m, e2);
	bool conflict = rt_op_is_access(op1) && rt_op_is_access(op2) && share_cell(m, e1, e2) &&
	                (rt_op_writes(op1) || rt_op_writes(op2)) && !(rt_op_is_atomic(op1) && rt_op_is_atomic(op2)) &&
	                model_thread_of(m, e1) != model_thread_of(m, e2);
	return conflict || fault(r, VERIFY_GOAL_NO_CONFLICT, e1, e2);
}

/* The lock that an acquiring event takes, MODEL_NONE if it takes none. */
static uint32_t lock_wanted(const struct model *m, uint32_t e)
{
	switch (model_op(m, e)) {
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
		return m->events[e].object;
	case RT_OP_WAIT_END:
		return model_arg(m, e);
	default:
		return MODEL_NONE;
	}
}

/* Does the thread that stands before `at` hold the lock so that `want` is blocked? */
static bool blocks(const struct model *m, uint32_t at, uint32_t want)
{
	uint32_t pred = model_pred(m, at), lock = lock_wanted(m, want);
	if (pred == MODEL_NONE || lock == MODEL_NONE || model_thread_of(m, at) == model_thread_of(m, want))
		return false;
	const struct model_lockset *held = &m->locksets[model_lockset_of(m, pred)];
	for (uint32_t i = 0; i < held->count; i++)
		if (held->locks[i].object == lock)
			return !held->locks[i].shared || model_op(m, want) != RT_OP_ACQUIRE_SHARED;
	return false;
}

static bool goal_deadlock(struct replay *r)
{
	const struct goal *g = r->goal;
	if (!goal_stands_before(r))
		return false;
	for (uint32_t i = 0; i < g->count; i++) {
		uint32_t e = g->events[i], signal = r->j->partner[e];
		/* Who waits for a signal still does not wait for the mutex yet. */
		if (model_op(r->j->m, e) == RT_OP_WAIT_END && signal != MODEL_NONE &&
		    (!occurred(r->j, signal) || r->j->unheard[model_thread_of(r->j->m, e)]))
			return fault(r, VERIFY_NO_SIGNAL, e, signal);
		bool blocked = false;
		for (uint32_t k = 0; k < g->count && !blocked; k++)
			blocked = blocks(r->j->m, g->events[k], g->events[i]);
		if (!blocked)
			return fault(r, VERIFY_GOAL_NOT_BLOCKED, g->events[i], MODEL_NONE);
	}
	return g->count > 1 || fault(r, VERIFY_GOAL_MISSED, MODEL_NONE, MODEL_NONE);
}

static bool goal_sequence(struct replay *r, const struct schedule *s)
{
	const struct goal *g = r->goal;
	const struct schedule_step *last = s->count ? &s->steps[s->count - 1] : NULL;
	uint32_t final = g->count ? g->events[g->count - 1] : MODEL_NONE;
	return (last && r->reached == g->count && last->thread == model_thread_of(r->j->m, final) &&
	        last->to == r->j->m->events[final].pos) ||
	       fault(r, VERIFY_GOAL_MISSED, r->reached < g->count ? g->events[r->reached] : MODEL_NONE, MODEL_NONE);
}

/* A run of one thread's events; they are its next ones, and it has begun. */
static bool replay_step(struct replay *r, const struct schedule_step *step)
{
	const struct judge *j = r->j;
	const struct model *m = j->m;
	uint32_t thread = step->thread;
	if (thread >= m->thread_count || step->to >= m->threads[thread].count || step->from > step->to)
		return fault(r, VERIFY_NO_EVENT, MODEL_NONE, MODEL_NONE);
	const uint32_t *events = m->threads[thread].events;
	if (j->next[thread] != step->from)
		return fault(r, VERIFY_PROGRAM_ORDER, events[step->from],
		             j->next[thread] < m->threads[thread].count ? events[j->next[thread]] : MODEL_NONE);
	if (!begun(j, thread))
		return fault(r, VERIFY_NOT_BEGUN, events[step->from], m->threads[thread].fork);
	for (uint32_t pos = step->from; pos <= step->to; pos++, r->v->step++)
		if (!replay_event(r, events[pos], thread))
			return false;
	return true;
}

void judge_verify(struct judge *j, const struct schedule *s, const struct goal *goal, struct verdict_of_judge *v)
{
	struct replay r = {j, goal, v, 0};
	*v = (struct verdict_of_judge){VERIFY_NONE, 0, MODEL_NONE, MODEL_NONE, 0, MODEL_NONE};
	judge_reset(j);
	for (uint32_t i = 0; i < s->count; i++)
		if (!replay_step(&r, &s->steps[i]))
			return;
	switch (goal->kind) {
	case GOAL_RACE:
		goal_race(&r);
		break;
	case GOAL_DEADLOCK:
		goal_deadlock(&r);
		break;
	case GOAL_SEQUENCE:
		goal_sequence(&r, s);
		break;
	}
}
