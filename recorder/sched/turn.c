/*
 * Turns. One controlled thread has the turn; each other one sleeps on a futex word of its own, or is outside: in a call
 * that may block, from which it comes back by itself and queues. A thread that says a step asks the strategy who goes
 * on; mostly it is the same thread, at the price of a lock that nobody else wants.
 *
 * Enabledness is found out by trying: a thread whose operation cannot be done (the real try says so) is blocked until
 * an event gives the object, then tries again. So nothing here has to know how a kind of lock works, and a lock that
 * was released unseen is no deadlock: before one is reported, all try once more.
 *
 * Fairness after Musuvathi and Qadeer (Fair Stateless Model Checking, PLDI 2008): a thread that yields, or spins, comes
 * after those that do neither.
 */
#include "recorder/sched/sched.h"

#include "recorder/runtime/syscall.h"

#include <errno.h>
#include <poll.h>

/* Of a task's futex word. */
enum { GO_NOT, GO_ASLEEP, GO_NOW };

#define STEP_NS 1000u      /* of virtual time that a step takes */
#define QUANTUM_NS 100000u /* and QUANTUM plain accesses */
#define QUANTUM 20000u
#define QUANTUM_MAX (QUANTUM * 256)
#define YIELD_STEPS 4096u /* a thread that yielded waits at most so long for those that do not */
#define SPIN_REPEATS 8u   /* equal looks at unchanged values after which a thread spins */

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

/* ---- Time ---- */

static uint64_t real_ns(clockid_t clock)
{
	struct timespec t = {0, 0};

	RT_SYSCALL(SYS_clock_gettime, clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#define SECOND_NS UINT64_C(1000000000)

/* Clocks that count from 1970 begin on a day in September 2001, others a while after the system's start. */
static uint64_t logical_ns(clockid_t clock)
{
	enum { DAY = 1000000000, WHILE = 1000 };
	bool since_1970 = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
	bool since_start = clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;

	return rt_sched.now + (since_1970 ? DAY : since_start ? 0 : WHILE) * SECOND_NS;
}

static bool time_is_logical(void)
{
	return rt_sched.control->flags & RT_CONTROL_FIX_TIME;
}

void rt_turn_clock(clockid_t clock, struct timespec *to)
{
	if (!rt_thread.task || !to || !time_is_logical())
		return;
	rt_busy_begin();
	rt_sched_lock();
	rt_sched_tick(STEP_NS);
	uint64_t ns = logical_ns(clock);
	rt_sched_unlock();
	rt_busy_end();
	*to = (struct timespec){(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
}

/*
 * How long a wait is to take. A program that waits until a time has computed it from the clock a moment ago, so what is
 * left is a little less than what it meant: rounded up, equal runs have equal waits.
 */
static uint64_t duration(struct rt_until until)
{
	enum { FINE = 1000000, COARSE = 10000000 };
	uint64_t at = (uint64_t)until.time->tv_sec * 1000000000u + (uint64_t)until.time->tv_nsec, now, left;

	if (until.time->tv_sec < 0)
		return 0;
	if (until.clock == RT_CLOCK_DURATION)
		return at;
	if (time_is_logical()) {
		now = logical_ns(until.clock);
		return at > now ? at - now : 0;
	}
	now = real_ns(until.clock);
	left = at > now ? at - now : 0;
	uint64_t unit = left < 10 * (uint64_t)COARSE ? FINE : COARSE;
	return (left + unit - 1) / unit * unit;
}

static void set_alarm(struct rt_task *t, struct rt_until until)
{
	t->timed_out = false;
	t->wakes = t->wakes_real = 0;
	if (!until.time)
		return;
	uint64_t ns = duration(until);
	t->wakes = rt_sched.now + ns + 1;
	t->wakes_real = real_ns(CLOCK_MONOTONIC) + ns;
}

void rt_sched_unblock(struct rt_task *t)
{
	t->state = RT_READY;
	t->waits = 0;
	t->wakes = 0;
	rt_sched.blocked--;
	rt_sched.polling -= t->fds != NULL;
	t->fds = NULL;
}

static void time_is_up(struct rt_task *t)
{
	rt_sched_unblock(t);
	t->timed_out = true;
}

bool rt_sched_tick(uint64_t ns)
{
	uint64_t next = UINT64_MAX;
	bool any = false;

	rt_sched.now += ns;
	if (RT_UNLIKELY(rt_sched.now < rt_sched.next_wake))
		return false;
	if (rt_sched.next_wake == UINT64_MAX)
		return false;
	for (struct rt_task *t = rt_sched.first; t; t = t->after) {
		if (t->state != RT_BLOCKED || !t->wakes)
			continue;
		if (t->wakes <= rt_sched.now) {
			time_is_up(t);
			any = true;
		} else if (t->wakes < next) {
			next = t->wakes;
		}
	}
	rt_sched.next_wake = next;
	return any;
}

/* Time passes until the first wait ends; not if what is outside may come back first. */
static bool jump(void)
{
	return !rt_sched.outside && !rt_sched.foreign && !rt_sched.polling && rt_sched.next_wake != UINT64_MAX &&
	       rt_sched_tick(rt_sched.next_wake > rt_sched.now ? rt_sched.next_wake - rt_sched.now : 0);
}

/* ---- Who goes on ---- */

/* True if another thread holds it, by what events say; a thread may hold it unseen, or have released it unseen. */
static bool is_held(const struct rt_task *t)
{
	bool shared = t->next.op == RT_OP_ACQUIRE_SHARED;

	if (t->next.op == RT_OP_JOIN)
		return rt_sched_task((uint32_t)t->next.object) != NULL;
	uint64_t lock = t->next.op == RT_OP_WAIT_END ? t->next.arg : t->next.object;

	for (const struct rt_task *other = rt_sched.first; other; other = other->after) {
		const struct rt_thread *data = other->data;

		for (unsigned i = 0; other != t && data && i < data->held_count; i++)
			if (data->held[i].lock == lock && !(shared && data->held[i].shared))
				return true;
	}
	return false;
}

static bool is_enabled(const struct rt_task *t, bool yielded, bool held)
{
	if (t->state != RT_READY || (!yielded && t->yielded && rt_sched.steps - t->yielded_at < YIELD_STEPS))
		return false;
	return held || !t->next.blocks || !is_held(t);
}

static unsigned gather(bool yielded, bool held)
{
	unsigned n = 0;

	for (struct rt_task *t = rt_sched.first; t; t = t->after)
		if (is_enabled(t, yielded, held))
			rt_sched.enabled[n++] = t;
	return n;
}

/*
 * Threads that spin or yield come behind those that pause, whose time passes meanwhile; then those that by events would
 * wait.
 */
static unsigned enabled(void)
{
	unsigned n = gather(false, false);

	if (n || (jump() && (n = gather(false, false)) > 0))
		return n;
	for (struct rt_task *t = rt_sched.first; t; t = t->after)
		t->yielded = false;
	n = gather(true, false);
	return n ? n : gather(true, true);
}

/* True if the thread finds out by a try whether it can do what it waits for. */
static bool may_try(const struct rt_task *t)
{
	return t->state == RT_BLOCKED &&
	       (t->waits_op == RT_OP_ACQUIRE || t->waits_op == RT_OP_ACQUIRE_SHARED || t->waits_op == RT_OP_SEM_WAIT ||
	        t->waits_op == RT_OP_ONCE_SEEN || t->waits_op == RT_OP_HB_AFTER);
}

/* All try again, in case it was given unseen. False: they have, and no step was done since. */
static bool last_chance(void)
{
	bool any = false;

	if (rt_sched.chance == rt_sched.steps)
		return false;
	rt_sched.chance = rt_sched.steps;
	for (struct rt_task *t = rt_sched.first; t; t = t->after)
		if (may_try(t)) {
			rt_sched_unblock(t);
			any = true;
		}
	return any;
}

/* Those whose descriptors are ready go on. */
static void poll_tasks(void)
{
	struct timespec none = {0, 0};

	for (struct rt_task *t = rt_sched.first; t; t = t->after)
		if (t->state == RT_BLOCKED && t->fds && RT_SYSCALL(SYS_ppoll, t->fds, t->fd_count, &none, NULL, 0) != 0)
			rt_sched_unblock(t);
}

struct rt_task *rt_sched_pick(struct rt_task *current)
{
	while (rt_sched.live) {
		if (rt_sched.polling)
			poll_tasks();
		unsigned n = enabled();
		struct rt_task *chosen = n ? rt_sched.strategy->choose(current, rt_sched.enabled, n) : NULL;

		if (chosen)
			return chosen;
		if (rt_sched.outside || rt_sched.foreign || rt_sched.polling)
			break;
		if (jump() || (!n && last_chance()))
			continue;
		if (rt_sched.handles && !rt_sched.overdue)
			break;
		if (rt_sched.strategy->stuck)
			rt_sched.strategy->stuck();
		rt_sched_end(RT_END_DEADLOCK);
	}
	return NULL;
}

/* ---- Giving and taking ---- */

void rt_sched_give(struct rt_task *to)
{
	bool asleep = false;

	rt_sched.holder = to;
	if (to) {
		to->state = RT_RUNNING;
		to->yielded = false;
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

void rt_sched_free(struct rt_task *t)
{
	__atomic_store_n(&t->go, GO_NOW, __ATOMIC_RELEASE);
	rt_futex_wake(&t->go, 1);
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

/* A signal's handler waits for this thread, which waits for an object: it gets a turn for the handler. */
static void interrupt(struct rt_task *t)
{
	rt_sched_lock();
	if (t->state != RT_BLOCKED) {
		rt_sched_unlock();
		return;
	}
	rt_sched_unblock(t);
	t->interrupted = true;
	if (rt_sched.holder)
		rt_sched_unlock();
	else
		rt_sched_give(rt_sched_pick(NULL));
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
	rt_sched_give(rt_sched_pick(NULL));
}

static void await(struct rt_task *t)
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
static void pass(struct rt_task *t)
{
	bool held = rt_sched.holder == t;
	struct rt_task *next = rt_sched_pick(held ? t : NULL);

	if (next == t && held) {
		t->state = RT_RUNNING;
		rt_sched_unlock();
		return;
	}
	if (next && held)
		rt_sched_log(t, next);
	rt_sched_give(next);
	await(t);
}

/* From outside. The lock is held. */
static void queue(struct rt_task *t)
{
	if (t->state == RT_OUTSIDE)
		rt_sched.outside--;
	t->state = RT_READY;
	if (!rt_sched.holder) {
		pass(t);
		return;
	}
	rt_sched_unlock();
	await(t);
}

/* ---- Steps ---- */

/* The scheduler's own work is no step. */
static struct rt_task *enter(void)
{
	rt_settle(rt_self, RT_OP_NONE); /* before others may write there */
	rt_busy_begin();
	rt_thread.in_turn = true;
	rt_sched_lock();
	return rt_thread.task;
}

static void leave(void)
{
	rt_thread.in_turn = false;
	rt_busy_end();
}

static bool is_free(void)
{
	return !rt_thread.task || rt_thread.in_turn || rt_thread.task->roams;
}

void rt_turn_step(unsigned op, uint64_t object, uint64_t arg, uintptr_t pc, unsigned flags, bool blocks)
{
	if (is_free())
		return;
	struct rt_task *t = enter();
	t->next = (struct rt_step){.op = (uint8_t)op,
	                           .flags = (uint8_t)flags,
	                           .blocks = blocks,
	                           .object = object,
	                           .arg = arg,
	                           .pc = pc,
	                           .count = t->next.count + 1};
	rt_sched.steps++;
	atomic_store_explicit(&rt_sched.control->steps, rt_sched.steps, memory_order_relaxed);
	rt_sched_tick(STEP_NS);
	if (rt_sched.holder != t) {
		queue(t);
	} else if (!t->yielded && rt_sched.strategy->goes_on && rt_sched.strategy->goes_on(t)) {
		rt_sched_unlock();
	} else {
		t->state = RT_READY;
		pass(t);
	}
	leave();
}

enum rt_turn_result rt_turn_block(unsigned op, uint64_t object, struct rt_until until, bool cancelable)
{
	struct rt_task *t = enter();
	struct rt_step step = t->next;
	struct pollfd *fds = t->fds;

	set_alarm(t, until);
	t->cancelable = cancelable;
	for (uint64_t wakes = t->wakes;;) {
		t->wakes = wakes;
		if (wakes && wakes < rt_sched.next_wake)
			rt_sched.next_wake = wakes;
		t->interrupted = false;
		t->waits = object;
		t->waits_op = (uint8_t)op;
		if (cancelable && t->canceled) {
			rt_sched_unlock();
			break;
		}
		t->state = RT_BLOCKED;
		rt_sched.blocked++;
		t->fds = fds;
		rt_sched.polling += fds != NULL;
		pass(t);
		if (!t->interrupted || !rt_controlled)
			break;
		leave(); /* the handler runs */
		enter();
		step.count = t->next.count;
		t->next = step;
	}
	t->cancelable = false;
	leave();
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
		if (t->waits == object && t->waits_op != RT_OP_HB_AFTER && may_try(t))
			rt_sched_unblock(t);
	rt_sched_unlock();
	rt_busy_end();
}

/* The waiters in order of their coming would need a list; in order of creation is as good, for a strategy picks. */
static unsigned waiters(unsigned op, uint64_t object)
{
	unsigned n = 0;

	for (struct rt_task *t = rt_sched.first; t; t = t->after)
		if (t->state == RT_BLOCKED && t->waits == object && t->waits_op == op)
			rt_sched.enabled[n++] = t;
	return n;
}

unsigned rt_turn_waiters(unsigned op, uint64_t object)
{
	rt_busy_begin();
	rt_sched_lock();
	unsigned n = waiters(op, object);
	rt_sched_unlock();
	rt_busy_end();
	return n;
}

unsigned rt_turn_wakes(unsigned op, uint64_t object, unsigned most)
{
	unsigned n, woken = 0;

	if (!rt_thread.task || !rt_sched.blocked)
		return 0;
	rt_busy_begin();
	rt_sched_lock();
	while (woken < most && (n = waiters(op, object)) > 0) {
		bool chosen = n > 1 && most < n && rt_sched.strategy->wakes;

		rt_sched_unblock(chosen ? rt_sched.strategy->wakes(rt_thread.task, rt_sched.enabled, n)
		                        : rt_sched.enabled[0]);
		woken++;
	}
	rt_sched_unlock();
	rt_busy_end();
	return woken;
}

void rt_turn_signaled(const struct rt_thread *thread)
{
	struct rt_task *t = thread->task;

	if (!t)
		return;
	rt_busy_begin();
	rt_sched_lock();
	if (t->state == RT_BLOCKED) {
		rt_sched_unblock(t);
		t->interrupted = true;
	}
	rt_sched_unlock();
	rt_busy_end();
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

void rt_turn_emitted(unsigned op, uint64_t object)
{
	switch (op) {
	case RT_OP_RELEASE:
	case RT_OP_SEM_POST:
	case RT_OP_ONCE_END:
	case RT_OP_HB_BEFORE: /* of a once that was left */
		rt_turn_gives(object);
		break;
	case RT_OP_SIGNAL:
	case RT_OP_BROADCAST:
		rt_turn_wakes(RT_OP_WAIT_END, object, op == RT_OP_BROADCAST ? UINT32_MAX : 1);
		break;
	}
}

void rt_turn_hold(uintptr_t pc)
{
	if (!is_free() && __atomic_load_n(&rt_sched.holder, __ATOMIC_ACQUIRE) != rt_thread.task)
		rt_turn_step(RT_OP_NONE, 0, 0, pc, 0, false);
}

/* ---- Others first ---- */

static void yield(struct rt_task *t)
{
	t->yielded = true;
	t->yielded_at = rt_sched.steps;
}

void rt_turn_yield(uintptr_t pc)
{
	if (is_free())
		return;
	yield(rt_thread.task);
	rt_turn_step(RT_OP_NONE, 0, 0, pc, 0, false);
}

static uint64_t records(const struct rt_slot *s)
{
	return s->published * RT_BLOCK_RECORDS + (uint64_t)(s->cur - s->ring) % RT_BLOCK_RECORDS;
}

/*
 * A thread nearly all of whose accesses were repeats spins on a plain variable, or might. One that does not gets a
 * longer quantum each time: a change of threads starts the filter of repeats anew.
 */
static void end_quantum(uintptr_t pc)
{
	enum { SOME = 1000 };
	struct rt_task *t = enter();
	uint64_t now = records(rt_self);
	bool spins = now - t->records < t->quantum / SOME;

	rt_sched_tick((uint64_t)QUANTUM_NS * (t->quantum / QUANTUM));
	if (spins)
		yield(t);
	t->quantum = spins ? QUANTUM : t->quantum < QUANTUM_MAX ? t->quantum * 2 : t->quantum;
	t->records = now;
	rt_thread.patience = (int32_t)t->quantum;
	rt_sched_unlock();
	leave();
	rt_turn_step(RT_OP_NONE, 0, 0, pc, 0, false);
}

void rt_turn_access(unsigned op, uint64_t object, uint64_t size, uintptr_t pc, unsigned flags)
{
	rt_settle(rt_self, op);
	if (is_free()) {
		rt_thread.patience = QUANTUM;
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
		else if (++t->repeats >= SPIN_REPEATS)
			yield(t);
		t->seen[i].value = value;
		return;
	}
	t->seen[t->seen_next].object = object;
	t->seen[t->seen_next].value = value;
	t->seen[t->seen_next].pc = pc;
	t->seen_next = (t->seen_next + 1) % (sizeof t->seen / sizeof *t->seen);
	t->repeats = 0;
}

void rt_turn_sleep(struct rt_until until, uintptr_t pc)
{
	if (is_free())
		return;
	rt_turn_step(RT_OP_NONE, 0, 0, pc, RT_F_TIMED, false);
	rt_turn_block(RT_OP_NONE, 0, until, true);
}

bool rt_turn_polls(struct pollfd *fds, unsigned n, struct rt_until until, uintptr_t pc)
{
	struct timespec none = {0, 0};

	if (is_free() || rt_sched.live == 1)
		return false;
	if (until.time && (until.time->tv_nsec < 0 || (uint64_t)until.time->tv_nsec >= SECOND_NS))
		return false;
	rt_turn_step(RT_OP_NONE, 0, 0, pc, until.time ? RT_F_TIMED : 0, false);
	if (RT_SYSCALL(SYS_ppoll, fds, n, &none, NULL, 0) != 0)
		return true;
	rt_thread.task->fds = fds;
	rt_thread.task->fd_count = n;
	rt_turn_block(RT_OP_NONE, 0, until, true); /* the call that follows is where the thread is cancelled */
	return true;
}

/* ---- Outside ---- */

void rt_turn_has_foreign(void)
{
	rt_sched.foreign = true;
}

void rt_turn_handles(void)
{
	rt_sched.handles = true;
	rt_sched.foreign |= rt_sched.times;
}

void rt_turn_times(void)
{
	rt_sched.times = true;
	rt_sched.foreign |= rt_sched.handles;
}

void rt_turn_leaves(uintptr_t pc)
{
	if (is_free() || rt_sched.live == 1)
		return;
	rt_turn_step(RT_OP_NONE, 0, 0, pc, 0, false);
	struct rt_task *t = enter();
	t->state = RT_OUTSIDE;
	rt_sched.outside++;
	rt_thread.patience = 0; /* a handler's first access asks for the turn */
	struct rt_task *next = rt_sched_pick(NULL);
	if (next)
		rt_sched_log(t, next);
	rt_sched_give(next);
	leave();
}

bool rt_turn_is_outside(void)
{
	return rt_thread.task && rt_thread.task->state == RT_OUTSIDE;
}

bool rt_turn_is_roaming(void)
{
	return rt_thread.task && rt_thread.task->roams;
}

void rt_turn_roams(uintptr_t pc)
{
	if (is_free())
		return;
	rt_turn_step(RT_OP_NONE, 0, 0, pc, 0, false);
	struct rt_task *t = enter();
	t->roams = true;
	t->state = RT_OUTSIDE;
	rt_sched.outside++;
	rt_sched_give(rt_sched_pick(NULL));
	leave();
}

void rt_turn_comes(uint64_t gate, unsigned n, uintptr_t pc)
{
	if (!rt_turn_is_roaming())
		return;
	struct rt_task *t = enter();
	unsigned others = n ? waiters(RT_OP_BARRIER_LEAVE, gate) : 0;
	t->roams = false;
	t->next = (struct rt_step){.op = RT_OP_NONE, .pc = pc, .count = t->next.count + 1};
	if (others + 1 < n) {
		rt_sched.outside--;
		t->waits = gate;
		t->waits_op = RT_OP_BARRIER_LEAVE;
		t->wakes = 0;
		t->state = RT_BLOCKED;
		rt_sched.blocked++;
		rt_sched_unlock();
		await(t);
	} else {
		for (unsigned i = 0; i < others; i++)
			rt_sched_unblock(rt_sched.enabled[i]);
		queue(t);
	}
	leave();
	rt_thread_begin_late();
}

void rt_turn_takes(uint64_t lock, uintptr_t pc)
{
	if (is_free())
		return;
	rt_turn_step(RT_OP_ACQUIRE, lock, 0, pc, 0, true);
	for (bool held = true; held && rt_controlled;) {
		rt_sched_lock();
		held = is_held(rt_thread.task);
		rt_sched_unlock();
		if (held)
			rt_turn_block(RT_OP_ACQUIRE, lock, RT_FOREVER, false);
	}
}

void rt_turn_returns(uintptr_t pc)
{
	rt_turn_hold(pc);
}

/* ---- Threads ---- */

static struct rt_task *task_of(const struct rt_slot *slot)
{
	return rt_sched.tasks + (slot - rt_channel_slot(rt_channel, 0));
}

/* Behind its elder siblings, cousins and all others. */
static void append(struct rt_task *t)
{
	t->before = rt_sched.last;
	t->after = NULL;
	*(rt_sched.last ? &rt_sched.last->after : &rt_sched.first) = t;
	rt_sched.last = t;
	rt_sched.live++;
}

static void take_out(struct rt_task *t)
{
	*(t->before ? &t->before->after : &rt_sched.first) = t->after;
	*(t->after ? &t->after->before : &rt_sched.last) = t->before;
	rt_sched.live--;
}

static void make(struct rt_slot *slot, enum rt_state state)
{
	struct rt_task *t = task_of(slot);

	*t = (struct rt_task){.thread = slot->thread,
	                      .parent = slot->parent,
	                      .child_number = slot->child_number,
	                      .state = state,
	                      .next = {.op = RT_OP_BEGIN}};
	append(t);
}

/* The thread that this is of is the caller. */
static void inhabit(struct rt_task *t)
{
	t->data = &rt_thread;
	t->quantum = QUANTUM;
	t->tid = (int32_t)RT_SYSCALL(SYS_gettid);
	rt_thread.task = t;
	rt_thread.patience = QUANTUM;
}

void rt_turn_birth(struct rt_slot *slot)
{
	bool roams = rt_turn_is_roaming();

	rt_busy_begin();
	rt_sched_lock();
	make(slot, roams ? RT_OUTSIDE : RT_READY);
	task_of(slot)->roams = roams;
	rt_sched.outside += roams;
	rt_sched_unlock();
	rt_sched_watch();
	rt_busy_end();
}

bool rt_turn_begin(struct rt_slot *slot, uintptr_t pc)
{
	struct rt_task *t = task_of(slot);

	inhabit(t);
	t->next.pc = pc;
	if (t->roams)
		return false;
	enter();
	if (rt_sched.holder)
		rt_sched_unlock();
	else
		rt_sched_give(rt_sched_pick(NULL));
	await(t);
	leave();
	return true;
}

void rt_turn_end(void)
{
	struct rt_task *t = rt_thread.task;

	if (!t)
		return;
	rt_turn_comes(0, 0, 0);
	rt_turn_hold(0);
	enter();
	for (struct rt_task *other = rt_sched.first; other; other = other->after)
		if (other->state == RT_BLOCKED && other->waits_op == RT_OP_JOIN && other->waits == t->thread)
			rt_sched_unblock(other);
	t->state = RT_ENDED;
	take_out(t);
	rt_thread.task = NULL;
	rt_sched.dying = t->tid == (int32_t)RT_SYSCALL(SYS_getpid) ? 0 : t->tid; /* the process's own stays */
	struct rt_task *next = rt_sched_pick(NULL);
	if (next)
		rt_sched_log(t, next);
	rt_sched_give(next);
	leave();
}

bool rt_turn_lives(uint32_t thread)
{
	rt_busy_begin();
	rt_sched_lock();
	bool lives = rt_sched_task(thread) != NULL;
	rt_sched_unlock();
	rt_busy_end();
	return lives;
}

void rt_turn_canceled(struct rt_thread *thread)
{
	struct rt_task *t = thread->task;

	if (!t)
		return;
	rt_busy_begin();
	rt_sched_lock();
	t->canceled = true;
	if (t->state == RT_BLOCKED && t->cancelable)
		rt_sched_unblock(t);
	rt_sched_unlock();
	rt_busy_end();
}

/* ---- Beginning and end ---- */

void rt_turn_start(struct rt_slot *slot)
{
	rt_sched.control = rt_channel_control(rt_channel);
	if (!rt_sched.control || !rt_sched_begin(rt_channel->slot_count))
		return;
	make(slot, RT_RUNNING);
	rt_sched.holder = task_of(slot);
	inhabit(rt_sched.holder);
	rt_controlled = true;
	rt_time_by_turns(true);
}

void rt_turn_forked(void)
{
	if (!rt_controlled)
		return;
	rt_controlled = false;
	rt_thread.task = NULL;
	rt_thread.in_turn = false;
	rt_time_by_turns(false);
}
RT_CALL_AT(RT_AT_CHILD, rt_turn_forked);
