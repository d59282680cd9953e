/*
 * The collector, against a process that fills rings as the channel's protocol says and may be killed anywhere.
 * Every record carries its number in its thread as its address.
 */
#include "recorder/channel.h"
#include "recorder/collector/collect.h"
#include "recorder/collector/limits.h"
#include "tests/unit/suite.h"
#include "tracefmt/trace.h"

#include <check.h>
#include <errno.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 4u
#define SLOTS 4u

/* ---- The program's side ---- */

static struct rt_channel *channel;

static void futex(const void *word, int op, uint32_t value)
{
	struct timespec timeout = {0, 10000000};
	syscall(SYS_futex, word, op, value, op == FUTEX_WAIT ? &timeout : NULL, NULL, 0);
}

static void ring_bell(void)
{
	if (!atomic_load(&channel->sleeping))
		return;
	atomic_fetch_add(&channel->bell, 1);
	futex(&channel->bell, FUTEX_WAKE, 1);
}

static struct rt_slot *take(uint32_t thread, uint32_t parent, uint32_t child_number)
{
	for (uint32_t i = 0;; i = (i + 1) % channel->slot_count) {
		struct rt_slot *s = rt_channel_slot(channel, i);
		uint32_t expected = RT_SLOT_FREE;
		if (atomic_load(&channel->slots_used) <= i)
			atomic_store(&channel->slots_used, i + 1);
		if (!atomic_compare_exchange_strong(&s->state, &expected, RT_SLOT_TAKEN))
			continue;
		s->ring = s->cur = rt_channel_ring(channel, i);
		s->limit = s->ring + RT_BLOCK_RECORDS;
		s->thread = thread;
		s->parent = parent;
		s->child_number = child_number;
		s->label[0] = 0;
		atomic_store(&s->state, RT_SLOT_LIVE);
		return s;
	}
}

static void publish(struct rt_slot *s)
{
	memset(s->cur, 0, (size_t)((char *)s->limit - (char *)s->cur));
	s->cur = s->limit;
	uint64_t published = atomic_fetch_add(&s->published, 1) + 1;
	uint64_t pending = published - atomic_load(&s->consumed);
	if (pending >= BLOCKS / 2)
		ring_bell();
	while (published - atomic_load(&s->consumed) >= BLOCKS) {
		atomic_store(&s->waiting, 1);
		if (published - atomic_load(&s->consumed) >= BLOCKS)
			futex(&s->waiting, FUTEX_WAIT, 1);
	}
	s->cur = s->ring + published % BLOCKS * RT_BLOCK_RECORDS;
	s->limit = s->cur + RT_BLOCK_RECORDS;
}

static void put(struct rt_slot *s, struct rt_record r)
{
	if (s->cur == s->limit)
		publish(s);
	*s->cur = r;
	__atomic_store_n(&s->cur, s->cur + 1, __ATOMIC_RELEASE);
}

static void put_writes(struct rt_slot *s, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		put(s, rt_record_make(RT_OP_WRITE, i + 1, 0x1000 + i % 7, rt_record_aux(4, 0, 0), 0));
}

static void end(struct rt_slot *s)
{
	publish(s);
	atomic_store(&s->state, RT_SLOT_ENDED);
	ring_bell();
}

/* ---- The collector's side ---- */

static struct collector *collector;
static int channels; /* the file */
static char folder[64], path[96];
static struct rt_error error;
static enum rt_status outcome;

static void setup(void)
{
	struct collector_options options = {.slots = SLOTS, .ring_records = BLOCKS * RT_BLOCK_RECORDS};
	ck_assert_int_eq(collector_file(&channels, &error), RT_OK);
	ck_assert_int_eq(collector_create(channels, 0, &options, &collector, &error), RT_OK);
	channel = mmap(NULL, (size_t)lseek(channels, 0, SEEK_END), PROT_READ | PROT_WRITE, MAP_SHARED, channels, 0);
	ck_assert_ptr_ne(channel, MAP_FAILED);
	strcpy(folder, "/tmp/test-collect-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/t.zst", folder);
}

static void teardown(void)
{
	unlink(path);
	rmdir(folder);
	collector_free(collector);
	close(channels);
}

static void *stop_at_end(void *pid)
{
	waitpid(*(pid_t *)pid, NULL, 0);
	collector_stop(collector);
	return NULL;
}

/* Runs program(arg) in a process, collects what it writes; NULL if the trace was lost (see outcome, error). */
static struct rt_trace *collected(void (*program)(uint64_t), uint64_t arg)
{
	struct rt_writer *w;
	struct rt_writer_options options = {0};
	struct rt_writer_result result = {0};
	struct rt_trace *trace;
	pthread_t thread;
	ck_assert_int_eq(rt_writer_create(path, &options, &w, &error), RT_OK);
	pid_t pid = fork();
	if (pid == 0) {
		program(arg);
		kill(getpid(), SIGKILL);
	}
	ck_assert_int_eq(pthread_create(&thread, NULL, stop_at_end, &pid), 0);
	outcome = collector_run(collector, pid, w, &error);
	pthread_join(thread, NULL);
	if (outcome) {
		rt_writer_abort(w);
		return NULL;
	}
	ck_assert_msg(rt_writer_finish(w, &result, &error) == RT_OK, "%s", error.message);
	ck_assert_int_eq(rt_trace_open(path, &trace, &error), RT_OK);
	return trace;
}

/* Each thread's events must be numbered from 1 without a gap; returns how many there are in all. */
static uint64_t count_in_order(struct rt_trace *trace)
{
	uint64_t next[64] = {0}, n = 0;
	struct rt_event events[100];
	size_t got;
	ck_assert_int_eq(rt_trace_rewind(trace, &error), RT_OK);
	while (rt_trace_read(trace, events, 100, &got, &error) == RT_OK && got > 0)
		for (size_t i = 0; i < got; i++, n++)
			ck_assert_uint_eq(events[i].addr, ++next[events[i].thread]);
	ck_assert_msg(rt_trace_info(trace)->complete, "%s", rt_trace_info(trace)->incomplete_why);
	return n;
}

/* ---- Tests ---- */

static void one_thread(uint64_t n)
{
	put_writes(take(0, 0, 0), n);
}

/* Around each border of a block and of the ring, and far beyond the ring. */
static const uint64_t amounts[] = {0,   1,   63,  64,  65,  127, 128, 129, 191, 192,
                                   193, 255, 256, 257, 319, 320, 511, 512, 513, 5000};

START_TEST(test_a_killed_program_loses_nothing_that_it_had_written)
{
	struct rt_trace *trace = collected(one_thread, amounts[_i]);
	ck_assert_msg(trace != NULL, "%s", error.message);
	ck_assert_uint_eq(count_in_order(trace), amounts[_i]);
	rt_trace_free(trace);
}
END_TEST

static void full_block_not_published(uint64_t unused)
{
	(void)unused;
	struct rt_slot *s = take(0, 0, 0);
	put_writes(s, RT_BLOCK_RECORDS);
	put(s, rt_record_make(RT_OP_WRITE, RT_BLOCK_RECORDS + 1, 1, 0, 0));
	/* Caught after the next block was begun, before the count was raised. */
	atomic_fetch_sub(&s->published, 1);
	s->cur--;
}

START_TEST(test_a_program_killed_between_two_blocks_has_each_record_once)
{
	struct rt_trace *trace = collected(full_block_not_published, 0);
	ck_assert_msg(trace != NULL, "%s", error.message);
	ck_assert_uint_eq(count_in_order(trace), RT_BLOCK_RECORDS);
	rt_trace_free(trace);
}
END_TEST

static void unfinished_event(uint64_t unused)
{
	(void)unused;
	struct rt_slot *s = take(0, 0, 0);
	put_writes(s, 3);
	put(s, rt_record_ext(7, 0));
	s->skipped = 1000;
}

START_TEST(test_repeats_left_out_at_the_end_are_counted)
{
	struct rt_trace *trace = collected(unfinished_event, 0);
	ck_assert_msg(trace != NULL, "%s", error.message);
	ck_assert_uint_eq(count_in_order(trace), 3);
	ck_assert_uint_eq(rt_trace_info(trace)->left_out, 1000);
	rt_trace_free(trace);
}
END_TEST

static void many_threads_in_turn(uint64_t n)
{
	struct rt_slot *parent = take(0, 0, 0);
	for (uint32_t i = 1; i <= n; i++) {
		struct rt_slot *s = take(i, 0, i);
		put_writes(s, i);
		if (i == 3)
			strcpy(s->label, "third");
		end(s);
	}
	put_writes(parent, 1);
}

START_TEST(test_slots_are_used_again_and_threads_are_named_by_their_creation)
{
	struct rt_trace *trace = collected(many_threads_in_turn, 20);
	ck_assert_msg(trace != NULL, "%s", error.message);
	ck_assert_uint_eq(count_in_order(trace), 20 * 21 / 2 + 1);
	const struct rt_trace_info *info = rt_trace_info(trace);
	ck_assert_uint_eq(info->thread_count, 21);
	ck_assert_str_eq(info->threads[0].name, "main");
	ck_assert_str_eq(info->threads[3].name, "main.3");
	ck_assert_str_eq(info->threads[3].label, "third");
	ck_assert_ptr_null(info->threads[4].label);
	ck_assert_str_eq(info->threads[20].name, "main.20");
	ck_assert_uint_eq(info->threads[20].events, 20);
	rt_trace_free(trace);
}
END_TEST

/* The grandchild's slot comes first, so it is seen before its parents. */
static void child_before_parent(uint64_t unused)
{
	(void)unused;
	struct rt_slot *grandchild = take(2, 1, 4), *child = take(1, 0, 9), *parent = take(0, 0, 0);
	put_writes(grandchild, 2);
	end(grandchild);
	put_writes(child, 1);
	put_writes(parent, 1);
}

START_TEST(test_a_child_that_is_seen_before_its_parents_is_named_after_them)
{
	struct rt_trace *trace = collected(child_before_parent, 0);
	ck_assert_msg(trace != NULL, "%s", error.message);
	const struct rt_trace_info *info = rt_trace_info(trace);
	ck_assert_uint_eq(info->thread_count, 3);
	ck_assert_str_eq(info->threads[1].name, "main.9");
	ck_assert_str_eq(info->threads[2].name, "main.9.4");
	ck_assert_uint_eq(info->threads[2].parent, 1);
	rt_trace_free(trace);
}
END_TEST

/* A program that wrote over the channel: every field of slot 1 is nonsense, slot 0 is sound. */
static void nonsense(uint64_t kind)
{
	struct rt_slot *sound = take(0, 0, 0), *s = take(1, 0, 1);
	put_writes(sound, 70);
	put_writes(s, 10);
	switch (kind) {
	case 0:
		s->cur = (struct rt_record *)16;
		break;
	case 1:
		s->cur = s->ring + BLOCKS * RT_BLOCK_RECORDS * 2;
		break;
	case 2:
		s->ring = NULL;
		break;
	case 3:
		atomic_store(&s->published, UINT64_MAX);
		break;
	case 4:
		s->thread = UINT32_MAX;
		atomic_store(&s->state, RT_SLOT_ENDED);
		break;
	case 5:
		s->thread = 0;
		break;
	case 6:
		atomic_store(&channel->slots_used, UINT32_MAX);
		atomic_store(&s->state, 77);
		break;
	case 7:
		memset(s->ring, 0xff, BLOCKS * RT_BLOCK_RECORDS * sizeof *s->ring);
		break;
	case 8:
		channel->slot_count = channel->ring_records = UINT32_MAX;
		channel->rings_offset = channel->slots_offset = UINT64_MAX / 2;
		break;
	case 9:
		memset(s, 0xff, sizeof *s);
		atomic_store(&s->state, RT_SLOT_LIVE);
		break;
	default:
		s->parent = 1;
		s->child_number = 0;
	}
}

START_TEST(test_a_broken_slot_is_dropped_and_the_others_are_kept)
{
	struct rt_event events[200];
	size_t got, sound = 0;
	struct rt_trace *trace = collected(nonsense, (uint64_t)_i);
	ck_assert_msg(trace != NULL, "%s", error.message);
	while (rt_trace_read(trace, events, 200, &got, &error) == RT_OK && got > 0)
		for (size_t i = 0; i < got; i++)
			sound += events[i].thread == 0 && events[i].op == RT_OP_WRITE;
	ck_assert_uint_ge(sound, 70);
	/* What cannot be told from a thread that wrote nothing is not counted: 2, 6, 7, 8, 10. */
	bool told = collector_broken(collector) == 1;
	ck_assert_int_eq(told, (_i != 2 && _i < 6) || _i == 9);
	rt_trace_free(trace);
}
END_TEST

static void request_map(uint64_t unused)
{
	(void)unused;
	uint32_t mine = atomic_fetch_add(&channel->request, 1) + 1;
	atomic_fetch_add(&channel->bell, 1);
	futex(&channel->bell, FUTEX_WAKE, 1);
	while (atomic_load(&channel->answer) != mine)
		futex(&channel->answer, FUTEX_WAIT, mine - 1);
	put_writes(take(0, 0, 0), 1);
}

START_TEST(test_a_request_is_answered_when_the_memory_map_has_been_read)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	ck_assert_int_gt(n, 0);
	self[n] = '\0';
	struct rt_trace *trace = collected(request_map, 0);
	ck_assert_msg(trace != NULL, "%s", error.message);
	const struct modules *modules = collector_modules(collector);
	bool found = false;
	for (size_t i = 0; i < modules->count; i++)
		found |= !strcmp(modules->items[i].path, self);
	ck_assert(found);
	rt_trace_free(trace);
}
END_TEST

/* Writes much that does not compress, then tells by the label that it came to its end. */
static void incompressible(uint64_t n)
{
	struct rt_slot *s = take(0, 0, 0);
	uint64_t x = 88172645463325252;
	for (uint64_t i = 0; i < n; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		put(s, rt_record_make(RT_OP_WRITE, x, x >> 20, rt_record_aux(4, 0, 0), 0));
	}
	strcpy(s->label, "done");
}

START_TEST(test_a_program_runs_to_its_end_when_the_trace_cannot_be_written)
{
	struct rlimit limit = {10000, 10000};
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	struct rt_trace *trace = collected(incompressible, 500000);
	ck_assert_ptr_null(trace);
	ck_assert_int_eq(outcome, RT_ESYSTEM);
	ck_assert_ptr_nonnull(strstr(error.message, strerror(EFBIG)));
	ck_assert_str_eq(rt_channel_slot(channel, 0)->label, "done");
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(test_a_ring_that_is_no_power_of_two_is_refused)
{
	struct collector_options options = {.slots = 1, .ring_records = 3 * RT_BLOCK_RECORDS};
	struct collector *c;
	ck_assert_int_eq(collector_create(channels, 1, &options, &c, &error), RT_EUSAGE);
}
END_TEST

/* Else each process that has ended leaves memory in the collector's heaps. */
START_TEST(test_a_block_that_is_freed_goes_back_to_the_system_whatever_was_freed_before)
{
	enum { LARGE = 4 << 20, BLOCK = 200 << 10 };
	limit_raise();
	size_t mapped = mallinfo2().hblks;
	void *block = malloc(LARGE);
	ck_assert_ptr_nonnull(block);
	bool is_counted = mallinfo2().hblks == mapped + 1; /* not by a sanitizer's malloc */
	free(block);
	block = malloc(BLOCK);
	ck_assert_ptr_nonnull(block);
	if (is_counted)
		ck_assert_uint_eq(mallinfo2().hblks, mapped + 1);
	free(block);
}
END_TEST

SUITE(collect)
{
	Suite *s = suite_create("collect");
	TCase *t = tcase_create("collect");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_a_killed_program_loses_nothing_that_it_had_written, 0,
	                    sizeof amounts / sizeof *amounts);
	tcase_add_test(t, test_a_program_killed_between_two_blocks_has_each_record_once);
	tcase_add_test(t, test_repeats_left_out_at_the_end_are_counted);
	tcase_add_test(t, test_slots_are_used_again_and_threads_are_named_by_their_creation);
	tcase_add_test(t, test_a_child_that_is_seen_before_its_parents_is_named_after_them);
	tcase_add_loop_test(t, test_a_broken_slot_is_dropped_and_the_others_are_kept, 0, 11);
	tcase_add_test(t, test_a_request_is_answered_when_the_memory_map_has_been_read);
	tcase_add_test(t, test_a_program_runs_to_its_end_when_the_trace_cannot_be_written);
	tcase_add_test(t, test_a_ring_that_is_no_power_of_two_is_refused);
	tcase_add_test(t, test_a_block_that_is_freed_goes_back_to_the_system_whatever_was_freed_before);
	suite_add_tcase(s, t);
	return s;
}
