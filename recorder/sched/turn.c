/*
 * Turns. One controlled thread has the turn. Each other one sleeps on a futex word of its own, or is outside: in a call
 * that may block, from which it comes back by itself and queues. At each step the strategy decides which thread runs
 * next. Mostly it is the same one, at the price of a lock without contention.
 *
 * A thread finds out by a try whether it can do its step. If it cannot, it is blocked until an event gives the object,
 * then tries again. So nothing here needs to know how a kind of lock works.
 */
#include "recorder/sched/sched.h"

#include "recorder/runtime/syscall.h"

#include <errno.h>

/* Of a task's futex word. */
enum { GO_NOT, GO_ASLEEP, GO_NOW };

bool rt_controlled;
struct rt_sched rt_sched;

void rt_sched_lock(void)
{
	for (unsigned spin = 1; __atomic_exchange_n(&rt_sched.lock, 1, __ATOMIC_ACQUIRE); spin++) {
		RT_PAUSE();
		if (spin % 128 == 0)
			RT_SYSCALL(SYS_sched_yield);
	}
}

void rt_sched_unlock(void)
{
	__atomic_store_n(&rt_sched.lock, 0, __ATOMIC_RELEASE);
}

bool rt_turn_takes_part(void)
{
	return rt_thread.task;
}

/* ---- Giving and taking ---- */

void rt_sched_give(struct rt_task *to)
{
	bool asleep = false;

	rt_sched.holder = to;
	if (to) {
		atomic_store(&rt_channel->standstill, 0);
		to->state = RT_RUNNING;
		to->yielded = to->tired = false;
		asleep = __atomic_exchange_n(&to->go, GO_NOW, __ATOMIC_ACQ_REL) == GO_ASLEEP;
	} else { /* waits end by real time now */
		__atomic_fetch_add(&rt_sched.alarm, 1, __ATOMIC_RELEASE);
	}
	rt_sched_unlock();
	if (asleep)
		rt_futex_wake(&to->go, 1);
	else if (!to)
		rt_futex_wake(&rt_sched.alarm, 1);
}

/* The thread that had the turn has ended: what the C library does behind its last event is done before others go on. */
static void bury(void)
{
	enum { TRIES = 20000, QUICK = 100, PAUSE_US = 50 };
	int32_t tid = rt_sched.dying;
	long pid;

	if (!tid)
		return;
	rt_sched.dying = 0;
	pid = RT_SYSCALL(SYS_getpid);
	for (unsigned i = 0; i < TRIES && RT_SYSCALL(SYS_tgkill, pid, tid, 0) == 0; i++)
		if (i < QUICK)
			RT_SYSCALL(SYS_sched_yield);
		else
			rt_pause_us(PAUSE_US);
}

/* It is to have a turn for a handler. What would wake it meanwhile is not to be lost. */
static void set_aside(struct rt_task *t)
{
	uint64_t waits = t->waits;

	t->interrupted = true;
	if (t->state != RT_BLOCKED)
		return;
	rt_sched_unblock(t);
	t->waits_aside = waits;
}

/* A signal's handler waits for this thread, which waits for an object: it gets a turn for the handler. */
static void interrupt(struct rt_task *t)
{
	rt_sched_lock();
	if (t->state != RT_BLOCKED && t->state != RT_READY) {
		rt_sched_unlock();
		return;
	}
	set_aside(t);
	rt_sched_offer();
}

/* No thread could go on, and for a while no signal's handler ran: none is expected any more. */
static void give_up(void)
{
	rt_sched_lock();
	if (rt_sched.holder || rt_sched.outside || rt_sched.foreign || rt_sched.polling) {
		rt_sched_unlock();
		return;
	}
	rt_sched.overdue = true;
	struct rt_task *to = rt_sched_pick(NULL);

	rt_sched.overdue = false; /* the next wait for one is as long again */
	rt_sched_give(to);
}

void rt_sched_await(struct rt_task *t)
{
	enum { SPIN = 200, WAIT_MS = 1000 };

	for (unsigned spin = 0; spin < SPIN && __atomic_load_n(&t->go, __ATOMIC_ACQUIRE) != GO_NOW; spin++)
		RT_PAUSE();
	while (__atomic_load_n(&t->go, __ATOMIC_ACQUIRE) != GO_NOW) {
		uint32_t was = GO_NOT;

		if (!rt_controlled)
			return;
		if (rt_thread.deferred && rt_thread.busy == 1 && !t->interrupted)
			interrupt(t);
		if (!__atomic_load_n(&rt_sched.holder, __ATOMIC_ACQUIRE))
			rt_sched_watch();
		if ((__atomic_compare_exchange_n(&t->go, &was, GO_ASLEEP, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
		     was == GO_ASLEEP) &&
		    rt_futex_wait(&t->go, GO_ASLEEP, WAIT_MS) == -ETIMEDOUT)
			give_up();
	}
	__atomic_store_n(&t->go, GO_NOT, __ATOMIC_RELEASE);
	if (rt_sched.handles) /* what was sent before this turn has come when a system call returns */
		RT_SYSCALL(SYS_sched_yield);
	bury();
	atomic_fetch_add(&rt_sched.control->switches, 1);
	rt_thread.patience = (int32_t)t->quantum;
	if (rt_self->limit) { /* a run of its own, behind what others did */
		rt_self->last_stamp = atomic_fetch_add(&rt_channel->clock, 1) + 1;
		rt_emit_time();
	}
}

/* The lock is held, and the state says whether the thread could go on. Returns when it has the turn. */
void rt_sched_pass(struct rt_task *t)
{
	bool held = rt_sched.holder == t;
	struct rt_task *next = held ? rt_sched_pick(t) : rt_sched_pick_settled();

	if (next == t && held) {
		t->state = RT_RUNNING;
		t->tired = false;
		rt_sched_unlock();
		return;
	}
	if (next && held)
		rt_sched_log(t, next);
	rt_sched_give(next);
	rt_sched_await(t);
}

/* From outside. The lock is held. */
void rt_sched_queue(struct rt_task *t)
{
	if (t->state == RT_OUTSIDE) {
		rt_sched.outside--;
		rt_sched.computing -= t->computed != 0;
		t->computed = 0;
	}
	t->state = RT_READY;
	t->unsettled = false;
	rt_sched_offer();
	rt_sched_await(t);
}

/* ---- Steps ---- */

/* The scheduler's own work is no step. */
struct rt_task *rt_sched_enter(void)
{
	rt_settle(rt_self, RT_OP_NONE); /* before others may write there */
	rt_busy_begin();
	rt_thread.in_turn = true;
	rt_sched_lock();
	return rt_thread.task;
}

void rt_sched_leave(void)
{
	rt_thread.in_turn = false;
	rt_busy_end();
}

bool rt_sched_is_free(void)
{
	return !rt_thread.task || rt_thread.in_turn || rt_thread.task->roams;
}

void rt_turn_step(unsigned op, uint64_t object, uint64_t arg, uintptr_t pc, unsigned flags, bool blocks)
{
	if (rt_sched_is_free())
		return;
	struct rt_task *t = rt_sched_enter();
	t->next = (struct rt_step){.op = (uint8_t)op,
	                           .flags = (uint8_t)flags,
	                           .blocks = blocks,
	                           .object = object,
	                           .arg = arg,
	                           .pc = pc,
	                           .count = t->next.count + 1};
	rt_sched.steps++;
	atomic_store_explicit(&rt_sched.control->steps, rt_sched.steps, memory_order_relaxed);
	rt_sched_tick(RT_STEP_NS);
	if (rt_sched.holder != t) {
		rt_sched_queue(t);
	} else if (rt_sched_settle(t)) {
		; /* it was chosen */
	} else if (!t->yielded && !t->tired && rt_sched.strategy->goes_on && rt_sched.strategy->goes_on(t)) {
		rt_sched_unlock();
	} else {
		t->state = RT_READY;
		rt_sched_pass(t);
	}
	t->interrupted = false;
	rt_sched_leave();
}

void rt_turn_shares(void)
{
	struct rt_task *t = rt_sched_enter();
	bool held = false;

	for (unsigned i = 0; i < t->data->held_count; i++)
		held |= t->data->held[i].lock == t->next.object;
	t->shares = !held && !rt_sched_is_held(t);
	rt_sched_unlock();
	rt_sched_leave();
}

enum rt_turn_result rt_turn_block(unsigned op, uint64_t object, struct rt_until until, bool cancelable)
{
	struct rt_task *t = rt_sched_enter();
	struct rt_step step = t->next;
	struct pollfd *fds = t->fds;
	bool shares = t->shares;

	rt_sched_set_alarm(t, until);
	t->cancelable = cancelable;
	t->last_chance = false;
	for (uint64_t wakes = t->wakes;;) {
		t->wakes = wakes;
		if (wakes && wakes < rt_sched.next_wake)
			rt_sched.next_wake = wakes;
		t->interrupted = false;
		t->waits_aside = 0;
		t->waits = object;
		t->waits_op = (uint8_t)op;
		if (cancelable && t->canceled) {
			rt_sched_unlock();
			break;
		}
		t->state = RT_BLOCKED;
		rt_sched.blocked++;
		t->fds = fds;
		t->shares = shares;
		rt_sched.polling += fds || shares;
		rt_sched_pass(t);
		if (!t->interrupted || !rt_controlled)
			break;
		rt_sched_leave(); /* the handler runs */
		rt_sched_enter();
		step.count = t->next.count;
		t->next = step;
		if ((object && !t->waits_aside) || rt_sched_looks_again(t)) {
			rt_sched_unlock();
			break;
		}
	}
	t->interrupted = false;
	t->waits_aside = 0;
	t->cancelable = false;
	rt_sched_leave();
	if (!rt_controlled)
		return RT_TURN_FREE;
	if (t->timed_out)
		return RT_TURN_TIMEOUT;
	return cancelable && t->canceled ? RT_TURN_CANCELED : RT_TURN_AGAIN;
}

void rt_turn_gives(uint64_t object)
{
	if (!rt_thread.task || !rt_sched.blocked)
		return;
	rt_busy_begin();
	rt_sched_lock();
	for (struct rt_task *t = rt_sched.first; t; t = t->after)
		if (t->waits == object && t->waits_op != RT_OP_HB_AFTER && rt_sched_may_try(t))
			rt_sched_unblock(t);
	rt_sched_unlock();
	rt_busy_end();
}

/* The waiters in order of their coming would need a list; in order of creation is as good, for a strategy picks. */
unsigned rt_sched_waiters(unsigned op, uint64_t object)
{
	unsigned n = 0;

	for (struct rt_task *t = rt_sched.first; t; t = t->after)
		if (t->waits_op == op && object &&
		    (t->waits_aside == object || (t->state == RT_BLOCKED && t->waits == object)))
			rt_sched.enabled[n++] = t;
	return n;
}

void rt_sched_wake(struct rt_task *t)
{
	if (t->state == RT_BLOCKED)
		rt_sched_unblock(t);
	t->waits_aside = 0;
}

unsigned rt_turn_waiters(unsigned op, uint64_t object)
{
	rt_busy_begin();
	rt_sched_lock();
	unsigned n = rt_sched_waiters(op, object);
	rt_sched_unlock();
	rt_busy_end();
	return n;
}

unsigned rt_turn_wakes(unsigned op, uint64_t object, unsigned most)
{
	unsigned n, woken = 0;

	if (!rt_thread.task || rt_sched.live == 1)
		return 0;
	rt_busy_begin();
	rt_sched_lock();
	while (woken < most && (n = rt_sched_waiters(op, object)) > 0) {
		struct rt_task *chosen = n > 1 && most < n && rt_sched.strategy->wakes
		                             ? rt_sched.strategy->wakes(rt_thread.task, rt_sched.enabled, n)
		                             : NULL;

		rt_sched_wake(chosen ? chosen : rt_sched.enabled[0]);
		woken++;
	}
	rt_sched_unlock();
	rt_busy_end();
	return woken;
}

bool rt_turn_is_spurious(void)
{
	enum { SHARE = 4 };

	if (rt_sched_is_free() || !(rt_sched.control->flags & RT_CONTROL_SPURIOUS))
		return false;
	rt_busy_begin();
	rt_sched_lock();
	bool is = rt_sched_random() % SHARE == 0;
	rt_sched_unlock();
	rt_busy_end();
	return is;
}

bool rt_turn_is_last_chance(void)
{
	return rt_thread.task && rt_thread.task->last_chance;
}

void rt_turn_signaled(const struct rt_thread *thread)
{
	struct rt_task *t = thread->task;

	if (!t)
		return;
	rt_busy_begin();
	rt_sched_lock();
	if (t->state == RT_BLOCKED || t->state == RT_READY)
		set_aside(t);
	bool wakes = t->state == RT_OUTSIDE;
	rt_sched_unlock();
	rt_busy_end();
	if (wakes)
		rt_turn_woke();
}

/* ---- Around events ---- */

void rt_turn_emits(unsigned op, uint64_t object, uint64_t arg, uintptr_t pc, unsigned flags)
{
	switch (op) {
	case RT_OP_RELEASE:
	case RT_OP_WAIT_BEGIN:
	case RT_OP_SIGNAL:
	case RT_OP_BROADCAST:
	case RT_OP_BARRIER_ARRIVE:
	case RT_OP_SEM_POST:
	case RT_OP_ONCE_END:
	case RT_OP_HB_BEFORE:
	case RT_OP_END:
		rt_turn_step(op, object, arg, pc, flags, false);
		break;
	default:
		rt_turn_hold(pc);
	}
}

/* The semaphore has a token again; the once-routine is over. */
static void given(uint64_t object)
{
	if (!rt_thread.task)
		return;
	rt_busy_begin();
	rt_sched_lock();
	for (struct rt_task *t = rt_sched.first; t; t = t->after)
		for (unsigned i = 0; i < RT_TAKEN_MAX; i++)
			if (t->taken[i] == object)
				t->taken[i] = 0;
	rt_sched_unlock();
	rt_busy_end();
}

void rt_turn_took_last(uint64_t object)
{
	struct rt_task *t = rt_thread.task;
	unsigned i = 0;

	while (t && i < RT_TAKEN_MAX && t->taken[i])
		i++;
	if (t && i < RT_TAKEN_MAX)
		t->taken[i] = rt_place(object);
}

void rt_turn_emitted(unsigned op, uint64_t object)
{
	switch (op) {
	case RT_OP_ONCE_BEGIN:
		rt_turn_took_last(object);
		break;
	case RT_OP_SEM_POST:
	case RT_OP_ONCE_END:
	case RT_OP_HB_BEFORE: /* of a once that was left; or of what the kernel or libgomp hands on */
		given(object);
		/* fall through */
	case RT_OP_RELEASE:
		rt_turn_gives(object);
		if (op == RT_OP_HB_BEFORE)
			rt_turn_woke();
		break;
	case RT_OP_SIGNAL:
	case RT_OP_BROADCAST:
		rt_turn_wakes(RT_OP_WAIT_END, object, op == RT_OP_BROADCAST ? UINT32_MAX : 1);
		break;
	case RT_OP_MODULE_LOAD:
		rt_sched_aim();
		rt_sched_see_modules();
		if (rt_sched.strategy->modules_changed)
			rt_sched.strategy->modules_changed();
		break;
	}
}

void rt_turn_hold(uintptr_t pc)
{
	if (!rt_sched_is_free() && __atomic_load_n(&rt_sched.holder, __ATOMIC_ACQUIRE) != rt_thread.task)
		rt_turn_step(RT_OP_NONE, 0, 0, pc, 0, false);
}
