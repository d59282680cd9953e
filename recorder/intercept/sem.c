/* POSIX semaphores, unnamed and named. */
#include "recorder/intercept/call.h"
#include "recorder/runtime/blocking.h"

#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <stdarg.h>

/*
 * Named semaphores that are open: sem_open of a name that is open already returns the same object, which must not be
 * said to be new. More than these are recorded without SEM_INIT.
 */
#define NAMED_MAX 256
static struct {
	_Atomic int lock;
	sem_t *sem[NAMED_MAX];
	unsigned opened[NAMED_MAX];
} named;

static void named_lock(void)
{
	while (atomic_exchange_explicit(&named.lock, 1, memory_order_acquire))
		;
}

static void named_unlock(void)
{
	atomic_store_explicit(&named.lock, 0, memory_order_release);
}

RT_CALL_AT(RT_AT_CHILD, named_unlock);

/* True if this is the first open of it. */
static bool named_opened(sem_t *sem)
{
	int free_place = -1;
	bool first = false;
	named_lock();
	for (int i = 0; i < NAMED_MAX; i++) {
		if (named.opened[i] && named.sem[i] == sem) {
			named.opened[i]++;
			goto out;
		}
		if (!named.opened[i] && free_place < 0)
			free_place = i;
	}
	if (free_place >= 0) {
		named.sem[free_place] = sem;
		named.opened[free_place] = 1;
		first = true;
	}
out:
	named_unlock();
	return first;
}

static void named_closed(sem_t *sem)
{
	named_lock();
	for (int i = 0; i < NAMED_MAX; i++)
		if (named.opened[i] && named.sem[i] == sem)
			named.opened[i]--;
	named_unlock();
}

CALL(int, sem_getvalue, (sem_t *restrict sem, int *restrict to), (sem, to), rt_emit_object_read(sem, pc),
     if (r == 0) OUT(to))
CALL(int, sem_unlink, (const char *name), (name), STR(name), )

bool rt_sem_is_zero(uint64_t semaphore)
{
	int now;
	return !rt_place_twice && RT_REAL(sem_getvalue)((sem_t *)(uintptr_t)semaphore, &now) == 0 && now <= 0;
}

/* How glibc begins a sem_t: may another process post? */
struct glibc_semaphore {
#if __SIZEOF_POINTER__ == 8
	uint64_t data;
#else
	unsigned value;
#endif
	int shared;
};

static bool is_shared(const sem_t *sem)
{
	return ((const struct glibc_semaphore *)(const void *)sem)->shared;
}

static void waited(sem_t *sem, int result, uintptr_t pc, unsigned flags)
{
	int now;
	if (result == 0)
		rt_emit_use(RT_OP_SEM_WAIT, sem, 0, pc, flags);
	if (result == 0 && is_shared(sem))
		rt_children_heard(pc);
	if (result == 0 && RT_UNLIKELY(rt_controlled) && RT_REAL(sem_getvalue)(sem, &now) == 0 && now <= 0)
		rt_turn_took_last((uintptr_t)sem);
}

RT_INTERPOSE(int, sem_init, (sem_t * sem, int shared, unsigned value))
{
	int result = RT_REAL(sem_init)(sem, shared, value);
	if (result == 0) {
		rt_emit_object(sem, RT_PC);
		rt_emit_sync(RT_OP_SEM_INIT, (uintptr_t)sem, value, RT_PC, 0);
	}
	return result;
}

RT_DESTROY(int, sem_destroy, (sem_t * sem), sem)

RT_INTERPOSE(sem_t *, sem_open, (const char *name, int flags, ...))
{
	va_list args;
	va_start(args, flags);
	mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	unsigned value = flags & O_CREAT ? va_arg(args, unsigned) : 0;
	va_end(args);
	sem_t *sem = RT_REAL(sem_open)(name, flags, mode, value);
	int now;
	if (sem != SEM_FAILED && rt_recording() && named_opened(sem) && RT_REAL(sem_getvalue)(sem, &now) == 0)
		rt_emit_sync(RT_OP_SEM_INIT, (uintptr_t)sem, (unsigned)now, RT_PC, 0);
	return sem;
}

RT_INTERPOSE(int, sem_close, (sem_t * sem))
{
	if (rt_recording())
		named_closed(sem);
	return RT_REAL(sem_close)(sem);
}

RT_INTERPOSE(int, sem_post, (sem_t * sem))
{
	int now;
	if (rt_recording() && RT_REAL(sem_getvalue)(sem, &now) == 0 && now < INT_MAX) /* else it will fail: EOVERFLOW */
		rt_emit_use(RT_OP_SEM_POST, sem, 0, RT_PC, 0);
	if (is_shared(sem))
		rt_children_told(RT_PC);
	return RT_REAL(sem_post)(sem);
}

RT_INTERPOSE(int, sem_trywait, (sem_t * sem))
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_step(RT_OP_SEM_WAIT, (uintptr_t)sem, 0, RT_PC, RT_F_TIMED, false);
	int result = RT_REAL(sem_trywait)(sem);
	if (result != 0 && errno == EAGAIN)
		rt_try_failed(RT_OP_SEM_WAIT, sem, RT_PC);
	waited(sem, result, RT_PC, RT_F_TIMED);
	return result;
}

/* 0: it was taken at once, as the real functions begin, which act upon a cancellation first. Leaves errno alone. */
static int take(sem_t *sem, uintptr_t pc)
{
	int saved = errno;
	rt_testcancel(pc);
	if (RT_REAL(sem_trywait)(sem) == 0)
		return 0;
	errno = saved;
	return EAGAIN;
}

/* An error of RT_BLOCKING_UNLESS, which a thread that takes turns has from there, as the real function gives it. */
static int as_result(int error)
{
	if (error == 0 || error == -1)
		return error;
	errno = error;
	return -1;
}

#define SEM_WAIT(name, parameters, arguments, flags, when)                                                             \
	RT_INTERPOSE(int, name, parameters)                                                                            \
	{                                                                                                              \
		unsigned how = (flags) | (is_shared(sem) ? RT_F_TIMED | RT_HOW_SHARED : 0);                            \
		int result = as_result(RT_BLOCKING_UNLESS(take(sem, RT_PC), EAGAIN, RT_OP_SEM_WAIT, sem, how, when,    \
		                                          RT_PC, RT_REAL(name) arguments));                            \
		waited(sem, result, RT_PC, how &RT_F_TIMED);                                                           \
		return result;                                                                                         \
	}
SEM_WAIT(sem_wait, (sem_t * sem), (sem), 0, RT_FOREVER)
SEM_WAIT(sem_timedwait, (sem_t *restrict sem, const struct timespec *restrict until), (sem, until), RT_F_TIMED,
         RT_UNTIL(CLOCK_REALTIME, until))
SEM_WAIT(sem_clockwait, (sem_t *restrict sem, clockid_t clock, const struct timespec *restrict until),
         (sem, clock, until), RT_F_TIMED, RT_UNTIL(clock, until))
