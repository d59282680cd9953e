/*
 * The end of the run. When main returns or the program calls exit() while other threads run, the process would end
 * under them, often before they have done their work. They get some time first (`record --exit-sleep`), before anything
 * that runs at exit, as under ThreadSanitizer. The time ends when no recorded thread is left, or when each one waits
 * for what only another of them can give.
 *
 * Functions of the C library that end the process themselves (err, error, abort), and _exit, end it at once.
 */
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"
#include "recorder/runtime/text.h"
#include "recorder/runtime/turn.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <time.h>

/* ---- Does each thread wait? As the kernel sees it. ---- */

/* The next word of a line, in decimal or, behind 0x, in hexadecimal; what is no number is read as a huge one. */
static uint64_t next_word(const char **line)
{
	const char *p = *line;
	uint64_t n = 0, base = 10;

	if (p[0] == '0' && p[1] == 'x') {
		base = 16;
		p += 2;
	}
	for (; *p && *p != ' ' && *p != '\n'; p++) {
		unsigned digit = *p >= 'a' ? (unsigned)*p - 'a' + 10 : (unsigned)*p - '0';
		n = digit < base ? n * base + digit : UINT64_MAX / 32;
	}
	*line = *p == ' ' ? p + 1 : p;
	return n;
}

/* Name of a file of a thread of this process. */
static void task_file(char *to, const char *task, const char *file)
{
	rt_append_text(rt_append_text(rt_append_text(to, "/proc/self/task/"), task), file);
}

static bool is_thread(uint64_t tid)
{
	char number[24], name[80], text[2];

	rt_append_number(number, tid);
	task_file(name, number, "/comm");
	return rt_read_file(name, text, sizeof text);
}

/* True if the thread waits, without a time limit, for another thread of this process. */
static bool task_waits(const char *task)
{
	char name[80], text[256];
	const char *at = text;
	uint64_t word[5]; /* number of the system call, its first arguments */

	task_file(name, task, "/syscall");
	if (!rt_read_file(name, text, sizeof text))
		return false;
	for (int i = 0; i < 5; i++)
		word[i] = next_word(&at);
	if (word[0] != SYS_futex || word[4] != 0)
		return false;
	uint64_t operation = word[2] & (uint64_t)FUTEX_CMD_MASK;
	if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET && operation != FUTEX_LOCK_PI)
		return false;
	/* Another process may wake a shared one, unless it is a join: then it holds the thread's number. */
	return word[2] & FUTEX_PRIVATE_FLAG || is_thread(word[3]);
}

static bool is_me_or_waits(const char *task, const void *me)
{
	return rt_same(task, me) || task_waits(task);
}

/* True if all other threads do. Each is looked at once, so one that is about to be woken may be missed. */
static bool others_wait(void)
{
	char me[24];

	rt_append_number(me, (uint64_t)RT_SYSCALL(SYS_gettid));
	return rt_each_entry("/proc/self/task", is_me_or_waits, me);
}

/* ---- The moment ---- */

static bool others_live(void)
{
	uint32_t used = atomic_load(&rt_channel->slots_used);

	for (uint32_t i = 0; i < used && i < rt_channel->slot_count; i++) {
		const struct rt_slot *s = rt_channel_slot(rt_channel, i);
		uint32_t state = atomic_load(&s->state);

		if (s != rt_thread.own && (state == RT_SLOT_LIVE || state == RT_SLOT_TAKEN))
			return true;
	}
	return false;
}

/* The same by turns: the others go on until none can, or until they have done as much as takes that time. */
static void await_by_turns(uint32_t ms)
{
	enum { SECOND_MS = 1000, MS_NS = 1000000 };
	struct timespec t = {ms / SECOND_MS, (long)(ms % SECOND_MS) * MS_NS};

	if (ms && others_live()) {
		rt_emit_time();
		rt_turn_lets_others(RT_UNTIL(RT_CLOCK_DURATION, &t));
		rt_emit_time();
	}
	rt_turn_exits(false);
}

/* Called when the process is about to end: waits as the file's comment says. Once for each process. */
static void await_others(void)
{
	enum { STEP_MS = 2, QUIET_STEPS = 5 }; /* waiting counts when seen QUIET_STEPS times in a row */
	static _Atomic uint32_t process;
	struct rt_channel *c = rt_channel;

	if (rt_turn_mine()) {
		await_by_turns(c->exit_sleep_ms);
		return;
	}
	if (!c || !c->exit_sleep_ms || atomic_exchange(&process, (uint32_t)c->program_pid) == (uint32_t)c->program_pid)
		return;
	if (!RT_SANDBOX_ALLOWS(SYS_nanosleep))
		return;
	uint64_t end = rt_milliseconds() + c->exit_sleep_ms;
	unsigned quiet = 0;
	rt_emit_time();
	/* A thread that must not look at a clock counts its steps. */
	for (uint32_t ms = 0; others_live() && quiet < QUIET_STEPS && !atomic_load(&c->collector_gone) &&
	                      ms < c->exit_sleep_ms && rt_milliseconds() < end;
	     ms += STEP_MS) {
		rt_pause_us(STEP_MS * 1000);
		quiet = others_wait() ? quiet + 1 : 0;
	}
	rt_emit_time();
}

RT_INTERPOSE(void, exit, (int status))
{
	await_others();
	RT_REAL(exit)(status);
	__builtin_unreachable();
}

static int (*program_main)(int, char **, char **);
static int run_main(int argc, char **argv, char **environment)
{
	int status = program_main(argc, argv, environment);

	await_others();
	return status;
}

/* The function that a program's first instructions call. */
typedef int main_function(int argc, char **argv, char **environment);
RT_INTERPOSE(int, __libc_start_main,
             (main_function * main, int argc, char **argv, void (*init)(void), void (*fini)(void), void (*end)(void),
              void *stack_end))
{
	if (rt_channel) {
		program_main = main;
		main = run_main;
	}
	return RT_REAL(__libc_start_main)(main, argc, argv, init, fini, end, stack_end);
}
