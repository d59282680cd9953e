/*
 * What is conditional and what is refuted: a message behind a flag, for each way to set and to see the flag; the golden
 * traces. Random traces: test_oracle.c, test_verdicts.c.
 */
#include "lib/analysis/analysis.h"
#include "tests/unit/golden.h"
#include "tests/unit/memory_trace.h"
#include "tests/unit/suite.h"

enum { FLAG = 0x1000, MESSAGE = 0x2000, THREADS = 4 };

/* Analyzes these events, which it numbers; where there is no source position, each has its own. kinds: 0 for all. */
static struct analysis *analyze(struct rt_event *events, size_t count, uint32_t threads, uint32_t kinds)
{
	static struct memory_trace memory;
	struct rt_error err = {0};
	struct analysis *a = NULL;
	struct analysis_options options = {.kinds = kinds};
	for (uint64_t i = 0, ordinals[THREADS] = {0}; i < count; i++) {
		events[i].number = events[i].stamp = i + 1;
		events[i].pc = events[i].pc ? events[i].pc : i + 1;
		events[i].ordinal = ++ordinals[events[i].thread];
	}
	ck_assert_msg(analysis_run(memory_trace(&memory, events, count, threads), &options, &a, &err) == RT_OK, "%s",
	              err.message);
	return a;
}

/* Thread 1 writes the message, then the flag; thread 2 reads the flag, then the message. -1: no race on the message. */
static int verdict_on_message(unsigned set, int set_order, unsigned see, int see_order)
{
	struct rt_event events[] = {
	    {.op = RT_OP_FORK, .addr = 1},
	    {.op = RT_OP_FORK, .addr = 2},
	    {.op = RT_OP_BEGIN, .thread = 1},
	    {.op = RT_OP_BEGIN, .thread = 2},
	    {.op = RT_OP_WRITE, .thread = 1, .addr = MESSAGE, .arg = 4},
	    {.op = (uint8_t)set, .thread = 1, .addr = FLAG, .arg = 4, .order = (uint8_t)set_order},
	    {.op = (uint8_t)see, .thread = 2, .addr = FLAG, .arg = 4, .order = (uint8_t)see_order},
	    {.op = RT_OP_READ, .thread = 2, .addr = MESSAGE, .arg = 4},
	};
	enum { COUNT = sizeof events / sizeof *events };
	struct analysis *a = analyze(events, COUNT, 3, 0);
	int verdict = -1;
	for (size_t i = 0; i < a->anomalies.count; i++)
		if (a->model->events[a->anomalies.items[i].events[0]].number == 5)
			verdict = a->anomalies.items[i].verdict;
	analysis_free(a);
	return verdict;
}

START_TEST(having_seen_a_plain_flag_is_a_condition)
{
	ck_assert_int_eq(verdict_on_message(RT_OP_WRITE, 0, RT_OP_READ, 0), VERDICT_CONDITIONAL);
}
END_TEST

START_TEST(having_seen_a_relaxed_flag_is_a_condition)
{
	ck_assert_int_eq(verdict_on_message(RT_OP_ATOMIC_STORE, __ATOMIC_RELAXED, RT_OP_ATOMIC_LOAD, __ATOMIC_RELAXED),
	                 VERDICT_CONDITIONAL);
}
END_TEST

START_TEST(an_acquire_of_a_relaxed_store_is_a_condition)
{
	ck_assert_int_eq(verdict_on_message(RT_OP_ATOMIC_STORE, __ATOMIC_RELAXED, RT_OP_ATOMIC_LOAD, __ATOMIC_ACQUIRE),
	                 VERDICT_CONDITIONAL);
}
END_TEST

START_TEST(an_acquire_of_a_release_orders)
{
	ck_assert_int_eq(verdict_on_message(RT_OP_ATOMIC_STORE, __ATOMIC_RELEASE, RT_OP_ATOMIC_LOAD, __ATOMIC_ACQUIRE),
	                 -1);
}
END_TEST

/* The verdict of the one race of the events. */
static int only_verdict(struct rt_event *events, size_t count, uint32_t threads)
{
	struct analysis *a = analyze(events, count, threads, 1u << ANOMALY_RACE);
	ck_assert_uint_eq(a->anomalies.count, 1);
	int verdict = (int)a->anomalies.items[0].verdict;
	analysis_free(a);
	return verdict;
}

/*
 * Threads 1, 2 and 3 count under a lock; thread 1 writes the message before, thread 3 reads it after. The third one's
 * write of the count comes from this line.
 */
static int verdict_behind_counter(uint64_t last_line)
{
	enum { LOCK = 0x10, LINE = 50 };
	struct rt_event events[20] = {{.op = RT_OP_WRITE, .thread = 1, .addr = MESSAGE, .arg = 4, .pc = 1}};
	size_t count = 1;
	for (uint32_t thread = 1; thread <= 3; thread++) {
		const struct rt_event part[] = {
		    {.op = RT_OP_ACQUIRE, .thread = thread, .addr = LOCK, .pc = 2},
		    {.op = RT_OP_READ, .thread = thread, .addr = FLAG, .arg = 4, .pc = LINE},
		    {.op = RT_OP_WRITE, .thread = thread, .addr = FLAG, .arg = 4, .pc = thread < 3 ? LINE : last_line},
		    {.op = RT_OP_RELEASE, .thread = thread, .addr = LOCK, .pc = 3},
		};
		memcpy(&events[count], part, sizeof part);
		count += sizeof part / sizeof *part;
	}
	events[count++] = (struct rt_event){.op = RT_OP_READ, .thread = 3, .addr = MESSAGE, .arg = 4, .pc = 4};
	return only_verdict(events, count, 4);
}

START_TEST(counts_that_all_go_on_alike_are_no_condition)
{
	ck_assert_int_eq(verdict_behind_counter(50), VERDICT_PREDICTED);
}
END_TEST

START_TEST(a_count_after_which_one_thread_does_something_else_is_a_condition)
{
	ck_assert_int_eq(verdict_behind_counter(51), VERDICT_CONDITIONAL);
}
END_TEST

/* Races of the golden traces, pair by pair. */
struct tally {
	uint64_t refuted, conditional, predicted;
};

static void count_golden(struct rt_trace *trace, const json_t *golden, const char *path, void *data)
{
	struct tally *tally = data;
	struct rt_error err = {0};
	struct analysis *a = NULL;
	struct analysis_options options = {.kinds = 1u << ANOMALY_RACE, .every = true};
	(void)golden;
	ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s: %s", path, err.message);
	ck_assert_uint_eq(a->proofs.rejected, 0);
	tally->refuted += a->summary[ANOMALY_RACE][VERDICT_REFUTED];
	tally->conditional += a->summary[ANOMALY_RACE][VERDICT_CONDITIONAL];
	tally->predicted += a->summary[ANOMALY_RACE][VERDICT_PREDICTED];
	analysis_free(a);
}

/* As an oracle says that tries all reorderings with free reads. */
START_TEST(seven_pairs_of_the_golden_traces_are_refuted)
{
	struct tally tally = {0};
	golden_each("hand", count_golden, &tally);
	golden_each("random", count_golden, &tally);
	ck_assert_uint_eq(tally.refuted, 7);
	ck_assert_uint_eq(tally.conditional, 224);
	ck_assert_uint_eq(tally.predicted, 0);
}
END_TEST

static struct analysis *analyze_every(struct rt_trace *trace, uint64_t total_budget)
{
	struct rt_error err = {0};
	struct analysis *a = NULL;
	struct analysis_options options = {.every = true, .limits.of = {[LIMIT_SEARCH_EVENTS_TOTAL] = total_budget}};
	ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s", err.message);
	return a;
}

static const struct anomaly *find_like(const struct analysis *a, const struct anomaly *like)
{
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *other = &a->anomalies.items[i];
		if (other->pattern == like->pattern && other->event_count == like->event_count &&
		    !memcmp(other->events, like->events, like->event_count * sizeof *like->events))
			return other;
	}
	return NULL;
}

struct settled {
	uint64_t conditional, unsettled;
};

static void settle_golden(struct rt_trace *trace, const json_t *golden, const char *path, void *data)
{
	struct settled *settled = data;
	struct analysis *little = analyze_every(trace, 1), *enough = analyze_every(trace, 0);
	(void)golden;
	for (size_t i = 0; i < little->anomalies.count; i++) {
		const struct anomaly *a = &little->anomalies.items[i], *other = find_like(enough, a);
		ck_assert_msg(other, "%s: %s", path, a->pattern);
		if (a->verdict != VERDICT_CONDITIONAL)
			continue;
		ck_assert_msg(other->verdict == VERDICT_CONDITIONAL || other->verdict == VERDICT_REFUTED ||
		                  reasons_has(&other->reasons, REASON_UPDATES),
		              "%s: %s is %s", path, a->pattern, verdict_name(other->verdict));
		ck_assert(!a->schedule == !a->need_count);
		settled->conditional++;
		settled->unsettled += !a->need_count;
	}
	analysis_free(little);
	analysis_free(enough);
}

/* Not predicted, of which there would be thousands then: no witness is left to be looked for. */
START_TEST(what_no_budget_is_left_to_settle_stays_conditional)
{
	struct settled settled = {0};
	golden_each("hand", settle_golden, &settled);
	golden_each("random", settle_golden, &settled);
	ck_assert_uint_gt(settled.unsettled, 50);
}
END_TEST

/*
 * A list is emptied under a lock, the count first, while a thread walks through it without that. The walk read the
 * count and then an item; if it reads 0, it may end there.
 */
static const struct anomaly *walk_through_emptied(enum rt_memory_model model, struct analysis **a)
{
	enum { COUNT = 0x1000, ITEM = 0x2000, LOCK = 0x3000 };
	static struct memory_trace memory;
	static struct rt_event events[] = {
	    {.op = RT_OP_FORK, .addr = 1},
	    {.op = RT_OP_FORK, .addr = 2},
	    {.op = RT_OP_REGION_BEGIN, .thread = 1},
	    {.op = RT_OP_READ, .thread = 1, .addr = COUNT, .arg = 4},
	    {.op = RT_OP_READ, .thread = 1, .addr = ITEM, .arg = 4},
	    {.op = RT_OP_REGION_END, .thread = 1},
	    {.op = RT_OP_ACQUIRE, .thread = 2, .addr = LOCK},
	    {.op = RT_OP_WRITE, .thread = 2, .addr = COUNT, .arg = 4},
	    {.op = RT_OP_WRITE, .thread = 2, .addr = ITEM, .arg = 4},
	    {.op = RT_OP_RELEASE, .thread = 2, .addr = LOCK},
	};
	enum { EVENTS = sizeof events / sizeof *events };
	struct rt_error err = {0};
	struct analysis_options options = {.kinds = 1u << ANOMALY_ASV};
	for (uint64_t i = 0, ordinals[THREADS] = {0}; i < EVENTS; i++) {
		events[i].number = events[i].stamp = events[i].pc = i + 1;
		events[i].ordinal = ++ordinals[events[i].thread];
	}
	struct rt_trace *trace = memory_trace(&memory, events, EVENTS, 3);
	trace->info.model = model;
	ck_assert_msg(analysis_run(trace, &options, a, &err) == RT_OK, "%s", err.message);
	for (size_t i = 0; i < (*a)->anomalies.count; i++)
		if (!strcmp((*a)->anomalies.items[i].pattern, "asv-A-WR-WR"))
			return &(*a)->anomalies.items[i];
	ck_abort_msg("no such anomaly");
}

START_TEST(a_program_may_not_go_on_after_its_own_read_of_another_value)
{
	struct analysis *a;
	const struct anomaly *x = walk_through_emptied(RT_MODEL_SC, &a);
	ck_assert_int_eq(x->verdict, VERDICT_PROVED);
	analysis_free(a);
	x = walk_through_emptied(RT_MODEL_C11, &a);
	ck_assert_int_eq(x->verdict, VERDICT_PREDICTED);
	ck_assert(reasons_has(&x->reasons, REASON_OWN_READ));
	ck_assert_uint_eq(x->need_count, 1);
	ck_assert_uint_eq(a->model->events[x->needs[0]].number, 4);
	ck_assert_ptr_nonnull(x->schedule);
	analysis_free(a);
}
END_TEST

/*
 * A wait for a semaphore inside of a critical section, after a post inside of the other one, which reads what is
 * written there. Unless another post ends the wait, the sections have one order. late: the trace begins in the middle
 * of the run.
 */
static int verdict_behind_post(bool late, bool another, unsigned post, unsigned wait)
{
	enum { LOCK = 0x10, POSTED = 0x20 };
	struct rt_event events[12] = {
	    {.op = (uint8_t)(late ? RT_OP_LOST : RT_OP_WRITE),
	     .thread = 3,
	     .addr = late ? RT_LOST_START : FLAG,
	     .arg = late ? 0 : 4},
	};
	size_t count = 1;
	if (another)
		events[count++] = (struct rt_event){.op = (uint8_t)post, .thread = 3, .addr = POSTED};
	const struct rt_event sections[] = {
	    {.op = RT_OP_ACQUIRE, .thread = 1, .addr = LOCK},
	    {.op = (uint8_t)post, .thread = 1, .addr = POSTED},
	    {.op = RT_OP_WRITE, .thread = 1, .addr = MESSAGE, .arg = 4, .pc = 100},
	    {.op = RT_OP_RELEASE, .thread = 1, .addr = LOCK},
	    {.op = RT_OP_ACQUIRE, .thread = 2, .addr = LOCK},
	    {.op = (uint8_t)wait, .thread = 2, .addr = POSTED},
	    {.op = RT_OP_RELEASE, .thread = 2, .addr = LOCK},
	    {.op = RT_OP_READ, .thread = 2, .addr = MESSAGE, .arg = 4, .pc = 101},
	};
	memcpy(&events[count], sections, sizeof sections);
	count += sizeof sections / sizeof *sections;
	return only_verdict(events, count, 4);
}

/* Which post ended the wait is not known of a trace that begins late: all earlier ones are taken to have. */
START_TEST(nothing_is_refuted_by_posts_that_may_have_ended_no_wait)
{
	ck_assert_int_eq(verdict_behind_post(false, false, RT_OP_SEM_POST, RT_OP_SEM_WAIT), VERDICT_REFUTED);
	ck_assert_int_eq(verdict_behind_post(false, true, RT_OP_SEM_POST, RT_OP_SEM_WAIT), VERDICT_PROVED);
	ck_assert_int_eq(verdict_behind_post(true, true, RT_OP_SEM_POST, RT_OP_SEM_WAIT), VERDICT_CONDITIONAL);
	ck_assert_int_eq(verdict_behind_post(true, true, RT_OP_HB_BEFORE, RT_OP_HB_AFTER), VERDICT_REFUTED);
}
END_TEST

/* Number of races of what is written before a semaphore is made, and by the thread that posts to it. */
static size_t races_behind_init(bool late)
{
	struct rt_event events[] = {
	    {.op = (uint8_t)(late ? RT_OP_LOST : RT_OP_WRITE),
	     .addr = late ? RT_LOST_START : FLAG,
	     .arg = late ? 0 : 4},
	    {.op = RT_OP_WRITE, .thread = 1, .addr = MESSAGE, .arg = 4},
	    {.op = RT_OP_SEM_INIT, .thread = 1, .addr = 0x20},
	    {.op = RT_OP_SEM_POST, .thread = 2, .addr = 0x20},
	    {.op = RT_OP_WRITE, .thread = 2, .addr = MESSAGE, .arg = 4},
	};
	struct analysis *a = analyze(events, sizeof events / sizeof *events, 3, 1u << ANOMALY_RACE);
	size_t count = a->anomalies.count;
	analysis_free(a);
	return count;
}

START_TEST(a_semaphore_is_used_after_it_was_made_in_any_trace)
{
	ck_assert_uint_eq(races_behind_init(false), 0);
	ck_assert_uint_eq(races_behind_init(true), 0);
}
END_TEST

SUITE(conditional)
{
	Suite *s = suite_create("conditional");
	TCase *c = tcase_create("a message behind a flag");
	tcase_add_test(c, having_seen_a_plain_flag_is_a_condition);
	tcase_add_test(c, having_seen_a_relaxed_flag_is_a_condition);
	tcase_add_test(c, an_acquire_of_a_relaxed_store_is_a_condition);
	tcase_add_test(c, an_acquire_of_a_release_orders);
	suite_add_tcase(s, c);
	c = tcase_create("a message behind a counter");
	tcase_add_test(c, counts_that_all_go_on_alike_are_no_condition);
	tcase_add_test(c, a_count_after_which_one_thread_does_something_else_is_a_condition);
	suite_add_tcase(s, c);
	c = tcase_create("its own reads");
	tcase_add_test(c, a_program_may_not_go_on_after_its_own_read_of_another_value);
	suite_add_tcase(s, c);
	c = tcase_create("a trace that begins late");
	tcase_add_test(c, nothing_is_refuted_by_posts_that_may_have_ended_no_wait);
	tcase_add_test(c, a_semaphore_is_used_after_it_was_made_in_any_trace);
	suite_add_tcase(s, c);
	c = tcase_create("golden");
	tcase_add_test(c, seven_pairs_of_the_golden_traces_are_refuted);
	tcase_add_test(c, what_no_budget_is_left_to_settle_stays_conditional);
	suite_add_tcase(s, c);
	return s;
}
