/*
 * Condition variables. A wait is WAIT_BEGIN (also releases the mutex), WAIT_END (also acquires it again), nothing else.
 * A cancelled wait ends as well: glibc takes the mutex again before the cleanup handlers run, ours first, because this
 * frame is the innermost.
 */
#include "recorder/intercept/call.h"
#include "recorder/intercept/sync.h"

#include <errno.h>

/*
 * A woken thread may be quicker than the call, which touches the condition until it returns. So this is an access
 * behind the signal. A thread that destroys the condition as soon as it is woken has to wait for the signaller's mutex.
 */
void rt_emit_signal(unsigned op, const volatile void *cond, uintptr_t pc)
{
	if (rt_condition_is_shared((const void *)(uintptr_t)cond))
		rt_children_told(pc);
	rt_emit_sync(op, (uintptr_t)cond, 0, pc, 0);
	rt_emit_object_read(cond, pc);
}

/* glibc (2.25 and later) keeps it in the lowest bit; it does not change after init. */
unsigned rt_condition_is_shared(const void *cond)
{
	return ((const pthread_cond_t *)cond)->__data.__wrefs & 1 ? RT_F_TIMED : 0;
}

RT_NEXT(int, pthread_mutex_lock, (pthread_mutex_t * m));
RT_NEXT(int, pthread_mutex_unlock, (pthread_mutex_t * m));

void rt_wait_begin(struct rt_wait *w)
{
	w->said = rt_recording() && rt_mutex_lets_go(w->mutex);
	w->shared = rt_condition_is_shared(w->cond);
	if (!w->said)
		return;
	rt_emit_use(RT_OP_WAIT_BEGIN, w->cond, (uintptr_t)w->mutex, w->pc, 0);
	if (w->shared)
		rt_children_told(w->pc);
}

/* One that a time or another process may end is no hang, nor is anything known of one by another address. */
void rt_wait_sleeps(const struct rt_wait *w)
{
	uintptr_t cond = (uintptr_t)w->cond;
	if (!w->shared && !(w->flags & RT_F_TIMED) && rt_place(cond) == cond)
		rt_call_begins(RT_CALL_CONDITION, -1, cond, RT_CALL_OWN, RT_CALL_NO_HOLDER, w->pc);
}

void rt_wait_end(struct rt_wait *w)
{
	rt_call_over();
	if (!w->said)
		return;
	/* Out of time it returns something else: without the signal the program need not have gone on as it did. */
	bool signalled = w->flags & RT_F_TIMED && w->result == 0 && !w->shared && !w->spurious;
	unsigned flags = w->flags | (signalled ? RT_F_SIGNALLED : 0u);
	flags |= w->result == ETIMEDOUT ? RT_F_TIMEOUT : 0u;
	rt_emit_use(RT_OP_WAIT_END, w->cond, (uintptr_t)w->mutex, w->pc, flags);
	if (w->shared)
		rt_children_heard(w->pc);
	if (w->result == ENOTRECOVERABLE) /* a robust mutex that was not taken again */
		rt_emit_use(RT_OP_RELEASE, w->mutex, 0, w->pc, 0);
}

#if RT_CONTROLLED
/* The mutex again, whatever the wait was ended by. */
static int take_again(const struct rt_wait *w, unsigned flags)
{
	int result;
	rt_turn_step(RT_OP_WAIT_END, rt_place((uintptr_t)w->cond), rt_place((uintptr_t)w->mutex), w->pc, flags, true);
	while ((result = rt_mutex_take(w->mutex)) == EBUSY)
		if (rt_turn_block(RT_OP_ACQUIRE, rt_place((uintptr_t)w->mutex), RT_FOREVER, false) == RT_TURN_FREE)
			return RT_REAL(pthread_mutex_lock)(w->mutex);
	return result;
}

/*
 * By turns. From the release of the mutex to the wait no other thread has a turn, so nothing is missed; the C library's
 * condition is not used. A thread that is woken because turns have been given up is woken spuriously.
 */
int rt_wait_by_turns(struct rt_wait *w, unsigned flags, struct rt_until until)
{
	struct rt_blocking b __attribute__((cleanup(rt_blocking_left))) = {
	    .op = RT_OP_WAIT_END, .object = (uintptr_t)w->cond, .pc = w->pc, .flags = flags};
	rt_testcancel(w->pc);
	int result = RT_REAL(pthread_mutex_unlock)(w->mutex);
	if (result != 0)
		return result;
	rt_turn_gives(rt_place((uintptr_t)w->mutex));
	rt_blocking_begin(&b);
	enum rt_turn_result woken = RT_TURN_AGAIN;
	w->spurious = rt_turn_is_spurious();
	if (w->spurious)
		w->flags = flags |= RT_F_TIMED; /* it may return unsignalled */
	else
		rt_wait_sleeps(w);
	if (!w->spurious)
		woken = rt_turn_block(RT_OP_WAIT_END, rt_place((uintptr_t)w->cond), until, true);
	result = take_again(w, flags);
	if (woken == RT_TURN_CANCELED)
		rt_testcancel(w->pc);
	return rt_blocking_result(&b, result == 0 && woken == RT_TURN_TIMEOUT ? ETIMEDOUT : result);
}

#endif

/* glibc (2.25 and later) keeps it in the bit beside that one. */
static clockid_t clock_of(const pthread_cond_t *cond)
{
	return cond->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

/* A time that glibc refuses: it returns EINVAL without having waited. */
static bool valid_time(const struct timespec *t)
{
	return t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

RT_INTERPOSE(int, pthread_cond_wait, (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex))
{
	RT_WAIT(cond, mutex, 0);
	return wait.result = RT_WAIT_CALL(0, RT_FOREVER, RT_REAL(pthread_cond_wait)(cond, mutex));
}

RT_INTERPOSE(int, pthread_cond_timedwait,
             (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex, const struct timespec *restrict until))
{
	if (!valid_time(until))
		return RT_REAL(pthread_cond_timedwait)(cond, mutex, until);
	RT_WAIT(cond, mutex, RT_F_TIMED);
	return wait.result = RT_WAIT_CALL(RT_F_TIMED, RT_UNTIL(clock_of(cond), until),
	                                  RT_REAL(pthread_cond_timedwait)(cond, mutex, until));
}

RT_INTERPOSE(int, pthread_cond_clockwait,
             (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex, clockid_t clock,
              const struct timespec *restrict until))
{
	if (!valid_time(until) || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME))
		return RT_REAL(pthread_cond_clockwait)(cond, mutex, clock, until);
	RT_WAIT(cond, mutex, RT_F_TIMED);
	return wait.result = RT_WAIT_CALL(RT_F_TIMED, RT_UNTIL(clock, until),
	                                  RT_REAL(pthread_cond_clockwait)(cond, mutex, clock, until));
}

RT_INTERPOSE(int, pthread_cond_signal, (pthread_cond_t * cond))
{
	rt_emit_signal(RT_OP_SIGNAL, cond, RT_PC);
	return RT_REAL(pthread_cond_signal)(cond);
}

RT_INTERPOSE(int, pthread_cond_broadcast, (pthread_cond_t * cond))
{
	rt_emit_signal(RT_OP_BROADCAST, cond, RT_PC);
	return RT_REAL(pthread_cond_broadcast)(cond);
}

RT_INIT(pthread_cond_init, (pthread_cond_t *restrict cond, const pthread_condattr_t *restrict attr), (cond, attr), cond)
RT_DESTROY(int, pthread_cond_destroy, (pthread_cond_t * cond), cond)
