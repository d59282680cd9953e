/* Futexes: what they order, and waiting for them by turns; see kernel.h. */
#include "recorder/intercept/kernel.h"

#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <time.h>

/* A lock of which the kernel knows the holder is taken and released by changes of its word, here by the kernel's. */
static void word_changes(const uint32_t *word, uintptr_t pc)
{
	rt_sync(rt_self, RT_OP_ATOMIC_RMW, (uintptr_t)word, sizeof *word, pc,
	        rt_record_aux(sizeof *word, __ATOMIC_ACQ_REL, 0));
}

/*
 * A thread that is woken goes on after the call that woke it. Not so if the caller has just accessed the word by atomic
 * operations: a futex may wake without a cause, so the program can count on nothing but what these order.
 */
static bool is_atomic(const uint32_t *word)
{
	for (unsigned i = 0; i < sizeof rt_thread.on / sizeof *rt_thread.on; i++)
		if (rt_thread.on[i] == (uintptr_t)word)
			return true;
	return false;
}

static void wakes(const uint32_t *word, uintptr_t pc)
{
	if (!is_atomic(word))
		BEFORE((uintptr_t)word);
}

static void woken(const uint32_t *word, uintptr_t pc)
{
	if (!is_atomic(word))
		AFTER((uintptr_t)word);
}

/*
 * The other way round, a wake that says it has woken a thread comes after what that one did before it waited. The
 * caller may have asked until one slept. The object is the word's second byte.
 */
static uintptr_t sleepers(const uint32_t *word)
{
	return (uintptr_t)word + 1;
}

static void sleeps(const uint32_t *word, uintptr_t pc)
{
	if (!is_atomic(word))
		BEFORE(sleepers(word));
}

static void found_asleep(const uint32_t *word, uintptr_t pc)
{
	if (!is_atomic(word))
		AFTER(sleepers(word));
}

/* True if the operation wakes threads that wait for its first word. */
static bool is_wake(int command)
{
	return command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET || command == FUTEX_WAKE_OP ||
	       command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE || command == FUTEX_CMP_REQUEUE_PI;
}

/* True if it waits for one that wakes. */
static bool is_sleep(int command)
{
	return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_WAIT_REQUEUE_PI;
}

void rt_futex_begins(const uint32_t *word, int operation, const uint32_t *other, uintptr_t pc)
{
	int command = operation & FUTEX_CMD_MASK;
	if (!rt_recording())
		return;
	if (command == FUTEX_WAKE_OP) {
		word_changes(other, pc);
		wakes(other, pc);
	}
	if (is_wake(command))
		wakes(word, pc);
	else if (is_sleep(command))
		sleeps(word, pc);
	else if (command == FUTEX_UNLOCK_PI)
		word_changes(word, pc);
}

bool rt_futex_waits(int operation)
{
	int command = operation & FUTEX_CMD_MASK;
	return is_sleep(command) || command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2;
}

/* True if nothing but a thread of this process can end the wait. */
static bool is_own(int operation, const void *timeout)
{
	int command = operation & FUTEX_CMD_MASK;
	bool plain = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
	return plain && !timeout && (operation & FUTEX_PRIVATE_FLAG || !rt_map_any_shared());
}

void rt_futex_awaits(const uint32_t *word, int operation, const void *timeout, uintptr_t pc)
{
	uint32_t own = is_own(operation, timeout) ? RT_CALL_OWN : 0;
	if (rt_futex_waits(operation))
		rt_call_begins(RT_CALL_FUTEX, -1, rt_place((uintptr_t)word), own, RT_CALL_NO_HOLDER, pc);
}

void rt_futex_done(const uint32_t *word, int operation, const uint32_t *other, int r, uintptr_t pc)
{
	int command = operation & FUTEX_CMD_MASK;
	rt_emit_time();
	if (!rt_recording())
		return;
	if (is_wake(command) && r > 0) { /* one at least, of those of either word */
		if (command == FUTEX_WAKE_OP)
			found_asleep(other, pc);
		found_asleep(word, pc);
	}
	if (r != 0)
		return;
	if (is_sleep(command))
		woken(word, pc);
	if (command == FUTEX_WAIT_REQUEUE_PI)
		word_changes(other, pc);
	else if (command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2 || command == FUTEX_TRYLOCK_PI)
		word_changes(word, pc);
}

/*
 * The thread blocks until the word is woken. False: none can go on that takes turns, but what does not may wake it: the
 * call waits in the kernel. Where nothing does, that is a deadlock.
 */
static bool block(const uint32_t *word, int operation, uint32_t value, const void *timeout, uintptr_t pc, long *result)
{
	int command = operation & FUTEX_CMD_MASK;
	clockid_t clock = operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	struct rt_until until =
	    RT_UNTIL(command == FUTEX_WAIT ? RT_CLOCK_DURATION : clock, (const struct timespec *)timeout);

	rt_turn_step(RT_OP_NONE, 0, 0, pc, timeout ? RT_F_TIMED : 0, false);
	errno = EAGAIN;
	*result = -1;
	while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value) {
		rt_futex_awaits(word, operation, timeout, pc);
		bool late = rt_turn_block(RT_OP_HB_AFTER, rt_place((uintptr_t)word), until, false) == RT_TURN_TIMEOUT;
		rt_call_over();
		errno = ETIMEDOUT;
		*result = late ? -1 : 0;
		if (late || !rt_turn_is_last_chance())
			break;
		if (!is_own(operation, timeout))
			return __atomic_load_n(word, __ATOMIC_SEQ_CST) != value;
	}
	return true;
}

/*
 * By turns no thread waits in the kernel for a word that another one changes, unless no other can go on. Others than
 * the plain operations are the kernel's still; of what they would wake, all is woken here, as a futex's waiters have to
 * look again anyway.
 */
bool rt_futex_by_turns(const long given[6], uintptr_t pc, long *result)
{
	const uint32_t *word = (const uint32_t *)given[0], *other = (const uint32_t *)given[4];
	int operation = (int)given[1], command = operation & FUTEX_CMD_MASK;
	bool waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
	bool wakes = command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET;
	if (!rt_turn_mine())
		return false;
	if (!waits && !wakes) {
		rt_turn_wakes(RT_OP_HB_AFTER, rt_place((uintptr_t)word), UINT32_MAX);
		if (command == FUTEX_WAKE_OP)
			rt_turn_wakes(RT_OP_HB_AFTER, rt_place((uintptr_t)other), UINT32_MAX);
		return false;
	}
	rt_futex_begins(word, operation, other, pc);
	if (wakes) {
		unsigned woken = rt_turn_wakes(RT_OP_HB_AFTER, rt_place((uintptr_t)word), (unsigned)given[2]);
		*result = RT_SYSCALL(SYS_futex, word, operation, (unsigned)given[2] - woken, 0, 0, given[5]);
		*result = woken + (*result > 0 ? *result : 0);
	} else if (!block(word, operation, (uint32_t)given[2], (const void *)given[3], pc, result)) {
		return false;
	}
	rt_futex_done(word, operation, other, (int)*result, pc);
	return true;
}
