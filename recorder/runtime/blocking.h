/*
 * The wrapper of every call that may block. It records what the thread waits for before the call and, if the call did
 * not provide that, what became of the wait. So a trace shows which threads wait at its end, and for what.
 *
 * A caller that can tell by a try whether the call would block does so first: the fast path has no further event.
 */
#ifndef RECORDER_RUNTIME_BLOCKING_H
#define RECORDER_RUNTIME_BLOCKING_H

#include "recorder/runtime/core.h"
#include "recorder/runtime/recorder.h"
#include "recorder/runtime/turn.h"

#include <errno.h>

/* One such call. */
struct rt_blocking {
	unsigned op;      /* what the thread waits to do: RT_OP_ACQUIRE, RT_OP_JOIN, ... */
	uintptr_t object; /* RT_OP_JOIN: the thread's index */
	uintptr_t pc;
	unsigned flags; /* RT_F_TIMED */
	bool shared;    /* another process may give it */
	bool given;     /* it can do it now, and an event says so */
	bool begun;     /* BLOCK was emitted */
	bool timeout;
	bool returned; /* the call has, so that the thread was not cancelled in it */
};

/* Beside RT_F_TIMED in how a call waits: another process may give the object. */
#define RT_HOW_SHARED 0x100u

/* An index that no thread has: the awaited thread is unknown. */
#define RT_BLOCKING_UNKNOWN RT_OPERAND_MAX

/* Emits BLOCK. */
void rt_blocking_begin(struct rt_blocking *b);
/* Emits UNBLOCK if the object was not given; also when the thread is cancelled, or an exception goes through. */
void rt_blocking_end(struct rt_blocking *b);

/* Evaluates the real function's result: 0 or EOWNERDEAD, the object was given; else an error, or -1 and errno. */
static inline int rt_blocking_result(struct rt_blocking *b, int result)
{
	b->returned = true;
	b->given = result == 0 || result == EOWNERDEAD;
	b->timeout = b->flags & RT_F_TIMED && (result == -1 ? errno : result) == ETIMEDOUT;
	return result;
}

/*
 * Evaluates `call`, an int expression that may block, and has its value. The operation's own event must follow if it is
 * 0 or EOWNERDEAD. A thread that takes turns gives its turn up meanwhile.
 */
#define RT_BLOCKING(operation, what, how, caller, call)                                                                \
	({                                                                                                             \
		struct rt_blocking rt_blocking_call __attribute__((cleanup(rt_blocking_end))) = {                      \
		    .op = (operation), .object = (uintptr_t)(what), .pc = (caller), .flags = (how) & ~RT_HOW_SHARED};  \
		rt_blocking_begin(&rt_blocking_call);                                                                  \
		if (RT_UNLIKELY(rt_controlled))                                                                        \
			rt_turn_leaves(caller);                                                                        \
		rt_blocking_result(&rt_blocking_call, (call));                                                         \
	})

/*
 * The same if a try shows whether it would block: it then returns `busy`. A thread that takes turns tries until it need
 * not wait, until the time `until` (struct rt_until), or until control is given up.
 */
#define RT_BLOCKING_UNLESS(try, busy, operation, what, how, until, caller, call)                                       \
	({                                                                                                             \
		int rt_blocking_try;                                                                                   \
		if (RT_UNLIKELY(rt_controlled) && rt_turn_mine()) {                                                    \
			rt_blocking_try = RT_BLOCKING_BY_TURNS(try, busy, operation, what, how, until, caller, call);  \
		} else {                                                                                               \
			rt_blocking_try = (try);                                                                       \
			if (RT_UNLIKELY(rt_blocking_try == (busy)))                                                    \
				rt_blocking_try = RT_BLOCKING(operation, what, how, caller, call);                     \
		}                                                                                                      \
		rt_blocking_try;                                                                                       \
	})
#define RT_BLOCKING_BY_TURNS(try, busy, operation, what, how, until, caller, call)                                     \
	({                                                                                                             \
		struct rt_blocking rt_blocking_call                                                                    \
		    __attribute__((cleanup(rt_blocking_left))) = {.op = (operation),                                   \
		                                                  .object = (uintptr_t)(what),                         \
		                                                  .pc = (caller),                                      \
		                                                  .flags = (how) & ~RT_HOW_SHARED,                     \
		                                                  .shared = (how)&RT_HOW_SHARED};                      \
		int rt_blocking_turn;                                                                                  \
		rt_turn_step(operation, rt_place((uintptr_t)(what)), 0, caller, (how) & ~RT_HOW_SHARED, true);         \
		do                                                                                                     \
			rt_blocking_turn = (try);                                                                      \
		while (rt_blocking_turn == (busy) && rt_blocking_turns(&rt_blocking_call, until));                     \
		if (rt_blocking_turn == (busy))                                                                        \
			rt_blocking_turn = rt_blocking_call.timeout ? ETIMEDOUT : (call);                              \
		rt_blocking_result(&rt_blocking_call, rt_blocking_turn);                                               \
	})
/* Waits for the object by turns; BLOCK is emitted once. False: time is up (timeout), or there are no turns any more. */
bool rt_blocking_turns(struct rt_blocking *b, struct rt_until until);
/* rt_blocking_end, if BLOCK was emitted. */
void rt_blocking_left(struct rt_blocking *b);

/*
 * Emits TRY_FAILED: the thread would have had to wait and did not. A loop that only tries again and again emits it
 * once; the rest counts as repeats.
 */
void rt_try_failed(unsigned op, const volatile void *object, uintptr_t pc);

#endif
