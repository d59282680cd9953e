/* Reorderings of small traces in which one read sees another value. */
#include "lib/explore/reorder.h"
#include "tests/unit/memory_trace.h"
#include "tests/unit/suite.h"

#include <stdio.h>
#include <string.h>

enum { X = 0x1000, Y = 0x2000, LOCK = 0x3000, STEPS_MAX = 32, TEXT_MAX = 512 };

struct step {
	unsigned thread, op;
	uint64_t object, value;
};

/* Threads 1 and 2 are made first; an event's pc is its number in the steps. */
static struct delays *load(struct memory_trace *t, struct rt_event *events, const struct step *steps, size_t n)
{
	static const struct step made[] = {
	    {0, RT_OP_FORK, 1, 0}, {0, RT_OP_FORK, 2, 0}, {1, RT_OP_BEGIN, 0, 0}, {2, RT_OP_BEGIN, 0, 0}};
	enum { MADE = sizeof made / sizeof *made };
	uint64_t ordinals[MEMORY_THREADS] = {0};
	struct delays *d = NULL;
	struct rt_error err = {0};
	for (size_t i = 0; i < n + MADE; i++) {
		const struct step *s = i < MADE ? &made[i] : &steps[i - MADE];
		events[i] = (struct rt_event){.number = i + 1,
		                              .ordinal = ++ordinals[s->thread],
		                              .thread = s->thread,
		                              .op = (enum rt_op)s->op,
		                              .addr = s->object,
		                              .arg = rt_op_is_access(s->op) ? 4 : 0,
		                              .value = s->value,
		                              .flags = rt_op_is_access(s->op) ? RT_F_VALUE : 0,
		                              .pc = i < MADE ? 100 + i : i - MADE + 1};
	}
	ck_assert_int_eq(delays_load(memory_trace(t, events, n + MADE, 4), STEPS_MAX, &d, &err), RT_OK);
	ck_assert_ptr_nonnull(d);
	return d;
}

/* "5: 0:1-2 1:1-3": the read, and the runs; one a line. */
static void check(const struct step *steps, size_t n, const char *expected)
{
	struct memory_trace t;
	struct rt_event events[STEPS_MAX];
	struct rt_error err = {0};
	struct reorderings r;
	char text[TEXT_MAX] = "";
	struct delays *d = load(&t, events, steps, n);
	ck_assert_int_eq(reorderings_of(d, &r, &err), RT_OK);
	for (size_t i = 0; i < r.count; i++) {
		size_t at = strlen(text);
		at += (size_t)snprintf(text + at, TEXT_MAX - at, "%llu:", (unsigned long long)r.items[i].pc);
		for (size_t k = 0; k < r.items[i].count; k++)
			at += (size_t)snprintf(text + at, TEXT_MAX - at, " %u:%llu-%llu", r.items[i].runs[k].thread,
			                       (unsigned long long)r.items[i].runs[k].from,
			                       (unsigned long long)r.items[i].runs[k].to);
		snprintf(text + at, TEXT_MAX - at, "\n");
	}
	ck_assert_str_eq(text, expected);
	reorderings_release(&r);
	delays_free(d);
}
#define CHECK(steps, expected) check(steps, sizeof(steps) / sizeof *(steps), expected)

START_TEST(a_read_comes_before_the_write)
{
	const struct step steps[] = {{1, RT_OP_WRITE, X, 1}, {2, RT_OP_READ, X, 1}};
	CHECK(steps, "2: 0:1-2 1:1-1 2:1-2\n");
}
END_TEST

START_TEST(an_equal_value_is_none_to_see)
{
	/* What was there before is the same, and so is what the other thread writes once more. */
	const struct step steps[] = {{1, RT_OP_WRITE, X, 0}, {2, RT_OP_READ, X, 0}, {1, RT_OP_WRITE, X, 0}};
	CHECK(steps, "");
}
END_TEST

START_TEST(all_reads_before_see_what_they_saw)
{
	/* The second read can see 0 behind the first one, which sees 1, but not the other way round. */
	const struct step steps[] = {
	    {1, RT_OP_WRITE, X, 1}, {1, RT_OP_WRITE, Y, 1}, {2, RT_OP_READ, X, 1}, {2, RT_OP_READ, Y, 1}};
	CHECK(steps, "3: 0:1-2 1:1-1 2:1-2\n4: 0:1-2 1:1-1 2:1-1 1:2-2 2:2-3\n");
}
END_TEST

START_TEST(sections_of_one_lock_stay_whole)
{
	const struct step steps[] = {{1, RT_OP_ACQUIRE, LOCK, 0}, {1, RT_OP_WRITE, X, 1},      {1, RT_OP_WRITE, X, 2},
	                             {1, RT_OP_RELEASE, LOCK, 0}, {2, RT_OP_ACQUIRE, LOCK, 0}, {2, RT_OP_READ, X, 2},
	                             {2, RT_OP_RELEASE, LOCK, 0}};
	CHECK(steps, "6: 0:1-2 1:1-1 2:1-3\n");
}
END_TEST

START_TEST(one_read_sees_another_value_by_three_changes)
{
	/* Both look whether the other one is there before one of them is: then the second update sees 1. */
	const struct step steps[] = {{1, RT_OP_ATOMIC_STORE, X, 1},   {1, RT_OP_ATOMIC_LOAD, Y, 0},
	                             {1, RT_OP_ATOMIC_RMW, X + 8, 0}, {1, RT_OP_ATOMIC_RMW, X + 8, 1},
	                             {1, RT_OP_ATOMIC_STORE, X, 0},   {2, RT_OP_ATOMIC_LOAD, X, 0},
	                             {2, RT_OP_ATOMIC_STORE, Y, 1},   {2, RT_OP_ATOMIC_RMW, X + 8, 0}};
	struct memory_trace t;
	struct rt_event events[STEPS_MAX];
	struct rt_error err = {0};
	struct reorderings r;
	struct delays *d = load(&t, events, steps, sizeof steps / sizeof *steps);
	bool found = false;
	ck_assert_int_eq(reorderings_of(d, &r, &err), RT_OK);
	for (size_t i = 0; i < r.count; i++)
		found |= r.items[i].pc == 8 && r.items[i].known && r.items[i].torn != UINT32_MAX;
	ck_assert(found);
	reorderings_release(&r);
	delays_free(d);
}
END_TEST

SUITE(reorder)
{
	Suite *s = suite_create("reorder");
	TCase *c = tcase_create("reads");
	tcase_add_test(c, a_read_comes_before_the_write);
	tcase_add_test(c, an_equal_value_is_none_to_see);
	tcase_add_test(c, all_reads_before_see_what_they_saw);
	tcase_add_test(c, sections_of_one_lock_stay_whole);
	tcase_add_test(c, one_read_sees_another_value_by_three_changes);
	suite_add_tcase(s, c);
	return s;
}
