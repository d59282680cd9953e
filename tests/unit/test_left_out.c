/* What a report leaves out, and that it says so: limits, what is not listed, an analysis that was interrupted. */
#include "tests/unit/reported.h"
#include "tests/unit/suite.h"

START_TEST(what_a_list_of_reads_leaves_out_is_counted)
{
	struct fixture f;
	load(&f, two_races, &(struct analysis_options){0});
	struct anomaly *a = &f.analysis->anomalies.items[0];
	a->needs = calloc(1, sizeof *a->needs);
	a->need_count = 1;
	a->need_total = 3;
	char *text = write_report(&f, "text", false, &each);
	ck_assert_ptr_nonnull(strstr(text, "  needs 3 reads to see another write than they saw:\n"));
	ck_assert_ptr_nonnull(strstr(text, "    and 2 more\n"));
	free(text);
	text = write_report(&f, "html", false, &each);
	ck_assert_ptr_nonnull(strstr(text, "<p>Needs 3 reads to see another write than they saw.</p>"));
	ck_assert_ptr_nonnull(strstr(text, "<li>and 2 more</li>"));
	free(text);
	unload(&f);
}
END_TEST

START_TEST(what_all_schedules_together_are_too_long_for_is_left_out_and_said)
{
	struct fixture f;
	/* The race on x has no steps before it, the one on y has two. */
	load(&f, two_races, &(struct analysis_options){.limits.of = {[LIMIT_SCHEDULE_STEPS] = 1}});
	json_t *json = report_of(&f, &normal);
	ck_assert(json_is_true(get(json, "limits.schedule_steps.hit")));
	int left_out = 0;
	for (size_t i = 0; i < 2; i++) {
		json_t *a = json_array_get(get(json, "anomalies"), i);
		ck_assert_str_eq(STRING(a, "verdict"), "observed");
		bool y = !strcmp(STRING(a, "variable.name"), "y");
		ck_assert_int_eq(json_is_null(get(a, "schedule")), y);
		ck_assert_int_eq(json_object_get(a, "schedule_left_out") != NULL, y);
		left_out += y ? (int)NUMBER(a, "schedule_left_out") : 0;
	}
	ck_assert_int_eq(left_out, 2);
	char *text = write_report(&f, "text", false, &normal);
	ck_assert_ptr_nonnull(strstr(text, "2 turns of threads; 'racetrace schedule --anomaly R"));
	free(text);
	json_decref(json);
	unload(&f);
}
END_TEST

/* One region of n variables, another thread's accesses of all of them. True if the report says that it is too large. */
static bool says_that_regions_were_cut(unsigned variables)
{
	struct fixture f;
	char *std;
	size_t size;
	FILE *out = open_memstream(&std, &size);
	for (unsigned t = 1; t <= 2; t++) {
		fprintf(out, "T%u|acq(L%u)|a.c:1\n", t, t);
		for (unsigned i = 0; i < variables; i++)
			fprintf(out, "T%u|w(x%u)|a.c:%u\n", t, i, t * 1000 + i);
		fprintf(out, "T%u|rel(L%u)|a.c:2\n", t, t);
	}
	fclose(out);
	load(&f, std, &(struct analysis_options){.kinds = 1u << ANOMALY_ASV, .unproved = true});
	json_t *json = report_of(&f, &normal);
	bool hit = json_is_true(get(json, "limits.region_accesses.hit"));
	json_decref(json);
	unload(&f);
	free(std);
	return hit;
}

START_TEST(a_region_that_is_too_large_for_all_its_pairs_is_said)
{
	ck_assert(!says_that_regions_were_cut(LIMIT_REGION_ACCESSES_MAX - 1));
	ck_assert(says_that_regions_were_cut(LIMIT_REGION_ACCESSES_MAX + 1));
}
END_TEST

/* Threads, one after another, each with a region on x and y: no two can be combined, however many there are. */
static bool says_that_combinations_were_cut(unsigned threads)
{
	struct fixture f;
	char *std;
	size_t size;
	FILE *out = open_memstream(&std, &size);
	for (unsigned t = 1; t <= threads; t++)
		fprintf(out,
		        "T0|fork(T%u)|a.c:1\nT%u|acq(L%u)|a.c:2\nT%u|w(x)|a.c:3\nT%u|w(y)|a.c:4\nT%u|rel(L%u)|a.c:5\n"
		        "T0|join(T%u)|a.c:6\n",
		        t, t, t, t, t, t, t, t);
	fclose(out);
	load(&f, std, &(struct analysis_options){.kinds = 1u << ANOMALY_ASV, .unproved = true});
	json_t *json = report_of(&f, &normal);
	bool hit = json_is_true(get(json, "limits.combinations.hit"));
	ck_assert_uint_eq(json_array_size(get(json, "anomalies")), 0);
	json_decref(json);
	unload(&f);
	free(std);
	return hit;
}

START_TEST(giving_up_on_too_many_combinations_is_said)
{
	ck_assert(!says_that_combinations_were_cut(80)); /* 80 * 80 are fewer than LIMIT_COMBINATIONS */
	ck_assert(says_that_combinations_were_cut(200));
}
END_TEST

START_TEST(text_shows_the_first_of_what_is_only_predicted_and_counts_the_rest)
{
	struct fixture f;
	char trace[4096] = "", line[64];
	/* The lock's hand-over orders all 30 pairs of writes, so nothing is observed, and no prover is asked. */
	for (int i = 0; i < 30; i++) {
		snprintf(line, sizeof line, "T1|w(x%d)|a%d\n", i, i);
		strcat(trace, line);
	}
	strcat(trace, "T1|acq(l)|1\nT1|rel(l)|2\nT2|acq(l)|3\nT2|rel(l)|4\n");
	for (int i = 0; i < 30; i++) {
		snprintf(line, sizeof line, "T2|w(x%d)|b%d\n", i, i);
		strcat(trace, line);
	}
	load(&f, trace, &(struct analysis_options){.unproved = true, .kinds = 1u << ANOMALY_RACE});
	char *text = write_report(&f, "text", false, &each);
	ck_assert_ptr_nonnull(strstr(text, "R20 data race"));
	ck_assert_ptr_null(strstr(text, "R21 data race"));
	ck_assert_ptr_nonnull(strstr(text, "10 more that are only predicted are not shown here"));
	ck_assert_ptr_nonnull(strstr(text, "data races: 30 predicted"));
	free(text);
	json_t *json = report_of(&f, &normal);
	ck_assert_uint_eq(json_array_size(get(json, "anomalies")), 30);
	json_decref(json);
	unload(&f);
}
END_TEST

START_TEST(orders_choose_what_is_listed_whatever_the_verdict)
{
	struct fixture f;
	/* Ordered by the lock for happens-before; hybrid sees no common lock. */
	load(&f, "T1|w(x)|1\nT1|acq(L)|2\nT1|rel(L)|3\nT2|acq(L)|4\nT2|rel(L)|5\nT2|w(x)|6\n",
	     &(struct analysis_options){.every = true});
	json_t *hb = report_of(&f, &(struct report_options){.every = true, .orders = 1u << order_find("hb")});
	json_t *hybrid = report_of(&f, &(struct report_options){.every = true, .orders = 1u << order_find("hybrid")});
	ck_assert_uint_eq(json_array_size(get(hb, "anomalies")), 0);
	ck_assert_uint_eq(json_array_size(get(hybrid, "anomalies")), 1);
	ck_assert(json_is_false(get(hybrid, "anomalies.0.evidence.hb")));
	json_decref(hb);
	json_decref(hybrid);
	unload(&f);
}
END_TEST

static bool stop_at_second(size_t done, size_t count, void *arg)
{
	(void)arg;
	ck_assert_int_lt((int)done, (int)count);
	return done == 1;
}

START_TEST(an_interrupted_analysis_reports_what_it_has)
{
	struct fixture f;
	const struct analysis_options options = {.decided = stop_at_second, .kinds = UINT32_C(1) << ANOMALY_RACE};
	load(&f,
	     "A|acq(L)|1\nA|w(x)|2\nA|w(y)|3\nA|w(z)|4\nA|rel(L)|5\nB|acq(L)|6\nB|rel(L)|7\nB|r(x)|8\nB|r(y)|9\nB|r(z)|"
	     "10\n",
	     &options);
	json_t *json = report_of(&f, &normal);
	ck_assert_int_eq((int)f.analysis->anomalies.count, 3);
	ck_assert_int_eq((int)json_integer_value(json_object_get(json, "undecided")), 2);
	ck_assert_int_eq((int)f.analysis->summary[ANOMALY_RACE][VERDICT_PREDICTED], 2);
	json_decref(json);
	unload(&f);
}
END_TEST

SUITE(left_out)
{
	Suite *s = suite_create("left_out");
	TCase *c = tcase_create("left_out");
	tcase_add_test(c, what_a_list_of_reads_leaves_out_is_counted);
	tcase_add_test(c, what_all_schedules_together_are_too_long_for_is_left_out_and_said);
	tcase_add_test(c, a_region_that_is_too_large_for_all_its_pairs_is_said);
	tcase_add_test(c, giving_up_on_too_many_combinations_is_said);
	tcase_add_test(c, text_shows_the_first_of_what_is_only_predicted_and_counts_the_rest);
	tcase_add_test(c, orders_choose_what_is_listed_whatever_the_verdict);
	tcase_add_test(c, an_interrupted_analysis_reports_what_it_has);
	suite_add_tcase(s, c);
	return s;
}
