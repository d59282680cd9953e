/*
 * C11 mutexes and conditions. glibc's are its pthread ones under another name, but call each other inside libc, where
 * nothing can be interposed. So they are interposed themselves. thrd_create and what goes with it is in thread.c,
 * call_once in once.c.
 */
#include "recorder/intercept/sync.h"
#include "recorder/runtime/blocking.h"

#include <errno.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "mtx_t is a pthread_mutex_t");

static pthread_mutex_t *as_mutex(mtx_t *m)
{
	return (pthread_mutex_t *)(void *)m;
}

static int locked(mtx_t *m, int result, uintptr_t pc, unsigned flags)
{
	if (result == thrd_success)
		rt_mutex_acquired(as_mutex(m), 0, pc, flags);
	return result;
}

/* Results as errors of POSIX, and back. */
static int as_error(int result)
{
	return result == thrd_success    ? 0
	       : result == thrd_busy     ? EBUSY
	       : result == thrd_timedout ? ETIMEDOUT
	       : result == thrd_nomem    ? ENOMEM
	                                 : EINVAL;
}
static int as_result(int error)
{
	return error == 0           ? thrd_success
	       : error == EBUSY     ? thrd_busy
	       : error == ETIMEDOUT ? thrd_timedout
	       : error == ENOMEM    ? thrd_nomem
	                            : thrd_error;
}

RT_INTERPOSE(int, mtx_trylock, (mtx_t * m))
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_step(RT_OP_ACQUIRE, (uintptr_t)m, 0, RT_PC, RT_F_TIMED, false);
	int result = RT_REAL(mtx_trylock)(m);
	if (result == thrd_busy)
		rt_try_failed(RT_OP_ACQUIRE, m, RT_PC);
	return locked(m, result, RT_PC, RT_F_TIMED);
}

#define LOCK(m, flags, until, call)                                                                                    \
	as_result(RT_BLOCKING_UNLESS(as_error(RT_REAL(mtx_trylock)(m)), EBUSY, RT_OP_ACQUIRE, m, flags, until, RT_PC,  \
	                             as_error(call)))

RT_INTERPOSE(int, mtx_lock, (mtx_t * m))
{
	return locked(m, LOCK(m, 0, RT_FOREVER, RT_REAL(mtx_lock)(m)), RT_PC, 0);
}

RT_INTERPOSE(int, mtx_timedlock, (mtx_t *restrict m, const struct timespec *restrict until))
{
	return locked(m, LOCK(m, RT_F_TIMED, RT_UNTIL(CLOCK_REALTIME, until), RT_REAL(mtx_timedlock)(m, until)), RT_PC,
	              RT_F_TIMED);
}

RT_INTERPOSE(int, mtx_unlock, (mtx_t * m))
{
	if (rt_recording() && rt_mutex_lets_go(as_mutex(m)))
		rt_emit_use(RT_OP_RELEASE, m, 0, RT_PC, 0);
	return RT_REAL(mtx_unlock)(m);
}

RT_INTERPOSE(int, cnd_wait, (cnd_t * cond, mtx_t *m))
{
	RT_WAIT(cond, as_mutex(m), 0);
	wait.result = RT_WAIT_CALL(0, RT_FOREVER, as_error(RT_REAL(cnd_wait)(cond, m)));
	return as_result(wait.result);
}

RT_INTERPOSE(int, cnd_timedwait, (cnd_t *restrict cond, mtx_t *restrict m, const struct timespec *restrict until))
{
	if (until->tv_nsec < 0 || until->tv_nsec >= 1000000000) /* refused without a wait */
		return RT_REAL(cnd_timedwait)(cond, m, until);
	RT_WAIT(cond, as_mutex(m), RT_F_TIMED);
	wait.result =
	    RT_WAIT_CALL(RT_F_TIMED, RT_UNTIL(CLOCK_REALTIME, until), as_error(RT_REAL(cnd_timedwait)(cond, m, until)));
	return as_result(wait.result);
}

RT_INTERPOSE(int, cnd_signal, (cnd_t * cond))
{
	rt_emit_signal(RT_OP_SIGNAL, cond, RT_PC);
	return RT_REAL(cnd_signal)(cond);
}

RT_INTERPOSE(int, cnd_broadcast, (cnd_t * cond))
{
	rt_emit_signal(RT_OP_BROADCAST, cond, RT_PC);
	return RT_REAL(cnd_broadcast)(cond);
}

RT_INTERPOSE(int, thrd_sleep, (const struct timespec *duration, struct timespec *remaining))
{
	int result = rt_turn_mine() ? rt_turn_sleep(RT_UNTIL(RT_CLOCK_DURATION, duration), RT_PC),
	    0                       : RT_REAL(thrd_sleep)(duration, remaining);
	rt_emit_time();
	return result;
}

RT_INTERPOSE(void, thrd_yield, (void))
{
	if (rt_turn_mine())
		rt_turn_yield(RT_PC);
	else
		RT_REAL(thrd_yield)();
	rt_emit_time();
}

RT_INIT(mtx_init, (mtx_t * m, int type), (m, type), m)

RT_DESTROY(void, mtx_destroy, (mtx_t * m), m)
RT_INIT(cnd_init, (cnd_t * cond), (cond), cond)
RT_DESTROY(void, cnd_destroy, (cnd_t * cond), cond)
