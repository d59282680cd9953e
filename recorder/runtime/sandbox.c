/*
 * Sandboxes. A program that has given itself a seccomp filter may be killed by a system call of the recorder's, which
 * it would never have made itself. So filters are kept as they are installed, and run here before each call of the
 * recorder's own. A call is made only where every filter of the thread allows it. What does without is described where
 * it is made.
 *
 * A filter that was installed by other means than prctl and syscall is not seen. The collector finds programs that may
 * do so by their code (confine.c); for these it is asked before each call. Once there is such a filter, no call of the
 * recorder's own is made any more.
 *
 * As in the kernel a thread has the filters of the thread that made it, and its own before those.
 */
#include "recorder/runtime/sandbox.h"

#include "recorder/confined.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"
#include "recorder/runtime/text.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#define ARCHITECTURE AUDIT_ARCH_X86_64

struct rt_sandbox {
	const struct rt_sandbox *outer;
	const struct sock_filter *code; /* NULL: strict mode, or a filter that could not be kept */
	uint32_t length;
	bool strict;
};

static const struct rt_sandbox *_Atomic everybody; /* of all threads */
static const struct rt_sandbox closed;             /* of threads that there was no place for: nothing is allowed */

bool rt_sandboxed, rt_guarded;

/* Filters that were not seen: the collector is asked for them; there are some. Of this process, or those that it was
 * forked from. */
static bool asked_for, unseen;

/* ---- Running a filter ---- */

static uint32_t operate(unsigned operation, uint32_t a, uint32_t b)
{
	switch (operation) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_OR:
		return a | b;
	case BPF_AND:
		return a & b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return b < 32 ? a << b : 0;
	case BPF_RSH:
		return b < 32 ? a >> b : 0;
	default:
		return -a; /* BPF_NEG */
	}
}

static bool holds(unsigned condition, uint32_t a, uint32_t b)
{
	switch (condition) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default:
		return (a & b) != 0; /* BPF_JSET */
	}
}

/* What the filter returns. The kernel has checked it: jumps go forward and stay inside, loads are aligned and inside.
 */
static uint32_t run(const struct rt_sandbox *s, const struct seccomp_data *data)
{
	uint32_t a = 0, x = 0, memory[BPF_MEMWORDS] = {0};

	for (uint32_t at = 0; at < s->length; at++) {
		const struct sock_filter *i = &s->code[at];
		uint32_t operand = BPF_SRC(i->code) == BPF_X ? x : i->k;
		uint32_t loaded = i->k; /* BPF_IMM */

		if (BPF_MODE(i->code) == BPF_MEM)
			loaded = memory[i->k % BPF_MEMWORDS];
		else if (BPF_MODE(i->code) == BPF_LEN)
			loaded = sizeof *data;
		else if (BPF_MODE(i->code) == BPF_ABS && i->k <= sizeof *data - sizeof loaded)
			loaded = ((const uint32_t *)(const void *)data)[i->k / sizeof loaded];
		switch (BPF_CLASS(i->code)) {
		case BPF_LD:
			a = loaded;
			break;
		case BPF_LDX:
			x = loaded;
			break;
		case BPF_ST:
			memory[i->k % BPF_MEMWORDS] = a;
			break;
		case BPF_STX:
			memory[i->k % BPF_MEMWORDS] = x;
			break;
		case BPF_ALU:
			a = operate(BPF_OP(i->code), a, operand);
			break;
		case BPF_JMP:
			if (BPF_OP(i->code) == BPF_JA)
				at += i->k;
			else
				at += holds(BPF_OP(i->code), a, operand) ? i->jt : i->jf;
			break;
		case BPF_MISC:
			if (BPF_MISCOP(i->code) == BPF_TAX)
				x = a;
			else
				a = x;
			break;
		default: /* BPF_RET */
			return BPF_RVAL(i->code) == BPF_A ? a : i->k;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

static bool strict_allows(int number)
{
	return number == SYS_read || number == SYS_write || number == SYS_exit || number == SYS_rt_sigreturn;
}

static bool allows(const struct rt_sandbox *s, const struct seccomp_data *data)
{
	for (; s; s = s->outer) {
		uint32_t action = s->code ? run(s, data) & SECCOMP_RET_ACTION_FULL : SECCOMP_RET_KILL_PROCESS;

		if (s->strict ? !strict_allows(data->nr) : action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG)
			return false;
	}
	return true;
}

static uint32_t count(const struct rt_sandbox *s)
{
	uint32_t n = 0;

	for (; s; s = s->outer)
		n++;
	return n;
}

static void tell_seen(void)
{
	uint32_t n = count(rt_thread.sandbox) + count(atomic_load(&everybody));
	uint32_t seen = atomic_load(&rt_channel->seen);

	while (seen < n && !atomic_compare_exchange_weak(&rt_channel->seen, &seen, n))
		;
}

void rt_sandbox_answered(void)
{
	uint32_t may = atomic_load(&rt_channel->may_confine);

	tell_seen();
	if (may & RT_MAY_BE_STRICT)
		rt_time_forbidden();
	if (may & RT_MAY_CONFINE)
		asked_for = rt_guarded = true;
}

void rt_sandbox_forked(void)
{
	asked_for = false;
}

/* The kernel's number of this thread, without a system call: as the C library writes it into a lock. */
RT_NEXT(int, pthread_mutex_lock, (pthread_mutex_t * lock));
RT_NEXT(int, pthread_mutex_unlock, (pthread_mutex_t * lock));
static uint32_t my_tid(void)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	RT_REAL(pthread_mutex_lock)(&lock);
	uint32_t tid = (uint32_t)lock.__data.__owner;
	RT_REAL(pthread_mutex_unlock)(&lock);
	return tid;
}

/* Without a system call. A collector that does not answer does not say no either. */
static bool ask(struct rt_channel *c)
{
	enum { MANY = 50000000 }; /* of 40 to 140 cycles each */
	uint32_t me = my_tid(), none = 0;
	bool asked = false;

	for (unsigned n = 0; n < MANY && !atomic_load(&c->confined) && !rt_is_idle(c); n++) {
		if (!asked) {
			none = 0;
			asked = atomic_compare_exchange_strong(&c->ask, &none, me);
		} else if (atomic_load(&c->ask) != me) {
			return atomic_load(&c->confined);
		}
		RT_PAUSE();
	}
	return true;
}

static bool is_unseen(void)
{
	struct rt_channel *c = rt_channel;

	if (!unseen && asked_for && c && ask(c))
		unseen = rt_sandboxed = true;
	return unseen;
}

uint32_t rt_sandbox_filters(void)
{
	static char text[RT_STATUS_MAX];

	return rt_read_file("/proc/self/status", text, sizeof text) ? rt_status_filters(text) : RT_FILTERS_UNKNOWN;
}

bool rt_sandbox_allows(long number, long a, long b, long c, long d, long e, long f)
{
	struct seccomp_data data = {.nr = (int)number, .arch = ARCHITECTURE};

	data.args[0] = (uint64_t)a;
	data.args[1] = (uint64_t)b;
	data.args[2] = (uint64_t)c;
	data.args[3] = (uint64_t)d;
	data.args[4] = (uint64_t)e;
	data.args[5] = (uint64_t)f;
	return allows(rt_thread.sandbox, &data) && allows(atomic_load(&everybody), &data) && !is_unseen();
}

/* ---- Keeping filters ---- */

/* Never given back, like the kernel's. program: NULL for strict mode. */
static const struct rt_sandbox *keep(const struct sock_fprog *program, const struct rt_sandbox *outer)
{
	uint32_t length = program ? program->len : 0;
	long at = RT_SYSCALL(SYS_mmap, NULL, sizeof(struct rt_sandbox) + length * sizeof(struct sock_filter),
	                     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rt_sandbox *s = (struct rt_sandbox *)at;

	if (at < 0 && at > -4096)
		return &closed;
	struct sock_filter *code = (struct sock_filter *)(s + 1);
	for (uint32_t i = 0; i < length; i++)
		code[i] = program->filter[i];
	*s = (struct rt_sandbox){outer, program ? code : NULL, length, !program};
	return s;
}

/*
 * Eight bytes. The kernel reads what is to be blocked or let come before it looks at how, which it does not know.
 * Valgrind prints that it does not, so there they are copied.
 */
static bool is_word_readable(uintptr_t at)
{
	uint64_t word;
	struct iovec to = {&word, sizeof word}, from = {(void *)at, sizeof word};

	if (rt_watched)
		return RT_SYSCALL(SYS_process_vm_readv, RT_SYSCALL(SYS_getpid), &to, 1, &from, 1, 0) == sizeof word;
	return RT_SYSCALL(SYS_rt_sigprocmask, ~0L, at, NULL, sizeof word) == -EINVAL;
}

bool rt_readable(const void *p, size_t size)
{
	uintptr_t from = (uintptr_t)p, to = from + size;

	for (uintptr_t at = from; at < to; at = (at | 4095) + 1)
		if (!is_word_readable(at))
			return false;
	return size < sizeof(uint64_t) || is_word_readable(to - sizeof(uint64_t));
}

/* Where that cannot be known the program is trusted. */
static bool is_readable(const void *p, size_t size)
{
	return rt_readable(p, size) || !RT_SANDBOX_ALLOWS(SYS_rt_sigprocmask, ~0L);
}

/* Before the call, for a handler may come right after it. Memory that cannot be read is the kernel's to refuse. */
static void enter(struct rt_sandboxing *s, unsigned long mode, unsigned long flags, const void *program)
{
	bool all = mode == SECCOMP_SET_MODE_FILTER && flags & SECCOMP_FILTER_FLAG_TSYNC;

	if ((mode != SECCOMP_SET_MODE_FILTER && mode != SECCOMP_SET_MODE_STRICT) || !rt_channel ||
	    (mode == SECCOMP_SET_MODE_FILTER && !is_readable(program, sizeof(struct sock_fprog))))
		return;
	const struct sock_fprog *p = mode == SECCOMP_SET_MODE_FILTER ? program : NULL;
	if (p && !is_readable(p->filter, p->len * sizeof *p->filter))
		return;
	*s = (struct rt_sandboxing){true, all, rt_thread.sandbox, atomic_load(&everybody)};
	if (all)
		atomic_store(&everybody, keep(p, s->everybody));
	else
		rt_thread.sandbox = keep(p, s->own);
	tell_seen();
	rt_sandboxed = rt_guarded = true;
	if (!p) /* strict mode forbids the counter as well */
		rt_time_forbidden();
}

/* Valgrind would be killed by its own calls, or one of its threads alone, for which all others then wait for ever. */
bool rt_sandbox_refused(long number, const unsigned long a[4])
{
	static _Atomic bool said;

	if (!rt_watched || (number != SYS_seccomp && (number != SYS_prctl || a[0] != PR_SET_SECCOMP)))
		return false;
	if (!atomic_exchange(&said, true))
		rt_say("racetrace: the program cannot confine itself by seccomp, as Valgrind runs it");
	errno = number == SYS_seccomp ? ENOSYS : EINVAL;
	return true;
}

struct rt_sandboxing rt_sandbox_begin(long number, const unsigned long a[4])
{
	struct rt_sandboxing s = {0};

	if (number == SYS_seccomp)
		enter(&s, a[0], a[1], (const void *)a[2]);
	else if (number == SYS_prctl && a[0] == PR_SET_SECCOMP && a[1] == SECCOMP_MODE_STRICT)
		enter(&s, SECCOMP_SET_MODE_STRICT, 0, NULL);
	else if (number == SYS_prctl && a[0] == PR_SET_SECCOMP && a[1] == SECCOMP_MODE_FILTER)
		enter(&s, SECCOMP_SET_MODE_FILTER, 0, (const void *)a[2]);
	else if (number == SYS_prctl && a[0] == PR_SET_TSC && a[1] == PR_TSC_SIGSEGV)
		rt_time_forbidden();
	return s;
}

void rt_sandbox_end(const struct rt_sandboxing *s, bool refused)
{
	if (!s->begun || !refused)
		return;
	if (s->all)
		atomic_store(&everybody, s->everybody);
	else
		rt_thread.sandbox = s->own;
}
