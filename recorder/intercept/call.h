/*
 * The table of library functions that do nothing but read and write the caller's memory, or keep something static: one
 * line a function, in the calls_*.c, from which its wrapper is made.
 *
 *   CALL(type, name, (parameters), (arguments), before; the call, after; it)
 *
 * What stands before and after are the words below; r is the result. Null pointers are neither read nor written.
 */
#ifndef RECORDER_INTERCEPT_CALL_H
#define RECORDER_INTERCEPT_CALL_H

#ifndef __NO_INLINE__
#define __NO_INLINE__ /* or the C library's headers define some of these themselves */
#endif
#include "recorder/intercept/sync.h"

#define CALL(type, name, parameters, arguments, before, after)                                                         \
	RT_INTERPOSE(type, name, parameters)                                                                           \
	{                                                                                                              \
		const uintptr_t pc = RT_PC;                                                                            \
		(void)pc;                                                                                              \
		before;                                                                                                \
		type r = RT_CANCELABLE(type, pc, RT_REAL(name) arguments);                                             \
		after;                                                                                                 \
		return r;                                                                                              \
	}
#define CALL_VOID(name, parameters, arguments, before, after)                                                          \
	RT_INTERPOSE(void, name, parameters)                                                                           \
	{                                                                                                              \
		const uintptr_t pc = RT_PC;                                                                            \
		(void)pc;                                                                                              \
		before;                                                                                                \
		RT_REAL(name) arguments;                                                                               \
		after;                                                                                                 \
	}
/* Another name of a function of this file. */
#define ALIAS(name, of)                                                                                                \
	__asm__(".globl " #name ", __interceptor_" #name "\n\t.type " #name ", @function\n\t"                          \
	        ".set " #name ", " #of "\n\t.set __interceptor_" #name ", " #of)

/* So are those for floating point types of fixed sizes, of a function of this file for each type of C. */
#define SAME(name, behind)                                                                                             \
	ALIAS(name##f32##behind, name##f##behind);                                                                     \
	ALIAS(name##f64##behind, name##behind);                                                                        \
	ALIAS(name##f32x##behind, name##behind);                                                                       \
	ALIAS(name##f64x##behind, name##l##behind)

/* Accesses of n bytes, of the whole object, of a string with its end. */
#define IN_N(p, n) rt_call_access(RT_OP_READ, p, (size_t)(n), pc)
#define OUT_N(p, n) rt_call_access(RT_OP_WRITE, p, (size_t)(n), pc)
#define IN(p) IN_N(p, sizeof *(p))
#define OUT(p) OUT_N(p, sizeof *(p))
#define INOUT(p) (IN(p), OUT(p))
#define STR(s) rt_emit_string(RT_OP_READ, s, pc)
#define OUT_STR(s) rt_emit_string(RT_OP_WRITE, s, pc)
#define WSTR(s) rt_emit_wide(RT_OP_READ, s, pc)
#define OUT_WSTR(s) rt_emit_wide(RT_OP_WRITE, s, pc)
/* Static objects: what the next call of such a function finds, or writes again. */
#define USES(object) IN(&(object))
#define CHANGES(object) OUT(&(object))
/* The result is an object of the C library's, which the next call writes again; RESULT_STR: a string. */
#define RESULT OUT(r)
#define RESULT_STR OUT_STR(r)
/* Accesses that depend on something. */
#define WHEN(condition, ...)                                                                                           \
	if (condition) {                                                                                               \
		__VA_ARGS__;                                                                                           \
	}
/*
 * What the function allocates and frees is recorded as called from the caller. For files that are built with
 * -fexceptions.
 */
#define HEAP uintptr_t rt_heap_outer __attribute__((cleanup(rt_call_heap_end), unused)) = rt_heap_called_from(pc)
static inline void rt_call_heap_end(uintptr_t *outer)
{
	rt_heap_called(*outer);
}
/*
 * Last before, and first after, a call that may block: a thread that takes turns gives its turn up meanwhile.
 */
#define LEAVES LEAVES_UNLESS(false)
#define LEAVES_UNLESS(at_once)                                                                                         \
	if (RT_UNLIKELY(rt_controlled) && !(at_once))                                                                  \
	rt_turn_leaves(pc)
#define RETURNS                                                                                                        \
	rt_call_over();                                                                                                \
	if (RT_UNLIKELY(rt_controlled))                                                                                \
	rt_turn_returns(pc)
/* Last before such a call: what others than the process's threads may end it by (RT_CALLS). */
#define AWAITS(kind) rt_call_begins(RT_CALL_##kind, -1, 0, 0, RT_CALL_NO_HOLDER, pc)
/* May block: what comes after is later. */
#define BLOCKS rt_emit_time()

/*
 * The thread is about to wait in the kernel, and records nothing before it is back: struct rt_call. That it is not in
 * there any more.
 */
static inline void rt_call_begins(unsigned kind, int descriptor, uint64_t object, uint32_t own, uint32_t holder,
                                  uintptr_t pc)
{
	struct rt_slot *s = rt_self;
	if (!s->limit)
		return;
	s->call.tid = (uint32_t)rt_tid();
	s->call.descriptor = descriptor;
	s->call.holder = holder;
	s->call.own = own;
	atomic_store_explicit(&s->call.tries, 0, memory_order_relaxed);
	s->call.object = object;
	s->call.pc = pc;
	s->call.at = s->cur;
	atomic_store_explicit(&s->call.kind, kind, memory_order_release);
}
static inline void rt_call_over(void)
{
	atomic_store_explicit(&rt_self->call.kind, RT_CALL_NONE, memory_order_release);
}

static inline void rt_call_access(unsigned op, const volatile void *p, size_t n, uintptr_t pc)
{
	if (p)
		rt_emit_range(op, (const void *)(uintptr_t)p, n, pc);
}

#endif
