/*
 * A collector that only counts: runs PROGRAM under the recorder and prints what arrived, one `name count` a line:
 * operations, left-out repeats ("skipped"), records, threads, the program's status. Checks as it goes what every reader
 * relies on: stamps of synchronisation are unique and not below what the thread has stamped before, blocks begin with a
 * time, EXT and its event stay together, a thread begins before its events and ends after them. -d: dies at the first
 * write that it sees, and so leaves the program to itself. Usage: drain [-r RING_RECORDS] [-s SLOTS] [-d] RECORDER
 * PROGRAM ARGS...
 */
#include "recorder/channel.h"
#include "recorder/confined.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 100000

static struct rt_channel *channel;
static uint64_t count[RT_OP_COUNT], skipped, records, lost, range_bytes;
static uint64_t two_bytes[RT_OP_COUNT]; /* accesses of two bytes: the tests' own */
static struct {
	bool begun, ended;
	uint64_t stamp; /* highest so far */
} threads[THREADS];
static bool stamp_seen_twice;
static uint64_t *stamps;
static size_t stamp_count, stamp_room;

static void fail(const char *what)
{
	printf("broken %s\n", what);
	exit(99);
}

/* One whose stamp is not below what its thread has stamped before. */
static bool exact(unsigned op)
{
	return op > RT_OP_WRITE && op != RT_OP_ENTER && op != RT_OP_LEAVE && op != RT_OP_SETJMP &&
	       op != RT_OP_LONGJMP && op != RT_OP_FAULT;
}

static void remember(uint64_t stamp)
{
	if (stamp_count == stamp_room) {
		stamp_room = stamp_room ? stamp_room * 2 : 4096;
		stamps = realloc(stamps, stamp_room * sizeof *stamps);
	}
	stamps[stamp_count++] = stamp;
}

/* A plain one may be low: it counts as the last one. An exact one is what other threads' are ordered by. */
static void see_stamp(uint32_t thread, uint64_t stamp, bool is_exact)
{
	if (is_exact && stamp < threads[thread].stamp)
		fail("exact stamp below the last one");
	if (stamp > threads[thread].stamp)
		threads[thread].stamp = stamp;
}

static void take(uint32_t thread, const struct rt_record *r, uint32_t n)
{
	if (thread >= THREADS)
		fail("thread");
	for (uint32_t i = 0; i < n; i++) {
		unsigned op = rt_record_op(r[i]);

		if (op >= RT_OP_COUNT)
			fail("op");
		if (i == 0 && op != RT_OP_EXT)
			fail("block without a time");
		records += op != RT_OP_NONE;
		count[op]++;
		if (op == RT_OP_NONE)
			continue;
		if (op == RT_OP_EXT)
			see_stamp(thread, r[i].w1, i + 1 < n && exact(rt_record_op(r[i + 1])));
		skipped += rt_record_skip(r[i]);
		if (op == RT_OP_SKIP)
			skipped += rt_record_operand(r[i]);
		if (op == RT_OP_FREE && i > 0 && rt_record_op(r[i - 1]) == RT_OP_WRITE)
			continue; /* shares the stamp of the write that stands for it */
		if (exact(op) && op >= RT_OP_READ && op != RT_OP_TRY_FAILED) { /* which orders nothing */
			if (i == 0 || rt_record_op(r[i - 1]) != RT_OP_EXT)
				fail("event without its stamp");
			remember(r[i - 1].w1);
			if (op == RT_OP_LOST)
				lost += rt_record_operand(r[i - 1]);
		}
		if ((op == RT_OP_READ || op == RT_OP_WRITE) && (rt_record_aux_of(r[i]) & 31) == 0)
			range_bytes += rt_record_operand(r[i - 1]);
		if ((op == RT_OP_READ || op == RT_OP_WRITE) && (rt_record_aux_of(r[i]) & 31) == 2)
			two_bytes[op]++;
		if (op == RT_OP_BEGIN && threads[thread].begun)
			fail("second begin");
		if (op >= RT_OP_READ && op != RT_OP_BEGIN && !threads[thread].begun)
			fail("event before begin");
		if (op >= RT_OP_READ && threads[thread].ended)
			fail("event after end");
		threads[thread].begun |= op == RT_OP_BEGIN;
		threads[thread].ended |= op == RT_OP_END;
	}
}

static bool drain(struct rt_slot *s, uint32_t index, bool dead)
{
	struct rt_record *ring = rt_channel_ring(channel, index);
	uint32_t state = atomic_load(&s->state), blocks = channel->ring_records / RT_BLOCK_RECORDS;
	uint64_t published = atomic_load(&s->published), consumed = atomic_load(&s->consumed);
	bool worked = consumed < published;

	if (state == RT_SLOT_FREE || state == RT_SLOT_TAKEN)
		return false;
	for (; consumed < published; consumed++)
		take(s->thread, ring + consumed % blocks * RT_BLOCK_RECORDS, RT_BLOCK_RECORDS);
	atomic_store(&s->consumed, consumed);
	if (atomic_exchange(&s->waiting, 0))
		syscall(SYS_futex, &s->waiting, FUTEX_WAKE, 1, NULL, NULL, 0);
	if (dead || state == RT_SLOT_ENDED) {
		take(s->thread, ring + published % blocks * RT_BLOCK_RECORDS, rt_slot_rest(channel, s));
		skipped += s->skipped;
		s->cur = s->limit = s->ring = NULL;
		atomic_store(&s->published, 0);
		atomic_store(&s->consumed, 0);
		atomic_store(&s->state, RT_SLOT_FREE);
	}
	return worked;
}

static bool drain_all(bool dead)
{
	uint32_t used = atomic_load(&channel->slots_used);
	bool worked = false;

	for (uint32_t i = 0; i < used && i < channel->slot_count; i++)
		worked |= drain(rt_channel_slot(channel, i), i, dead);
	return worked;
}

static int make_channel(uint32_t slots, uint32_t ring)
{
	uint64_t rings_offset = (4096 + slots * sizeof(struct rt_slot) + 4095) & ~UINT64_C(4095);
	uint64_t size = rings_offset + (uint64_t)slots * ring * sizeof(struct rt_record);
	int fd = memfd_create("channel", 0);

	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		fail("memfd");
	channel = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (channel == MAP_FAILED)
		fail("mmap");
	channel->magic = RT_CHANNEL_MAGIC;
	channel->version = RT_CHANNEL_VERSION;
	channel->slot_count = slots;
	channel->ring_records = ring;
	channel->collector_pid = getpid();
	channel->slots_offset = 4096;
	channel->rings_offset = rings_offset;
	channel->total_bytes = size;
	return fd;
}

/* Where the tests run in a sandbox, so does the program. */
static unsigned filters(void)
{
	char text[RT_STATUS_MAX] = "";
	FILE *f = fopen("/proc/self/status", "r");

	if (!f)
		return RT_FILTERS_UNKNOWN;
	text[fread(text, 1, sizeof text - 1, f)] = 0;
	fclose(f);
	return rt_status_filters(text);
}

static void run(int fd, const char *recorder, char **argv)
{
	const char *preload = getenv("LD_PRELOAD");
	char buffer[4096];

	snprintf(buffer, sizeof buffer, "%d:%ld:%u:%s", fd, (long)getppid(), filters(), preload ? preload : "-");
	setenv(RT_CHANNEL_ENV, buffer, 1);
	snprintf(buffer, sizeof buffer, "%s%s%s", recorder, preload ? ":" : "", preload ? preload : "");
	setenv("LD_PRELOAD", buffer, 1);
	execv(argv[0], argv);
	_exit(127);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* What the recorder looks at to know that its collector lives. */
static void beat(void)
{
	struct rt_tree *tree = (struct rt_tree *)(void *)((char *)channel + RT_TREE_OFFSET);

	atomic_fetch_add(&tree->beat, 1);
}

static void sleep_on_bell(void)
{
	struct timespec t = {0, 20000000};
	uint32_t bell = atomic_load(&channel->bell);

	atomic_store(&channel->sleeping, 1);
	if (atomic_load(&channel->answer) == atomic_load(&channel->request) && !drain_all(false))
		syscall(SYS_futex, &channel->bell, FUTEX_WAIT, bell, &t, NULL, 0);
	atomic_store(&channel->sleeping, 0);
}

int main(int argc, char **argv)
{
	uint32_t ring = 4096, slots = 2048;
	int option, status, fd;
	struct rusage usage;
	bool die = false;
	pid_t pid;

	while ((option = getopt(argc, argv, "+r:s:d")) != -1) {
		if (option == 'r')
			ring = (uint32_t)atoi(optarg);
		else if (option == 's')
			slots = (uint32_t)atoi(optarg);
		else
			die = true;
	}
	fd = make_channel(slots, ring);
	pid = fork();
	if (pid == 0)
		run(fd, argv[optind], argv + optind + 1);
	while (wait4(pid, &status, WNOHANG, &usage) == 0) {
		drain_all(false);
		beat();
		if (atomic_load(&channel->request) != atomic_load(&channel->answer)) {
			atomic_store(&channel->answer, atomic_load(&channel->request));
			syscall(SYS_futex, &channel->answer, FUTEX_WAKE, 100, NULL, NULL, 0);
		}
		if (die && count[RT_OP_WRITE] > 0)
			_exit(0);
		sleep_on_bell();
	}
	drain_all(true);
	qsort(stamps, stamp_count, sizeof *stamps, compare);
	for (size_t i = 1; i < stamp_count; i++)
		stamp_seen_twice |= stamps[i] == stamps[i - 1];
	if (stamp_seen_twice)
		fail("stamp seen twice");
	for (unsigned i = 1; i < RT_OP_COUNT; i++)
		printf("%s %lu\n", rt_op_name(i), count[i]);
	printf("read2 %lu\nwrite2 %lu\naccesses %lu\n", two_bytes[RT_OP_READ], two_bytes[RT_OP_WRITE],
	       count[RT_OP_READ] + count[RT_OP_WRITE] + skipped);
	printf("skipped %lu\nrecords %lu\nthreads %u\nlost-events %lu\nrange-bytes %lu\n", skipped, records,
	       channel->thread_count, lost, range_bytes);
	printf("status %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	if (getenv("DRAIN_TIMES"))
		fprintf(stderr, "program: user %ld.%06ld system %ld.%06ld\n", usage.ru_utime.tv_sec,
		        usage.ru_utime.tv_usec, usage.ru_stime.tv_sec, usage.ru_stime.tv_usec);
	return 0;
}
