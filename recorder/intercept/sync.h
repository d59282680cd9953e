/*
 * What the interposers of synchronisation share: which lock and unlock calls are the outermost ones, and the two halves
 * of a wait. Nothing here allocates.
 */
#ifndef RECORDER_INTERCEPT_SYNC_H
#define RECORDER_INTERCEPT_SYNC_H

#include "recorder/runtime/blocking.h"
#include "recorder/runtime/recorder.h"

#include <pthread.h>

/* The whole of a function that makes an object, or ends one, and that says no more. */
#define RT_INIT(name, parameters, arguments, object)                                                                   \
	RT_INTERPOSE(int, name, parameters)                                                                            \
	{                                                                                                              \
		int result = RT_REAL(name) arguments;                                                                  \
		if (result == 0)                                                                                       \
			rt_emit_object(object, RT_PC);                                                                 \
		return result;                                                                                         \
	}
#define RT_DESTROY(type, name, parameters, object)                                                                     \
	RT_INTERPOSE(type, name, parameters)                                                                           \
	{                                                                                                              \
		rt_emit_object(object, RT_PC);                                                                         \
		return RT_REAL(name)(object);                                                                          \
	}

/*
 * Before a request that threads of the C library's own work on: the program's event, or in `mine` one that has its
 * function recorded. _in: so has the event itself then, which the C library reads when it is done.
 */
struct sigevent *rt_request_notifies(struct sigevent *event, struct sigevent *mine, uintptr_t pc);
void rt_request_notifies_in(struct sigevent *event, uintptr_t pc);

/* The kernel's number of this thread; 0: unknown. Asked for once. */
int rt_tid(void);

/*
 * A mutex call that takes the lock returned `result`: says ACQUIRE if that means that this thread holds it now and did
 * not before. EOWNERDEAD counts as taken.
 */
void rt_mutex_acquired(pthread_mutex_t *mutex, int result, uintptr_t pc, unsigned flags);

/*
 * By turns: as pthread_mutex_lock, but EBUSY where that would wait.
 */
int rt_mutex_take(pthread_mutex_t *mutex);

/*
 * True if unlocking (or waiting with) this mutex releases it now. False for inner levels of a recursive mutex and if
 * the real function will refuse (EPERM).
 */
bool rt_mutex_lets_go(const pthread_mutex_t *mutex);

/* SIGNAL or BROADCAST, and that it uses the condition; before the real call. */
void rt_emit_signal(unsigned op, const volatile void *cond, uintptr_t pc);

/*
 * One wait on a condition. rt_wait_begin says WAIT_BEGIN. rt_wait_end is a cleanup function (the wait may be
 * cancelled): says WAIT_END; the mutex is held again by then.
 */
struct rt_wait {
	void *cond;
	pthread_mutex_t *mutex;
	uintptr_t pc;
	unsigned flags; /* of WAIT_END */
	int result;     /* of the real function: 0, ETIMEDOUT, ...; -1: it has not returned */
	bool said, shared, spurious;
};
unsigned rt_condition_is_shared(const void *cond); /* RT_F_TIMED: another process may signal it; else 0 */
void rt_wait_begin(struct rt_wait *wait);
void rt_wait_end(struct rt_wait *wait);
/*
 * The wait itself: `call` is an int expression, as of RT_BLOCKING; until: as of RT_BLOCKING_UNLESS. WAIT_END follows
 * whatever it is. A condition that another process may signal is the C library's also by turns.
 */
#define RT_WAIT_CALL(f, until, call)                                                                                   \
	(RT_UNLIKELY(rt_controlled) && rt_turn_mine() && !rt_condition_is_shared(wait.cond)                            \
	     ? rt_wait_by_turns(&wait, f, until)                                                                       \
	     : RT_BLOCKING(RT_OP_WAIT_END, wait.cond, (f) | rt_condition_is_shared(wait.cond), RT_PC,                  \
	                   (rt_wait_sleeps(&wait), call)))
void rt_wait_sleeps(const struct rt_wait *wait);
int rt_wait_by_turns(struct rt_wait *wait, unsigned flags, struct rt_until until);
#define RT_WAIT(condition, m, f)                                                                                       \
	struct rt_wait wait __attribute__((cleanup(rt_wait_end))) = {                                                  \
	    .cond = (condition), .mutex = (m), .pc = RT_PC, .flags = (f), .result = -1};                               \
	rt_wait_begin(&wait)

/*
 * Depth of a lock that this thread may hold several times (reader side of an rwlock, FILE). enter: is this the
 * outermost hold? leave: was it? A thread that holds more than a few dozen such locks at once has every level of the
 * further ones reported.
 */
bool rt_held_enter(const void *lock);
bool rt_held_leave(const void *lock);

struct dl_phdr_info;
/* Where the module's executable segment that contains the address begins, and its size; 0: it has none such. */
uintptr_t rt_module_code(const struct dl_phdr_info *module, uintptr_t address, size_t *size);

/* A module's instrumented code, at pc, says that it is there. */
void rt_code_begins(uintptr_t pc);
extern struct rt_code rt_linker; /* the dynamic linker's code */

/* The real malloc and free, for the recorder's own. */
void *rt_malloc_unseen(size_t size);
void rt_free_unseen(void *p);
/* Until rt_heap_called, the thread's calls of the heap are recorded as called from pc, or from where an outer one says,
 * which is returned. */
uintptr_t rt_heap_called_from(uintptr_t pc);
void rt_heap_called(uintptr_t outer);
/* malloc, recorded as called from pc. */
void *rt_malloc_at(size_t size, uintptr_t pc);

#endif
