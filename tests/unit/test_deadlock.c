/* Deadlocks: what the search finds and the provers decide, on the golden traces and on small ones. */
#include "tests/unit/deadlock.h"
#include "tests/unit/golden.h"
#include "tests/unit/suite.h"

/* Are the anomaly's events those of the list, in any order? */
static bool same_set(const struct model *m, const struct anomaly *d, const json_t *set)
{
	size_t i;
	json_t *number;
	bool same = json_array_size(set) == d->event_count;
	json_array_foreach(set, i, number)
	{
		bool there = false;
		for (uint32_t k = 0; k < d->event_count; k++)
			there |= m->events[d->events[k]].number == json_integer_value(number);
		same &= there;
	}
	return same;
}

static void check_golden(struct rt_trace *trace, const json_t *golden, const char *path, void *total)
{
	const json_t *expected = json_object_get(golden, "deadlocks");
	struct analysis *a = analyze(trace, true);
	size_t proved = 0, i;
	for (size_t k = 0; k < a->anomalies.count; k++) {
		const struct anomaly *d = &a->anomalies.items[k];
		ck_assert_msg(d->verdict != VERDICT_PREDICTED, "%s: undecided", path);
		json_t *set;
		bool found = false;
		json_array_foreach(expected, i, set) found |= same_set(a->model, d, set);
		ck_assert_msg(found == (d->verdict == VERDICT_PROVED), "%s: (%u, %u) is %s", path,
		              a->model->events[d->events[0]].number, a->model->events[d->events[1]].number,
		              verdict_name(d->verdict));
		proved += found;
	}
	ck_assert_msg(proved == json_array_size(expected), "%s: %zu deadlocks of %zu", path, proved,
	              json_array_size(expected));
	*(size_t *)total += proved;
	analysis_free(a);
}

START_TEST(every_deadlock_of_the_golden_traces_is_proved_and_nothing_else)
{
	static const char *const folders[] = {"hand", "random"};
	size_t total = 0;
	golden_each(folders[_i], check_golden, &total);
	ck_assert_uint_gt(total, 0);
}
END_TEST

START_TEST(two_threads_that_lock_in_opposite_orders_may_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, NESTED(0, A, B), NESTED(1, B, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_str_eq(first_of(&f)->pattern, "cycle-2");
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[0]].number, 2);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[1]].number, 6);
	fixture_release(&f);
}
END_TEST

START_TEST(a_cycle_of_three_threads_is_one_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, NESTED(0, A, B), NESTED(1, B, C), NESTED(2, C, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_str_eq(first_of(&f)->pattern, "cycle-3");
	fixture_release(&f);
}
END_TEST

/* Each of the threads takes its own lock and the next one's. short_cut: a later thread holds the first one's lock, too,
 * so that those from it on are a cycle. */
static void ring(struct fixture *f, uint32_t threads, uint32_t short_cut)
{
	struct step steps[STEPS_MAX] = {0};
	size_t n = 0;
	for (uint32_t i = 0; i < threads; i++) {
		const struct step all[] = {
		    ACQ(i, 1),     ACQ(i, i + 1), ACQ(i, (i + 1) % threads + 1), REL(i, (i + 1) % threads + 1),
		    REL(i, i + 1), REL(i, 1)};
		for (size_t k = 0; k < sizeof all / sizeof *all; k++)
			if ((k && k < 5) || (short_cut && i == short_cut))
				steps[n++] = all[k];
	}
	fixture_init(f, steps, n, false);
}

START_TEST(a_ring_of_many_threads_is_one_deadlock)
{
	struct fixture f;
	ring(&f, 16, 0);
	ck_assert_uint_eq(f.a->anomalies.count, 1);
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_str_eq(first_of(&f)->pattern, "cycle-16");
	fixture_release(&f);
}
END_TEST

/* There is none in the report, which says so; of 16 threads there is, and it says nothing. */
START_TEST(a_longer_ring_is_said_to_be_left_out)
{
	struct fixture f;
	ring(&f, 17 - (uint32_t)_i, 0);
	ck_assert_uint_eq(f.a->anomalies.count, (size_t)_i);
	ck_assert_uint_eq(f.a->limits.hit, _i ? 0 : UINT32_C(1) << LIMIT_CYCLE_THREADS);
	fixture_release(&f);
}
END_TEST

START_TEST(a_long_cycle_that_contains_a_short_one_is_none)
{
	struct fixture f;
	ring(&f, 8, 3);
	ck_assert_uint_eq(f.a->anomalies.count, 1);
	ck_assert_str_eq(first_of(&f)->pattern, "cycle-5");
	fixture_release(&f);
}
END_TEST

START_TEST(one_thread_alone_does_not_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 0, NESTED(0, A, B), NESTED(0, B, A), ACQ(1, A), REL(1, A));
	fixture_release(&f);
}
END_TEST

START_TEST(a_guard_lock_prevents_a_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 0, ACQ(0, G), NESTED(0, A, B), REL(0, G), ACQ(1, G), NESTED(1, B, A), REL(1, G));
	fixture_release(&f);
}
END_TEST

START_TEST(a_guard_held_by_readers_prevents_nothing)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, SHA(0, G), NESTED(0, A, B), REL(0, G), SHA(1, G), NESTED(1, B, A), REL(1, G));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	fixture_release(&f);
}
END_TEST

START_TEST(readers_do_not_wait_for_readers)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 0, SHA(0, A), ACQ(0, B), REL(0, B), REL(0, A), ACQ(1, B), SHA(1, A), REL(1, A), REL(1, B));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 1, SHA(0, A), ACQ(0, B), REL(0, B), REL(0, A), ACQ(1, B), ACQ(1, A), REL(1, A), REL(1, B));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	fixture_release(&f);
}
END_TEST

START_TEST(a_lock_that_is_only_tried_is_not_waited_for)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 0, ACQ(0, A), TRY(0, B), REL(0, B), REL(0, A), NESTED(1, B, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 1, TRY(0, A), ACQ(0, B), REL(0, B), REL(0, A), NESTED(1, B, A));
	fixture_release(&f);
}
END_TEST

START_TEST(what_fork_and_join_order_does_not_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 0, NESTED(0, A, B), {0, RT_OP_FORK, 1, 0, 0}, NESTED(1, B, A), {0, RT_OP_JOIN, 1, 0, 0},
	                NESTED(0, A, B));
	fixture_release(&f);
}
END_TEST

START_TEST(a_join_with_a_lock_that_the_thread_takes_may_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, FORK(0, 1), ACQ(1, A), REL(1, A), ACQ(0, A), JOIN(0, 1, 0), REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_str_eq(first_of(&f)->pattern, "cycle-2");
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[0]].number, 2);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[1]].number, 5);
	fixture_release(&f);
}
END_TEST

START_TEST(joins_and_locks_may_be_in_one_cycle)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, FORK(0, 1), FORK(1, 2), ACQ(2, A), REL(2, A), JOIN(1, 2, 0), ACQ(0, A), JOIN(0, 1, 0),
	                REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_str_eq(first_of(&f)->pattern, "cycle-3");
	fixture_release(&f);
	/* The thread that is joined waits for a third one's lock, which waits for the joiner's. */
	CHECK_DEADLOCKS(&f, 1, FORK(0, 1), FORK(0, 2), ACQ(1, B), REL(1, B), NESTED(2, B, A), ACQ(0, A), JOIN(0, 1, 0),
	                REL(0, A), JOIN(0, 2, 0));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_str_eq(first_of(&f)->pattern, "cycle-3");
	fixture_release(&f);
}
END_TEST

START_TEST(a_join_of_a_thread_that_has_taken_the_lock_before_does_not_deadlock)
{
	struct fixture f;
	/* It is created while the lock is held; or it takes the lock before what another join comes after. */
	CHECK_DEADLOCKS(&f, 0, ACQ(0, A), REL(0, A), FORK(0, 1), ACQ(1, A), REL(1, A), JOIN(0, 1, 0), ACQ(0, A),
	                REL(0, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, FORK(0, 1), ACQ(1, A), REL(1, A), FORK(1, 2), JOIN(1, 2, 0),
	                {1, RT_OP_HB_BEFORE, D, 0, 0}, {0, RT_OP_HB_AFTER, D, 0, 0}, ACQ(0, A), JOIN(0, 1, 0),
	                REL(0, A));
	fixture_release(&f);
}
END_TEST

START_TEST(a_join_under_a_guard_deadlocks_at_the_guard_alone)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, FORK(0, 1), ACQ(1, G), ACQ(1, A), REL(1, A), REL(1, G), ACQ(0, G), ACQ(0, A),
	                JOIN(0, 1, 0), REL(0, A), REL(0, G));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[0]].number, 2);
	fixture_release(&f);
}
END_TEST

START_TEST(a_join_that_may_give_up_does_not_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 0, FORK(0, 1), ACQ(1, A), REL(1, A), ACQ(0, A), JOIN(0, 1, RT_F_TIMED), REL(0, A));
	fixture_release(&f);
}
END_TEST

START_TEST(a_reader_that_joins_keeps_out_writers_alone)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 0, FORK(0, 1), SHA(1, A), REL(1, A), SHA(0, A), JOIN(0, 1, 0), REL(0, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 1, FORK(0, 1), ACQ(1, A), REL(1, A), SHA(0, A), JOIN(0, 1, 0), REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	fixture_release(&f);
}
END_TEST

START_TEST(what_a_read_decides_is_conditional)
{
	/* The second thread locks the other way round only once it has read what the first wrote at the end. */
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, NESTED(0, A, B), ACQ(0, C), {0, RT_OP_WRITE, 4096, 8, 0}, REL(0, C), ACQ(1, C),
	                {1, RT_OP_READ, 4096, 8, 0}, REL(1, C), NESTED(1, B, A), ACQ(1, C),
	                {1, RT_OP_WRITE, 4096, 8, 0}, REL(1, C));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_CONDITIONAL);
	fixture_release(&f);
}
END_TEST

START_TEST(deadlocks_of_the_same_positions_are_counted_together)
{
	static const struct step steps[] = {NESTED(0, A, B), NESTED(0, A, B), NESTED(1, B, A),
	                                    NESTED(1, B, A), NESTED(2, B, A), NESTED(0, A, B)};
	struct fixture f;
	fixture_init(&f, steps, sizeof steps / sizeof *steps, true);
	ck_assert_uint_eq(f.a->anomalies.count, 1);
	ck_assert_uint_eq(first_of(&f)->count, 9);
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	fixture_release(&f);
}
END_TEST

enum { ROUNDS = 170, MANY_EVENTS = 2 * (2 * ROUNDS + 2) };

/* Thread t takes the first lock, and in it the second many times, each time somewhere else. */
static size_t add_rounds(struct rt_event *events, size_t n, uint32_t thread, uint64_t first, uint64_t second)
{
	events[n++] = (struct rt_event){.op = RT_OP_ACQUIRE, .addr = first, .thread = thread};
	for (uint64_t i = 0; i < ROUNDS; i++) {
		events[n++] = (struct rt_event){
		    .op = RT_OP_ACQUIRE, .addr = second, .thread = thread, .pc = 1000 * (thread + 1u) + i};
		events[n++] = (struct rt_event){.op = RT_OP_RELEASE, .addr = second, .thread = thread};
	}
	events[n++] = (struct rt_event){.op = RT_OP_RELEASE, .addr = first, .thread = thread};
	return n;
}

START_TEST(no_more_deadlocks_are_kept_than_other_anomalies)
{
	static struct rt_event events[MANY_EVENTS];
	struct memory_trace memory;
	struct analysis *a;
	struct rt_error err = {0};
	struct analysis_options options = {.kinds = 1u << ANOMALY_DEADLOCK, .unproved = true};
	size_t n = add_rounds(events, add_rounds(events, 0, 0, A, B), 1, B, A);
	for (size_t i = 0; i < n; i++)
		events[i].number = i + 1;
	ck_assert_msg(!analysis_run(memory_trace(&memory, events, n, 2), &options, &a, &err), "%s", err.message);
	ck_assert_uint_gt(ROUNDS * ROUNDS, limit_infos[LIMIT_ANOMALIES].value);
	ck_assert_uint_eq(a->anomalies.count, limit_infos[LIMIT_ANOMALIES].value);
	ck_assert(a->limits.hit >> LIMIT_ANOMALIES & 1);
	analysis_free(a);
}
END_TEST

START_TEST(a_cycle_of_too_many_instances_is_said_to_have_more)
{
	enum { THREADS = 6, PAIRS = 14, STEPS = 4 }; /* 14^6 tuples */
	static struct rt_event events[THREADS * PAIRS * STEPS];
	static struct memory_trace memory;
	static const enum rt_op ops[STEPS] = {RT_OP_ACQUIRE, RT_OP_ACQUIRE, RT_OP_RELEASE, RT_OP_RELEASE};
	struct analysis_options options = {.kinds = 1u << ANOMALY_DEADLOCK};
	struct rt_error err = {0};
	struct analysis *a = NULL;
	uint32_t n = 0;
	for (uint32_t t = 0; t < THREADS; t++)
		for (uint32_t i = 0; i < PAIRS * STEPS; i++, n++) {
			uint32_t step = i % STEPS;
			bool inner = step == 1 || step == 2;
			events[n] = (struct rt_event){.number = n + 1,
			                              .thread = t,
			                              .op = ops[step],
			                              .addr = 100 + (inner ? (t + 1) % THREADS : t),
			                              .pc = t * STEPS + step + 1};
		}
	ck_assert_msg(!analysis_run(memory_trace(&memory, events, n, THREADS), &options, &a, &err), "%s", err.message);
	ck_assert_uint_eq(a->anomalies.count, 1);
	ck_assert_uint_eq(a->anomalies.items[0].event_count, THREADS);
	ck_assert_uint_eq(a->anomalies.items[0].verdict, VERDICT_PROVED);
	ck_assert(a->anomalies.items[0].partial);
	analysis_free(a);
}
END_TEST

SUITE(deadlock)
{
	Suite *s = suite_create("deadlock");
	TCase *c = tcase_create("search");
	tcase_add_loop_test(c, every_deadlock_of_the_golden_traces_is_proved_and_nothing_else, 0, 2);
	tcase_add_test(c, two_threads_that_lock_in_opposite_orders_may_deadlock);
	tcase_add_test(c, a_cycle_of_three_threads_is_one_deadlock);
	tcase_add_test(c, a_ring_of_many_threads_is_one_deadlock);
	tcase_add_loop_test(c, a_longer_ring_is_said_to_be_left_out, 0, 2);
	tcase_add_test(c, a_long_cycle_that_contains_a_short_one_is_none);
	tcase_add_test(c, one_thread_alone_does_not_deadlock);
	tcase_add_test(c, a_guard_lock_prevents_a_deadlock);
	tcase_add_test(c, a_guard_held_by_readers_prevents_nothing);
	tcase_add_test(c, readers_do_not_wait_for_readers);
	tcase_add_test(c, a_lock_that_is_only_tried_is_not_waited_for);
	tcase_add_test(c, what_fork_and_join_order_does_not_deadlock);
	tcase_add_test(c, a_join_with_a_lock_that_the_thread_takes_may_deadlock);
	tcase_add_test(c, joins_and_locks_may_be_in_one_cycle);
	tcase_add_test(c, a_join_of_a_thread_that_has_taken_the_lock_before_does_not_deadlock);
	tcase_add_test(c, a_join_under_a_guard_deadlocks_at_the_guard_alone);
	tcase_add_test(c, a_join_that_may_give_up_does_not_deadlock);
	tcase_add_test(c, a_reader_that_joins_keeps_out_writers_alone);
	tcase_add_test(c, what_a_read_decides_is_conditional);
	tcase_add_test(c, no_more_deadlocks_are_kept_than_other_anomalies);
	tcase_add_test(c, deadlocks_of_the_same_positions_are_counted_together);
	tcase_add_test(c, a_cycle_of_too_many_instances_is_said_to_have_more);
	suite_add_tcase(s, c);
	return s;
}
