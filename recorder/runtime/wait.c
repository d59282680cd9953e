/* Waiting for words in shared memory to change, and for the collector, as long as that lives. */
#include "recorder/runtime/core.h"
#include "recorder/runtime/sandbox.h"
#include "recorder/runtime/syscall.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <time.h>

/*
 * Where a sandbox forbids to sleep, the thread polls for that time. The waker need not wake then; a waker that cannot
 * wake is not needed, as no thread sleeps without a limit.
 */
static long spin(const void *word, uint32_t value, unsigned milliseconds)
{
	enum { PAUSES_PER_MS = 20000 }; /* of 40 to 140 cycles each */

	for (uint64_t n = (uint64_t)milliseconds * PAUSES_PER_MS; n > 0; n--) {
		if (__atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE) != value)
			return 0;
		RT_PAUSE();
	}
	return -ETIMEDOUT;
}

long rt_futex_wait(const void *word, uint32_t value, unsigned milliseconds)
{
	struct timespec timeout = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};

	if (!RT_SANDBOX_ALLOWS(SYS_futex, word, FUTEX_WAIT, value, &timeout))
		return spin(word, value, milliseconds);
	return RT_SYSCALL(SYS_futex, word, FUTEX_WAIT, value, &timeout);
}

void rt_futex_wake(const void *word, int count)
{
	RT_SYSCALL(SYS_futex, word, FUTEX_WAKE, count);
}

void rt_ring_bell(void)
{
	if (!atomic_load(&rt_channel->sleeping) || atomic_load_explicit(&rt_channel->may_confine, memory_order_relaxed))
		return;
	atomic_fetch_add(&rt_channel->bell, 1);
	rt_futex_wake(&rt_channel->bell, 1);
}

/* A zombie answers kill(); its pidfd does not lie. */
static bool is_alive(pid_t pid)
{
	int fd = (int)RT_SYSCALL(SYS_pidfd_open, pid);
	bool alive = true;

	if (fd >= 0) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		struct timespec none = {0, 0};

		alive = RT_SYSCALL(SYS_ppoll, &p, 1, &none) == 0;
		RT_SYSCALL(SYS_close, fd);
	} else {
		alive = fd != -ESRCH && RT_SYSCALL(SYS_kill, pid, 0) != -ESRCH;
	}
	return alive;
}

/*
 * The collector's number may mean another process here, or none (a PID namespace), may not be asked for (a sandbox),
 * and a process that is stopped is alive. So what counts is its heart, which beats each half second: one that is dead
 * by its number too has only a moment to show that it is not. Time is counted in questions as well, for where the whole
 * job was stopped both go on together.
 */
bool rt_collector_alive(void)
{
	enum { DEAD_MS = 1500, SILENT_MS = 10000, QUESTIONS = 12, QUESTION_MS = 100 };
	static _Atomic uint32_t beat, questions;
	static _Atomic uint64_t since;
	uint32_t now = atomic_load(&rt_tree->beat);
	uint64_t ms = rt_milliseconds(), silent;

	if (atomic_exchange(&beat, now) != now || (ms && !atomic_load(&since))) {
		atomic_store(&since, ms);
		atomic_store(&questions, 0);
		return true;
	}
	silent = ms ? ms - atomic_load(&since) : atomic_load(&questions) * QUESTION_MS;
	if (atomic_fetch_add(&questions, 1) < QUESTIONS || silent < DEAD_MS)
		return true;
	return silent < SILENT_MS && is_alive(rt_channel ? rt_channel->collector_pid : rt_tree->collector_pid);
}

void rt_request_map(void)
{
	struct rt_channel *c = rt_channel;
	uint32_t mine, answer;

	if (!c || atomic_load(&c->collector_gone) || rt_is_idle(c))
		return;
	mine = atomic_fetch_add(&c->request, 1) + 1;
	atomic_fetch_add(&c->bell, 1);
	rt_futex_wake(&c->bell, 1);
	for (int tries = 0; tries < 50; tries++) {
		answer = atomic_load(&c->answer);
		if ((int32_t)(answer - mine) >= 0) {
			rt_sandbox_answered();
			return;
		}
		rt_futex_wait(&c->answer, answer, 100);
		if ((atomic_load(&c->answer) == answer && !rt_collector_alive()) || rt_is_idle(c))
			return;
	}
}
