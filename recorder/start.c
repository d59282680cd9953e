/*
 * How the recorder comes up in a program: finds the channel that `racetrace record` handed down, leaves the program's
 * environment as if it had not been there, and opens the main thread's slot. Without a channel it stays a runtime that
 * records nothing.
 *
 * RACETRACE_CHANNEL is "FD:PRELOAD": the channel's memory file, and LD_PRELOAD as the user had it ("-": not set).
 */
#include "recorder/core.h"
#include "recorder/syscall.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <linux/futex.h>

struct rt_channel *rt_channel;
bool rt_tsc;
static struct rt_birth *births;

/* No libc string functions here: the recorder interposes them. */
static size_t length(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

void rt_say(const char *message)
{
	RT_SYSCALL(SYS_write, STDERR_FILENO, message, length(message));
	RT_SYSCALL(SYS_write, STDERR_FILENO, "\n", 1);
}

long rt_futex_wait(const void *word, uint32_t value, unsigned milliseconds)
{
	struct timespec timeout = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};

	return RT_SYSCALL(SYS_futex, word, FUTEX_WAIT, value, &timeout);
}

void rt_futex_wake(const void *word, int count)
{
	RT_SYSCALL(SYS_futex, word, FUTEX_WAKE, count);
}

void rt_ring_bell(void)
{
	if (!atomic_load(&rt_channel->sleeping))
		return;
	atomic_fetch_add(&rt_channel->bell, 1);
	rt_futex_wake(&rt_channel->bell, 1);
}

/* A zombie answers kill(); its pidfd does not lie. */
bool rt_collector_alive(void)
{
	pid_t pid = rt_channel->collector_pid;
	int fd = (int)RT_SYSCALL(SYS_pidfd_open, pid);
	bool alive = true;

	if (fd >= 0) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		struct timespec none = {0, 0};

		alive = RT_SYSCALL(SYS_ppoll, &p, 1, &none) == 0;
		RT_SYSCALL(SYS_close, fd);
	} else {
		alive = fd != -ESRCH && RT_SYSCALL(SYS_kill, pid, 0) != -ESRCH;
	}
	return alive;
}

uint64_t rt_now_slow(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return ((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec) >> 5;
}

/* The time stamp counter is the same on all processors and runs on while they sleep. */
static bool invariant_tsc(void)
{
#ifdef __x86_64__
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
#else
	return false;
#endif
}

struct rt_birth *rt_birth_of(struct rt_slot *slot)
{
	return births + (slot - rt_channel_slot(rt_channel, 0));
}

void rt_request_map(void)
{
	struct rt_channel *c = rt_channel;
	uint32_t mine, answer;

	if (!c || atomic_load(&c->collector_gone))
		return;
	mine = atomic_fetch_add(&c->request, 1) + 1;
	atomic_fetch_add(&c->bell, 1);
	rt_futex_wake(&c->bell, 1);
	for (int tries = 0; tries < 50; tries++) {
		answer = atomic_load(&c->answer);
		if ((int32_t)(answer - mine) >= 0)
			return;
		rt_futex_wait(&c->answer, answer, 100);
		if (atomic_load(&c->answer) == answer && !rt_collector_alive())
			return;
	}
}

/* The value of NAME in an environment entry "NAME=value", or NULL. */
static char *value_of(char *entry, const char *name)
{
	while (*name)
		if (*entry++ != *name++)
			return NULL;
	return *entry == '=' ? entry + 1 : NULL;
}

static char **find(char **environment, const char *name)
{
	for (; environment && *environment; environment++)
		if (value_of(*environment, name))
			return environment;
	return NULL;
}

static void take_out(char **entry)
{
	for (; *entry; entry++)
		entry[0] = entry[1];
}

/* Puts the user's LD_PRELOAD back, in place: what `record` put before it made the entry longer, never shorter. */
static void restore_environment(char **environment, const char *preload)
{
	char **entry = find(environment, "LD_PRELOAD");

	bool was_set = preload[0] != '-' || preload[1];

	if (entry && was_set && length(preload) <= length(value_of(*entry, "LD_PRELOAD"))) {
		char *to = value_of(*entry, "LD_PRELOAD");

		do
			*to++ = *preload;
		while (*preload++);
	} else if (entry) {
		take_out(entry);
	}
	entry = find(environment, RT_CHANNEL_ENV);
	if (entry)
		take_out(entry);
}

static bool channel_is_sound(const struct rt_channel *c, uint64_t size)
{
	uint64_t slots = (uint64_t)c->slot_count * sizeof(struct rt_slot);
	uint64_t rings = (uint64_t)c->slot_count * c->ring_records * sizeof(struct rt_record);

	return c->magic == RT_CHANNEL_MAGIC && c->version == RT_CHANNEL_VERSION && c->total_bytes <= size &&
	       c->slot_count > 0 && c->ring_records >= 4 * RT_BLOCK_RECORDS &&
	       (c->ring_records & (c->ring_records - 1)) == 0 && c->slots_offset <= size &&
	       slots <= size - c->slots_offset && c->rings_offset <= size && rings <= size - c->rings_offset;
}

static void *map(size_t size, int flags, int fd)
{
	long at = RT_SYSCALL(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd, 0);

	return at < 0 && at > -4096 ? NULL : (void *)at;
}

static struct rt_channel *map_channel(int fd)
{
	struct stat st;
	struct rt_channel *c = NULL;

	if (fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof(struct rt_channel))
		c = map((size_t)st.st_size, MAP_SHARED, fd);
	if (c && !channel_is_sound(c, (uint64_t)st.st_size)) {
		RT_SYSCALL(SYS_munmap, c, st.st_size);
		c = NULL;
	}
	if (c) {
		births = map(c->slot_count * sizeof *births, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (births) /* huge pages would make each thread's private memory 2 MB at once */
			RT_SYSCALL(SYS_madvise, births, c->slot_count * sizeof *births, MADV_NOHUGEPAGE);
		else
			c = NULL;
	}
	RT_SYSCALL(SYS_close, fd);
	return c;
}

static void start(int argc, char **argv, char **environment)
{
	char **entry = find(environment, RT_CHANNEL_ENV);
	const char *text = entry ? value_of(*entry, RT_CHANNEL_ENV) : NULL;
	int fd = 0;

	(void)argc, (void)argv;
	if (!text || *text < '0' || *text > '9')
		return;
	for (; *text >= '0' && *text <= '9' && fd < 1 << 20; text++)
		fd = fd * 10 + *text - '0';
	rt_tsc = invariant_tsc();
	rt_channel = map_channel(fd);
	restore_environment(environment, *text == ':' ? text + 1 : "-");
	if (!rt_channel) {
		rt_say("racetrace: the recorder does not understand its channel; the program runs unrecorded");
		return;
	}
	rt_channel->program_pid = (int32_t)RT_SYSCALL(SYS_getpid);
	rt_fork_start();
	rt_thread_start();
	atomic_store(&rt_channel->started, 1);
	rt_request_map();
}

/* The linker runs this library's initialisers before all others (-z initfirst), and passes them what main gets. */
__attribute__((section(".init_array"), used)) static void (*const start_entry)(int, char **, char **) = start;
