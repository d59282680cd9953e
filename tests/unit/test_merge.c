/* Findings of several traces in one report. */
#include "lib/report/merge.h"
#include "tests/unit/schema.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

/* A lock that hides the race of x, and the same run the other way round, in which nothing orders it. */
#define HIDDEN "A|w(x)|1\nA|acq(L)|2\nA|rel(L)|3\nB|acq(L)|4\nB|rel(L)|5\nB|w(x)|6\n"
#define SEEN "B|acq(L)|4\nB|rel(L)|5\nA|w(x)|1\nB|w(x)|6\nA|acq(L)|2\nA|rel(L)|3\n"
#define OTHER "A|w(y)|11\nB|w(y)|16\n"
#define NOTHING "A|w(x)|1\n"

static void add(struct merge *m, const char *text, const char *name, uint32_t *fresh)
{
	struct rt_error err = {0};
	struct rt_trace *trace = scratch_trace(text);
	struct analysis_options analysis = {0};
	struct report_options options = {.least = VERDICT_PREDICTED};
	struct analysis *a;
	struct report *r;
	ck_assert_int_eq(analysis_run(trace, &analysis, &a, &err), RT_OK);
	ck_assert_int_eq(report_create(a, &options, &r, &err), RT_OK);
	ck_assert_int_eq(merge_add(m, &(struct merge_source){.name = name}, r, fresh, &err), RT_OK);
}

static void finish(struct merge *m)
{
	struct rt_error err = {0};
	ck_assert_int_eq(merge_finish(m, &err), RT_OK);
}

/* The report in a format. The caller frees it. */
static char *written(const struct merge *m, const char *format)
{
	char *text = NULL;
	size_t size;
	struct rt_error err = {0};
	FILE *out = open_memstream(&text, &size);
	ck_assert_int_eq(merge_write(m, report_find(format), false, out, &err), RT_OK);
	fclose(out);
	return text;
}

static void assert_valid(const char *text)
{
	char why[256];
	json_t *report = json_loads(text, 0, NULL), *schema = json_loads(report_schema, 0, NULL);
	ck_assert(report && schema);
	ck_assert_msg(schema_check(schema, report, why, sizeof why), "%s", why);
	json_decref(report);
	json_decref(schema);
}

START_TEST(the_run_that_shows_a_finding_best_stands_for_it)
{
	struct merge m = {0};
	uint32_t fresh;
	add(&m, HIDDEN, "one", &fresh);
	ck_assert_uint_eq(fresh, 1);
	add(&m, NOTHING, "two", &fresh);
	ck_assert_uint_eq(fresh, 0);
	add(&m, SEEN, "three", &fresh);
	ck_assert_uint_eq(fresh, 0);
	add(&m, HIDDEN, "four", &fresh);
	for (int again = 0; again < 2; again++) {
		finish(&m);
		ck_assert_uint_eq(m.count, 1);
		ck_assert_uint_eq(m.items[0].run_count, 3);
		ck_assert_int_eq(m.items[0].verdict, VERDICT_OBSERVED);
		ck_assert_uint_eq(merge_run_of(&m, m.items[0].report), 3);
		ck_assert_uint_eq(merge_first_observed(&m, &m.items[0]), 3);
		ck_assert_str_eq(merge_first_run(&m, &m.items[0])->name, "one");
		ck_assert_uint_eq(m.levels[LEVEL_ERROR], 1);
		ck_assert_uint_eq(m.summary[ANOMALY_RACE][VERDICT_OBSERVED], 1);
	}
	ck_assert_ptr_null(m.runs[1].report);
	ck_assert_ptr_null(m.runs[3].report);
	merge_release(&m);
}
END_TEST

START_TEST(runs_whose_anomalies_are_not_listed_are_marked)
{
	enum { RUNS = 20, KEPT = 17, ALWAYS = 3 }; /* the one of the finding, and 16 for its other anomalies */
	struct merge m = {0};
	char text[100];
	for (int i = 0; i < RUNS; i++) {
		snprintf(text, sizeof text, "A|w(x)|1\nB|r(x)|6\nC|r(x)|7\nD|r(x)|8\nE|r(x)|%d\n", 20 + i);
		add(&m, text, "run", NULL);
	}
	finish(&m);
	ck_assert_uint_eq(m.count, 1);
	ck_assert_uint_eq(m.items[0].entry_count, ALWAYS + KEPT);
	for (int i = 0; i < RUNS; i++)
		ck_assert_int_eq(m.runs[i].unlisted, i >= KEPT);
	char *shown = written(&m, "text"), *json = written(&m, "json");
	ck_assert_ptr_nonnull(strstr(shown, "\nnot listed: further anomalies of these findings in 3 "));
	assert_valid(json);
	ck_assert_ptr_nonnull(strstr(json, "\"unlisted\": true"));
	free(json);
	free(shown);
	merge_release(&m);
}
END_TEST

START_TEST(ids_are_those_of_one_report_and_each_format_has_all_findings)
{
	struct merge m = {0};
	struct rt_error err = {0};
	uint32_t fresh = 0;
	add(&m, HIDDEN, "one", NULL);
	add(&m, OTHER, "two", NULL);
	ck_assert_int_eq(merge_add_incident(&m, 2, INCIDENT_CRASH, "the program is killed", "11", &fresh, &err), RT_OK);
	ck_assert_int_eq(merge_add_incident(&m, 1, INCIDENT_CRASH, "the program is killed", "11", &fresh, &err), RT_OK);
	ck_assert_uint_eq(fresh, 2);
	m.search = (struct merge_search){.reduction = "partial", .order = "bfs", .preemptions = 2, .states = 7};
	m.trials = calloc(1, sizeof *m.trials);
	ck_assert_ptr_nonnull(m.trials);
	m.trials[0] = (struct merge_trial){
	    .what = strdup("a.c:1 and a.c:2"), .runs = 3, .created = 2, .harm = {[INCIDENT_HANG] = 1}};
	memset(m.trials[0].fingerprint, '0', 16);
	m.trial_count = 1;
	m.plain_runs = 3;
	m.plain_harm[INCIDENT_STATUS] = 2;
	finish(&m);
	ck_assert_uint_eq(m.count, 3);
	ck_assert_uint_eq(m.items[0].run_count, 2);
	for (const struct report_format *f = report_formats; f->name; f++) {
		char *text = NULL, why[256];
		size_t size;
		FILE *out = open_memstream(&text, &size);
		enum rt_status status = merge_write(&m, f, false, out, &err);
		fclose(out);
		ck_assert_int_eq(status, f->write_merged ? RT_OK : RT_EUSAGE);
		if (!strcmp(f->name, "json")) {
			json_t *report = json_loads(text, 0, NULL), *schema = json_loads(report_schema, 0, NULL);
			ck_assert(report && schema);
			ck_assert_msg(schema_check(schema, report, why, sizeof why), "%s", why);
			ck_assert_uint_eq(json_array_size(json_object_get(report, "findings")), 3);
			ck_assert_uint_eq(json_array_size(json_object_get(report, "anomalies")), 2);
			json_decref(report);
			json_decref(schema);
		} else if (f->write_merged) {
			ck_assert_ptr_nonnull(strstr(text, "the program is killed"));
			ck_assert(strcmp(f->name, "text") != 0 ||
			          (strstr(text, "\nF2 ") && strstr(text, "\nF3 ") && strstr(text, "first in two")));
		}
		free(text);
	}
	ck_assert(!strcmp(m.runs[0].report->entries[0].id, "R1") != !strcmp(m.runs[1].report->entries[0].id, "R1"));
	merge_release(&m);
}
END_TEST

START_TEST(a_fingerprint_that_no_kept_report_has_any_more_is_no_finding)
{
	struct merge m = {0};
	add(&m, HIDDEN, "one", NULL);
	add(&m, HIDDEN, "two", NULL);
	ck_assert_ptr_null(m.runs[1].report);
	memset(m.runs[0].report->findings->items[0].fingerprint, 'f', 16); /* as a replay may change it */
	finish(&m);
	ck_assert_uint_eq(m.count, 1);
	ck_assert_ptr_nonnull(m.items[0].finding);
	merge_release(&m);
}
END_TEST

SUITE(merge)
{
	Suite *s = suite_create("merge");
	TCase *t = tcase_create("merge");
	tcase_add_test(t, the_run_that_shows_a_finding_best_stands_for_it);
	tcase_add_test(t, a_fingerprint_that_no_kept_report_has_any_more_is_no_finding);
	tcase_add_test(t, runs_whose_anomalies_are_not_listed_are_marked);
	tcase_add_test(t, ids_are_those_of_one_report_and_each_format_has_all_findings);
	suite_add_tcase(s, t);
	return s;
}
