/*
 * What runs once: pthread_once, C11 call_once, and the guards of C++ static locals. std::call_once is pthread_once
 * underneath. The routine is wrapped: the thread's innermost call says where it belongs.
 *
 * A routine that is left by an exception or by cancellation will be run again, and what it did happens before that.
 * This is rare, so the pair that says it (HB_BEFORE, HB_AFTER of the object) is written only once it has happened
 * somewhere in the process.
 */
#include "recorder/intercept/sync.h"
#include "recorder/runtime/blocking.h"
#include "recorder/runtime/core.h"

#include <threads.h>

struct once_call {
	void *object;
	void (*routine)(void);
	uintptr_t pc;
	struct once_call *outer;
	bool began, ended;
};

static __thread struct once_call *innermost;
static _Atomic bool any_aborted;

static void say_begin(void *object, uintptr_t pc)
{
	if (atomic_load_explicit(&any_aborted, memory_order_relaxed))
		rt_emit_sync(RT_OP_HB_AFTER, (uintptr_t)object, 0, pc, 0);
	rt_emit_sync(RT_OP_ONCE_BEGIN, (uintptr_t)object, 0, pc, 0);
}

static void say_abort(void *object, uintptr_t pc)
{
	atomic_store_explicit(&any_aborted, true, memory_order_relaxed);
	rt_emit_sync(RT_OP_HB_BEFORE, (uintptr_t)object, 0, pc, 0);
}

/* Here, not in leave(): glibc, whose frame is between the two, lets the next one begin. */
static void routine_left(struct once_call **call)
{
	if (!(*call)->ended)
		say_abort((*call)->object, (*call)->pc);
}

static void run_routine(void)
{
	struct once_call *call __attribute__((cleanup(routine_left))) = innermost;
	call->began = true;
	say_begin(call->object, call->pc);
	call->routine();
	rt_emit_sync(RT_OP_ONCE_END, (uintptr_t)call->object, 0, call->pc, 0);
	call->ended = true;
}

static void leave(struct once_call *call)
{
	innermost = call->outer;
}

/* glibc's once flags are an int, of which this bit says that it ran. */
static bool is_done(void *object)
{
	return __atomic_load_n((int *)object, __ATOMIC_ACQUIRE) & 2;
}

/* By turns: waits until no other thread is at it. Pending: this bit of its word. */
static void await_once(void *object, unsigned mask, unsigned pending, uintptr_t pc)
{
	struct rt_blocking b __attribute__((cleanup(rt_blocking_left))) = {
	    .op = RT_OP_ONCE_SEEN, .object = (uintptr_t)object, .pc = pc, .given = true};
	rt_turn_step(RT_OP_ONCE_SEEN, (uintptr_t)object, 0, pc, 0, false);
	while ((__atomic_load_n((unsigned *)object, __ATOMIC_ACQUIRE) & mask) == pending &&
	       rt_blocking_turns(&b, RT_FOREVER))
		;
}

/* Runs real(object, a routine that says ONCE_BEGIN, runs `routine`, says ONCE_END); ONCE_SEEN if it was not called. */
static int once(void *object, void (*routine)(void), int (*real)(void *, void (*)(void)), uintptr_t pc)
{
	struct once_call call
	    __attribute__((cleanup(leave))) = {.object = object, .routine = routine, .pc = pc, .outer = innermost};
	innermost = &call;
	bool turns = RT_UNLIKELY(rt_controlled) && rt_turn_mine();
	if (turns)
		await_once(object, 3, 1, pc);
	int result = turns || is_done(object) ? real(object, run_routine)
	                                      : RT_BLOCKING(RT_OP_ONCE_SEEN, object, 0, pc, real(object, run_routine));
	if (result == 0 && !call.began)
		rt_emit_sync(RT_OP_ONCE_SEEN, (uintptr_t)object, 0, pc, 0);
	return result;
}

static int real_pthread_once(void *object, void (*routine)(void));
static int real_call_once(void *object, void (*routine)(void));

/* libgcc's are of its own tables. It unwinds a thread that is cancelled before the thread's own code tells of that. */
RT_INTERPOSE(int, pthread_once, (pthread_once_t * control, void (*routine)(void)))
{
	if (rt_is_inner(RT_PC))
		return RT_REAL(pthread_once)(control, routine);
	return once(control, routine, real_pthread_once, RT_PC);
}

RT_INTERPOSE(void, call_once, (once_flag * flag, void (*routine)(void)))
{
	once(flag, routine, real_call_once, RT_PC);
}

static int real_pthread_once(void *object, void (*routine)(void))
{
	return RT_REAL(pthread_once)(object, routine);
}

static int real_call_once(void *object, void (*routine)(void))
{
	RT_REAL(call_once)(object, routine);
	return 0;
}

/*
 * Guards of static locals. Later callers look at the guard's first byte themselves, by an instrumented acquire load;
 * the store that they read from is in the C++ library and not instrumented, so it is written here.
 */
#define GUARD_PENDING 0x100u /* in the C++ library's word: a thread is at it */
RT_INTERPOSE(int, __cxa_guard_acquire, (uint64_t * guard))
{
	int mine = 0;
	if (RT_UNLIKELY(rt_controlled) && rt_turn_mine()) {
		await_once(guard, GUARD_PENDING, GUARD_PENDING, RT_PC);
		mine = RT_REAL(__cxa_guard_acquire)(guard);
	} else if (__atomic_load_n((char *)guard, __ATOMIC_ACQUIRE) == 0)
		RT_BLOCKING(RT_OP_ONCE_SEEN, guard, 0, RT_PC, (mine = RT_REAL(__cxa_guard_acquire)(guard), 0));
	if (mine)
		say_begin(guard, RT_PC);
	else
		rt_emit_sync(RT_OP_ONCE_SEEN, (uintptr_t)guard, 0, RT_PC, 0);
	return mine;
}

RT_INTERPOSE(void, __cxa_guard_release, (uint64_t * guard))
{
	rt_emit_sync(RT_OP_ONCE_END, (uintptr_t)guard, 0, RT_PC, 0);
	rt_sync(rt_self, RT_OP_ATOMIC_STORE, (uintptr_t)guard, 0, RT_PC, rt_record_aux(1, __ATOMIC_RELEASE, 0));
	RT_REAL(__cxa_guard_release)(guard);
}

RT_INTERPOSE(void, __cxa_guard_abort, (uint64_t * guard))
{
	say_abort(guard, RT_PC);
	RT_REAL(__cxa_guard_abort)(guard);
}
