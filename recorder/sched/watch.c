/*
 * The watcher: a thread of the recorder's own. A thread that has the turn and passes no step for a while sleeps in the
 * kernel without having said so, or computes in code that is not instrumented. It may be at a lock of a library that is
 * not interposed, or in a raw system call. It is outside from then on, and queues when it comes to a hook again. And
 * when all that could go on are outside, waits end by real time. It looks at those that go outside, too (settle.c).
 */
#include "recorder/sched/sched.h"

#include "recorder/runtime/syscall.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#define LOOK_MS 100u
#define POLL_MS 2u
/* Checks before a running thread counts as outside if it has had this processor time meanwhile, ns; or in any case: on
 * a busy machine it may have had none. */
#define RUNNING_LOOKS 10u
#define RUNNING_NS UINT64_C(500000000)
#define MOST_LOOKS 50u
/* The same, behind a step behind which a thread has computed so long before: mostly it spins there on what no hook
 * shows, and each time would take as long. */
#define AGAIN_NS UINT64_C(50000000)
#define COMPUTED_AT_MAX 64u

RT_NEXT(int, pthread_create, (pthread_t * thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg));
RT_NEXT(int, pthread_detach, (pthread_t thread));

/* True if the kernel says that the thread sleeps. It does not if it waits for a disk, as for a page of its code. */
static bool sleeps(int32_t tid)
{
	char state = rt_sched_look_at(tid, NULL);

	return state && state != 'R' && state != 'D';
}

/* Positions of the last steps before threads computed for long. What computes less anywhere is never outside. */
static RT_OF_RUN uintptr_t computed_at[COMPUTED_AT_MAX];
static RT_OF_RUN unsigned computed_count;

static bool has_computed_at(uintptr_t pc)
{
	for (unsigned i = 0; i < computed_count && i < COMPUTED_AT_MAX; i++)
		if (computed_at[i] == pc)
			return true;
	return false;
}

/* The holder is outside. computed: its processor time, if it computes; 0: it sleeps. The lock is held, and is
 * released. */
static void put_outside(struct rt_task *t, uint64_t computed)
{
	if (computed && !has_computed_at(t->next.pc))
		computed_at[computed_count++ % COMPUTED_AT_MAX] = t->next.pc;
	t->computed = computed;
	rt_sched.computing += computed != 0;
	t->state = RT_OUTSIDE;
	t->data->patience = 0;
	rt_sched.outside++;
	rt_sched_give(rt_sched_pick(NULL));
}

/* True if the holder, which is awake or in the recorder, is not waited for any longer. ran: its processor time then;
 * *now: its processor time, if that is why. */
static bool computes(const struct rt_task *t, unsigned looks, uint64_t ran, uint64_t *now)
{
	bool again = !t->data->busy && has_computed_at(t->next.pc);

	*now = 0;
	if (looks >= MOST_LOOKS)
		return true;
	if (looks < RUNNING_LOOKS && !again)
		return false;
	uint64_t is = rt_sched_ran(t->tid);
	if (!is)
		return looks >= RUNNING_LOOKS;
	*now = is;
	return is - ran >= (again ? AGAIN_NS : RUNNING_NS);
}

/* The same holder as at the last look, at the same step. */
static void look(void)
{
	static RT_OF_RUN struct rt_task *holder;
	static RT_OF_RUN uint64_t steps;
	static RT_OF_RUN unsigned looks;
	static RT_OF_RUN uint64_t ran;

	rt_sched_lock();
	struct rt_task *t = rt_sched.holder;
	looks = t && t == holder && rt_sched.steps == steps ? looks + 1 : 0;
	holder = t;
	steps = rt_sched.steps;
	if (t && looks == 0)
		ran = rt_sched_ran(t->tid);
	/* In the recorder it waits for the collector, or for a thread that has no processor yet. */
	uint64_t computed = 0;
	if (looks > 0 && t->data && t->state == RT_RUNNING && !t->data->creates &&
	    ((!t->data->busy && sleeps(t->tid)) || computes(t, looks, ran, &computed))) {
		looks = 0;
		put_outside(t, computed);
	} else {
		rt_sched_unlock();
	}
}

/* Tells the collector when each thread waits in a call: those of threads outside it can see by itself. */
static void tell_standstill(void)
{
	rt_sched_lock();
	bool still = !rt_sched.holder && !rt_sched_is_settling();

	/* next_wake may be that of a wait which has ended. */
	for (struct rt_task *t = rt_sched.first; t && still; t = t->after)
		still = (t->state == RT_BLOCKED && !t->wakes) || t->state == RT_OUTSIDE;
	if (still)
		atomic_store(&rt_channel->standstill, 1);
	rt_sched_unlock();
}

/* The virtual time of the first of the waits whose real time has come; UINT64_MAX: none has. */
static uint64_t first_due(uint64_t now)
{
	uint64_t due = UINT64_MAX;

	for (const struct rt_task *t = rt_sched.first; t; t = t->after)
		if (t->state == RT_BLOCKED && t->wakes && t->wakes_real <= now && t->wakes < due)
			due = t->wakes;
	return due;
}

/*
 * No thread has the turn: ends the first of the waits whose real time has come. How many have come depends on how busy
 * the machine is, and which thread goes on is not to. Returns the ms until the next one does.
 */
static unsigned end_waits(void)
{
	uint64_t now, first = UINT64_MAX;
	bool any = false;

	rt_sched_lock();
	if (rt_sched.holder || rt_sched_is_settling() ||
	    (rt_sched.next_wake == UINT64_MAX && !rt_sched.polling && !rt_sched.computing)) {
		rt_sched_unlock();
		return LOOK_MS;
	}
	now = rt_sched_real_ns(CLOCK_MONOTONIC);
	uint64_t due = first_due(now);
	for (struct rt_task *t = rt_sched.first; t; t = t->after) {
		if (t->state != RT_BLOCKED || !t->wakes)
			continue;
		if (t->wakes == due) {
			rt_sched_unblock(t);
			t->timed_out = true;
			rt_sched.naps++;
			any = true;
		} else if (t->wakes_real < first) {
			first = t->wakes_real > now ? t->wakes_real : now;
		}
	}
	bool polling = rt_sched.polling;
	struct rt_task *next = any || polling || rt_sched.computing ? rt_sched_pick(NULL) : NULL;
	if (next)
		rt_sched_give(next);
	else
		rt_sched_unlock();
	if (polling)
		return POLL_MS;
	return first - now < LOOK_MS * UINT64_C(1000000) ? (unsigned)((first - now) / 1000000) + 1 : LOOK_MS;
}

static void *watch(void *unused)
{
	unsigned ms = LOOK_MS;
	uint64_t looked = rt_sched_real_ns(CLOCK_MONOTONIC);

	while (rt_controlled && rt_sched.live) {
		uint32_t alarm = __atomic_load_n(&rt_sched.alarm, __ATOMIC_ACQUIRE);

		rt_sched_look_outside();
		ms = end_waits();
		tell_standstill();
		rt_futex_wait(&rt_sched.alarm, alarm, ms);
		if (rt_sched_real_ns(CLOCK_MONOTONIC) - looked >= LOOK_MS * UINT64_C(1000000)) {
			look();
			looked = rt_sched_real_ns(CLOCK_MONOTONIC);
		}
	}
	return unused;
}

void rt_sched_watch(void)
{
	uint64_t all = ~UINT64_C(0), before = 0;
	pthread_t thread;

	if (__atomic_exchange_n(&rt_sched.watched, true, __ATOMIC_ACQ_REL))
		return;

	RT_SYSCALL(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
	if (RT_REAL(pthread_create)(&thread, NULL, watch, NULL) == 0)
		RT_REAL(pthread_detach)(thread);
	RT_SYSCALL(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
}
