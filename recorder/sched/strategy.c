/* The table of strategies: a file and a line each. And what several of them need. */
#include "recorder/sched/sched.h"

/* clang-format off */
const struct rt_strategy *const rt_strategies[] = {
    &rt_strategy_random,
    &rt_strategy_noise,
    &rt_strategy_suspend,
    &rt_strategy_pct,
    &rt_strategy_pos,
    &rt_strategy_coverage,
    &rt_strategy_racefuzzer,
    &rt_strategy_drfinder,
    &rt_strategy_follow,
    &rt_strategy_systematic,
    NULL,
};
/* clang-format on */

bool rt_sched_hesitates(void)
{
	enum {
		OFTEN = 4,
		RARE = 256,
		SLOWING = 200
	}; /* mean number of steps, at first and in the end; one more after */
	static RT_OF_RUN uint64_t steps, wait;
	uint64_t mean = OFTEN + ++steps / SLOWING;
	bool now = wait == 0;

	wait = now ? rt_sched_random() % (2 * (mean < RARE ? mean : RARE)) : wait - 1;
	return now;
}

struct rt_task *rt_sched_any(struct rt_task *const *tasks, unsigned n)
{
	return tasks[n > 1 ? rt_sched_random() % n : 0];
}

struct rt_task *rt_sched_any_that(struct rt_task *const *tasks, unsigned n, bool (*is)(const struct rt_task *task),
                                  bool wanted)
{
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++)
		count += is(tasks[i]) == wanted;
	if (!count)
		return NULL;
	unsigned chosen = (unsigned)(rt_sched_random() % count);
	for (unsigned i = 0;; i++)
		if (is(tasks[i]) == wanted && chosen-- == 0)
			return tasks[i];
}

struct rt_task *rt_sched_wakes_any(struct rt_task *signaller, struct rt_task *const *waiters, unsigned n)
{
	(void)signaller;
	return rt_sched_any(waiters, n);
}

bool rt_sched_keeps(const struct rt_task *task, uint64_t lock, bool shared)
{
	const struct rt_thread *data = task->data;

	for (unsigned i = 0; data && i < data->held_count; i++)
		if (data->held[i].lock == lock && !(shared && data->held[i].shared))
			return true;
	return false;
}

/* True if it took the last token of the semaphore, which none has posted since, or runs the once-routine. */
static bool took_last(const struct rt_task *task, uint64_t object)
{
	for (unsigned i = 0; i < RT_TAKEN_MAX; i++)
		if (object && task->taken[i] == object)
			return true;
	return false;
}

bool rt_sched_waits_for(const struct rt_task *t, const struct rt_task *other)
{
	const struct rt_step *s = &t->next;

	if (t == other)
		return false;
	if (s->op == RT_OP_ATOMIC_LOAD) /* of a static local's guard: it is called for, and waited for, behind that */
		return took_last(other, s->object);
	if (!rt_step_waits(s))
		return false;
	if (s->op == RT_OP_JOIN)
		return rt_sched_task((uint32_t)s->object) == other;
	return rt_sched_keeps(other, rt_step_lock(s), s->op == RT_OP_ACQUIRE_SHARED) || took_last(other, s->object);
}

/* The real time at which the first thread wakes that waits for a time, but to end the process; UINT64_MAX: none. */
static uint64_t first_wake(void)
{
	uint64_t first = UINT64_MAX;

	for (const struct rt_task *t = rt_sched.first; t; t = t->after)
		if (t->state == RT_BLOCKED && t->wakes && !t->lingers && t->wakes_real < first)
			first = t->wakes_real;
	return first;
}

bool rt_sched_has_sleeper(void)
{
	return first_wake() != UINT64_MAX;
}

uint64_t rt_sched_waited(void)
{
	static RT_OF_RUN uint64_t steps, since;
	uint64_t now = rt_sched_real_ns(CLOCK_MONOTONIC);

	if (!since || steps != rt_sched.steps) {
		steps = rt_sched.steps;
		since = now;
	}
	return now - since;
}

bool rt_sched_awaits_sleeper(void)
{
	/* Until the strategy is to free a thread. Real naps take time. A poll of a socket may take minutes: its other
	 * end may wait for a thread that is kept. */
	enum { NAPS = 10000, REAL_NAPS = 10 };
	static RT_OF_RUN unsigned naps;
	static RT_OF_RUN uint64_t seen; /* naps at the last call */
	uint64_t waited = rt_sched_waited(), first = first_wake();
	bool real = rt_sched.outside || rt_sched.foreign || rt_sched.polling;

	if (first == UINT64_MAX)
		return false;
	naps += rt_sched.naps != seen;
	seen = rt_sched.naps;
	bool late = real && waited >= RT_AWAIT_SLEEPER_NS && first > rt_sched_real_ns(CLOCK_MONOTONIC) + RT_SOON_NS;
	if (naps < (real ? REAL_NAPS : NAPS) && !late)
		return true;
	naps = 0;
	return false;
}

uint64_t rt_sched_steps(void)
{
	return rt_sched.steps;
}

uint64_t rt_sched_now(void)
{
	return rt_sched.now;
}

struct rt_control *rt_sched_result(void)
{
	return rt_sched.control;
}

/* ---- Steps ---- */

enum access { NO_ACCESS, READS, WRITES, READS_ATOMICALLY, WRITES_ATOMICALLY };

static enum access access_of(const struct rt_step *s)
{
	switch (s->op) {
	case RT_OP_READ:
		return READS;
	case RT_OP_WRITE:
		return WRITES;
	case RT_OP_ATOMIC_LOAD:
	case RT_OP_ATOMIC_CAS_FAIL:
		return READS_ATOMICALLY;
	case RT_OP_ATOMIC_STORE:
	case RT_OP_ATOMIC_RMW:
	case RT_OP_ATOMIC_CAS:
		return WRITES_ATOMICALLY;
	default:
		return NO_ACCESS;
	}
}

static bool conflict(const struct rt_step *a, const struct rt_step *b, enum access to_a, enum access to_b)
{
	bool writes = to_a == WRITES || to_a == WRITES_ATOMICALLY || to_b == WRITES || to_b == WRITES_ATOMICALLY;

	return to_a && to_b && writes && a->object < b->object + b->arg && b->object < a->object + a->arg;
}

bool rt_step_acquires(const struct rt_step *s)
{
	return s->op == RT_OP_ACQUIRE || s->op == RT_OP_ACQUIRE_SHARED;
}

bool rt_step_waits(const struct rt_step *s)
{
	if (s->op == RT_OP_WAIT_END)
		return true; /* to the mutex, whatever ended the wait */
	return !(s->flags & RT_F_TIMED) &&
	       (rt_step_acquires(s) || s->op == RT_OP_SEM_WAIT || s->op == RT_OP_ONCE_SEEN || s->op == RT_OP_JOIN);
}

uint64_t rt_step_lock(const struct rt_step *s)
{
	return s->op == RT_OP_WAIT_END ? s->arg : s->object;
}

bool rt_steps_race(const struct rt_step *a, const struct rt_step *b)
{
	enum access to_a = access_of(a), to_b = access_of(b);

	return conflict(a, b, to_a, to_b) && !(to_a >= READS_ATOMICALLY && to_b >= READS_ATOMICALLY);
}

bool rt_steps_conflict(const struct rt_step *a, const struct rt_step *b)
{
	enum access to_a = access_of(a), to_b = access_of(b);

	if (to_a || to_b)
		return conflict(a, b, to_a, to_b);
	return a->op != RT_OP_NONE && b->op != RT_OP_NONE && a->object && a->object == b->object;
}
