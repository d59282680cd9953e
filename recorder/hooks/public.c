/* The recorder's side of racetrace.h. */
#include "recorder/runtime/core.h"

#define HOOK(name, parameters) RT_DEFINE(void, racetrace_hook_##name, parameters)

HOOK(happens_before, (const volatile void *object))
{
	rt_emit_sync(RT_OP_HB_BEFORE, (uintptr_t)object, 0, RT_CALLER, 0);
}
HOOK(happens_after, (const volatile void *object))
{
	rt_emit_sync(RT_OP_HB_AFTER, (uintptr_t)object, 0, RT_CALLER, 0);
}
HOOK(region_begin, (void))
{
	rt_emit_sync(RT_OP_REGION_BEGIN, 0, 0, RT_CALLER, 0);
}
HOOK(region_end, (void))
{
	rt_emit_sync(RT_OP_REGION_END, 0, 0, RT_CALLER, 0);
}
HOOK(ignore_begin, (unsigned what))
{
	rt_emit_sync(RT_OP_IGNORE_BEGIN, 0, what, RT_CALLER, 0);
}
HOOK(ignore_end, (unsigned what))
{
	rt_emit_sync(RT_OP_IGNORE_END, 0, what, RT_CALLER, 0);
}
HOOK(benign, (const volatile void *p, size_t size))
{
	rt_emit_sync(RT_OP_BENIGN, (uintptr_t)p, size, RT_CALLER, 0);
}
HOOK(new_memory, (const volatile void *p, size_t size))
{
	rt_emit_sync(RT_OP_NEW_MEMORY, (uintptr_t)p, size, RT_CALLER, 0);
}
/* Names the thread in the trace only, not in the kernel. */
HOOK(thread_name, (const char *name))
{
	if (rt_recording())
		rt_slot_label(rt_self, name);
}
HOOK(acquired, (const volatile void *lock, int shared))
{
	rt_emit_sync(shared ? RT_OP_ACQUIRE_SHARED : RT_OP_ACQUIRE, (uintptr_t)lock, 0, RT_CALLER, 0);
}
HOOK(released, (const volatile void *lock))
{
	rt_emit_sync(RT_OP_RELEASE, (uintptr_t)lock, 0, RT_CALLER, 0);
}
