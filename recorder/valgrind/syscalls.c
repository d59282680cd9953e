/*
 * In place of Valgrind's functions before a system call, by the linker's --wrap: io_uring_enter may wait for what other
 * threads do, and Valgrind (3.19) lets none of them run meanwhile.
 */
#include "recorder/valgrind/platform.h"

#include <valgrind/pub_tool_basics.h>

enum { MAY_BLOCK = 1 << 1 }; /* SfMayBlock of Valgrind's priv_types_n_macros.h */

void __real_vgSysWrap_linux_sys_io_uring_enter_before(ThreadId, void *, void *, void *, UWord *);
void __wrap_vgSysWrap_linux_sys_io_uring_enter_before(ThreadId, void *, void *, void *, UWord *);

void __wrap_vgSysWrap_linux_sys_io_uring_enter_before(ThreadId tid, void *layout, void *arguments, void *status,
                                                      UWord *flags)
{
	__real_vgSysWrap_linux_sys_io_uring_enter_before(tid, layout, arguments, status, flags);
	*flags |= MAY_BLOCK;
}
