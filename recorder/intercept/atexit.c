/*
 * What runs at exit: registering a function happens before the function runs, in whichever thread that is. This also
 * is how destructors of static C++ objects follow the constructors that other threads ran. The C library's list of
 * such functions is behind a lock of its own, so this order is real.
 *
 * atexit() is part of each module (libc_nonshared.a), so that it knows the module, at whose unloading the function is
 * to run. But what is linked with GCC's libtsan takes atexit from there, that is from here. The base address of the
 * module stands for it then, and __cxa_finalize, which each module calls at its end, asks for both.
 */
#include "recorder/intercept/sync.h"

#include <dlfcn.h>
#include <stdlib.h>

struct exit_call {
	void (*function)(void *);
	void *argument;
	uintptr_t pc;
};

static void run(void *argument)
{
	struct exit_call call = *(struct exit_call *)argument;
	rt_emit_sync(RT_OP_HB_AFTER, (uintptr_t)argument, 0, call.pc, 0);
	rt_free_unseen(argument);
	call.function(call.argument);
}

RT_INTERPOSE(int, __cxa_atexit, (void (*function)(void *), void *argument, void *module));
RT_INTERPOSE(void, __cxa_finalize, (void *module));

static int at_exit(void (*function)(void *), void *argument, void *module, uintptr_t pc)
{
	struct exit_call *call = rt_recording() ? rt_malloc_unseen(sizeof *call) : NULL;
	if (!call)
		return RT_REAL(__cxa_atexit)(function, argument, module);
	*call = (struct exit_call){function, argument, pc};
	rt_emit_sync(RT_OP_HB_BEFORE, (uintptr_t)call, 0, pc, 0);
	int result = RT_REAL(__cxa_atexit)(run, call, module);
	if (result != 0)
		rt_free_unseen(call);
	return result;
}

RT_DEFINE(int, __cxa_atexit, (void (*function)(void *), void *argument, void *module))
{
	return at_exit(function, argument, module, RT_PC);
}

static void *base_of(const void *address)
{
	Dl_info info;
	return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* The function has no parameter, and does not mind one. */
RT_DEFINE(int, atexit, (void (*function)(void)))
{
	return at_exit((void (*)(void *))(void *)function, NULL, base_of((const void *)RT_PC), RT_PC);
}

/* The older kind: the function is given the status too. */
RT_INTERPOSE(int, on_exit, (void (*function)(int, void *), void *argument));
struct on_exit_call {
	void (*function)(int, void *);
	void *argument;
	uintptr_t pc;
};

static void run_with_status(int status, void *argument)
{
	struct on_exit_call call = *(struct on_exit_call *)argument;
	rt_emit_sync(RT_OP_HB_AFTER, (uintptr_t)argument, 0, call.pc, 0);
	rt_free_unseen(argument);
	call.function(status, call.argument);
}

RT_DEFINE(int, on_exit, (void (*function)(int, void *), void *argument))
{
	struct on_exit_call *call = rt_recording() ? rt_malloc_unseen(sizeof *call) : NULL;
	if (!call)
		return RT_REAL(on_exit)(function, argument);
	*call = (struct on_exit_call){function, argument, RT_PC};
	rt_emit_sync(RT_OP_HB_BEFORE, (uintptr_t)call, 0, RT_PC, 0);
	int result = RT_REAL(on_exit)(run_with_status, call);
	if (result != 0)
		rt_free_unseen(call);
	return result;
}

RT_DEFINE(void, __cxa_finalize, (void *module))
{
	void *base = base_of(module);
	RT_REAL(__cxa_finalize)(module);
	if (base && base != module)
		RT_REAL(__cxa_finalize)(base);
}
