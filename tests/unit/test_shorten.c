/* Shorter witnesses: what the goal needs, in few turns, and still accepted by the judge. */
#include "lib/judge/verify.h"
#include "lib/prove/shorten.h"
#include "tests/unit/memory_trace.h"
#include "tests/unit/suite.h"

#include <check.h>

enum { X = 0x1000, Y = 0x2000, Z = 0x3000, L = 1, M };

static const struct {
	unsigned thread, op;
	uint64_t object;
} events[] = {
    {0, RT_OP_WRITE, Y},   {1, RT_OP_ACQUIRE, L}, {2, RT_OP_WRITE, Z}, {1, RT_OP_WRITE, Z},   {2, RT_OP_ACQUIRE, M},
    {1, RT_OP_RELEASE, L}, {2, RT_OP_READ, Y},    {0, RT_OP_WRITE, Y}, {2, RT_OP_ACQUIRE, L}, {0, RT_OP_READ, Z},
    {2, RT_OP_RELEASE, L}, {0, RT_OP_WRITE, X},   {2, RT_OP_WRITE, X},
};
enum { COUNT = sizeof events / sizeof *events };

static struct model *load(struct memory_trace *memory, struct rt_event *list)
{
	struct model *m;
	struct rt_error err;
	for (uint32_t i = 0; i < COUNT; i++) {
		bool access = events[i].op == RT_OP_READ || events[i].op == RT_OP_WRITE;
		list[i] = (struct rt_event){.number = i + 1,
		                            .addr = events[i].object,
		                            .arg = access ? 8 : 0,
		                            .pc = i + 1,
		                            .thread = events[i].thread,
		                            .op = (uint8_t)events[i].op};
	}
	struct model_options options = {.regions = REGIONS_LOCKS};
	ck_assert_int_eq(model_load(memory_trace(memory, list, COUNT, 3), &options, &m, &err), RT_OK);
	ck_assert_uint_eq(m->event_count, COUNT);
	return m;
}

START_TEST(what_the_goal_does_not_need_is_left_out_and_threads_run_as_far_as_they_can)
{
	struct memory_trace memory;
	struct rt_event list[COUNT];
	struct model *m = load(&memory, list);
	struct schedule recorded = {0}, shorter = {0};
	/* The last two events race. The recorded run up to them, thread 1's section of L among it, is a witness. */
	struct goal goal = {.kind = GOAL_RACE, .count = 2, .events = {COUNT - 2, COUNT - 1}};
	for (uint32_t e = 0; e < COUNT - 2; e++)
		ck_assert(schedule_push(&recorded, m, e));
	struct shorten *s = shorten_create(m);
	struct judge *judge = judge_create(m);
	struct verdict_of_judge v;
	ck_assert(s && judge);
	judge_verify(judge, &recorded, &goal, &v);
	ck_assert_int_eq(v.fault, VERIFY_NONE);
	ck_assert_int_eq(shorten_schedule(s, &recorded, &goal, &shorter), SEARCH_FOUND);
	judge_verify(judge, &shorter, &goal, &v);
	ck_assert_int_eq(v.fault, VERIFY_NONE);
	/* Thread 0 reads Z as thread 1 wrote it inside L, which thread 2 takes after: thread 1 is needed to its end. */
	ck_assert_uint_eq(shorter.events, recorded.events);
	ck_assert_uint_lt(shorter.count, recorded.count);
	ck_assert_uint_le(shorter.count, 7);
	schedule_release(&shorter);

	/* Thread 2's read of Y against thread 0's second write of it needs nothing of thread 1. */
	goal = (struct goal){.kind = GOAL_RACE, .count = 2, .events = {6, 7}};
	schedule_release(&recorded);
	for (uint32_t e = 0; e < 6; e++)
		ck_assert(schedule_push(&recorded, m, e));
	judge_verify(judge, &recorded, &goal, &v);
	ck_assert_int_eq(v.fault, VERIFY_NONE);
	ck_assert_int_eq(shorten_schedule(s, &recorded, &goal, &shorter), SEARCH_FOUND);
	judge_verify(judge, &shorter, &goal, &v);
	ck_assert_int_eq(v.fault, VERIFY_NONE);
	ck_assert_uint_eq(shorter.events, 3);
	ck_assert_uint_eq(shorter.count, 2);
	schedule_release(&shorter);
	schedule_release(&recorded);
	shorten_free(s);
	judge_free(judge);
	model_free(m);
}
END_TEST

SUITE(shorten)
{
	Suite *s = suite_create("shorten");
	TCase *c = tcase_create("shorten");
	tcase_add_test(c, what_the_goal_does_not_need_is_left_out_and_threads_run_as_far_as_they_can);
	suite_add_tcase(s, c);
	return s;
}
