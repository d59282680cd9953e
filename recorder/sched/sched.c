/* The scheduler's beginning, its result, and what strategies ask for. */
#include "recorder/sched/sched.h"

#include "recorder/runtime/mix.h"
#include "recorder/runtime/syscall.h"
#include "recorder/runtime/text.h"

#include <link.h>
#include <signal.h>
#include <sys/mman.h>

void *rt_sched_memory(size_t size)
{
	long at = RT_SYSCALL(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	                     -1, 0);

	return at < 0 && at > -4096 ? NULL : (void *)at;
}

uint64_t rt_sched_random(void)
{
	uint64_t x = rt_mix(rt_sched.random);

	rt_sched.random += RT_MIX_STEP;
	return x;
}

bool rt_sched_begin(uint32_t slots)
{
	const struct rt_strategy *const *s = rt_strategies;

	while (*s && !rt_same((*s)->name, rt_sched.control->strategy))
		s++;
	rt_sched.strategy = *s;
	rt_sched.random = rt_sched.control->seed;
	rt_sched.next_wake = UINT64_MAX;
	rt_sched.tasks = rt_sched_memory(slots * sizeof *rt_sched.tasks);
	rt_sched.enabled = rt_sched_memory(slots * sizeof *rt_sched.enabled);
	if (!rt_sched.tasks || !rt_sched.enabled ||
	    (rt_sched.strategy && rt_sched.strategy->is_told && !rt_sched_follow_calls(slots))) {
		rt_sched.control->degraded = RT_DEGRADED_MEMORY;
		return false;
	}
	if (!rt_sched.strategy || (!rt_sched.strategy->has_plan && !rt_sched_aims_begin(rt_sched.control)) ||
	    (rt_sched.strategy->init && !rt_sched.strategy->init(rt_sched.control))) {
		rt_sched.control->degraded = RT_DEGRADED_STRATEGY;
		return false;
	}
	return true;
}

/* ---- Result ---- */

void rt_sched_log(const struct rt_task *from, const struct rt_task *to)
{
	struct rt_control *c = rt_sched.control;
	uint64_t n = atomic_load_explicit(&c->log_count, memory_order_relaxed);

	if (n < RT_LOG_ROOM)
		c->log[n] = (struct rt_decision){from->thread, to->thread, from->next.count};
	atomic_store_explicit(&c->log_count, n + 1, memory_order_release);
}

static void tell_standing(const struct rt_task *t, struct rt_standing *to)
{
	*to = (struct rt_standing){.thread = t->thread,
	                           .state = (uint8_t)t->state,
	                           .op = t->next.op,
	                           .object = t->next.object,
	                           .count = t->next.count};
	if (t->state == RT_BLOCKED) {
		to->op = t->waits_op;
		to->object = t->waits;
	}
}

static void tell_end(enum rt_end end)
{
	struct rt_control *c = rt_sched.control;
	uint32_t n = 0;

	for (const struct rt_task *t = rt_sched.first; t && n < RT_STANDING_MAX; t = t->after)
		tell_standing(t, &c->standing[n++]);
	atomic_store(&c->standing_count, n);
	atomic_store(&c->steps, rt_sched.steps);
	atomic_store(&c->end, end);
}

void rt_sched_end(enum rt_end end)
{
	tell_end(end);
	/* In a sandbox each of them may be forbidden; and -EPERM is no process's number, but kill's for all of them. */
	long pid = RT_SYSCALL(SYS_getpid);
	if (pid > 0)
		RT_SYSCALL(SYS_kill, pid, SIGKILL);
	RT_SYSCALL(SYS_exit_group, 128 + SIGKILL);
	__builtin_trap();
}

void rt_turn_exits(bool executes)
{
	if (!rt_controlled || !rt_thread.task)
		return;
	rt_turn_hold(0);
	rt_busy_begin();
	rt_sched_lock();
	tell_end(executes ? RT_END_EXEC : RT_END_EXIT);
	rt_sched_unlock();
	rt_busy_end();
}

void rt_sched_report(const char *text)
{
	char *to = rt_sched.control->report;
	size_t n = 0;

	while (to[n])
		n++;
	while (*text && n < RT_REPORT_SIZE - 1)
		to[n++] = *text++;
}

/* ---- What strategies ask for ---- */

struct rt_task *rt_sched_task(uint32_t thread)
{
	struct rt_task *t = rt_sched.first;

	while (t && t->thread != thread)
		t = t->after;
	return t;
}

enum { NAMED = 1, ANY };

/* A filter of pcs: one byte each, so that hooks test it in one instruction. */
RT_OF_RUN unsigned char rt_interest[RT_INTEREST_SIZE];

void rt_sched_interest(uintptr_t pc)
{
	rt_interest[RT_INTEREST_PLACE(pc)] = NAMED;
}

void rt_sched_interest_all(void)
{
	for (unsigned i = 0; i < RT_INTEREST_SIZE; i++)
		rt_interest[i] = rt_interest[i] ? rt_interest[i] : ANY;
}

bool rt_sched_is_aimed_at(uintptr_t pc)
{
	return rt_interest[RT_INTEREST_PLACE(pc)] == NAMED;
}

bool rt_sched_interesting(uintptr_t pc)
{
	return rt_interest[RT_INTEREST_PLACE(pc)];
}

struct visit {
	void (*f)(const char *path, uintptr_t base);
	unsigned others; /* modules without a name: the first one is the program */
	char program[4096];
};

static int visit_module(struct dl_phdr_info *module, size_t size, void *arg)
{
	struct visit *v = arg;
	uintptr_t start = UINTPTR_MAX;

	(void)size;
	for (int i = 0; i < module->dlpi_phnum; i++)
		if (module->dlpi_phdr[i].p_type == PT_LOAD && module->dlpi_addr + module->dlpi_phdr[i].p_vaddr < start)
			start = module->dlpi_addr + module->dlpi_phdr[i].p_vaddr;
	start &= ~(uintptr_t)4095;
	v->f(*module->dlpi_name || v->others++ ? module->dlpi_name : v->program, start);
	return 0;
}

void rt_sched_modules(void (*f)(const char *path, uintptr_t base))
{
	static struct visit v; /* under the lock, or before there is more than one thread */
	long n = RT_SYSCALL(SYS_readlink, "/proc/self/exe", v.program, sizeof v.program - 1);

	v.f = f;
	v.others = 0;
	v.program[n > 0 ? n : 0] = '\0';

	dl_iterate_phdr(visit_module, &v);
}
