/*
 * Threads that wait for others by themselves: they yield, pause, or look at the same variables again and again.
 * Fairness after Musuvathi and Qadeer (Fair Stateless Model Checking, PLDI 2008): they come after those that do not.
 */
#include "recorder/sched/sched.h"

#define QUANTUM_NS 100000u /* of virtual time that RT_QUANTUM plain accesses take */
#define QUANTUM_MAX (RT_QUANTUM * 256)

/* Others come first. */
static void yield_to_others(struct rt_task *t)
{
	t->yielded = true;
	t->yielded_at = rt_sched.steps;
}

/* True if the pause that it is about to make is nothing to the strategy. */
static bool skips_pause(struct rt_task *t)
{
	uint64_t now = atomic_load(&rt_sched.control->switches) + 1;
	bool skips = rt_sched.strategy->timeless && t->paused_at != now;

	t->paused_at = now;
	return skips;
}

void rt_turn_yield(uintptr_t pc)
{
	if (rt_sched_is_free())
		return;
	if (!skips_pause(rt_thread.task))
		yield_to_others(rt_thread.task);
	rt_turn_step(RT_OP_NONE, 0, 0, pc, 0, false);
}

static uint64_t records(const struct rt_slot *s)
{
	return s->published * RT_BLOCK_RECORDS + (uint64_t)(s->cur - s->ring) % RT_BLOCK_RECORDS;
}

/* Those that sleep in a pause that ends the process wait for what only computes, and may do so for ever. */
static bool is_awaited_to_end(void)
{
	for (const struct rt_task *t = rt_sched.first; t; t = t->after)
		if (t->lingers)
			return true;
	return false;
}

/*
 * A thread nearly all of whose accesses were repeats spins on a plain variable, or might. One that does not gets a
 * longer quantum each time: a change of threads starts the filter of repeats anew. After the longest one it may compute
 * for ever, as a loop that counts does: it is tired, and others come first. No time passes for that, as for a spin.
 */
static void end_quantum(uintptr_t pc)
{
	enum { SOME = 1000, SPUN_MOST = 5 };
	struct rt_task *t = rt_sched_enter();
	uint64_t now = records(rt_self);
	bool spins = now - t->records < t->quantum / SOME;
	bool tired = !spins && t->quantum >= QUANTUM_MAX;

	/* A thread that spins while others pause: their time passes faster, as what it does needs none. */
	t->spun = spins || (tired && is_awaited_to_end()) ? t->spun + (t->spun < SPUN_MOST) : 0;
	rt_sched_tick((uint64_t)(QUANTUM_NS << t->spun) * (t->quantum / RT_QUANTUM));
	if (spins)
		yield_to_others(t);
	t->tired = tired;
	t->tired_at = rt_sched.steps;
	t->quantum = spins ? RT_QUANTUM : t->quantum < QUANTUM_MAX ? t->quantum * 2 : t->quantum;
	t->records = now;
	rt_thread.patience = (int32_t)t->quantum;
	rt_sched_unlock();
	rt_sched_leave();
	rt_turn_step(RT_OP_NONE, 0, 0, pc, 0, false);
}

/*
 * For a copy of memory to memory GCC calls the hook of the write before that of the read, and neither has taken place
 * then. If another thread had its turn between the two hooks, the write would be in the trace before what precedes it.
 * Where each access is to be a step, the code tells such a read from others behind a write.
 */
void rt_turn_access(unsigned op, uint64_t object, uint64_t size, uintptr_t pc, unsigned flags)
{
	uintptr_t write = op == RT_OP_READ && !rt_sched_is_aimed_at(pc) ? rt_pending_write(rt_self) : 0;
	bool stored = write && rt_sched_interesting(pc) && rt_sched_has_stored(write, pc);

	if (write && !stored) {
		rt_thread.patience = 0;
		return;
	}
	rt_settle(rt_self, stored ? RT_OP_NONE : op);
	if (rt_sched_is_free()) {
		rt_thread.patience = RT_QUANTUM;
		return;
	}
	if (rt_thread.patience <= 0)
		end_quantum(pc);
	if (rt_sched_interesting(pc))
		rt_turn_step(op, object, size, pc, flags, false);
}

/*
 * A loop that looks at the same few variables again and again, and always sees the same, waits for another thread to
 * write. One that writes makes progress, and so does one that sees something new.
 */
void rt_turn_saw(uint64_t object, uint64_t value, uintptr_t pc)
{
	struct rt_task *t = rt_thread.task;

	if (!t)
		return;
	for (unsigned i = 0; i < sizeof t->seen / sizeof *t->seen; i++) {
		if (t->seen[i].object != object || t->seen[i].pc != pc)
			continue;
		if (t->seen[i].value != value)
			t->repeats = 0;
		else if (++t->repeats >= RT_SPIN_REPEATS)
			yield_to_others(t);
		t->seen[i].value = value;
		return;
	}
	t->seen[t->seen_next].object = object;
	t->seen[t->seen_next].value = value;
	t->seen[t->seen_next].pc = pc;
	t->seen_next = (t->seen_next + 1) % (sizeof t->seen / sizeof *t->seen);
	t->repeats = 0;
}

static void sleep_until(struct rt_until until, uintptr_t pc, bool skips)
{
	rt_turn_step(RT_OP_NONE, 0, 0, pc, RT_F_TIMED, false);
	if (skips)
		rt_sched_skip(until);
	else
		rt_turn_block(RT_OP_NONE, 0, until, true);
}

void rt_turn_sleep(struct rt_until until, uintptr_t pc)
{
	if (!rt_sched_is_free())
		sleep_until(until, pc, skips_pause(rt_thread.task));
}

void rt_turn_lets_others(struct rt_until until)
{
	if (rt_sched_is_free())
		return;
	rt_thread.task->lingers = true;
	sleep_until(until, 0, false);
	rt_thread.task->lingers = false;
}
