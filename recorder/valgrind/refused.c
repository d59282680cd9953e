/* See refused.h. */
#include "recorder/valgrind/refused.h"

#include "recorder/valgrind/kernel.h"
#include "recorder/valgrind/ring.h"
#include "recorder/watch.h"

#include <valgrind/pub_tool_libcbase.h>
#include <valgrind/pub_tool_machine.h>

/* Of the first time. */
static void tell(enum rt_watch_refusal why, uint64_t what)
{
	struct rt_tree *t = guest_now->tree ? *guest_now->tree : NULL;
	if (!t || atomic_load(&t->refused))
		return;
	t->refused_what = what;
	atomic_store(&t->refused, why);
}

static void before_call(ThreadId tid, UInt number, UWord *arguments, UInt n)
{
	(void)tid, (void)number, (void)arguments, (void)n;
}

static void after_call(ThreadId tid, UInt number, UWord *arguments, UInt n, SysRes result)
{
	(void)tid, (void)n;
	if (number == SYS_mmap && sr_isError(result) && arguments[1] >= RT_REFUSED_SIZE)
		tell(RT_REFUSED_MAPPING, arguments[1]);
}

void refused_begin(void)
{
	VG_(needs_syscall_wrapper)(before_call, after_call);
}

static void unknown(UWord bytes)
{
	tell(RT_REFUSED_INSTRUCTION, bytes);
}

/* True if it is there to raise the signal: ud2, ud1, ud0. */
static bool is_undefined(const UChar *code)
{
	return code[0] == 0x0f && (code[1] == 0x0b || code[1] == 0xb9 || code[1] == 0xff);
}

void refused_add(IRSB *to, Addr at)
{
	UWord bytes = 0;
	/* Within a page, as the next one may not be readable. */
	enum { PAGE = 4096 };
	SizeT n = PAGE - at % PAGE;
	VG_(memcpy)(&bytes, (const void *)at, n < sizeof bytes ? n : sizeof bytes);
	if (!is_undefined((const UChar *)&bytes))
		addStmtToIRSB(to, IRStmt_Dirty(unsafeIRDirty_0_N(0, "unknown", VG_(fnptr_to_fnentry)((void *)unknown),
		                                                 mkIRExprVec_1(mkIRExpr_HWord((HWord)bytes)))));
}
