/*
 * Reader-writer locks. A thread may hold the reader side several times; only its outermost hold is an event, so each
 * thread keeps the depth of the few that it holds.
 */
#include "recorder/intercept/sync.h"
#include "recorder/runtime/blocking.h"
#include "recorder/runtime/syscall.h"

/* What does not fit is reported at each level. */
#define HELD_MAX 32

static __thread struct {
	const void *lock;
	unsigned depth;
} held[HELD_MAX];
static __thread unsigned held_count;

bool rt_held_enter(const void *lock)
{
	for (unsigned i = held_count; i-- > 0;)
		if (held[i].lock == lock) {
			held[i].depth++;
			return false;
		}
	if (held_count < HELD_MAX) {
		held[held_count].depth = 1;
		held[held_count++].lock = lock;
	}
	return true;
}

bool rt_held_leave(const void *lock)
{
	for (unsigned i = held_count; i-- > 0;)
		if (held[i].lock == lock) {
			if (--held[i].depth > 0)
				return false;
			held[i] = held[--held_count];
			return true;
		}
	return true;
}

/* RT_HOW_SHARED if another process may hold it. */
static unsigned is_shared(const pthread_rwlock_t *lock)
{
	return lock->__data.__shared ? RT_HOW_SHARED : 0;
}

/* waited: BLOCK was said. */
static void read_locked(pthread_rwlock_t *lock, int result, bool waited, uintptr_t pc, unsigned flags)
{
	struct rt_blocking inner = {.op = RT_OP_ACQUIRE_SHARED, .object = (uintptr_t)lock, .pc = pc, .returned = true};
	if (result != 0 || !rt_recording())
		return;
	if (rt_held_enter(lock))
		rt_emit_use(RT_OP_ACQUIRE_SHARED, lock, 0, pc, flags);
	else if (waited)
		rt_blocking_end(&inner);
	if (is_shared(lock))
		rt_children_heard(pc);
}

static void write_locked(pthread_rwlock_t *lock, int result, uintptr_t pc, unsigned flags)
{
	if (result == 0)
		rt_emit_use(RT_OP_ACQUIRE, lock, 0, pc, flags);
	if (result == 0 && is_shared(lock))
		rt_children_heard(pc);
}

RT_INTERPOSE(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock))
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_step(RT_OP_ACQUIRE_SHARED, (uintptr_t)lock, 0, RT_PC, RT_F_TIMED, false);
	int result = RT_REAL(pthread_rwlock_tryrdlock)(lock);
	if (result == EBUSY)
		rt_try_failed(RT_OP_ACQUIRE_SHARED, lock, RT_PC);
	read_locked(lock, result, false, RT_PC, RT_F_TIMED);
	return result;
}

RT_INTERPOSE(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock))
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_step(RT_OP_ACQUIRE, (uintptr_t)lock, 0, RT_PC, RT_F_TIMED, false);
	int result = RT_REAL(pthread_rwlock_trywrlock)(lock);
	if (result == EBUSY)
		rt_try_failed(RT_OP_ACQUIRE, lock, RT_PC);
	write_locked(lock, result, RT_PC, RT_F_TIMED);
	return result;
}

/* The call fails where this thread is the writer; a try only says that it would have to wait. */
static int busy(const pthread_rwlock_t *lock, int tried)
{
	bool mine = tried == EBUSY && rt_controlled && lock->__data.__cur_writer == (int)RT_SYSCALL(SYS_gettid);
	return mine ? EDEADLK : tried;
}

#define READ_LOCK(name, parameters, arguments, flags, when)                                                            \
	RT_INTERPOSE(int, name, parameters)                                                                            \
	{                                                                                                              \
		int tried = 0, result;                                                                                 \
		if (RT_UNLIKELY(rt_controlled) && rt_turn_mine()) {                                                    \
			result = RT_BLOCKING_BY_TURNS(busy(lock, RT_REAL(pthread_rwlock_tryrdlock)(lock)), EBUSY,      \
			                              RT_OP_ACQUIRE_SHARED, lock, (flags) | is_shared(lock), when,     \
			                              RT_PC, RT_REAL(name) arguments);                                 \
		} else {                                                                                               \
			result = tried = RT_REAL(pthread_rwlock_tryrdlock)(lock);                                      \
			if (RT_UNLIKELY(tried == EBUSY))                                                               \
				result =                                                                               \
				    RT_BLOCKING(RT_OP_ACQUIRE_SHARED, lock, flags, RT_PC, RT_REAL(name) arguments);    \
		}                                                                                                      \
		read_locked(lock, result, tried == EBUSY, RT_PC, flags);                                               \
		return result;                                                                                         \
	}
#define WRITE_LOCK(name, parameters, arguments, flags, when)                                                           \
	RT_INTERPOSE(int, name, parameters)                                                                            \
	{                                                                                                              \
		int result =                                                                                           \
		    RT_BLOCKING_UNLESS(busy(lock, RT_REAL(pthread_rwlock_trywrlock)(lock)), EBUSY, RT_OP_ACQUIRE,      \
		                       lock, (flags) | is_shared(lock), when, RT_PC, RT_REAL(name) arguments);         \
		write_locked(lock, result, RT_PC, flags);                                                              \
		return result;                                                                                         \
	}
#define TIMED_PARAMETERS (pthread_rwlock_t *restrict lock, const struct timespec *restrict until)
#define CLOCK_PARAMETERS (pthread_rwlock_t *restrict lock, clockid_t clock, const struct timespec *restrict until)

READ_LOCK(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock), 0, RT_FOREVER)
READ_LOCK(pthread_rwlock_timedrdlock, TIMED_PARAMETERS, (lock, until), RT_F_TIMED, RT_UNTIL(CLOCK_REALTIME, until))
READ_LOCK(pthread_rwlock_clockrdlock, CLOCK_PARAMETERS, (lock, clock, until), RT_F_TIMED, RT_UNTIL(clock, until))
WRITE_LOCK(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock), 0, RT_FOREVER)
WRITE_LOCK(pthread_rwlock_timedwrlock, TIMED_PARAMETERS, (lock, until), RT_F_TIMED, RT_UNTIL(CLOCK_REALTIME, until))
WRITE_LOCK(pthread_rwlock_clockwrlock, CLOCK_PARAMETERS, (lock, clock, until), RT_F_TIMED, RT_UNTIL(clock, until))

RT_INTERPOSE(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock))
{
	if (rt_recording() && rt_held_leave(lock))
		rt_emit_use(RT_OP_RELEASE, lock, 0, RT_PC, 0);
	if (is_shared(lock))
		rt_children_told(RT_PC);
	return RT_REAL(pthread_rwlock_unlock)(lock);
}

RT_INIT(pthread_rwlock_init, (pthread_rwlock_t *restrict lock, const pthread_rwlockattr_t *restrict attr), (lock, attr),
        lock)
RT_DESTROY(int, pthread_rwlock_destroy, (pthread_rwlock_t * lock), lock)
