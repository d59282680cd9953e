/*
 * Signals. The program's handlers run through a trampoline, which
 * - moves a thread that it interrupted inside a restartable sequence of append.S back to the sequence's start;
 * - lets handlers of asynchronous signals wait while the thread is busy in the recorder: the signal is queued again and
 *   blocked until rt_busy_end (under Valgrind it is kept here). So no event of a handler is lost, and none comes
 *   between a stamp and its record;
 * - takes back the access that faulted, because its hook ran before it; and repeats it if the handler lets it be tried
 *   again;
 * - where values are recorded, catches faults of the recorder's own reads of memory, also where the program has no
 *   handler of its own (then it counts as having the default action, and dies as by that);
 * - if that cannot be done (a fault inside the recorder, the queue is full), drops the handler's events, counts them
 * and says so in the trace (LOST). What the program asks back (sigaction's oldact, signal's result) is what it
 * installed.
 */
#include "recorder/objects.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"
#include "recorder/runtime/turn.h"

#include <errno.h>
#include <ucontext.h>

#define SIGNALS ((int)RT_SIGNAL_OBJECTS)
#define BIT(sig) RT_SIGNAL_BIT(sig)
#define DEFER_SIGNAL 1u
#define DEFER_LOST 2u
#define DEFER_CANCEL 4u
#define DEFER_KEPT 8u

/* The program's handler of each signal: address | SA_NODEFER << 61 | SA_SIGINFO << 62 | SA_RESETHAND << 63. */
static uint64_t actions[SIGNALS];
#define ACTION_NODEFER (UINT64_C(1) << 61)
#define ACTION_INFO (UINT64_C(1) << 62)
#define ACTION_ONCE (UINT64_C(1) << 63)
#define ACTION_ADDRESS (ACTION_NODEFER - 1)

static uint64_t interrupting; /* siginterrupt(sig, 1) was asked for */

RT_INTERPOSE(int, sigaction, (int sig, const struct sigaction *act, struct sigaction *old));

static int real_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	return RT_REAL(sigaction)(sig, act, old);
}

/* Not an assignment: the compiler would call memcpy, which is interposed. */
static void copy(void *to, const void *from, size_t size)
{
	for (size_t i = 0; i < size / sizeof(uint64_t); i++)
		((volatile uint64_t *)to)[i] = ((const uint64_t *)from)[i];
}

static bool send_again(int sig, siginfo_t *info)
{
	return RT_SYSCALL(SYS_rt_tgsigqueueinfo, RT_SYSCALL(SYS_getpid), RT_SYSCALL(SYS_gettid), sig, info) == 0;
}

/*
 * Valgrind gives a thread behind a handler the signal mask that it had before, whatever the handler has changed: a
 * signal that was sent again would come at once, again and again, before the thread's next instruction. So it waits
 * here. False: no room.
 */
static bool keep(int sig, const siginfo_t *info)
{
	enum { FIRST_QUEUED = 32 }; /* signals from here on come as often as they are sent */
	struct rt_thread *t = &rt_thread;

	for (unsigned i = 0; i < t->kept_count; i++)
		if (t->kept[i].si_signo == sig && sig < FIRST_QUEUED)
			return true; /* as one that is pending already */
	if (t->kept_count == RT_KEPT_MAX)
		return false;
	copy(&t->kept[t->kept_count], info, sizeof *info);
	t->kept[t->kept_count++].si_signo = sig;
	t->deferred |= DEFER_KEPT;
	return true;
}

static void send_kept(void)
{
	siginfo_t kept[RT_KEPT_MAX];
	unsigned n = rt_thread.kept_count;

	copy(kept, rt_thread.kept, n * sizeof *kept);
	rt_thread.kept_count = 0;
	for (unsigned i = 0; i < n; i++)
		if (!send_again(kept[i].si_signo, &kept[i]))
			rt_say("racetrace: a signal that had to wait could not be sent again; the program lacks it");
}

void rt_signal_undefer(void)
{
	uint64_t mask = rt_thread.mask;
	unsigned deferred = rt_thread.deferred;

	rt_thread.deferred = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (deferred & DEFER_LOST)
		rt_emit_lost();
	if (deferred & DEFER_SIGNAL)
		RT_SYSCALL(SYS_rt_sigprocmask, SIG_SETMASK, &mask, 0, sizeof mask);
	if (deferred & DEFER_KEPT)
		send_kept();
	if (deferred & DEFER_CANCEL)
		rt_cancel_again();
}

void rt_signal_defer_cancel(void)
{
	rt_thread.deferred |= DEFER_CANCEL;
}

/* Signals that say that the instruction itself failed; they cannot wait. */
static bool is_fault(int sig, const siginfo_t *info)
{
	return info->si_code > 0 &&
	       (sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL || sig == SIGTRAP || sig == SIGSYS);
}

static bool defer(int sig, siginfo_t *info, ucontext_t *context)
{
	const uint64_t faults = BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGSYS);
	uint64_t *mask = (uint64_t *)(void *)&context->uc_sigmask;

	if (rt_watched && keep(sig, info))
		return true;
	if (!send_again(sig, info))
		return false;
	if (!(rt_thread.deferred & DEFER_SIGNAL))
		rt_thread.mask = *mask;
	else
		rt_thread.mask &=
		    *mask; /* the signal before has interrupted this one's trampoline, where this one was masked */
	rt_thread.deferred |= DEFER_SIGNAL;
	*mask |= ~faults | BIT(sig);
	return true;
}

struct window {
	const char *start, *commit, *zero, *end;
};
#define LABEL(name) extern const char name[] __attribute__((visibility("hidden")));
#define WINDOW(name)                                                                                                   \
	LABEL(name##_commit) LABEL(name##_zero) LABEL(name##_end) static const char *name##_start(void)                \
	{                                                                                                              \
		return (const char *)(uintptr_t)name;                                                                  \
	}
WINDOW(rt_append)
WINDOW(rt_append2)
WINDOW(rt_append_sync)
LABEL(rt_peek_end)
LABEL(rt_peek_failed)

/* The slot is in rdx in all sequences. */
static bool leave_window(greg_t *reg, const char *start, const char *commit, const char *zero, const char *end)
{
	const char *pc = (const char *)reg[REG_RIP];

	if (pc >= start && pc <= commit) {
		reg[REG_RIP] = (greg_t)start;
		return true;
	}
	if (pc == zero) {
		((struct rt_slot *)reg[REG_RDX])->skipped = 0;
		reg[REG_RIP] = (greg_t)end;
		return true;
	}
	return false;
}

void rt_leave_windows(void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)(leave_window(reg, rt_append_start(), rt_append_commit, rt_append_zero, rt_append_end) ||
	       leave_window(reg, rt_append2_start(), rt_append2_commit, rt_append2_zero, rt_append2_end) ||
	       leave_window(reg, rt_append_sync_start(), rt_append_sync_commit, rt_append_sync_zero,
	                    rt_append_sync_end));
}

/* A fault in rt_peek: it returns that it has failed. */
static bool leave_peek(ucontext_t *context)
{
	greg_t *reg = context->uc_mcontext.gregs;
	const char *pc = (const char *)reg[REG_RIP];

	if (pc < (const char *)(uintptr_t)rt_peek || pc >= rt_peek_end)
		return false;
	reg[REG_RIP] = (greg_t)rt_peek_failed;
	return true;
}

/* ---- The default action of faults, where values are recorded ---- */

static bool is_caught(int sig)
{
	return rt_values && (sig == SIGSEGV || sig == SIGBUS);
}

/* The program has no handler: what it did takes its course when the trampoline returns. */
static void act_by_default(int sig, siginfo_t *info)
{
	struct sigaction now;

	rt_values_caught = false;
	if (real_sigaction(sig, NULL, &now) != 0)
		return;
	now.sa_handler = SIG_DFL;
	now.sa_flags = 0;
	real_sigaction(sig, &now, NULL);
	if (!is_fault(sig, info))
		RT_SYSCALL(SYS_rt_tgsigqueueinfo, RT_SYSCALL(SYS_getpid), RT_SYSCALL(SYS_gettid), sig, info);
}

/* ---- Accesses that fault ---- */

static uintptr_t pc_of(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

/* One that was taken back: its record, and the size that stands before it if it is a range's (else 0). */
struct taken {
	struct rt_record record;
	uint64_t range;
};

/* True if it is what faulted. Of an address that no page can have the kernel does not tell which; the code is near the
 * hook. */
static bool has_faulted(const struct taken *t, const siginfo_t *info, uintptr_t pc)
{
	enum { NEAR = 64 };
	uint64_t from = rt_record_operand(t->record), at = (uintptr_t)info->si_addr;
	uint64_t size = t->range ? t->range : rt_record_aux_of(t->record) & 31;

	if (info->si_code == SI_KERNEL)
		return pc - (t->record.w1 & RT_OPERAND_MAX) < NEAR;
	return at >= from && at - from < size;
}

/*
 * The access that faulted is the thread's last one. Its record, in a block that is still the thread's own, becomes a
 * FAULT. A hook that stands for two accesses has made two records, as has one of a copy. Returns how many were taken.
 */
static unsigned take_back(int sig, const siginfo_t *info, const ucontext_t *context, struct taken taken[2])
{
	const struct rt_slot *s = rt_self;
	unsigned n = 0, seen = 0;

	/* Where the last access was left out as a repeat, what stands last is another, which took place. */
	if ((sig != SIGSEGV && sig != SIGBUS) || !is_fault(sig, info) || !s->limit || s->skipped)
		return 0;
	for (struct rt_record *r = s->cur - 1; r > rt_block_end(s) - RT_BLOCK_RECORDS && seen < 2; r--) {
		unsigned op = rt_record_op(*r), aux = rt_record_aux_of(*r);
		bool ranged = (aux & 31) == 0;

		if (op == RT_OP_VALUE || op == RT_OP_NONE) /* of the access behind it */
			continue;
		if ((op != RT_OP_READ && op != RT_OP_WRITE) || aux >> 8 & (RT_F_OBJECT | RT_F_FREE))
			break;
		taken[n] = (struct taken){*r, ranged ? rt_record_operand(r[-1]) : 0};
		if (has_faulted(&taken[n], info, pc_of(context))) {
			__atomic_store_n(&r->w0, (r->w0 & ~(UINT64_C(255) << 48)) | (uint64_t)RT_OP_FAULT << 48,
			                 __ATOMIC_RELEASE);
			n++;
		}
		seen++;
		r -= ranged;
	}
	return n;
}

/* The handler has returned to the same instruction: now the accesses will take place. */
static void put_back(const struct taken *taken, unsigned n)
{
	while (n-- > 0) {
		uint64_t w0 = taken[n].record.w0 & ~(UINT64_C(255) << 56), w1 = taken[n].record.w1 & ~RT_VALUE_AUX;
		struct rt_record ext = rt_record_ext(rt_self->last_stamp, taken[n].range);

		if (taken[n].range)
			rt_append2(w0, w1, rt_self, ext.w0, ext.w1);
		else
			rt_append(w0, w1, rt_self);
	}
}

/* ---- Happens-before: of whatever was sent before what is taken ---- */

static _Atomic uint64_t sent; /* signals that any thread has sent or asked for, bit by number */
static _Atomic bool timed;    /* any timer was set; which of them sends what is not kept */

void rt_signal_sent(int sig, uintptr_t pc)
{
	if (sig <= 0 || sig >= SIGNALS || !rt_recording())
		return;
	atomic_fetch_or_explicit(&sent, BIT(sig), memory_order_relaxed);
	rt_emit_sync(RT_OP_HB_BEFORE, RT_OBJECT_SIGNAL + (uint64_t)sig, 0, pc, 0);
	rt_children_told(pc);
}

void rt_timer_set(uintptr_t pc)
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_times();
	if (!rt_recording())
		return;
	atomic_store_explicit(&timed, true, memory_order_relaxed);
	rt_emit_sync(RT_OP_HB_BEFORE, RT_OBJECT_TIMER, 0, pc, 0);
}

void rt_signal_received(int sig, uintptr_t pc)
{
	if (sig <= 0 || sig >= SIGNALS)
		return;
	if (atomic_load_explicit(&sent, memory_order_relaxed) & BIT(sig))
		rt_emit_sync(RT_OP_HB_AFTER, RT_OBJECT_SIGNAL + (uint64_t)sig, 0, pc, 0);
	if (atomic_load_explicit(&timed, memory_order_relaxed))
		rt_emit_sync(RT_OP_HB_AFTER, RT_OBJECT_TIMER, 0, pc, 0);
	rt_children_heard(pc);
}

/* Any pending signal may be the one that was seen, and any may have ended a child. */
void rt_signals_seen(uintptr_t pc)
{
	uint64_t any = rt_recording() ? atomic_load_explicit(&sent, memory_order_relaxed) : 0;
	for (int sig = 1; sig < SIGNALS && any >> (sig - 1); sig++)
		if (any & BIT(sig))
			rt_signal_received(sig, pc);
}

/* ---- Handlers ---- */

bool rt_signal_restarts(int sig)
{
	struct sigaction now;

	return real_sigaction(sig, NULL, &now) == 0 && now.sa_flags & SA_RESTART;
}

static void call(uint64_t action, int sig, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)(action & ACTION_ADDRESS);
	uint64_t itself = BIT(sig);

	/* The kernel has masked it, since a deferred signal must not interrupt the trampoline. */
	if (action & ACTION_NODEFER)
		RT_SYSCALL(SYS_rt_sigprocmask, SIG_UNBLOCK, &itself, 0, sizeof itself);
	bool outside = RT_UNLIKELY(rt_controlled) && rt_turn_is_outside();
	struct rt_watch_stop stop = rt_thread.stop; /* which the thread may be on its way to look at */
	rt_new_epoch(rt_self);                      /* the interrupted hook may be in the middle of the filter */
	rt_mask_changed();
	if (rt_values)
		rt_value_discard(rt_self);
	if (rt_recording())
		rt_signal_received(sig, address);
	if (action & ACTION_INFO)
		((void (*)(int, siginfo_t *, void *))address)(sig, info, context);
	else
		((void (*)(int))address)(sig);
	rt_thread.stop = stop;
	rt_thread.handled = sig;
	rt_new_epoch(rt_self);
	rt_mask_changed();
	if (outside && !rt_turn_is_outside()) /* the call that was interrupted goes on */
		rt_turn_leaves(address);
}

/* The interrupted thread is in the recorder and the signal cannot wait. */
static void call_while_busy(uint64_t action, int sig, siginfo_t *info, void *context)
{
	struct rt_thread *t = &rt_thread;
	struct rt_slot *self = rt_self, *aside = t->aside;
	unsigned busy = t->busy;
	uint64_t repeats = rt_dead.skipped;

	t->busy = 0;
	if (t->stripe) {
		/* A fault in an atomic operation. Nothing else is under way; the handler may well not come back. */
		__atomic_store_n(t->stripe, 0, __ATOMIC_RELEASE);
		t->stripe = NULL;
		call(action, sig, info, context);
	} else {
		t->aside = self;
		rt_self = &rt_dead;
		call(action, sig, info, context);
		rt_self = self;
		t->aside = aside;
		t->lost += rt_dead.skipped - repeats;
		if (t->lost)
			t->deferred |= DEFER_LOST;
	}
	t->busy = busy;
}

static void trampoline(int sig, siginfo_t *info, void *context)
{
	uint64_t action = __atomic_load_n(&actions[sig], __ATOMIC_ACQUIRE);

	if (is_caught(sig) && leave_peek(context))
		return;
	if (is_caught(sig) && (action & ACTION_ADDRESS) == (uintptr_t)SIG_DFL) {
		act_by_default(sig, info);
		return;
	}
	bool early = rt_self == &rt_dead && rt_thread_unannounced();
	if ((rt_thread.busy || rt_thread.awaited) && !is_fault(sig, info) && defer(sig, info, context))
		return;
	if (action & ACTION_ONCE && is_caught(sig)) {
		__atomic_store_n(&actions[sig], (uintptr_t)SIG_DFL, __ATOMIC_RELEASE);
	} else if (action & ACTION_ONCE && RT_SANDBOX_ALLOWS(SYS_rt_sigaction, sig, 0, 0, sizeof(uint64_t))) {
		struct sigaction now;

		if (real_sigaction(sig, NULL, &now) == 0 && now.sa_sigaction == trampoline) {
			now.sa_handler = SIG_DFL;
			now.sa_flags &= ~SA_SIGINFO;
			real_sigaction(sig, &now, NULL);
		}
	}
	if (rt_thread.busy) {
		call_while_busy(action, sig, info, context);
		return;
	}
	struct taken taken[2];
	uintptr_t pc = pc_of(context);
	unsigned n = take_back(sig, info, context, taken);
	rt_leave_windows(context);
	call(action, sig, info, context);
	if (early) {
		rt_thread.lost++;
		rt_thread.deferred |= DEFER_LOST;
	}
	if (n && pc == pc_of(context))
		put_back(taken, n);
}

static bool has(const sigset_t *set, int sig)
{
	return *(const volatile uint64_t *)(const void *)set & BIT(sig);
}

static bool is_handler(const struct sigaction *act)
{
	return act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN && act->sa_handler != SIG_ERR;
}

/* The kernel's settings in the program's view. */
static void as_installed(struct sigaction *kernel, uint64_t action)
{
	if (kernel->sa_sigaction != trampoline)
		return;
	kernel->sa_sigaction = (void (*)(int, siginfo_t *, void *))(uintptr_t)(action & ACTION_ADDRESS);
	if (!(action & ACTION_INFO))
		kernel->sa_flags &= ~SA_SIGINFO;
	if ((action & ACTION_ADDRESS) == (uintptr_t)SIG_DFL)
		kernel->sa_flags = 0;
	if (action & ACTION_ONCE)
		kernel->sa_flags |= (int)SA_RESETHAND;
	if (action & ACTION_NODEFER)
		kernel->sa_flags |= SA_NODEFER;
}

static int change_action(int sig, const struct sigaction *act, struct sigaction *old, uintptr_t pc)
{
	struct sigaction mine, was;
	uint64_t before, mode;
	int result;

	if (!rt_channel || sig <= 0 || sig >= SIGNALS)
		return real_sigaction(sig, act, old);
	before = __atomic_load_n(&actions[sig], __ATOMIC_ACQUIRE);
	if (act) {
		copy(&mine, act, sizeof mine);
		if (is_handler(act)) {
			if (RT_UNLIKELY(rt_controlled))
				rt_turn_handles();
			rt_signal_sent(sig, pc);
			mode = (act->sa_flags & SA_SIGINFO ? ACTION_INFO : 0) |
			       (act->sa_flags & (int)SA_RESETHAND ? ACTION_ONCE : 0) |
			       (act->sa_flags & SA_NODEFER && !has(&act->sa_mask, sig) ? ACTION_NODEFER : 0);
			__atomic_store_n(&actions[sig], (uintptr_t)act->sa_sigaction | mode, __ATOMIC_RELEASE);
			mine.sa_sigaction = trampoline;
			mine.sa_flags = (act->sa_flags | SA_SIGINFO) & ~(int)SA_RESETHAND;
			if (mode & ACTION_NODEFER)
				mine.sa_flags &= ~SA_NODEFER;
		} else if (is_caught(sig) && act->sa_handler == SIG_DFL) {
			__atomic_store_n(&actions[sig], (uintptr_t)SIG_DFL, __ATOMIC_RELEASE);
			mine.sa_sigaction = trampoline;
			mine.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
		} else if (is_caught(sig)) {
			rt_values_caught = false;
		}
	}
	result = real_sigaction(sig, act ? &mine : NULL, &was);
	if (result != 0) {
		__atomic_store_n(&actions[sig], before, __ATOMIC_RELEASE);
		return result;
	}
	as_installed(&was, before);
	if (old)
		copy(old, &was, sizeof was);
	return 0;
}

void rt_value_start(void)
{
	struct sigaction none = {0}, was[2];
	const int faults[] = {SIGSEGV, SIGBUS};

	rt_values_caught = true;
	for (int i = 0; i < 2; i++)
		if (real_sigaction(faults[i], NULL, &was[i]) != 0 || was[i].sa_handler != SIG_DFL ||
		    change_action(faults[i], &none, NULL, 0) != 0)
			rt_values_caught = false;
}

RT_DEFINE(int, sigaction, (int sig, const struct sigaction *act, struct sigaction *old))
{
	int result;

	if (act)
		rt_emit_range(RT_OP_READ, act, sizeof *act, RT_CALLER);
	result = change_action(sig, act, old, RT_CALLER);
	if (result == 0 && old)
		rt_emit_range(RT_OP_WRITE, old, sizeof *old, RT_CALLER);
	return result;
}

static sighandler_t install(int sig, sighandler_t handler, int flags, uint64_t mask, uintptr_t pc)
{
	struct sigaction act, old;

	if (handler == SIG_ERR || sig <= 0 || sig >= SIGNALS) {
		errno = EINVAL;
		return SIG_ERR;
	}
	for (size_t i = 0; i < sizeof act.sa_mask / sizeof mask; i++) /* not through the library, which is interposed */
		((volatile uint64_t *)(void *)&act.sa_mask)[i] = i == 0 ? mask : 0;
	act.sa_flags = flags;
	act.sa_handler = handler;
	return change_action(sig, &act, &old, pc) == 0 ? old.sa_handler : SIG_ERR;
}

/* BSD's semantics: stays installed, blocks itself, restarts system calls. */
static sighandler_t install_bsd(int sig, sighandler_t handler, uintptr_t pc)
{
	bool interrupt = sig > 0 && sig < SIGNALS && (__atomic_load_n(&interrupting, __ATOMIC_RELAXED) & BIT(sig));

	return install(sig, handler, interrupt ? 0 : SA_RESTART, sig > 0 && sig < SIGNALS ? BIT(sig) : 0, pc);
}

#define INSTALLER(name, how)                                                                                           \
	RT_DEFINE(sighandler_t, name, (int sig, sighandler_t handler))                                                 \
	{                                                                                                              \
		return how;                                                                                            \
	}
INSTALLER(signal, install_bsd(sig, handler, RT_CALLER))
INSTALLER(bsd_signal, install_bsd(sig, handler, RT_CALLER))
INSTALLER(ssignal, install_bsd(sig, handler, RT_CALLER))
INSTALLER(sysv_signal, install(sig, handler, (int)SA_RESETHAND | SA_NODEFER, 0, RT_CALLER))
INSTALLER(__sysv_signal, install(sig, handler, (int)SA_RESETHAND | SA_NODEFER, 0, RT_CALLER))

RT_INTERPOSE(int, siginterrupt, (int sig, int on))
{
	int result = RT_REAL(siginterrupt)(sig, on);

	if (result == 0 && on)
		__atomic_or_fetch(&interrupting, BIT(sig), __ATOMIC_RELAXED);
	else if (result == 0)
		__atomic_and_fetch(&interrupting, ~BIT(sig), __ATOMIC_RELAXED);
	return result;
}

/* System V's sigset: SIG_HOLD blocks; anything else installs and unblocks. */
RT_DEFINE(sighandler_t, sigset, (int sig, sighandler_t handler))
{
	uint64_t one = sig > 0 && sig < SIGNALS ? BIT(sig) : 0, before;
	struct sigaction old;
	sighandler_t was;

	if (sig <= 0 || sig >= SIGNALS) {
		errno = EINVAL;
		return SIG_ERR;
	}
	rt_mask_changed();
	if (handler == SIG_HOLD) {
		if (RT_SYSCALL(SYS_rt_sigprocmask, SIG_BLOCK, &one, &before, sizeof one) != 0 ||
		    change_action(sig, NULL, &old, RT_CALLER) != 0)
			return SIG_ERR;
		return before & one ? SIG_HOLD : old.sa_handler;
	}
	was = install(sig, handler, 0, 0, RT_CALLER);
	if (was == SIG_ERR || RT_SYSCALL(SYS_rt_sigprocmask, SIG_UNBLOCK, &one, &before, sizeof one) != 0)
		return SIG_ERR;
	return before & one ? SIG_HOLD : was;
}
