/* Witnesses against the golden traces: whatever is predictable gets one that the judge accepts, whatever is not gets
 * none. */
#include "lib/prove/certain.h"
#include "lib/prove/pecan.h"
#include "tests/unit/golden.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/scratch.h"
#include "tests/unit/subject.h"
#include "tests/unit/suite.h"

/* Has the goal a witness? Both the search and the judge must agree. */
static bool provable(struct subject *s, const struct goal *goal)
{
	struct schedule schedule = {0};
	uint64_t spent;
	enum search_answer answer = search_goal(s->search, goal, 10000000, &schedule, &spent);
	ck_assert(answer == SEARCH_FOUND || answer == SEARCH_NONE);
	if (answer == SEARCH_FOUND) {
		struct verdict_of_judge v;
		judge_verify(s->judge, &schedule, goal, &v);
		ck_assert_msg(v.fault == VERIFY_NONE, "after %lu events: %s", (unsigned long)v.step,
		              verify_fault_text(v.fault));
	}
	schedule_release(&schedule);
	return answer == SEARCH_FOUND;
}

/* What a golden trace has of one kind of tuple, and how many there were in all of them. */
struct golden {
	const struct kind *kind;
	const char *path;
	const json_t *list;
	uint64_t tuples, predictable;
};

static void compare(struct subject *s, const struct goal *goal, struct golden *golden)
{
	bool proved = provable(s, goal);
	golden->tuples++;
	golden->predictable += proved;
	ck_assert_msg(proved == golden_has(golden->list, s->m, goal->events, goal->count),
	              "%s: %s (%u %u %u %u) kind %d", golden->path,
	              proved ? "proved but not predictable" : "predictable but refuted",
	              s->m->events[goal->events[0]].number, s->m->events[goal->events[1]].number,
	              goal->count > 2 ? s->m->events[goal->events[2]].number : 0,
	              goal->count > 3 ? s->m->events[goal->events[3]].number : 0, (int)goal->kind);
}

static void races(struct subject *s, struct golden *golden)
{
	for (uint32_t a = 0; a < s->m->event_count; a++)
		for (uint32_t b = a + 1; b < s->m->event_count; b++)
			if (subject_conflict(s->m, a, b))
				compare(s, &(struct goal){.kind = GOAL_RACE, .count = 2, .events = {a, b}}, golden);
}

/* The next access of e's thread to e's cell, in the same region; MODEL_NONE if there is none. */
static uint32_t next_access(const struct model *m, uint32_t e)
{
	const struct model_thread *t = &m->threads[model_thread_of(m, e)];
	for (uint32_t pos = m->events[e].pos + 1; pos < t->count; pos++) {
		uint32_t n = t->events[pos];
		if (rt_op_is_access(model_op(m, n)) && m->events[n].object == m->events[e].object)
			return subject_region(m, n) == subject_region(m, e) ? n : MODEL_NONE;
	}
	return MODEL_NONE;
}

static bool unserializable(const struct model *m, uint32_t e1, uint32_t e2, uint32_t e3)
{
	char pattern[4] = {rt_op_writes(model_op(m, e1)) ? 'w' : 'r', rt_op_writes(model_op(m, e2)) ? 'w' : 'r',
	                   rt_op_writes(model_op(m, e3)) ? 'w' : 'r'};
	return !strcmp(pattern, "rwr") || !strcmp(pattern, "wwr") || !strcmp(pattern, "wrw") || !strcmp(pattern, "rww");
}

static void violations(struct subject *s, struct golden *golden)
{
	const struct model *m = s->m;
	for (uint32_t e1 = 0; e1 < m->event_count; e1++) {
		bool inside = rt_op_is_access(model_op(m, e1)) && subject_region(m, e1) != MODEL_NONE;
		uint32_t e3 = inside ? next_access(m, e1) : MODEL_NONE;
		for (uint32_t e2 = 0; e3 != MODEL_NONE && e2 < m->event_count; e2++)
			if (rt_op_is_access(model_op(m, e2)) && m->events[e2].object == m->events[e1].object &&
			    model_thread_of(m, e2) != model_thread_of(m, e1) && unserializable(m, e1, e2, e3))
				compare(s, &(struct goal){.kind = GOAL_SEQUENCE, .count = 3, .events = {e1, e2, e3}},
				        golden);
	}
}

/* Units (a, b) and (c, d): all the interleavings in which each goes first on one cell (asv-patterns.md). */
static void asv_units(struct subject *s, uint32_t a, uint32_t b, uint32_t c, uint32_t d, struct golden *golden)
{
	const struct model *m = s->m;
	if (subject_conflict(m, a, c) && subject_conflict(m, b, d)) {
		/* u: cell 1 then 2; u' the same way: A */
		compare(s, &(struct goal){.kind = GOAL_SEQUENCE, .count = 4, .events = {a, c, d, b}}, golden);
	}
	if (subject_conflict(m, a, d) && subject_conflict(m, b, c)) {
		/* u: cell 1 then 2; u': 2 then 1: B and C */
		compare(s, &(struct goal){.kind = GOAL_SEQUENCE, .count = 4, .events = {a, c, d, b}}, golden);
		compare(s, &(struct goal){.kind = GOAL_SEQUENCE, .count = 4, .events = {a, c, b, d}}, golden);
	}
}

static void asvs(struct subject *s, struct golden *golden)
{
	const struct model *m = s->m;
	for (uint32_t a = 0; a < m->event_count; a++)
		for (uint32_t b = a + 1; b < m->event_count; b++)
			for (uint32_t c = 0; subject_unit(m, a, b) && c < m->event_count; c++)
				for (uint32_t d = c + 1; d < m->event_count; d++)
					if (subject_unit(m, c, d) && model_thread_of(m, a) != model_thread_of(m, c))
						asv_units(s, a, b, c, d, golden);
}

/* All sets of acquires, one a thread, in which each wants what another one's thread holds. */
static void deadlocks(struct subject *s, struct golden *golden)
{
	for (uint32_t a = 0; a < s->m->event_count; a++)
		for (uint32_t b = a + 1; b < s->m->event_count; b++)
			if (subject_deadlock(s->m, a, b))
				compare(s, &(struct goal){.kind = GOAL_DEADLOCK, .count = 2, .events = {a, b}}, golden);
}

static const struct kind {
	const char *list;
	void (*compare_all)(struct subject *s, struct golden *golden);
} kinds[] = {{"predictable", races}, {"atomicity", violations}, {"asv", asvs}, {"deadlocks", deadlocks}};

static void check_golden(struct rt_trace *trace, const json_t *entry, const char *path, void *data)
{
	struct golden *golden = data;
	struct subject s;
	golden->path = path;
	golden->list = json_object_get(entry, golden->kind->list);
	subject_init(&s, trace);
	golden->kind->compare_all(&s, golden);
	subject_release(&s);
}

START_TEST(what_is_predictable_is_proved_and_nothing_else)
{
	struct golden golden = {.kind = &kinds[_i]};
	golden_each("hand", check_golden, &golden);
	golden_each("random", check_golden, &golden);
	ck_assert_uint_gt(golden.tuples, 0);
	ck_assert_uint_gt(golden.predictable, 0);
}
END_TEST

/* A subject of these lines of STD. */
static void subject_of_text(struct subject *s, const char *text)
{
	struct rt_trace *trace = scratch_trace(text);
	subject_init(s, trace);
	s->own = trace;
}

/* Only if y is written before 3 does 4 see what it saw and its thread may go on; the search tries 3 first. */
START_TEST(what_a_goal_event_reads_is_part_of_the_state)
{
	struct subject s;
	subject_of_text(&s, "T1|acq(l)|1\nT2|acq(k)|2\nT1|w(y)|3\nT1|r(y)|4\nT2|w(y)|5\nT2|w(x)|6\nT2|w(y)|7\n"
	                    "T1|w(x)|8\n");
	struct goal goal = {.kind = GOAL_SEQUENCE, .count = 4, .events = {5, 3, 6, 7}};
	ck_assert(provable(&s, &goal));
	subject_release(&s);
}
END_TEST

/* What the judge says of PECAN's schedule. */
static enum verify_fault fault_of_pecan(const char *text, const struct goal *goal)
{
	struct subject s;
	struct schedule schedule = {0};
	struct verdict_of_judge v;
	subject_of_text(&s, text);
	uint64_t built;
	ck_assert(pecan_schedule(facts_por(&s.facts), goal, UINT64_MAX, &schedule, &built) == SEARCH_FOUND);
	judge_verify(s.judge, &schedule, goal, &v);
	schedule_release(&schedule);
	subject_release(&s);
	return v.fault;
}

START_TEST(algorithm_4_holds_a_thread_up_where_it_excludes_no_thread)
{
	/* T1 asks under l twice, under o all the time; T2 writes under l in between, whichever comes first. */
	const char *asks_first =
	    "T1|acq(o)|1\nT1|acq(l)|2\nT1|r(x)|3\nT1|rel(l)|4\nT1|acq(l)|5\nT1|r(x)|6\nT1|rel(l)|7\n"
	    "T1|rel(o)|8\nT2|acq(l)|9\nT2|w(x)|10\nT2|rel(l)|11\n";
	const char *writes_first =
	    "T2|acq(l)|1\nT2|w(x)|2\nT2|rel(l)|3\nT1|acq(o)|4\nT1|acq(l)|5\nT1|w(x)|6\nT1|rel(l)|7\n"
	    "T1|acq(l)|8\nT1|r(x)|9\nT1|rel(l)|10\nT1|rel(o)|11\n";
	ck_assert_int_eq(
	    fault_of_pecan(asks_first, &(struct goal){.kind = GOAL_SEQUENCE, .count = 3, .events = {2, 9, 5}}),
	    VERIFY_NONE);
	ck_assert_int_eq(
	    fault_of_pecan(writes_first, &(struct goal){.kind = GOAL_SEQUENCE, .count = 3, .events = {5, 1, 8}}),
	    VERIFY_NONE);
}
END_TEST

START_TEST(who_asks_for_a_lock_of_a_held_up_thread_is_left_behind)
{
	/* T3 wants o, which T1 holds while T2 writes. */
	const char *text = "T1|acq(o)|1\nT1|r(x)|2\nT1|r(y)|3\nT1|rel(o)|4\nT3|acq(o)|5\nT3|r(z)|6\nT3|rel(o)|7\n"
	                   "T2|w(z)|8\nT2|w(x)|9\nT2|w(y)|10\n";
	ck_assert_int_eq(
	    fault_of_pecan(text, &(struct goal){.kind = GOAL_SEQUENCE, .count = 4, .events = {1, 8, 9, 2}}),
	    VERIFY_NONE);
}
END_TEST

START_TEST(who_holds_what_the_goal_needs_is_run_on_until_it_lets_it_go)
{
	/* T2 stands before its write, T3 in its section, when T1 is to take the lock. */
	const char *text = "T1|acq(l)|1\nT1|w(x)|2\nT1|rel(l)|3\nT3|acq(l)|4\nT3|r(z)|5\nT2|w(x)|6\nT3|rel(l)|7\n"
	                   "T2|w(z)|8\n";
	ck_assert_int_eq(fault_of_pecan(text, &(struct goal){.kind = GOAL_RACE, .count = 2, .events = {1, 5}}),
	                 VERIFY_NONE);
}
END_TEST

static bool note_writer(void *any, uint32_t write)
{
	(void)write;
	*(bool *)any = true;
	return true;
}

/* How many reads are uncertain, if the order of this trace is known by time stamps only. The run itself depends on
 * none. */
static uint32_t uncertain_reads(const char *text)
{
	struct subject s;
	subject_of_text(&s, text);
	struct certain *c = certain_create(&s.facts, false);
	ck_assert_ptr_nonnull(c);
	struct schedule schedule = {0};
	uint32_t uncertain = 0, first;
	for (uint32_t e = 0; e < s.m->event_count; e++) {
		bool any = false;
		ck_assert(rt_op_is_access(model_op(s.m, e)) ? certain_writers(c, e, UINT64_MAX, note_writer, &any)
		                                            : true);
		uncertain += any;
		ck_assert(schedule_push(&schedule, s.m, e));
	}
	ck_assert_uint_eq(certain_count_uncertain(c, &schedule, NULL, 0, &first), 0);
	schedule_release(&schedule);
	certain_free(c);
	subject_release(&s);
	return uncertain;
}

START_TEST(threads_first_events_are_scheduled_in_the_order_of_the_trace)
{
	static struct oracle_trace t;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct memory_trace memory;
		struct subject s;
		struct schedule turns = {0}, events = {0};
		uint32_t count[ORACLE_THREADS];
		oracle_random(&t, seed, ORACLE_LOCKS | ORACLE_FORKS, 36);
		subject_init(&s, random_trace(&memory, &t));
		for (uint32_t i = 0; i < s.m->thread_count; i++)
			count[i] = (uint32_t)(seed * (i + 7) % (s.m->threads[i].count + 1));
		uint32_t end = seed % 2 ? s.m->event_count : (uint32_t)(seed % (s.m->event_count + 1));
		for (uint32_t e = 0; e < end; e++)
			if (s.m->events[e].pos < count[model_thread_of(s.m, e)])
				ck_assert(schedule_push(&events, s.m, e));
		ck_assert(schedule_push_recorded(&turns, s.m, count, end));
		ck_assert_uint_eq(turns.events, events.events);
		ck_assert_uint_eq(turns.count, events.count);
		for (uint32_t i = 0; i < turns.count; i++)
			ck_assert(!memcmp(&turns.steps[i], &events.steps[i], sizeof *turns.steps));
		schedule_release(&turns);
		schedule_release(&events);
		subject_release(&s);
	}
}
END_TEST

START_TEST(a_read_that_races_with_the_write_it_saw_is_not_certain)
{
	ck_assert_uint_eq(uncertain_reads("T1|w(f)|1\nT2|r(f)|2\n"), 1);
	ck_assert_uint_eq(uncertain_reads("T1|w(f)|1\nT1|acq(l)|2\nT1|rel(l)|3\nT2|acq(l)|4\nT2|r(f)|5\nT2|rel(l)|6\n"),
	                  0);
	/* Another write, which nothing orders, might have been seen instead. */
	ck_assert_uint_eq(uncertain_reads("T3|w(f)|1\nT1|w(f)|2\nT1|acq(l)|3\nT1|rel(l)|4\nT2|acq(l)|5\nT2|r(f)|6\n"
	                                  "T2|rel(l)|7\n"),
	                  1);
}
END_TEST

SUITE(witness)
{
	Suite *s = suite_create("witness");
	TCase *c = tcase_create("golden");
	tcase_add_loop_test(c, what_is_predictable_is_proved_and_nothing_else, 0, 4);
	tcase_add_test(c, algorithm_4_holds_a_thread_up_where_it_excludes_no_thread);
	tcase_add_test(c, who_asks_for_a_lock_of_a_held_up_thread_is_left_behind);
	tcase_add_test(c, who_holds_what_the_goal_needs_is_run_on_until_it_lets_it_go);
	tcase_add_test(c, what_a_goal_event_reads_is_part_of_the_state);
	tcase_add_test(c, threads_first_events_are_scheduled_in_the_order_of_the_trace);
	tcase_add_test(c, a_read_that_races_with_the_write_it_saw_is_not_certain);
	suite_add_tcase(s, c);
	return s;
}
