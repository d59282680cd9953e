/* OpenMP's locks, and the sections that are guarded by one, as GCC compiles them; see omp.c. */
#include "recorder/intercept/sync.h"

#include <errno.h>

static char critical, atomics; /* the locks of all unnamed sections; only their addresses count */

#define TAKES(name, parameters, arguments, lock)                                                                       \
	RT_INTERPOSE(void, name, parameters)                                                                           \
	{                                                                                                              \
		if (RT_UNLIKELY(rt_controlled))                                                                        \
			rt_turn_takes((uintptr_t)(lock), RT_PC);                                                       \
		RT_REAL(name) arguments;                                                                               \
		rt_emit_sync(RT_OP_ACQUIRE, (uintptr_t)(lock), 0, RT_PC, 0);                                           \
	}
#define LETS_GO(name, parameters, arguments, lock)                                                                     \
	RT_INTERPOSE(void, name, parameters)                                                                           \
	{                                                                                                              \
		rt_emit_sync(RT_OP_RELEASE, (uintptr_t)(lock), 0, RT_PC, 0);                                           \
		RT_REAL(name) arguments;                                                                               \
	}
TAKES(GOMP_critical_start, (void), (), &critical)
LETS_GO(GOMP_critical_end, (void), (), &critical)
TAKES(GOMP_critical_name_start, (void **lock), (lock), lock)
LETS_GO(GOMP_critical_name_end, (void **lock), (lock), lock)
TAKES(GOMP_atomic_start, (void), (), &atomics)
LETS_GO(GOMP_atomic_end, (void), (), &atomics)

/* Fortran's names end with an underscore; its locks are where C's are, or have a pointer to them. */
#define LOCKS(_)                                                                                                       \
	LETS_GO(omp_unset_lock##_, (void *lock), (lock), lock)                                                         \
	RT_INTERPOSE(int, omp_test_lock##_, (void *lock))                                                              \
	{                                                                                                              \
		if (RT_UNLIKELY(rt_controlled))                                                                        \
			rt_turn_step(RT_OP_ACQUIRE, (uintptr_t)lock, 0, RT_PC, RT_F_TIMED, false);                     \
		int result = RT_REAL(omp_test_lock##_)(lock);                                                          \
		if (result)                                                                                            \
			rt_emit_sync(RT_OP_ACQUIRE, (uintptr_t)lock, 0, RT_PC, RT_F_TIMED);                            \
		else                                                                                                   \
			rt_try_failed(RT_OP_ACQUIRE, lock, RT_PC);                                                     \
		return result;                                                                                         \
	}                                                                                                              \
	RT_INTERPOSE(void, omp_set_lock##_, (void *lock))                                                              \
	{                                                                                                              \
		RT_BLOCKING_UNLESS(RT_REAL(omp_test_lock##_)(lock) ? 0 : EBUSY, EBUSY, RT_OP_ACQUIRE, lock, 0,         \
		                   RT_FOREVER, RT_PC, (RT_REAL(omp_set_lock##_)(lock), 0));                            \
		rt_emit_sync(RT_OP_ACQUIRE, (uintptr_t)lock, 0, RT_PC, 0);                                             \
	}                                                                                                              \
	RT_INTERPOSE(int, omp_test_nest_lock##_, (void *lock))                                                         \
	{                                                                                                              \
		if (RT_UNLIKELY(rt_controlled))                                                                        \
			rt_turn_step(RT_OP_ACQUIRE, (uintptr_t)lock, 0, RT_PC, RT_F_TIMED, false);                     \
		int result = RT_REAL(omp_test_nest_lock##_)(lock);                                                     \
		if (result && rt_held_enter(lock))                                                                     \
			rt_emit_sync(RT_OP_ACQUIRE, (uintptr_t)lock, 0, RT_PC, RT_F_TIMED);                            \
		if (!result)                                                                                           \
			rt_try_failed(RT_OP_ACQUIRE, lock, RT_PC);                                                     \
		return result;                                                                                         \
	}                                                                                                              \
	RT_INTERPOSE(void, omp_set_nest_lock##_, (void *lock))                                                         \
	{                                                                                                              \
		RT_BLOCKING_UNLESS(RT_REAL(omp_test_nest_lock##_)(lock) ? 0 : EBUSY, EBUSY, RT_OP_ACQUIRE, lock, 0,    \
		                   RT_FOREVER, RT_PC, (RT_REAL(omp_set_nest_lock##_)(lock), 0));                       \
		if (rt_held_enter(lock))                                                                               \
			rt_emit_sync(RT_OP_ACQUIRE, (uintptr_t)lock, 0, RT_PC, 0);                                     \
	}                                                                                                              \
	RT_INTERPOSE(void, omp_unset_nest_lock##_, (void *lock))                                                       \
	{                                                                                                              \
		if (rt_held_leave(lock))                                                                               \
			rt_emit_sync(RT_OP_RELEASE, (uintptr_t)lock, 0, RT_PC, 0);                                     \
		RT_REAL(omp_unset_nest_lock##_)(lock);                                                                 \
	}
LOCKS()
LOCKS(_)
