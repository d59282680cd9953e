/*
 * Mutexes and spin locks. Only outermost levels are events, and an unlock that the C library will refuse must not be
 * reported: the release is stamped before the real call. So this file reads what glibc keeps in a pthread_mutex_t:
 * kind, count, owner and lock word. They are part of its ABI; static initialisers and robust lists fix them. Only the
 * thread that holds the mutex acts on count.
 */
#include "recorder/intercept/sync.h"
#include "recorder/runtime/blocking.h"
#include "recorder/runtime/children.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

#include <errno.h>
#include <linux/futex.h>

/* pthread_mutex_t.__data.__kind: the type is in the low bits. */
#define KIND_TYPE 3
#define KIND_ROBUST 16
#define KIND_PRIO_INHERIT 32
#define KIND_SHARED 128

static __thread int tid;

/* Where the C library keeps it, from the thread pointer; 0: unknown. */
static size_t tid_place;

int rt_tid(void)
{
	if (tid == 0 && RT_SANDBOX_ALLOWS(SYS_gettid))
		tid = (int)RT_SYSCALL(SYS_gettid);
	else if (tid == 0 && tid_place)
		return *(const int *)(const void *)((const char *)rt_pthread_self() + tid_place);
	return tid;
}

static void find_tid(void)
{
	enum { FROM = 128, TO = 1536 }; /* bytes of struct pthread; the number is at 720 of glibc 2.36's */
	const int *words = (const int *)(const void *)rt_pthread_self();

	for (size_t i = FROM / sizeof *words; i < TO / sizeof *words && !tid_place; i++)
		if (words[i] == rt_tid())
			tid_place = i * sizeof *words;
}
RT_CALL_AT(RT_AT_START, find_tid);

static void forget_tid(void)
{
	tid = 0;
}
RT_CALL_AT(RT_AT_CHILD, forget_tid);

/* It does not change after init. */
static inline unsigned is_shared(const pthread_mutex_t *m)
{
	return __atomic_load_n(&m->__data.__kind, __ATOMIC_RELAXED) & KIND_SHARED ? RT_HOW_SHARED : 0;
}

void rt_mutex_acquired(pthread_mutex_t *m, int result, uintptr_t pc, unsigned flags)
{
	if ((result != 0 && result != EOWNERDEAD) || !rt_recording())
		return;
	int kind = m->__data.__kind & KIND_TYPE;
	if (kind == PTHREAD_MUTEX_RECURSIVE_NP && m->__data.__count > 1)
		return;
	rt_emit_use(RT_OP_ACQUIRE, m, 0, pc, flags);
	if (result == EOWNERDEAD) /* before that thread's end it would have returned something else */
		rt_emit_sync(RT_OP_HB_AFTER, (uintptr_t)m, 0, pc, 0);
	if (is_shared(m))
		rt_children_heard(pc);
}

/* Follows the checks of glibc's pthread_mutex_unlock, which differ between kinds. */
bool rt_mutex_lets_go(const pthread_mutex_t *m)
{
	int kind = __atomic_load_n(&m->__data.__kind, __ATOMIC_RELAXED);
	int type = kind & KIND_TYPE;
	if (kind < 0) /* destroyed */
		return false;
	if (kind & (KIND_ROBUST | KIND_PRIO_INHERIT)) {
		int word = __atomic_load_n(&m->__data.__lock, __ATOMIC_RELAXED);
		if ((word & FUTEX_TID_MASK) != rt_tid())
			return false;
	} else if (type == PTHREAD_MUTEX_RECURSIVE_NP || type == PTHREAD_MUTEX_ERRORCHECK_NP) {
		if (__atomic_load_n(&m->__data.__owner, __ATOMIC_RELAXED) != rt_tid())
			return false;
	}
	return type != PTHREAD_MUTEX_RECURSIVE_NP || m->__data.__count == 1;
}

/*
 * This thread ends: says RELEASE of the robust mutexes that it holds, because others may take them now. The list of
 * what this thread holds is the kernel's: it goes through it when the thread is no more, as far as the memory is there.
 */
static void abandon(void)
{
	enum { MANY = 1024 }; /* more is invalid */
	struct robust_list_head *head = NULL;
	size_t size = 0;
	_Static_assert(offsetof(pthread_mutex_t, __data.__lock) == 0, "the futex is at the mutex's address");
	if (!rt_recording() || RT_SYSCALL(SYS_get_robust_list, 0, &head, &size) != 0 || !head || size < sizeof *head)
		return;
	uintptr_t end = (uintptr_t)&head->list,
	          at = (uintptr_t)head->list.next & ~(uintptr_t)1; /* 1: inherits priority */
	for (int i = 0; i < MANY && at && at != end && rt_readable((const void *)at, sizeof(struct robust_list)); i++) {
		rt_emit_sync(RT_OP_HB_BEFORE, at + (uintptr_t)head->futex_offset, 0, 0, 0);
		rt_emit_use(RT_OP_RELEASE, (void *)(at + (uintptr_t)head->futex_offset), 0, 0, 0);
		rt_children_told(0);
		at = (uintptr_t)((const struct robust_list *)at)->next & ~(uintptr_t)1;
	}
}
RT_CALL_AT(RT_AT_THREAD_END, abandon);

RT_INTERPOSE(int, pthread_mutex_trylock, (pthread_mutex_t * m))
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_step(RT_OP_ACQUIRE, (uintptr_t)m, 0, RT_PC, RT_F_TIMED, false);
	int result = RT_REAL(pthread_mutex_trylock)(m);
	if (RT_UNLIKELY(result == EBUSY))
		rt_try_failed(RT_OP_ACQUIRE, m, RT_PC);
	rt_mutex_acquired(m, result, RT_PC, RT_F_TIMED);
	return result;
}

/*
 * glibc's pthread_mutex_trylock leaves a robust mutex that it finds not recoverable locked for ever, which
 * pthread_mutex_lock does not (2.36: of the two the former asks for the wrong owner). So of robust ones no try is made.
 */
static inline __attribute__((always_inline)) int mutex_try(pthread_mutex_t *m)
{
	return __atomic_load_n(&m->__data.__kind, __ATOMIC_RELAXED) & KIND_ROBUST ? EBUSY
	                                                                          : RT_REAL(pthread_mutex_trylock)(m);
}

RT_INTERPOSE(int, pthread_mutex_lock, (pthread_mutex_t * m));

/* By turns no lock waits. Where it would fail instead, as it does for a thread that holds it already, it is called. */
int rt_mutex_take(pthread_mutex_t *m)
{
	int kind = __atomic_load_n(&m->__data.__kind, __ATOMIC_RELAXED);
	int owner = __atomic_load_n(&m->__data.__lock, __ATOMIC_RELAXED) & FUTEX_TID_MASK;
	bool mine = (kind & KIND_TYPE) == PTHREAD_MUTEX_ERRORCHECK_NP && m->__data.__owner == rt_tid();
	if (mine || (kind & KIND_ROBUST && (owner == 0 || (owner == rt_tid() && kind & KIND_TYPE))))
		return RT_REAL(pthread_mutex_lock)(m);
	return mutex_try(m);
}

#define MUTEX_LOCK(m, flags, until, call)                                                                              \
	RT_BLOCKING_UNLESS(RT_UNLIKELY(rt_controlled) ? rt_mutex_take(m) : mutex_try(m), EBUSY, RT_OP_ACQUIRE, m,      \
	                   (flags) | is_shared(m), until, RT_PC, call)

RT_DEFINE(int, pthread_mutex_lock, (pthread_mutex_t * m))
{
	int result = MUTEX_LOCK(m, 0, RT_FOREVER, RT_REAL(pthread_mutex_lock)(m));
	rt_mutex_acquired(m, result, RT_PC, 0);
	return result;
}

RT_INTERPOSE(int, pthread_mutex_timedlock, (pthread_mutex_t *restrict m, const struct timespec *restrict abstime))
{
	int result =
	    MUTEX_LOCK(m, RT_F_TIMED, RT_UNTIL(CLOCK_REALTIME, abstime), RT_REAL(pthread_mutex_timedlock)(m, abstime));
	rt_mutex_acquired(m, result, RT_PC, RT_F_TIMED);
	return result;
}

RT_INTERPOSE(int, pthread_mutex_clocklock,
             (pthread_mutex_t *restrict m, clockid_t clock, const struct timespec *restrict abstime))
{
	int result =
	    MUTEX_LOCK(m, RT_F_TIMED, RT_UNTIL(clock, abstime), RT_REAL(pthread_mutex_clocklock)(m, clock, abstime));
	rt_mutex_acquired(m, result, RT_PC, RT_F_TIMED);
	return result;
}

static void let_go(pthread_mutex_t *m, uintptr_t pc)
{
	if (!rt_recording() || !rt_mutex_lets_go(m))
		return;
	rt_emit_use(RT_OP_RELEASE, m, 0, pc, 0);
	if (is_shared(m))
		rt_children_told(pc);
}

RT_INTERPOSE(int, pthread_mutex_unlock, (pthread_mutex_t * m))
{
	let_go(m, RT_PC);
	return RT_REAL(pthread_mutex_unlock)(m);
}

/* Names by which old objects call the same functions. */
RT_DEFINE(int, __pthread_mutex_lock, (pthread_mutex_t * m))
{
	int result = MUTEX_LOCK(m, 0, RT_FOREVER, RT_REAL(pthread_mutex_lock)(m));
	rt_mutex_acquired(m, result, RT_PC, 0);
	return result;
}

RT_DEFINE(int, __pthread_mutex_unlock, (pthread_mutex_t * m))
{
	let_go(m, RT_PC);
	return RT_REAL(pthread_mutex_unlock)(m);
}

static void spin_acquired(pthread_spinlock_t *lock, uintptr_t pc, unsigned flags)
{
	rt_emit_use(RT_OP_ACQUIRE, lock, 0, pc, flags);
	if (RT_UNLIKELY(rt_children.share) && rt_children_share_at(&rt_children, (uintptr_t)lock))
		rt_children_heard(pc);
}

RT_INTERPOSE(int, pthread_spin_trylock, (pthread_spinlock_t * lock))
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_step(RT_OP_ACQUIRE, (uintptr_t)lock, 0, RT_PC, RT_F_TIMED, false);
	int result = RT_REAL(pthread_spin_trylock)(lock);
	if (result == 0)
		spin_acquired(lock, RT_PC, RT_F_TIMED);
	else
		rt_try_failed(RT_OP_ACQUIRE, lock, RT_PC);
	return result;
}

RT_INTERPOSE(int, pthread_spin_lock, (pthread_spinlock_t * lock))
{
	int result = RT_BLOCKING_UNLESS(RT_REAL(pthread_spin_trylock)(lock), EBUSY, RT_OP_ACQUIRE, lock, 0, RT_FOREVER,
	                                RT_PC, RT_REAL(pthread_spin_lock)(lock));
	if (result == 0)
		spin_acquired(lock, RT_PC, 0);
	return result;
}

RT_INTERPOSE(int, pthread_spin_unlock, (pthread_spinlock_t * lock))
{
	rt_emit_use(RT_OP_RELEASE, lock, 0, RT_PC, 0);
	if (RT_UNLIKELY(rt_children.share) && rt_children_share_at(&rt_children, (uintptr_t)lock))
		rt_children_told(RT_PC);
	return RT_REAL(pthread_spin_unlock)(lock);
}

RT_INIT(pthread_mutex_init, (pthread_mutex_t * m, const pthread_mutexattr_t *attr), (m, attr), m)

RT_DESTROY(int, pthread_mutex_destroy, (pthread_mutex_t * m), m)
RT_INIT(pthread_spin_init, (pthread_spinlock_t * lock, int shared), (lock, shared), lock)
RT_DESTROY(int, pthread_spin_destroy, (pthread_spinlock_t * lock), lock)
