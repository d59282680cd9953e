/* What a trace lacks: who may have been ordered by it, against paths that are searched for. */
#include "lib/trace/losses.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 14, THREADS = 3 };

static uint32_t next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

/* An event that synchronises may have sent to, or received from, whatever is missing. A load only receives. */
static bool edge(const struct rt_event *events, int i, int k)
{
	if (events[i].thread == events[k].thread)
		return true;
	if (!losses_need(events[i].op) || !losses_need(events[k].op))
		return false;
	if (events[i].op == RT_OP_ATOMIC_LOAD)
		return false;
	for (int l = 0; l < EVENTS; l++) {
		if (events[l].op != RT_OP_LOST)
			continue;
		bool lasts = events[l].addr != RT_LOST_SIGNAL;
		if (lasts ? l <= k || events[l].addr == RT_LOST_UNSEEN : l == i || l == k)
			return true;
	}
	return false;
}

static bool path(const struct rt_event *events, int from, int to)
{
	bool reached[EVENTS] = {false};
	reached[from] = true;
	for (int k = from + 1; k <= to; k++)
		for (int i = from; i < k; i++)
			reached[k] |= reached[i] && edge(events, i, k);
	return reached[to];
}

START_TEST(what_is_missing_orders_whom_a_path_by_it_connects)
{
	static const uint8_t ops[] = {RT_OP_READ,  RT_OP_WRITE,      RT_OP_WRITE, RT_OP_ENTER,       RT_OP_ACQUIRE,
	                              RT_OP_ALLOC, RT_OP_ATOMIC_RMW, RT_OP_END,   RT_OP_ATOMIC_LOAD, RT_OP_ATOMIC_LOAD};
	uint64_t seed = (uint64_t)_i + 1;
	unsigned ordered = 0, not = 0;
	for (int round = 0; round < 800; round++) {
		struct rt_event events[EVENTS];
		struct losses l = {0};
		int lost = (int)(next(&seed) % 3);
		memset(events, 0, sizeof events);
		for (int i = 0; i < EVENTS; i++) {
			events[i].number = (uint64_t)i * 2 + 1;
			events[i].thread = next(&seed) % THREADS;
			events[i].op = ops[next(&seed) % sizeof ops];
		}
		for (; lost > 0; lost--) {
			struct rt_event *e = &events[next(&seed) % EVENTS];
			e->op = RT_OP_LOST;
			e->addr = 1 + next(&seed) % 4;
		}
		for (int i = 0; i < EVENTS; i++)
			ck_assert(!losses_need(events[i].op) || losses_add(&l, &events[i]));
		losses_sort(&l);
		for (int i = 0; i < EVENTS; i++)
			for (int k = i + 1; k < EVENTS; k++) {
				if (events[i].thread == events[k].thread || losses_need(events[i].op) ||
				    losses_need(events[k].op))
					continue;
				bool may = losses_may_order(&l, events[i].thread, (uint32_t)events[i].number,
				                            events[k].thread, (uint32_t)events[k].number);
				ck_assert_int_eq(may, path(events, i, k));
				ordered += may;
				not += !may;
			}
		losses_release(&l);
	}
	ck_assert_uint_gt(ordered, 500);
	ck_assert_uint_gt(not, 500);
}
END_TEST

SUITE(losses)
{
	Suite *s = suite_create("losses");
	TCase *c = tcase_create("losses");
	tcase_add_loop_test(c, what_is_missing_orders_whom_a_path_by_it_connects, 0, 4);
	suite_add_tcase(s, c);
	return s;
}
