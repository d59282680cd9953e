/*
 * Asynchronous cancellation ends a thread wherever it is, in a hook as well: with a lock of the recorder's held, or
 * between a call and its event. The C library does it in a handler of a signal of its own. Once a thread asks for it,
 * that handler has one of the recorder's before it, which waits while the thread is busy, as for other signals
 * (signal.c). Where the thread is inside the recorder or the C library all the same, it says so (LOST), as an event may
 * be missing.
 *
 * What a thread does when it is cancelled, and its end, come after pthread_cancel. Where the C library unwinds it, that
 * is seen in the call that it leaves, or else in the first function of the thread: RT_CANCELABLE.
 */
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"
#include "recorder/runtime/turn.h"

#include <link.h>
#include <pthread.h>

#include <ucontext.h>

enum { CANCEL_SIGNAL = 32 }; /* the C library's own, which sigaction refuses */

/* The kernel's layout. */
struct action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};
static struct action library;

/* Code of the recorder and of the C library. */
static struct range {
	uintptr_t from, to;
} ours[2];

static bool is_ours(uintptr_t pc)
{
	return (pc >= ours[0].from && pc < ours[0].to) || (pc >= ours[1].from && pc < ours[1].to);
}

static void on_cancel(int sig, siginfo_t *info, void *context)
{
	const struct rt_thread *t = &rt_thread;

	if (t->busy) {
		rt_signal_defer_cancel();
		return;
	}
	rt_leave_windows(context);
	if (t->asynchronous && !t->uncancelable && rt_recording()) {
		rt_new_epoch(rt_self);
		rt_cancel_seen(0);
		if (!t->whole && is_ours((uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP]))
			rt_emit_sync(RT_OP_LOST, RT_LOST_SIGNAL, 1, 0, 0);
	}
	library.handler(sig, info, context);
}

RT_NEXT(int, pthread_create, (pthread_t * thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg));
RT_INTERPOSE(int, pthread_cancel, (pthread_t thread));
RT_NEXT(int, pthread_join, (pthread_t thread, void **value));

static int find_code(struct dl_phdr_info *module, size_t size, void *unused)
{
	const uintptr_t inside[2] = {(uintptr_t)on_cancel, (uintptr_t)RT_REAL(pthread_join)};

	(void)size, (void)unused;
	for (int i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &module->dlpi_phdr[i];
		uintptr_t from = module->dlpi_addr + p->p_vaddr, to = from + p->p_memsz;

		for (int k = 0; k < 2 && p->p_type == PT_LOAD; k++)
			if (inside[k] >= from && inside[k] < to)
				ours[k] = (struct range){from, to};
	}
	return 0;
}

static void *wait_for_word(void *word)
{
	while (!__atomic_load_n((uint32_t *)word, __ATOMIC_ACQUIRE))
		rt_futex_wait(word, 0, 100);
	return NULL;
}

/* The C library installs its handler when a thread is cancelled for the first time: an idle thread is created for
 * that. */
static void stand_before(void)
{
	static uint32_t done;
	uint32_t word = 0;
	pthread_t idle;
	struct action mine;

	if (rt_sandboxed || __atomic_exchange_n(&done, 1, __ATOMIC_ACQ_REL))
		return;
	if (RT_REAL(pthread_create)(&idle, NULL, wait_for_word, &word) != 0)
		return;
	RT_REAL(pthread_cancel)(idle);
	dl_iterate_phdr(find_code, NULL);
	if (RT_SYSCALL(SYS_rt_sigaction, CANCEL_SIGNAL, NULL, &library, sizeof library.mask) == 0 &&
	    (uintptr_t)library.handler > 1) {
		mine = library;
		mine.handler = on_cancel;
		RT_SYSCALL(SYS_rt_sigaction, CANCEL_SIGNAL, &mine, NULL, sizeof mine.mask);
	}
	__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
	rt_futex_wake(&word, 1);
	RT_REAL(pthread_join)(idle, NULL);
}

void rt_cancel_again(void)
{
	RT_SYSCALL(SYS_tgkill, RT_SYSCALL(SYS_getpid), RT_SYSCALL(SYS_gettid), CANCEL_SIGNAL);
}

static int told(int result, const int *old, uintptr_t pc)
{
	if (result == 0 && old)
		rt_emit_range(RT_OP_WRITE, old, sizeof *old, pc);
	return result;
}

/* What is asked for holds from before the call, which may be the end of the thread, on. */
RT_INTERPOSE(int, pthread_setcanceltype, (int type, int *old))
{
	bool before = rt_thread.asynchronous;

	if (type == PTHREAD_CANCEL_ASYNCHRONOUS && rt_channel)
		stand_before();
	rt_thread.asynchronous = before || type == PTHREAD_CANCEL_ASYNCHRONOUS;
	int result = RT_CANCELABLE(int, RT_CALLER, RT_REAL(pthread_setcanceltype)(type, old));
	rt_thread.asynchronous = result == 0 ? type == PTHREAD_CANCEL_ASYNCHRONOUS : before;
	return told(result, old, RT_CALLER);
}

RT_INTERPOSE(int, pthread_setcancelstate, (int state, int *old))
{
	bool before = rt_thread.uncancelable;

	rt_thread.uncancelable = before && state == PTHREAD_CANCEL_DISABLE;
	int result = RT_CANCELABLE(int, RT_CALLER, RT_REAL(pthread_setcancelstate)(state, old));
	rt_thread.uncancelable = result == 0 ? state == PTHREAD_CANCEL_DISABLE : before;
	return told(result, old, RT_CALLER);
}

void rt_cancel_seen(uintptr_t pc)
{
	if (RT_UNLIKELY(__atomic_load_n(&rt_thread.canceled, __ATOMIC_ACQUIRE)))
		rt_emit_sync(RT_OP_HB_AFTER, (uintptr_t)rt_pthread_self(), 0, pc, 0);
}

RT_INTERPOSE(void, pthread_testcancel, (void));
void rt_testcancel(uintptr_t pc)
{
	(void)RT_CANCELABLE(int, pc, (RT_REAL(pthread_testcancel)(), 0));
}
RT_EXPORT void pthread_testcancel(void)
{
	rt_testcancel(RT_CALLER);
}

/* By turns a thread that waits where it can be cancelled is woken for it. */
RT_EXPORT int pthread_cancel(pthread_t thread)
{
	if (rt_recording()) {
		rt_emit_sync(RT_OP_HB_BEFORE, (uintptr_t)thread, 0, RT_CALLER, 0);
		__atomic_store_n(&rt_thread_of(thread)->canceled, true, __ATOMIC_RELEASE);
	}
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_woke();
	int result = RT_REAL(pthread_cancel)(thread);
	if (RT_UNLIKELY(rt_controlled) && result == 0 && rt_turn_mine())
		rt_turn_canceled(rt_thread_of(thread));
	return result;
}
