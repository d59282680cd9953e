/* Runs in which an event is delayed, of small traces, and what reads could see. */
#include "lib/explore/sights.h"
#include "tests/unit/memory_trace.h"
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>

enum { X = 0x1000, Y = 0x2000, LOCK = 0x3000, ONE_PLACE = 0x4000, STEPS_MAX = 32, TEXT_MAX = 256 };

struct step {
	unsigned thread, op;
	uint64_t object;
};

/* An event's pc is its number; of accesses to ONE_PLACE it is that. */
static struct delays *load(struct memory_trace *t, struct rt_event *events, const struct step *steps, size_t n)
{
	uint64_t ordinals[MEMORY_THREADS] = {0};
	struct delays *d = NULL;
	struct rt_error err = {0};
	for (size_t i = 0; i < n; i++)
		events[i] = (struct rt_event){.number = i + 1,
		                              .ordinal = ++ordinals[steps[i].thread],
		                              .thread = steps[i].thread,
		                              .op = (enum rt_op)steps[i].op,
		                              .addr = steps[i].object,
		                              .arg = rt_op_is_access(steps[i].op) ? 4 : 0,
		                              .pc = steps[i].object == ONE_PLACE ? ONE_PLACE : i + 1};
	ck_assert_int_eq(delays_load(memory_trace(t, events, n, 4), STEPS_MAX, &d, &err), RT_OK);
	ck_assert_ptr_nonnull(d);
	return d;
}

/* "1:1-2 0:1-1": the runs; "": there are none. */
static void runs_of(const struct step *steps, size_t n, struct delay *delay, char text[TEXT_MAX])
{
	struct memory_trace t;
	struct rt_event events[STEPS_MAX];
	struct delays *d = load(&t, events, steps, n);
	struct delay_run *runs;
	size_t count;
	struct rt_error err = {0};
	text[0] = '\0';
	ck_assert_int_eq(delay_runs(d, delay, &runs, &count, &err), RT_OK);
	for (size_t i = 0; i < count; i++)
		snprintf(text + strlen(text), TEXT_MAX - strlen(text), "%s%u:%llu-%llu", i ? " " : "", runs[i].thread,
		         (unsigned long long)runs[i].from, (unsigned long long)runs[i].to);
	free(runs);
	delays_free(d);
}

static void check(const struct step *steps, size_t n, struct delay delay, const char *expected)
{
	char text[TEXT_MAX];
	runs_of(steps, n, &delay, text);
	ck_assert_str_eq(text, expected);
}
#define CHECK(steps, ...) check(steps, sizeof(steps) / sizeof *(steps), __VA_ARGS__)

START_TEST(a_read_comes_before_the_write_that_it_saw)
{
	const struct step steps[] = {
	    {0, RT_OP_WRITE, Y}, {0, RT_OP_WRITE, X}, {1, RT_OP_READ, Y}, {1, RT_OP_READ, X}, {1, RT_OP_WRITE, Y}};
	CHECK(steps, (struct delay){.held = 2, .until = 4}, "0:1-1 1:1-2");
	CHECK(steps, (struct delay){.held = 2, .until = 4, .returns = true}, "0:1-1 1:1-2 0:2-2");
}
END_TEST

START_TEST(only_what_the_event_needs_comes_before_it)
{
	/* Thread 2 makes thread 1, whose read is to come first; thread 3 has nothing to do with that. */
	const struct step steps[] = {{0, RT_OP_WRITE, X}, {3, RT_OP_WRITE, X}, {2, RT_OP_WRITE, Y}, {2, RT_OP_FORK, 1},
	                             {2, RT_OP_WRITE, X}, {1, RT_OP_BEGIN, 0}, {1, RT_OP_READ, Y},  {1, RT_OP_READ, X}};
	CHECK(steps, (struct delay){.held = 1, .until = 8}, "2:1-2 1:1-3");
	/* And not where it needs the thread that waits. */
	CHECK(steps, (struct delay){.held = 4, .until = 8}, "");
}
END_TEST

START_TEST(a_wait_needs_the_broadcast_that_ended_it)
{
	/* Both threads wait when the first broadcast comes; the second thread locks again behind another one. */
	struct step steps[] = {{0, RT_OP_WAIT_BEGIN, X}, {1, RT_OP_WAIT_BEGIN, X}, {2, RT_OP_BROADCAST, X},
	                       {0, RT_OP_WAIT_END, X},   {0, RT_OP_RELEASE, 0},    {2, RT_OP_WRITE, Y},
	                       {2, RT_OP_BROADCAST, X},  {1, RT_OP_WAIT_END, X}};
	CHECK(steps, (struct delay){.held = 6, .until = 8}, "0:1-1 1:1-1 2:1-1 0:2-3 1:2-2");
	/* Which of them a signal woke is not known. */
	steps[2].op = steps[6].op = RT_OP_SIGNAL;
	CHECK(steps, (struct delay){.held = 6, .until = 8}, "");
}
END_TEST

START_TEST(a_thread_waits_before_the_lock_that_both_take)
{
	const struct step steps[] = {{0, RT_OP_WRITE, Y},      {0, RT_OP_ACQUIRE, LOCK}, {0, RT_OP_WRITE, X},
	                             {0, RT_OP_RELEASE, LOCK}, {1, RT_OP_ACQUIRE, LOCK}, {1, RT_OP_READ, X},
	                             {1, RT_OP_RELEASE, LOCK}};
	CHECK(steps, (struct delay){.held = 3, .until = 6}, "0:1-1 1:1-2");
}
END_TEST

START_TEST(a_thread_that_has_a_lock_gives_it_first)
{
	/* Thread 2 has the lock when thread 0 is to wait, and thread 1 needs it. */
	const struct step steps[] = {{2, RT_OP_ACQUIRE, LOCK}, {0, RT_OP_WRITE, X},     {2, RT_OP_WRITE, Y},
	                             {2, RT_OP_RELEASE, LOCK}, {2, RT_OP_WRITE, Y},     {1, RT_OP_ACQUIRE, LOCK},
	                             {1, RT_OP_READ, X},       {1, RT_OP_RELEASE, LOCK}};
	CHECK(steps, (struct delay){.held = 2, .until = 7}, "2:1-3 1:1-2");
}
END_TEST

static uint32_t torn(const struct step *steps, size_t n, struct delay delay)
{
	char text[TEXT_MAX];
	runs_of(steps, n, &delay, text);
	ck_assert_str_ne(text, "");
	return delay.torn;
}

START_TEST(what_comes_between_two_things_that_a_thread_does_is_known)
{
	/* Thread 1 changes X, which thread 0 has read, before thread 0 reads Y. */
	struct step steps[] = {{0, RT_OP_READ, X},  {0, RT_OP_READ, LOCK}, {0, RT_OP_READ, Y},
	                       {1, RT_OP_BEGIN, 0}, {1, RT_OP_WRITE, X},   {1, RT_OP_WRITE, Y}};
	const size_t n = sizeof steps / sizeof *steps;
	const struct delay delay = {.held = 3, .until = 6};
	ck_assert_uint_eq(torn(steps, n, delay), 2);
	/* Reads alone do not conflict, but a read of what was written does. */
	steps[4].op = RT_OP_READ;
	ck_assert_uint_eq(torn(steps, n, delay), UINT32_MAX);
	steps[0].op = RT_OP_WRITE;
	ck_assert_uint_eq(torn(steps, n, delay), 2);
	/* What it did before it made the thread is no half of anything. */
	steps[1] = (struct step){0, RT_OP_FORK, 1};
	ck_assert_uint_eq(torn(steps, n, delay), UINT32_MAX);
}
END_TEST

/* "read<write" of those that the trace has not; the write before the first is 0. */
static void check_sights(const struct step *steps, size_t n, const char *expected)
{
	struct memory_trace t;
	struct rt_event events[STEPS_MAX];
	struct delays *d = load(&t, events, steps, n);
	struct sights sights;
	struct rt_error err = {0};
	char text[TEXT_MAX] = "";
	ck_assert_int_eq(sights_of(d, &sights, &err), RT_OK);
	for (size_t i = 0; i < sights.count; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%llu%s%llu ",
		         (unsigned long long)sights.items[i].read, sights.items[i].seen ? "=" : "<",
		         (unsigned long long)sights.items[i].write);
	ck_assert_str_eq(text, expected);
	sights_release(&sights);
	delays_free(d);
}
#define CHECK_SIGHTS(steps, expected) check_sights(steps, sizeof(steps) / sizeof *(steps), expected)

START_TEST(reads_could_see_writes_before_and_behind)
{
	const struct step steps[] = {{0, RT_OP_WRITE, X}, {2, RT_OP_WRITE, X}, {1, RT_OP_READ, X}, {0, RT_OP_WRITE, X}};
	CHECK_SIGHTS(steps, "3=2 3<1 3<0 3<4 ");
}
END_TEST

START_TEST(a_read_of_a_variable_sees_no_write_of_its_neighbour)
{
	const struct step steps[] = {
	    {0, RT_OP_WRITE, X}, {0, RT_OP_WRITE, X + 4}, {1, RT_OP_READ, X}, {0, RT_OP_WRITE, X + 4}};
	CHECK_SIGHTS(steps, "3=1 3<0 ");
}
END_TEST

/* As of threads that do the same: one of another thread, then all of them are passed, to what was there before. */
START_TEST(writes_of_one_place_are_looked_behind)
{
	enum { WRITES = STEPS_MAX - 2 };
	struct step steps[WRITES + 2] = {{0, RT_OP_WRITE, X}};
	char expected[TEXT_MAX];
	for (unsigned i = 0; i < WRITES; i++)
		steps[i] = (struct step){i % 2, RT_OP_WRITE, ONE_PLACE};
	steps[WRITES] = (struct step){2, RT_OP_READ, ONE_PLACE};
	snprintf(expected, sizeof expected, "%d=%d %d<%d %d<0 ", ONE_PLACE, ONE_PLACE, ONE_PLACE, ONE_PLACE, ONE_PLACE);
	check_sights(steps, WRITES + 1, expected);
}
END_TEST

SUITE(delay)
{
	Suite *s = suite_create("delay");
	TCase *c = tcase_create("runs");
	tcase_add_test(c, a_read_comes_before_the_write_that_it_saw);
	tcase_add_test(c, only_what_the_event_needs_comes_before_it);
	tcase_add_test(c, a_wait_needs_the_broadcast_that_ended_it);
	tcase_add_test(c, a_thread_waits_before_the_lock_that_both_take);
	tcase_add_test(c, a_thread_that_has_a_lock_gives_it_first);
	tcase_add_test(c, what_comes_between_two_things_that_a_thread_does_is_known);
	tcase_add_test(c, reads_could_see_writes_before_and_behind);
	tcase_add_test(c, a_read_of_a_variable_sees_no_write_of_its_neighbour);
	tcase_add_test(c, writes_of_one_place_are_looked_behind);
	suite_add_tcase(s, c);
	return s;
}
