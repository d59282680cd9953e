/*
 * setjmp and longjmp: the calls that a jump leaves have no LEAVE of their own. SETJMP says which calls are open,
 * LONGJMP that they are those again. (Exceptions need nothing: compilers emit LEAVE where they pass a frame.)
 */
#include "recorder/runtime/core.h"

/* Called by setjmp.S; returns the real function. */
#define SEEN(name)                                                                                                     \
	void *rt_seen_##name(void *buffer, uintptr_t caller);                                                          \
	void *rt_seen_##name(void *buffer, uintptr_t caller)                                                           \
	{                                                                                                              \
		static void *real;                                                                                     \
		static struct rt_real_entry entry __attribute__((section("rt_reals"), used)) = {&real, #name};         \
		rt_emit(RT_OP_SETJMP, (uintptr_t)buffer, caller - 1, 0);                                               \
		return rt_real(&real, #name);                                                                          \
	}
SEEN(setjmp)
SEEN(_setjmp)
SEEN(__sigsetjmp)

#define JUMP(name)                                                                                                     \
	RT_INTERPOSE(void, name, (void *buffer, int value))                                                            \
	{                                                                                                              \
		rt_emit(RT_OP_LONGJMP, (uintptr_t)buffer, RT_CALLER, 0);                                               \
		RT_REAL(name)(buffer, value);                                                                          \
		__builtin_unreachable();                                                                               \
	}
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk) /* what _FORTIFY_SOURCE makes of it */
