/*
 * What a thread of a deadlock waits for, as the judge sees it: the locks that the others hold, that they end, that they
 * post or that they signal.
 */
#include "lib/judge/judge.h"

#include <string.h>

/* The lock that an acquiring event takes; MODEL_NONE if it takes none. */
static uint32_t lock_wanted(const struct model *m, uint32_t e)
{
	enum rt_op op = model_op(m, e);
	if (op == RT_OP_WAIT_END)
		return model_arg(m, e);
	if (op == RT_OP_BLOCK && rt_op_group(model_arg(m, e)) != RT_GROUP_LOCK)
		return MODEL_NONE;
	return op == RT_OP_BLOCK || rt_op_has(op, RT_TAKES) ? m->events[e].object : MODEL_NONE;
}

static bool wants_shared(const struct model *m, uint32_t e)
{
	return (model_op(m, e) == RT_OP_BLOCK ? model_arg(m, e) : model_op(m, e)) == RT_OP_ACQUIRE_SHARED;
}

/* True if the thread whose next event is `at` is in the routine of the once flag. */
static bool runs_once(const struct model *m, uint32_t at, uint32_t once)
{
	for (uint32_t e = model_pred(m, at); e != MODEL_NONE; e = model_pred(m, e))
		if (m->events[e].object == once && rt_op_group(model_op(m, e)) == RT_GROUP_ONCE)
			return model_op(m, e) == RT_OP_ONCE_BEGIN;
		else if (model_op(m, e) == RT_OP_HB_BEFORE &&
		         m->objects[m->events[e].object].addr == m->objects[once].addr)
			return false; /* it was left by an exception or a cancellation */
	return false;
}

/* True if the join cannot return before the event `at` has occurred, however long it takes. */
static bool joins(const struct model *m, uint32_t at, uint32_t join)
{
	return m->events[join].object == model_thread_of(m, at) && at < join &&
	       !(m->sites[m->events[join].site].flags & RT_F_TIMED);
}

bool judge_blocks(const struct model *m, uint32_t at, uint32_t want)
{
	uint32_t pred = model_pred(m, at), lock = lock_wanted(m, want);
	bool waits = model_op(m, want) == RT_OP_BLOCK;
	if (model_op(m, want) == RT_OP_JOIN)
		return joins(m, at, want);
	const struct model_pass *result = model_result_passed(m, want);
	if (result)
		return model_thread_of(m, at) == model_thread_of(m, result->set) && at <= result->set &&
		       m->events[at].pos >= result->from;
	uint32_t once = model_once_passed(m, want);
	if (once != MODEL_NONE)
		return model_thread_of(m, at) != model_thread_of(m, want) && runs_once(m, at, once);
	if (waits && model_arg(m, want) == RT_OP_JOIN)
		return m->events[want].object == model_thread_of(m, at);
	if (waits && model_arg(m, want) == RT_OP_ONCE_SEEN)
		return runs_once(m, at, m->events[want].object);
	if (waits && model_arg(m, want) == RT_OP_HB_AFTER)
		return rt_call_kind(m->threads[model_thread_of(m, want)].call) == RT_CALL_FILE_LOCK &&
		       rt_call_holder(m->threads[model_thread_of(m, want)].call) == model_thread_of(m, at);
	if (pred == MODEL_NONE || lock == MODEL_NONE || (!waits && model_thread_of(m, at) == model_thread_of(m, want)))
		return false;
	const struct model_lock *held = model_lockset_lock(m, model_lockset_of(m, pred), lock);
	return held && (!held->shared || !wants_shared(m, want));
}

/* True if the thread is another one of the goal than the waiting one. */
static bool is_other(const struct model *m, const struct goal *goal, uint32_t wait, uint32_t thread)
{
	for (uint32_t i = 0; i < goal->count; i++)
		if (goal->events[i] != wait && model_thread_of(m, goal->events[i]) == thread)
			return true;
	return false;
}

/* What the event adds to its semaphore. An initialisation may add anything. */
static int64_t added(const struct model *m, uint32_t e)
{
	enum rt_op op = model_op(m, e);
	return op == RT_OP_SEM_POST ? 1 : op == RT_OP_SEM_WAIT ? -1 : INT32_MAX;
}

/* True if another thread of the goal has the semaphore. */
static bool has_taken(const struct judge *j, const struct goal *goal, uint32_t wait)
{
	const struct model *m = j->m;
	const uint32_t *first = &j->by_object_first[m->events[wait].object];
	bool taken = false;
	memset(j->gives, 0, m->thread_count * sizeof *j->gives);
	for (uint32_t i = first[0]; i < first[1]; i++) {
		uint32_t e = j->by_object[i], thread = model_thread_of(m, e);
		if (m->events[e].pos < j->next[thread] && model_op(m, e) != RT_OP_SEM_INIT)
			j->gives[thread] -= added(m, e);
	}
	for (uint32_t t = 0; t < m->thread_count && !taken; t++)
		taken = j->gives[t] > 0 && is_other(m, goal, wait, t);
	return taken;
}

/* True if a thread may give more in what it has left than it takes: only others of the goal, or any thread outside. */
static bool gives(const struct judge *j, const struct goal *goal, uint32_t wait, bool outside)
{
	const struct model *m = j->m;
	const uint32_t *first = &j->by_object_first[m->events[wait].object];
	memset(j->gives, 0, m->thread_count * sizeof *j->gives);
	for (uint32_t i = first[0]; i < first[1]; i++) {
		uint32_t e = j->by_object[i], thread = model_thread_of(m, e);
		if (m->events[e].pos < j->next[thread] || thread == model_thread_of(m, wait))
			continue;
		j->gives[thread] += added(m, e);
		if (j->gives[thread] > 0 && is_other(m, goal, wait, thread) != outside)
			return true;
	}
	return false;
}

/* True if its initialisation has occurred, so that the value is known. */
static bool is_made(const struct judge *j, uint32_t semaphore)
{
	const struct model *m = j->m;
	for (uint32_t i = j->by_object_first[semaphore]; i < j->by_object_first[semaphore + 1]; i++) {
		uint32_t e = j->by_object[i];
		if (model_op(m, e) == RT_OP_SEM_INIT && m->events[e].pos < j->next[model_thread_of(m, e)])
			return true;
	}
	return false;
}

bool judge_starves(const struct judge *j, const struct goal *goal, uint32_t wait)
{
	const struct model *m = j->m;
	uint32_t semaphore = m->events[wait].object;
	return !(m->sites[m->events[wait].site].flags & RT_F_TIMED) && j->value[semaphore] <= 0 &&
	       is_made(j, semaphore) && !gives(j, goal, wait, true) &&
	       (has_taken(j, goal, wait) || gives(j, goal, wait, false));
}

bool judge_lacks(const struct judge *j, const struct goal *goal, uint32_t leave)
{
	const struct model *m = j->m;
	uint32_t round = j->partner[leave], barrier = m->events[leave].object, parties = 0, wanted = 0, arrived = 0;
	bool others = false;
	for (uint32_t i = j->by_object_first[barrier]; i < j->by_object_first[barrier + 1]; i++) {
		uint32_t e = j->by_object[i], thread = model_thread_of(m, e);
		wanted += j->partner[e] < round;
		if (j->partner[e] == round)
			parties = model_arg(m, e);
		if (m->events[e].pos < j->next[thread]) {
			arrived++;
			continue;
		}
		others = true;
		if (thread != model_thread_of(m, leave) && !is_other(m, goal, leave, thread))
			return false;
	}
	return others && parties && parties != MODEL_NONE && arrived < wanted + parties;
}

/* By thread: how many of its events the schedule has when it comes to e, which is in it. */
static void count_before(const struct judge *j, const struct schedule *s, uint32_t e)
{
	uint32_t thread = model_thread_of(j->m, e), pos = j->m->events[e].pos;
	memset(j->gives, 0, j->m->thread_count * sizeof *j->gives);
	for (uint32_t i = 0; i < s->count; i++) {
		const struct schedule_step *step = &s->steps[i];
		if (step->thread == thread && step->to >= pos)
			return;
		j->gives[step->thread] = step->to + INT64_C(1);
	}
}

bool judge_is_unheard(const struct judge *j, const struct goal *goal, const struct schedule *s, uint32_t end)
{
	const struct model *m = j->m;
	uint32_t condition = m->events[end].object, own = model_thread_of(m, end);
	bool others = false;
	count_before(j, s, model_pred(m, end));
	for (uint32_t i = j->by_object_first[condition]; i < j->by_object_first[condition + 1]; i++) {
		uint32_t e = j->by_object[i], thread = model_thread_of(m, e), pos = m->events[e].pos;
		if (thread == own)
			continue;
		bool left = pos >= j->next[thread], other = is_other(m, goal, end, thread);
		if (left ? !other : pos >= j->gives[thread])
			return false;
		others |= left;
	}
	return others && !m->part && !m->losses.count;
}
