/*
 * Functions of the C++ library that wait for a thread or create one. The library is not instrumented, so nothing tells
 * which call of the program they are in: these do, as the hook of a function does. Under Valgrind, too, where a call
 * into the recorder is not seen.
 */
#include "recorder/runtime/core.h"
#include "recorder/runtime/recorder.h"

/* Also when the thread is cancelled in there, or an exception goes through. */
static void leave(const int *unused)
{
	(void)unused;
	rt_emit(RT_OP_LEAVE, 0, 0, 0);
}

#define CALL(type, gives, name, parameters, arguments)                                                                 \
	RT_INTERPOSE(type, name, parameters)                                                                           \
	{                                                                                                              \
		int entered __attribute__((cleanup(leave), unused)) = 0;                                               \
		rt_emit(RT_OP_ENTER, 0, RT_PC, 0);                                                                     \
		gives RT_REAL(name) arguments;                                                                         \
	}

/* std::thread: join, and what its constructor calls. */
CALL(void, , _ZNSt6thread4joinEv, (void *thread), (thread))
CALL(void, , _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE,
     (void *thread, void *state, void (*depend)(void)), (thread, state, depend))

/* std::future: a wait, with the time at which it ends in seconds and nanoseconds. */
#define WAIT(name)                                                                                                     \
	CALL(bool, return, name,                                                                                       \
	     (void *futex, unsigned *word, unsigned value, bool timed, int64_t seconds, int64_t nanoseconds),          \
	     (futex, word, value, timed, seconds, nanoseconds))
WAIT(
    _ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE)
WAIT(
    _ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE)
