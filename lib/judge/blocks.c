/* What a thread of a deadlock waits for, as the judge sees it: the locks that the others hold, or that they end. */
#include "lib/judge/judge.h"

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
