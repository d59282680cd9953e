/* The judge; see verify.h for the definition that it applies. */
#include "lib/judge/judge.h"

#include "lib/base/assert.h"
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

struct replay {
	struct judge *j;
	const struct goal *goal;
	struct verdict_of_judge *v;
	uint32_t reached; /* SEQUENCE: number of goal events that have occurred */
	/* The reads that saw another write, if reads may see any write; otherwise NULL. */
	struct judge_reads *others;
	uint32_t pending; /* bit i: the goal's event i saw another write, and its thread has not run on since */
};

static bool fault(struct replay *r, enum verify_fault fault, uint32_t event, uint32_t other)
{
	r->v->fault = fault;
	r->v->event = event;
	r->v->other = other;
	return false;
}

static bool occurred(const struct judge *j, uint32_t e)
{
	return j->next[model_thread_of(j->m, e)] > j->m->events[e].pos;
}

/* True if e is a goal event of a sequence. */
static bool is_goal(const struct replay *r, uint32_t e)
{
	for (uint32_t i = 0; i < r->goal->count && r->goal->kind == GOAL_SEQUENCE; i++)
		if (r->goal->events[i] == e)
			return true;
	return false;
}

/* The write that the read at this entry saw, an event index; MODEL_NONE: the initial value. */
static uint32_t saw_at(const struct judge *j, uint32_t entry)
{
	uint32_t before = j->before[entry];
	return before == MODEL_NONE ? before : j->m->cell_events[before];
}

uint32_t judge_saw(const struct judge *j, uint32_t e, uint32_t entry)
{
	return j->m->sites[j->m->events[e].site].cells == 1 ? j->partner[e] : saw_at(j, entry);
}

/* The same of a read in one of its cells. */
static uint32_t saw_in(const struct judge *j, uint32_t cell, uint32_t e)
{
	bool single = j->m->sites[j->m->events[e].site].cells == 1;
	return single ? j->partner[e] : saw_at(j, model_entry(j->m, cell, e));
}

/* True if the read may see the last write, which it did not see, because its value is the same. An atomic read stays
 * after the write that it saw. */
static bool same_value(struct judge *j, uint32_t cell, uint32_t e, uint32_t last)
{
	uint32_t saw = saw_in(j, cell, e);
	if (j->changed[cell] || !judge_same_value(j, cell, saw, last))
		return false;
	return !rt_op_is_atomic(model_op(j->m, e)) || saw == MODEL_NONE || occurred(j, saw);
}

/* The read sees another value in the cell than in the trace. False, and the fault is set, if it may not. */
static bool see_changed(struct replay *r, uint32_t cell, uint32_t e, uint32_t thread)
{
	struct judge *j = r->j;
	bool goal = is_goal(r, e), update = model_is_update(j->m, e);
	if (!goal && !update)
		return fault(r, VERIFY_READS_FROM, e, j->last[cell]);
	j->frozen[thread] |= goal;
	j->updating[thread] |= update;
	r->v->updates += !goal;
	return true;
}

/* For reads that may see any write. */

static void add_other(struct replay *r, uint32_t e)
{
	struct judge_reads *o = r->others;
	if (!vec_reserve(&o->events, &o->capacity, (uint64_t)o->count + 1, sizeof *o->events)) {
		o->failed = true;
		return;
	}
	o->events[o->count++] = e;
}

static bool acquires(unsigned order)
{
	return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}

static bool releases(unsigned order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

/* True if the read synchronised with the write that it saw in this cell, and that write has not occurred. */
static bool synchronises_early(const struct judge *j, uint32_t cell, uint32_t e)
{
	const struct model *m = j->m;
	uint32_t saw = saw_in(j, cell, e);
	return saw != MODEL_NONE && rt_op_is_atomic(model_op(m, e)) && rt_op_is_atomic(model_op(m, saw)) &&
	       acquires(m->sites[m->events[e].site].order) && releases(m->sites[m->events[saw].site].order) &&
	       !occurred(j, saw);
}

/* The read e sees another write in one of its cells. */
static bool see_other(struct replay *r, uint32_t cell, uint32_t e, uint32_t thread)
{
	bool early = synchronises_early(r->j, cell, e);
	if (!is_goal(r, e)) {
		if (early)
			return fault(r, VERIFY_READS_FROM, e, saw_in(r->j, cell, e));
		if (!r->others->count || r->others->events[r->others->count - 1] != e)
			add_other(r, e);
		return true;
	}
	r->j->frozen[thread] |= early;
	r->pending |= UINT32_C(1) << (r->reached - 1);
	return true;
}

/* A thread runs on after goal events: the writes that these saw now matter. */
static void run_on(struct replay *r, uint32_t thread)
{
	for (uint32_t i = 0; i < r->reached; i++)
		if (r->pending >> i & 1 && model_thread_of(r->j->m, r->goal->events[i]) == thread) {
			add_other(r, r->goal->events[i]);
			r->pending &= ~(UINT32_C(1) << i);
		}
}

/* Checks that reads see what they saw; makes writes visible. */
static bool replay_access(struct replay *r, uint32_t e, uint32_t thread)
{
	struct judge *j = r->j;
	const struct model *m = j->m;
	const struct model_site *site = &m->sites[m->events[e].site];
	uint32_t first = m->events[e].object, cell = first, end = cell + site->cells;
	bool other = false, reads = rt_op_reads(site->op), writes = rt_op_writes(site->op);
	bool updating = j->updating[thread];
	j->updating[thread] = false;
	uint32_t entry = j->partner[e];
	for (; cell < end; cell++) {
		judge_cell(j, cell);
		uint32_t last = j->last[cell], saw = j->partner[e];
		if (reads && site->cells > 1) {
			entry = cell == first ? entry : model_entry_behind(m, cell, e, entry);
			saw = saw_at(j, entry);
		}
		if (reads && (last != saw || j->changed[cell])) {
			bool same = last != saw && same_value(j, cell, e, last);
			if (!same && !(r->others ? see_other(r, cell, e, thread) : see_changed(r, cell, e, thread)))
				return false;
			other |= same;
		}
		if (writes) {
			j->last[cell] = e;
			j->changed[cell] = updating;
		}
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
 * Ends the hold that the release ended in the trace. That hold is the same thread's, so program order has begun it, and
 * no other release ends it: there is nothing to check.
 */
static void replay_release(struct judge *j, uint32_t e, uint32_t lock)
{
	uint32_t acquire = j->partner[e];
	if (acquire == MODEL_NONE)
		return; /* taken before the trace began */
	rt_assert(model_thread_of(j->m, acquire) == model_thread_of(j->m, e) && occurred(j, acquire));
	if (model_op(j->m, acquire) == RT_OP_ACQUIRE_SHARED) {
		rt_assert(j->readers[lock]);
		j->readers[lock]--;
	} else {
		rt_assert(j->owner[lock] == acquire);
		j->owner[lock] = MODEL_NONE;
	}
}

static bool replay_join(struct replay *r, uint32_t e)
{
	const struct judge *j = r->j;
	const struct model_thread *child = &j->m->threads[j->m->events[e].object];
	if (child->fork != MODEL_NONE && !occurred(j, child->fork))
		return fault(r, VERIFY_NOT_BEGUN, e, child->fork);
	uint32_t next = j->next[j->m->events[e].object];
	/* Events after the join in the trace (of a thread that outlives it) are not required. */
	if (next < child->count && child->events[next] < e)
		return fault(r, VERIFY_JOIN_EARLY, e, child->events[next]);
	return true;
}

static bool replay_annotation(struct replay *r, uint32_t e)
{
	struct judge *j = r->j;
	uint32_t object = j->m->events[e].object;
	uint32_t *list = j->by_object + j->by_object_first[object];
	uint32_t *done = &j->annotated[object];
	while (*done < j->partner[e] && occurred(j, list[*done]))
		(*done)++;
	return *done >= j->partner[e] || fault(r, VERIFY_ANNOTATION, e, list[*done]);
}

/* True if the signal that ends the wait beginning here was sent already: the wait has lost it. */
static bool signalled_early(const struct judge *j, uint32_t begin)
{
	uint32_t end = judge_wait_end(j->m, begin);
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
		j->lost_signal[model_thread_of(m, e)] = signalled_early(j, e);
		mutex = model_arg(m, e);
		if (mutex != MODEL_NONE)
			replay_release(j, e, mutex);
		return true;
	case RT_OP_WAIT_END:
		if (partner != MODEL_NONE && (!occurred(j, partner) || j->lost_signal[model_thread_of(m, e)]))
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
	/* The definition says nothing of when these occur. */
	case RT_OP_FENCE:
	case RT_OP_SIGNAL:
	case RT_OP_BROADCAST:
	case RT_OP_ONCE_BEGIN:
	case RT_OP_ONCE_END:
	case RT_OP_FORK:
	case RT_OP_REGION_BEGIN:
	case RT_OP_REGION_END:
	case RT_OP_HB_BEFORE:
	case RT_OP_ALLOC:
	case RT_OP_BLOCK:
		return true;
	RT_CASES_ACCESS:
	MODEL_CASES_NEVER_KEPT:
		break;
	}
	return fault(r, VERIFY_NO_RULE, e, MODEL_NONE);
}

/* Checks that a sequence's goal events come in its order. */
static bool replay_goal_event(struct replay *r, uint32_t e)
{
	if (r->reached < r->goal->count && r->goal->events[r->reached] == e) {
		r->reached++;
		return true;
	}
	return fault(r, VERIFY_GOAL_ORDER, e, r->reached < r->goal->count ? r->goal->events[r->reached] : MODEL_NONE);
}

/* True if e is the goal's next event, right after the goal's last one in the same thread, and comes whatever that one
 * sees. */
static bool continues_goal(const struct replay *r, uint32_t e)
{
	return (!r->j->m->program || r->goal->runs_on) && r->reached && r->reached < r->goal->count &&
	       r->goal->events[r->reached] == e && r->goal->events[r->reached - 1] == model_pred(r->j->m, e);
}

/* True if the thread's creation has occurred. */
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
	if (r->pending && !continues_goal(r, e))
		run_on(r, thread);
	if (is_goal(r, e) && !replay_goal_event(r, e))
		return false;
	if (!(rt_op_is_access(model_op(m, e)) ? replay_access(r, e, thread) : replay_sync(r, e)))
		return false;
	rt_assert(j->m->threads[thread].events[j->next[thread]] == e);
	j->next[thread]++;
	return true;
}

/* The goal. */

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

static bool goal_deadlock(struct replay *r, const struct schedule *s)
{
	const struct goal *g = r->goal;
	if (!goal_stands_before(r))
		return false;
	for (uint32_t i = 0; i < g->count; i++) {
		uint32_t e = g->events[i], signal = r->j->partner[e];
		bool unsignalled = goal_awaits_signal(r->j->m, g->events, g->count, i);
		/* A thread that still waits for a signal does not wait for the mutex yet. */
		if (!unsignalled && model_op(r->j->m, e) == RT_OP_WAIT_END && signal != MODEL_NONE &&
		    (!occurred(r->j, signal) || r->j->lost_signal[model_thread_of(r->j->m, e)]))
			return fault(r, VERIFY_NO_SIGNAL, e, signal);
		enum rt_op op = model_op(r->j->m, e);
		bool blocked = unsignalled ? judge_is_unheard(r->j, g, s, e)
		                           : (op == RT_OP_SEM_WAIT && judge_starves(r->j, g, e)) ||
		                                 (op == RT_OP_BARRIER_LEAVE && judge_lacks(r->j, g, e));
		for (uint32_t k = 0; k < g->count && !blocked && !unsignalled; k++)
			blocked = judge_blocks(r->j->m, g->events[k], g->events[i]);
		if (!blocked)
			return fault(r, VERIFY_GOAL_NOT_BLOCKED, g->events[i], MODEL_NONE);
	}
	bool alone = g->count == 1 && model_op(r->j->m, g->events[0]) == RT_OP_BLOCK;
	return alone || g->count > 1 || fault(r, VERIFY_GOAL_MISSED, MODEL_NONE, MODEL_NONE);
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

/* A run of one thread's events: they must be its next ones, and the thread must have begun. */
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

/* The goal's first event in the trace; the state before it does not depend on the goal. */
static uint32_t goal_first(const struct goal *g)
{
	uint32_t first = MODEL_NONE;
	for (uint32_t i = 0; i < g->count; i++)
		first = g->events[i] < first ? g->events[i] : first;
	return first;
}

/* Replays the trace's own events from `from` on, in its own order; they must be next. */
static void replay_recorded(struct replay *r, uint32_t at, uint32_t end)
{
	struct judge *j = r->j;
	uint32_t goal = goal_first(r->goal);
	for (; at < end; at++, r->v->step++) {
		uint32_t thread = model_thread_of(j->m, at);
		if (at == j->checkpoint_next && at <= goal && !r->v->substitutes)
			judge_keep(j);
		if (!begun(j, thread))
			fault(r, VERIFY_NOT_BEGUN, at, j->m->threads[thread].fork);
		if (r->v->fault || !replay_event(r, at, thread))
			return;
	}
}

/* The part's threads have come as far as they had when e occurred. Returns the number of its events up to there. */
static uint32_t come_to(struct judge *j, uint32_t e)
{
	uint32_t events = 0;
	for (uint32_t t = 0; t < j->m->thread_count; t++) {
		uint32_t executed = model_executed(j->m, t, e);
		j->next[t] = executed < j->cut[t] ? executed : j->cut[t];
		events += j->next[t];
	}
	return events;
}

/* Replays one event of the part. */
static bool replay_of_part(struct replay *r, uint32_t e)
{
	struct judge *j = r->j;
	enum rt_op op = model_op(j->m, e);
	uint32_t thread = model_thread_of(j->m, e);
	if (rt_op_is_access(op))
		judge_forget_cells(j, e, true);
	if (rt_op_is_access(op) || op == RT_OP_JOIN)
		come_to(j, e);
	j->next[thread] = j->m->events[e].pos;
	if (replay_event(r, e, thread))
		return true;
	r->v->step = come_to(j, e);
	if (!rt_op_is_access(op))
		judge_forget_cells(j, e, true);
	return false;
}

/*
 * Replays the trace's events from `from` on that are in the part, but for accesses that see what they saw, and goes on
 * behind it, unless there is a fault. False if this does not suffice.
 */
static bool replay_part(struct replay *r, uint32_t from, const struct judge_part *part)
{
	struct judge *j = r->j;
	const struct model *m = j->m;
	uint32_t misled = lower_bound(k, 0, j->misled_count, j->misled[k] < from);
	uint32_t sync = lower_bound(k, 0, m->sync_count, m->sync[k] < from), looked = misled + sync;
	while (misled < j->misled_count || (sync < m->sync_count && m->sync[sync] < part->behind)) {
		bool other = misled < j->misled_count && (sync == m->sync_count || j->misled[misled] <= m->sync[sync]);
		uint32_t e = other ? j->misled[misled++] : m->sync[sync++];
		if (!other && (!judge_keeps(j, e) || rt_op_is_access(model_op(m, e))))
			continue;
		if (!replay_of_part(r, e))
			return true;
		/* What an update leaves is another value from here on. */
		if (r->v->updates)
			return false;
	}
	memcpy(j->next, j->cut, m->thread_count * sizeof *j->next);
	judge_forget_cells(j, part->behind, true);
	r->v->step = part->events;
	/* In place of the part's events, what was looked at here. */
	r->v->replays -= part->events - from;
	r->v->replays += misled + sync - looked;
	return true;
}

/* Replays the schedule's first steps, as many as can be replayed together; the part is of these. */
static void replay_first(struct replay *r, const struct schedule *s, struct judge_part *part)
{
	struct judge *j = r->j;
	uint32_t events, steps = judge_prefix(j, s, &events), first = goal_first(r->goal);
	uint32_t free = events < first ? events : first, known = judge_restore(j, free);
	*r->v =
	    (struct verdict_of_judge){VERIFY_NONE, known, MODEL_NONE, MODEL_NONE, 0, MODEL_NONE, 0, s->events - free};
	if (judge_find_part(j, s, r->goal->kind == GOAL_SEQUENCE ? first : MODEL_NONE, free, part)) {
		struct verdict_of_judge before = *r->v;
		replay_recorded(r, known, free);
		if (r->v->fault || replay_part(r, free, part))
			return;
		judge_restore(j, known);
		*r->v = before;
	}
	*part = (struct judge_part){.steps = steps, .resumed = MODEL_NONE};
	replay_recorded(r, known, events);
}

static void verify(struct judge *j, const struct schedule *s, const struct goal *goal, struct verdict_of_judge *v,
                   struct judge_reads *others)
{
	struct replay r = {.j = j, .goal = goal, .v = v, .others = others};
	struct judge_part part;
	replay_first(&r, s, &part);
	for (uint32_t i = part.steps; !v->fault && i < s->count; i++) {
		struct schedule_step step = s->steps[i];
		if (i == part.steps && part.resumed != MODEL_NONE)
			step.from = part.resumed;
		replay_step(&r, &step);
	}
	if (v->fault)
		return;
	switch (goal->kind) {
	case GOAL_RACE:
		goal_race(&r);
		break;
	case GOAL_DEADLOCK:
		goal_deadlock(&r, s);
		break;
	case GOAL_SEQUENCE:
		goal_sequence(&r, s);
		break;
	}
}

void judge_verify(struct judge *j, const struct schedule *s, const struct goal *goal, struct verdict_of_judge *v)
{
	verify(j, s, goal, v, NULL);
	if (!v->fault)
		judge_remember(j, s, goal);
}

void judge_verify_free(struct judge *j, const struct schedule *s, const struct goal *goal, struct verdict_of_judge *v,
                       struct judge_reads *others)
{
	others->count = 0;
	verify(j, s, goal, v, others);
}
