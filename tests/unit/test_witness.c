/* Witnesses against the golden traces: whatever is predictable gets one that the judge accepts, whatever is not gets
 * none. */
#include "lib/witness/certain.h"
#include "lib/witness/pecan.h"
#include "lib/witness/search.h"
#include "lib/witness/verify.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One golden trace, loaded, with what judges and searches it. */
struct subject {
	struct rt_trace *trace;
	struct model *m;
	struct trf trf;
	struct judge *judge;
	struct search *search;
	char name[512];
};

static void subject_init(struct subject *s, const char *path)
{
	struct rt_error err = {0};
	snprintf(s->name, sizeof s->name, "%s", path);
	ck_assert_msg(rt_trace_open(path, &s->trace, &err) == RT_OK, "%s", err.message);
	struct model_options options = {REGIONS_LOCKS};
	ck_assert_msg(model_load(s->trace, &options, &s->m, &err) == RT_OK, "%s", err.message);
	ck_assert_msg(trf_compute(s->m, NULL, &s->trf, &err) == RT_OK, "%s", err.message);
	s->judge = judge_create(s->m);
	s->search = search_create(s->m, &s->trf, NULL, NULL);
	ck_assert_ptr_nonnull(s->judge);
	ck_assert_ptr_nonnull(s->search);
}

static void subject_release(struct subject *s)
{
	search_free(s->search);
	judge_free(s->judge);
	trf_release(&s->trf);
	model_free(s->m);
	rt_trace_free(s->trace);
}

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
		ck_assert_msg(v.fault == VERIFY_NONE, "%s: after %lu events: %s", s->name, (unsigned long)v.step,
		              verify_fault_text(v.fault));
	}
	schedule_release(&schedule);
	return answer == SEARCH_FOUND;
}

/* Is the tuple of event numbers on the golden list? Deadlocks are sets: their numbers are sorted. */
static bool expected(const json_t *list, const struct model *m, const struct goal *goal)
{
	size_t i;
	json_t *tuple;
	json_array_foreach(list, i, tuple)
	{
		bool same = json_array_size(tuple) == goal->count;
		for (size_t k = 0; same && k < goal->count; k++)
			same = json_integer_value(json_array_get(tuple, k)) == m->events[goal->events[k]].number;
		if (same)
			return true;
	}
	return false;
}

struct tally {
	uint64_t tuples, predictable;
};

static void compare(struct subject *s, const struct goal *goal, const json_t *list, struct tally *tally)
{
	bool proved = provable(s, goal);
	tally->tuples++;
	tally->predictable += proved;
	ck_assert_msg(proved == expected(list, s->m, goal), "%s: %s (%u %u %u %u) kind %d", s->name,
	              proved ? "proved but not predictable" : "predictable but refuted",
	              s->m->events[goal->events[0]].number, s->m->events[goal->events[1]].number,
	              goal->count > 2 ? s->m->events[goal->events[2]].number : 0,
	              goal->count > 3 ? s->m->events[goal->events[3]].number : 0, (int)goal->kind);
}

static bool conflict(const struct model *m, uint32_t a, uint32_t b)
{
	return rt_op_is_access(model_op(m, a)) && rt_op_is_access(model_op(m, b)) &&
	       m->events[a].object == m->events[b].object && model_conflict(m, a, b);
}

static void races(struct subject *s, const json_t *golden, struct tally *tally)
{
	for (uint32_t a = 0; a < s->m->event_count; a++)
		for (uint32_t b = a + 1; b < s->m->event_count; b++)
			if (conflict(s->m, a, b))
				compare(s, &(struct goal){GOAL_RACE, 2, {a, b}}, json_object_get(golden, "predictable"),
				        tally);
}

static uint32_t region_of(const struct model *m, uint32_t e)
{
	return m->segments[m->events[e].segment].region;
}

/* The next access of e's thread to e's cell, in the same region; MODEL_NONE if there is none. */
static uint32_t next_access(const struct model *m, uint32_t e)
{
	const struct model_thread *t = &m->threads[model_thread_of(m, e)];
	for (uint32_t pos = m->events[e].pos + 1; pos < t->count; pos++) {
		uint32_t n = t->events[pos];
		if (rt_op_is_access(model_op(m, n)) && m->events[n].object == m->events[e].object)
			return region_of(m, n) == region_of(m, e) ? n : MODEL_NONE;
	}
	return MODEL_NONE;
}

static bool unserializable(const struct model *m, uint32_t e1, uint32_t e2, uint32_t e3)
{
	char pattern[4] = {rt_op_writes(model_op(m, e1)) ? 'w' : 'r', rt_op_writes(model_op(m, e2)) ? 'w' : 'r',
	                   rt_op_writes(model_op(m, e3)) ? 'w' : 'r'};
	return !strcmp(pattern, "rwr") || !strcmp(pattern, "wwr") || !strcmp(pattern, "wrw") || !strcmp(pattern, "rww");
}

static void violations(struct subject *s, const json_t *golden, struct tally *tally)
{
	const struct model *m = s->m;
	for (uint32_t e1 = 0; e1 < m->event_count; e1++) {
		uint32_t e3 = rt_op_is_access(model_op(m, e1)) && region_of(m, e1) != MODEL_NONE ? next_access(m, e1)
		                                                                                 : MODEL_NONE;
		for (uint32_t e2 = 0; e3 != MODEL_NONE && e2 < m->event_count; e2++)
			if (rt_op_is_access(model_op(m, e2)) && m->events[e2].object == m->events[e1].object &&
			    model_thread_of(m, e2) != model_thread_of(m, e1) && unserializable(m, e1, e2, e3))
				compare(s, &(struct goal){GOAL_SEQUENCE, 3, {e1, e2, e3}},
				        json_object_get(golden, "atomicity"), tally);
	}
}

/* Two accesses of one region, in program order, to different cells. */
static bool unit(const struct model *m, uint32_t a, uint32_t b)
{
	return rt_op_is_access(model_op(m, a)) && rt_op_is_access(model_op(m, b)) && region_of(m, a) != MODEL_NONE &&
	       region_of(m, a) == region_of(m, b) && m->events[a].object != m->events[b].object && a < b;
}

/* Units (a, b) and (c, d): all the interleavings in which each goes first on one cell (asv-patterns.md). */
static void asv_units(struct subject *s, uint32_t a, uint32_t b, uint32_t c, uint32_t d, const json_t *list,
                      struct tally *tally)
{
	const struct model *m = s->m;
	if (conflict(m, a, c) && conflict(m, b, d)) {
		/* u: cell 1 then 2; u' the same way: A */
		compare(s, &(struct goal){GOAL_SEQUENCE, 4, {a, c, d, b}}, list, tally);
	}
	if (conflict(m, a, d) && conflict(m, b, c)) {
		/* u: cell 1 then 2; u': 2 then 1: B and C */
		compare(s, &(struct goal){GOAL_SEQUENCE, 4, {a, c, d, b}}, list, tally);
		compare(s, &(struct goal){GOAL_SEQUENCE, 4, {a, c, b, d}}, list, tally);
	}
}

static void asvs(struct subject *s, const json_t *golden, struct tally *tally)
{
	const struct model *m = s->m;
	for (uint32_t a = 0; a < m->event_count; a++)
		for (uint32_t b = a + 1; b < m->event_count; b++)
			for (uint32_t c = 0; unit(m, a, b) && c < m->event_count; c++)
				for (uint32_t d = c + 1; d < m->event_count; d++)
					if (unit(m, c, d) && model_thread_of(m, a) != model_thread_of(m, c))
						asv_units(s, a, b, c, d, json_object_get(golden, "asv"), tally);
}

static bool acquires(const struct model *m, uint32_t e)
{
	return model_op(m, e) == RT_OP_ACQUIRE;
}

static bool holds(const struct model *m, uint32_t before, uint32_t lock)
{
	uint32_t pred = model_pred(m, before);
	const struct model_lockset *set = &m->locksets[pred == MODEL_NONE ? 0 : model_lockset_of(m, pred)];
	for (uint32_t i = 0; i < set->count; i++)
		if (set->locks[i].object == lock)
			return true;
	return false;
}

/* All sets of acquires, one a thread, in which each wants what another one's thread holds. */
static void deadlocks(struct subject *s, const json_t *golden, struct tally *tally)
{
	const struct model *m = s->m;
	for (uint32_t a = 0; a < m->event_count; a++)
		for (uint32_t b = a + 1; acquires(m, a) && b < m->event_count; b++) {
			if (!acquires(m, b) || model_thread_of(m, a) == model_thread_of(m, b))
				continue;
			if (holds(m, a, m->events[b].object) && holds(m, b, m->events[a].object))
				compare(s, &(struct goal){GOAL_DEADLOCK, 2, {a, b}},
				        json_object_get(golden, "deadlocks"), tally);
		}
}

/* Runs every golden trace of a folder through one of the above. */
static struct tally each_trace(const char *folder, void (*f)(struct subject *, const json_t *, struct tally *))
{
	struct tally tally = {0, 0};
	char path[512], line[1 << 17];
	snprintf(path, sizeof path, "tests/golden/%s/expected.jsonl", folder);
	FILE *in = fopen(path, "r");
	ck_assert_msg(in != NULL, "%s", path);
	while (fgets(line, sizeof line, in)) {
		json_t *golden = json_loads(line, 0, NULL);
		ck_assert_ptr_nonnull(golden);
		snprintf(path, sizeof path, "tests/golden/%s/%s", folder,
		         json_string_value(json_object_get(golden, "trace")));
		struct subject s;
		subject_init(&s, path);
		f(&s, golden, &tally);
		subject_release(&s);
		json_decref(golden);
	}
	fclose(in);
	return tally;
}

static void (*const kinds[])(struct subject *, const json_t *, struct tally *) = {races, violations, asvs, deadlocks};

START_TEST(what_is_predictable_is_proved_and_nothing_else)
{
	struct tally hand = each_trace("hand", kinds[_i]), random = each_trace("random", kinds[_i]);
	ck_assert_uint_gt(hand.tuples + random.tuples, 0);
	ck_assert_uint_gt(hand.predictable + random.predictable, 0);
}
END_TEST

/* A subject of these lines of STD. */
static void subject_of_text(struct subject *s, const char *text)
{
	char path[] = "/tmp/racetrace-witness-XXXXXX";
	int fd = mkstemp(path);
	FILE *out = fdopen(fd, "w");
	ck_assert_ptr_nonnull(out);
	fputs(text, out);
	fclose(out);
	subject_init(s, path);
	unlink(path);
}

/* Only if y is written before 3 does 4 see what it saw and its thread may go on; the search tries 3 first. */
START_TEST(what_a_goal_event_reads_is_part_of_the_state)
{
	struct subject s;
	subject_of_text(&s, "T1|acq(l)|1\nT2|acq(k)|2\nT1|w(y)|3\nT1|r(y)|4\nT2|w(y)|5\nT2|w(x)|6\nT2|w(y)|7\n"
	                    "T1|w(x)|8\n");
	struct goal goal = {GOAL_SEQUENCE, 4, {5, 3, 6, 7}};
	ck_assert(provable(&s, &goal));
	subject_release(&s);
}
END_TEST

/* What the judge says of PECAN's schedule. */
static enum verify_fault fault_of_pecan(const char *text, const struct goal *goal)
{
	struct subject s;
	struct segment_order por;
	struct schedule schedule = {0};
	struct rt_error err = {0};
	struct verdict_of_judge v;
	subject_of_text(&s, text);
	ck_assert(segment_order_compute(s.m, false, &por, &err) == RT_OK);
	ck_assert(pecan_schedule(&por, goal, &schedule));
	judge_verify(s.judge, &schedule, goal, &v);
	schedule_release(&schedule);
	segment_order_release(&por);
	subject_release(&s);
	return v.fault;
}

START_TEST(algorithm_4_holds_a_thread_up_where_it_keeps_nobody_out)
{
	/* T1 asks under l twice, under o all the time; T2 writes under l in between, whichever comes first. */
	const char *asks_first =
	    "T1|acq(o)|1\nT1|acq(l)|2\nT1|r(x)|3\nT1|rel(l)|4\nT1|acq(l)|5\nT1|r(x)|6\nT1|rel(l)|7\n"
	    "T1|rel(o)|8\nT2|acq(l)|9\nT2|w(x)|10\nT2|rel(l)|11\n";
	const char *writes_first =
	    "T2|acq(l)|1\nT2|w(x)|2\nT2|rel(l)|3\nT1|acq(o)|4\nT1|acq(l)|5\nT1|w(x)|6\nT1|rel(l)|7\n"
	    "T1|acq(l)|8\nT1|r(x)|9\nT1|rel(l)|10\nT1|rel(o)|11\n";
	ck_assert_int_eq(fault_of_pecan(asks_first, &(struct goal){GOAL_SEQUENCE, 3, {2, 9, 5}}), VERIFY_NONE);
	ck_assert_int_eq(fault_of_pecan(writes_first, &(struct goal){GOAL_SEQUENCE, 3, {5, 1, 8}}), VERIFY_NONE);
}
END_TEST

START_TEST(who_asks_for_a_lock_of_a_held_up_thread_is_left_behind)
{
	/* T3 wants o, which T1 holds while T2 writes. */
	const char *text = "T1|acq(o)|1\nT1|r(x)|2\nT1|r(y)|3\nT1|rel(o)|4\nT3|acq(o)|5\nT3|r(z)|6\nT3|rel(o)|7\n"
	                   "T2|w(z)|8\nT2|w(x)|9\nT2|w(y)|10\n";
	ck_assert_int_eq(fault_of_pecan(text, &(struct goal){GOAL_SEQUENCE, 4, {1, 8, 9, 2}}), VERIFY_NONE);
}
END_TEST

START_TEST(who_holds_what_the_goal_needs_is_run_on_until_it_lets_it_go)
{
	/* T2 stands before its write, T3 in its section, when T1 is to take the lock. */
	const char *text = "T1|acq(l)|1\nT1|w(x)|2\nT1|rel(l)|3\nT3|acq(l)|4\nT3|r(z)|5\nT2|w(x)|6\nT3|rel(l)|7\n"
	                   "T2|w(z)|8\n";
	ck_assert_int_eq(fault_of_pecan(text, &(struct goal){GOAL_RACE, 2, {1, 5}}), VERIFY_NONE);
}
END_TEST

/* How many reads of thread T2 are uncertain, if the order of this trace is known by time stamps only. */
static uint32_t uncertain_reads(const char *text)
{
	struct subject s;
	subject_of_text(&s, text);
	struct rt_error err = {0};
	struct certain *c = certain_create(s.m, false, &err);
	ck_assert_ptr_nonnull(c);
	struct schedule schedule = {0};
	for (uint32_t e = 0; e < s.m->event_count; e++)
		ck_assert(schedule_push(&schedule, s.m, e));
	uint32_t first, leans = certain_leans(c, &schedule, NULL, 0, &first);
	schedule_release(&schedule);
	certain_free(c);
	subject_release(&s);
	return leans;
}

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

Suite *witness_suite(void)
{
	Suite *s = suite_create("witness");
	TCase *c = tcase_create("golden");
	tcase_set_timeout(c, 300);
	tcase_add_loop_test(c, what_is_predictable_is_proved_and_nothing_else, 0, 4);
	tcase_add_test(c, algorithm_4_holds_a_thread_up_where_it_keeps_nobody_out);
	tcase_add_test(c, who_asks_for_a_lock_of_a_held_up_thread_is_left_behind);
	tcase_add_test(c, who_holds_what_the_goal_needs_is_run_on_until_it_lets_it_go);
	tcase_add_test(c, what_a_goal_event_reads_is_part_of_the_state);
	tcase_add_test(c, a_read_that_races_with_the_write_it_saw_is_not_certain);
	suite_add_tcase(s, c);
	return s;
}
