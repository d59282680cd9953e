/* Reports, of traces in RAPID's STD text; every JSON report is checked against the schema. */
#include "lib/anomaly/goal.h"
#include "lib/report/report.h"
#include "lib/report/utf8.h"
#include "tests/unit/reported.h"
#include "tests/unit/suite.h"

START_TEST(what_is_held_to_predicted_says_why)
{
	struct fixture f;
	load(&f, two_races, &(struct analysis_options){0});
	struct anomaly *a = &f.analysis->anomalies.items[0];
	anomaly_cap(a, REASON_HIDDEN_ATOMIC, "fetch_and_\x1binc");
	anomaly_cap(a, REASON_PLAIN_MODULE, "libplain.so");
	anomaly_cap(a, REASON_UNRECORDED_THREAD, NULL);
	ck_assert_int_eq(a->verdict, VERDICT_PREDICTED);
	json_t *json = report_of(&f, &normal);
	json_t *held = get(json, "anomalies.1"); /* behind the one that is still observed */
	ck_assert_str_eq(STRING(held, "verdict"), "predicted");
	ck_assert_uint_eq(json_array_size(get(held, "reasons")), 3);
	ck_assert_str_eq(STRING(held, "reasons.0.reason"), "unrecorded-thread");
	ck_assert_ptr_null(json_object_get(get(held, "reasons.0"), "detail"));
	ck_assert_str_eq(STRING(held, "reasons.1.detail"), "fetch_and_\x1binc");
	ck_assert_str_eq(STRING(held, "reasons.2.text"),
	                 "may be ordered inside libplain.so, which is not instrumented");
	ck_assert_ptr_null(json_object_get(get(json, "anomalies.0"), "reasons"));
	json_decref(json);
	char *text = write_report(&f, "text", false, &normal);
	ck_assert_ptr_nonnull(strstr(text, "  only predicted: may be ordered by a thread that was not recorded; "
	                                   "may be ordered by the atomic instruction in fetch_and_"));
	ck_assert_ptr_null(strchr(text, 0x1b));
	free(text);
	text = write_report(&f, "html", false, &normal);
	ck_assert_ptr_nonnull(strstr(text, "<p>Only predicted: may be ordered"));
	ck_assert_ptr_null(strchr(text, 0x1b));
	free(text);
	unload(&f);
}
END_TEST

START_TEST(a_finding_is_told_by_its_race_though_a_violation_was_confirmed)
{
	struct fixture f;
	load(&f,
	     "M|fork(A)|8\nM|fork(B)|9\nA|acq(m)|1\nA|r(x)|2\nA|w(x)|3\nA|rel(m)|4\n"
	     "B|acq(m)|6\nB|w(x)|7\nB|rel(m)|7\nB|acq(m)|6\nB|w(x)|7\nB|rel(m)|7\nB|w(x)|5\n",
	     &(struct analysis_options){0});
	bool sequence = false;
	for (size_t i = 0; i < f.analysis->anomalies.count; i++)
		if (f.analysis->anomalies.items[i].kind == ANOMALY_ATOMICITY) {
			f.analysis->anomalies.items[i].verdict = VERDICT_CONFIRMED;
			sequence = true;
		}
	ck_assert(sequence);
	json_t *json = report_of(&f, &normal);
	ck_assert_uint_eq(json_array_size(get(json, "findings")), 1);
	ck_assert_int_eq(STRING(json, "findings.0.anomalies.0")[0], 'R');
	ck_assert_str_eq(STRING(json, "findings.0.verdict"), "confirmed");
	json_decref(json);
	unload(&f);
}
END_TEST

START_TEST(a_race_is_reported_with_both_sides)
{
	struct fixture f;
	load(&f, two_races, &(struct analysis_options){0});
	json_t *json = report_of(&f, &normal);
	ck_assert_str_eq(STRING(json, "schema"), "racetrace.report/1");
	ck_assert_str_eq(STRING(json, "trace.path"), f.path);
	ck_assert_int_eq(NUMBER(json, "trace.events"), 6);
	ck_assert_uint_eq(json_array_size(get(json, "anomalies")), 2);
	/* The races are both observed: order and identity come from the rank, whichever it is. */
	json_t *y = get(json, "anomalies.0");
	if (strcmp(STRING(y, "variable.name"), "y") != 0)
		y = get(json, "anomalies.1");
	ck_assert_str_eq(STRING(y, "variable.name"), "y");
	ck_assert_str_eq(STRING(y, "kind"), "race");
	ck_assert_str_eq(STRING(y, "pattern"), "r-w");
	ck_assert_str_eq(STRING(y, "verdict"), "observed");
	ck_assert(json_is_true(get(y, "evidence.hb")));
	ck_assert_str_eq(STRING(y, "evidence.witness"), "recorded");
	ck_assert_int_eq(NUMBER(y, "events.0.event"), 3);
	ck_assert_int_eq(NUMBER(y, "events.0.ordinal"), 3);
	ck_assert_str_eq(STRING(y, "events.0.thread"), "T1");
	ck_assert_str_eq(STRING(y, "events.0.op"), "read");
	ck_assert_str_eq(STRING(y, "events.0.source.file"), "a.c");
	ck_assert_int_eq(NUMBER(y, "events.0.source.line"), 12);
	ck_assert_int_eq(NUMBER(y, "events.0.source.column"), 5);
	ck_assert_str_eq(STRING(y, "events.0.locks.0.name"), "L");
	ck_assert_int_eq(NUMBER(y, "events.0.locks.0.event"), 2);
	ck_assert_int_eq(NUMBER(y, "events.0.locks.0.acquired.0.line"), 11);
	ck_assert_str_eq(STRING(y, "events.1.thread"), "T2");
	ck_assert_int_eq(NUMBER(y, "events.1.event"), 6);
	ck_assert_int_eq(NUMBER(json, "summary.race.observed"), 2);
	json_decref(json);
	unload(&f);
}
END_TEST

START_TEST(ids_count_from_the_worst_on)
{
	struct fixture f;
	load(&f, two_races, &(struct analysis_options){0});
	json_t *json = report_of(&f, &normal);
	ck_assert_str_eq(STRING(json, "anomalies.0.id"), "R1");
	ck_assert_str_eq(STRING(json, "anomalies.1.id"), "R2");
	ck_assert(json_number_value(get(json, "anomalies.0.rank")) >= json_number_value(get(json, "anomalies.1.rank")));
	json_decref(json);
	unload(&f);
}
END_TEST

/* Fingerprint of the one race of a trace. */
static void fingerprint(const char *std, char out[17])
{
	struct fixture f;
	load(&f, std, &(struct analysis_options){0});
	json_t *json = report_of(&f, &normal);
	ck_assert_uint_eq(json_array_size(get(json, "anomalies")), 1);
	snprintf(out, 17, "%s", STRING(json, "anomalies.0.fingerprint"));
	json_decref(json);
	unload(&f);
}

START_TEST(a_fingerprint_does_not_depend_on_threads_numbers_or_which_side_came_first)
{
	char one[17], other[17], another[17];
	fingerprint("T1|w(x)|push\nT2|r(x)|pop\n", one);
	fingerprint("A|w(z)|init\nB|r(x)|pop\nA|w(x)|push\n", other);
	fingerprint("T1|w(x)|push\nT2|r(x)|peek\n", another);
	ck_assert_str_eq(one, other);
	ck_assert_str_ne(one, another);
	fingerprint("T1|w(y)|push\nT2|r(y)|pop\n", another);
	ck_assert_str_ne(one, another);
}
END_TEST

START_TEST(bytes_that_are_not_utf8_do_not_break_the_report)
{
	struct fixture f;
	load(&f, "T\xff|w(x\xc3)|\xed\xa0\x80\nT2|w(x\xc3)|b\n", &(struct analysis_options){0});
	json_t *json = report_of(&f, &normal);
	ck_assert_str_eq(STRING(json, "anomalies.0.variable.name"), "x\xef\xbf\xbd");
	ck_assert_str_eq(STRING(json, "anomalies.0.events.0.thread"), "T\xef\xbf\xbd");
	json_decref(json);
	unload(&f);
}
END_TEST

static void assert_harmless(const char *text, bool color)
{
	for (const char *s = text; *s;) {
		uint32_t c;
		s += utf8_decode(s, &c);
		/* Our own sequences are ESC [ digits ; m. */
		if (color && c == 0x1b) {
			ck_assert(*s == '[');
			s += 1 + strspn(s + 1, "0123456789;");
			ck_assert(*s == 'm');
		} else {
			ck_assert_msg(c == '\n' || (c >= 0x20 && c < 0x7f) || (c >= 0xa0 && c != 0x202e), "U+%04x", c);
		}
	}
}

START_TEST(nothing_from_a_trace_steers_a_terminal)
{
	struct fixture f;
	load(&f,
	     "T\033[2J|w(\033]0;title\a)|\033[31m\xc2\x9b\nT2|w(\033]0;title\a)|\xe2\x80\xae\r.c:5\n"
	     "T2|acq(\033c)|q\nT2|w(y)|p\nT2|rel(\033c)|q\nT3|w(y)|r\n",
	     &(struct analysis_options){0});
	char *text = write_report(&f, "text", false, &normal);
	assert_harmless(text, false);
	ck_assert_ptr_nonnull(strstr(text, "T\\x1b[2J"));
	free(text);
	text = write_report(&f, "text", true, &normal);
	assert_harmless(text, true);
	ck_assert_ptr_null(strstr(text, "\033[2J"));
	free(text);
	unload(&f);
}
END_TEST

START_TEST(the_text_names_both_sides_their_locks_and_the_sum)
{
	struct fixture f;
	load(&f, two_races, &(struct analysis_options){0});
	char *text = write_report(&f, "text", false, &each);
	static const char *const parts[] = {"R1 data race (",
	                                    "), observed: y\n",
	                                    "read of 8 bytes by thread T1, event 3\n",
	                                    "a.c:12:5\n",
	                                    "holding L, acquired at event 2\n",
	                                    "holding no lock\n",
	                                    "unordered by hybrid",
	                                    "data races: 2 observed\n",
	                                    ": 6 events of 2 threads\n"};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		ck_assert_msg(strstr(text, parts[i]) != NULL, "no '%s' in:\n%s", parts[i], text);
	ck_assert_ptr_null(strchr(text, '\033'));
	free(text);
	unload(&f);
}
END_TEST

/* The index of the event with this number. */
static uint32_t event_of(const struct fixture *f, uint32_t number)
{
	for (uint32_t e = 0; e < f->analysis->model->event_count; e++)
		if (f->analysis->model->events[e].number == number)
			return e;
	ck_abort_msg("event %u was dropped", number);
	return 0;
}

START_TEST(every_kind_of_anomaly_can_be_written)
{
	struct fixture f;
	load(&f,
	     "T1|acq(L)|1\nT1|acq(M)|2\nT1|r(x)|3\nT1|rel(M)|4\nT1|rel(L)|5\n"
	     "T2|acq(M)|6\nT2|w(x)|7\nT2|acq(L)|8\nT2|rel(L)|9\nT2|rel(M)|10\nT1|w(x)|11\n",
	     &(struct analysis_options){.kinds = 1u << ANOMALY_RACE});
	f.analysis->kinds = (1u << ANOMALY_KINDS) - 1;
	struct anomaly deadlock = {.kind = ANOMALY_DEADLOCK,
	                           .pattern = "cycle",
	                           .verdict = VERDICT_PROVED,
	                           .witness = WITNESS_SYNCP,
	                           .count = 1,
	                           .event_count = 2,
	                           .events = {event_of(&f, 2), event_of(&f, 8)}};
	struct anomaly atomicity = {.kind = ANOMALY_ATOMICITY,
	                            .pattern = "r-w-w",
	                            .verdict = VERDICT_REFUTED,
	                            .count = 1,
	                            .event_count = 3,
	                            .events = {event_of(&f, 3), event_of(&f, 7), event_of(&f, 11)}};
	ck_assert_ptr_nonnull(anomaly_add(&f.analysis->anomalies, &deadlock));
	ck_assert_ptr_nonnull(anomaly_add(&f.analysis->anomalies, &atomicity));
	json_t *json = report_of(&f, &(struct report_options){.least = VERDICT_REFUTED}), *a;
	size_t i, deadlocks = 0, atomicities = 0;
	json_array_foreach(get(json, "anomalies"), i, a)
	{
		if (!strcmp(STRING(a, "kind"), "deadlock")) {
			deadlocks++;
			ck_assert_str_eq(STRING(a, "id"), "D1");
			ck_assert(json_is_null(get(a, "variable")));
			ck_assert_str_eq(STRING(a, "events.0.op"), "acquire");
			ck_assert_str_eq(STRING(a, "events.0.lock"), "M");
			ck_assert_str_eq(STRING(a, "events.0.locks.0.name"), "L");
		} else if (!strcmp(STRING(a, "kind"), "atomicity")) {
			atomicities++;
			ck_assert_uint_eq(json_array_size(get(a, "events")), 3);
			ck_assert_str_eq(STRING(a, "variable.name"), "x");
		}
	}
	ck_assert_uint_eq(deadlocks, 1);
	ck_assert_uint_eq(atomicities, 1);
	json_decref(json);
	/* Below the least verdict nothing is listed. */
	json = report_of(&f, &normal);
	json_array_foreach(get(json, "anomalies"), i, a)
	{
		ck_assert_str_ne(STRING(a, "kind"), "atomicity");
	}
	json_decref(json);
	char *text = write_report(&f, "text", false, &each);
	ck_assert_ptr_nonnull(strstr(text, "D1 deadlock (cycle), proved\n"));
	ck_assert_ptr_nonnull(strstr(text, "thread T1 waits for M, which T2 holds; event 2\n"));
	free(text);
	unload(&f);
}
END_TEST

START_TEST(a_schedule_is_runs_of_ordinals_that_end_right_before_its_goal)
{
	struct fixture f;
	/* z is one thread's own: no event of it is kept, but every ordinal of it must be run. */
	load(&f, "T1|w(z)|1\nT1|w(x)|2\nT1|w(z)|3\nT2|w(x)|4\nT2|w(y)|5\nT1|w(z)|6\nT1|w(y)|7\n",
	     &(struct analysis_options){.unproved = true});
	struct anomaly *race = NULL;
	for (size_t i = 0; i < f.analysis->anomalies.count; i++)
		if (f.analysis->anomalies.items[i].events[0] == event_of(&f, 5))
			race = &f.analysis->anomalies.items[i];
	ck_assert_ptr_nonnull(race);
	struct schedule *schedule = calloc(1, sizeof *schedule);
	ck_assert(schedule_push(schedule, f.analysis->model, event_of(&f, 4)));
	ck_assert(schedule_push(schedule, f.analysis->model, event_of(&f, 2)));
	race->schedule = schedule;
	json_t *json = report_of(&f, &normal), *a, *found = NULL;
	size_t i;
	json_array_foreach(get(json, "anomalies"), i, a)
	{
		if (!strcmp(STRING(a, "variable.name"), "y"))
			found = get(a, "schedule");
		else
			ck_assert(json_is_null(get(a, "schedule")));
	}
	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(json_array_size(get(found, "steps")), 2);
	ck_assert_str_eq(STRING(found, "steps.0.thread"), "T2");
	ck_assert_int_eq(NUMBER(found, "steps.0.from"), 1);
	ck_assert_int_eq(NUMBER(found, "steps.0.to"), 1);
	ck_assert_str_eq(STRING(found, "steps.1.thread"), "T1");
	ck_assert_int_eq(NUMBER(found, "steps.1.from"), 1);
	ck_assert_int_eq(NUMBER(found, "steps.1.to"), 4);
	ck_assert_str_eq(STRING(found, "goal.0.thread"), "T2");
	ck_assert_int_eq(NUMBER(found, "goal.0.ordinal"), 2);
	ck_assert_int_eq(NUMBER(found, "goal.1.ordinal"), 5);
	json_decref(json);
	unload(&f);
}
END_TEST

/* Everything that an STD file cannot say: blocks, stacks, thread creation, flags, an unusual end. */
static const char rich[] =
    "{\"schema\":\"racetrace.events/1\",\"threads\":[\"main\",{\"name\":\"main.1\",\"parent\":\"main\","
    "\"label\":\"wor\\u001bker\"}],\"order\":\"stamped\",\"command\":[\"./app\",\"-v\"],\"exit\":{\"signal\":11},"
    "\"complete\":false,\"incomplete_why\":\"the disk was full\"}\n"
    "{\"op\":\"begin\",\"object\":\"0x7000\",\"arg\":4096}\n"
    "{\"op\":\"enter\",\"location\":\"app.c:50\"}\n"
    "{\"op\":\"alloc\",\"object\":\"0x4000\",\"arg\":64,\"location\":\"app.c:7:9\"}\n"
    "{\"op\":\"leave\"}\n"
    "{\"op\":\"fork\",\"object\":\"main.1\",\"location\":\"app.c:20\"}\n"
    "{\"op\":\"acquire-shared\",\"object\":\"0x4020\",\"location\":\"app.c:21\"}\n"
    "{\"op\":\"write\",\"object\":\"0x4010\",\"arg\":4,\"flags\":[\"volatile\"],\"value\":5,\"location\":\"app.c:22\"}"
    "\n"
    "{\"op\":\"write\",\"object\":\"0x7100\",\"arg\":8,\"location\":\"app.c:23\"}\n"
    "{\"op\":\"enter\",\"thread\":\"main.1\",\"location\":\"app.c:60\"}\n"
    "{\"op\":\"atomic-load\",\"thread\":\"main.1\",\"object\":\"0x4010\",\"arg\":4,\"order\":\"relaxed\",\"location\":"
    "\"app.c:30\"}\n"
    "{\"op\":\"read\",\"thread\":\"main.1\",\"object\":\"0x7100\",\"arg\":8,\"location\":\"app.c:31\"}\n"
    "{\"op\":\"write\",\"thread\":\"main.1\",\"object\":\"0x4000\",\"arg\":64,\"flags\":[\"free\"],\"location\":\"app."
    "c:32\"}\n"
    "{\"op\":\"free\",\"thread\":\"main.1\",\"object\":\"0x4000\",\"location\":\"app.c:32\"}\n";

/* The listed anomaly whose second event is at this line. */
static json_t *anomaly_at(json_t *report, int line)
{
	size_t i;
	json_t *a;
	json_array_foreach(get(report, "anomalies"), i, a)
	{
		if (NUMBER(a, "events.1.source.line") == line)
			return a;
	}
	ck_abort_msg("no anomaly ends at line %d", line);
	return NULL;
}

START_TEST(what_a_recorded_trace_knows_is_in_the_report)
{
	struct fixture f;
	load(&f, rich, &(struct analysis_options){0});
	json_t *json = report_of(&f, &(struct report_options){.least = VERDICT_REFUTED}), *a = anomaly_at(json, 30);
	ck_assert_str_eq(STRING(json, "trace.order"), "stamped");
	ck_assert(json_is_false(get(json, "trace.complete")));
	ck_assert_str_eq(STRING(json, "trace.incomplete_why"), "the disk was full");
	ck_assert_str_eq(STRING(json, "trace.command.1"), "-v");
	ck_assert_str_eq(STRING(json, "trace.exit.kind"), "signal");
	ck_assert_int_eq(NUMBER(json, "trace.exit.value"), 11);
	ck_assert_str_eq(STRING(json, "trace.threads.1.created.by"), "main");
	ck_assert_int_eq(NUMBER(json, "trace.threads.1.created.stack.0.line"), 20);
	ck_assert_str_eq(STRING(a, "variable.kind"), "heap");
	ck_assert_str_eq(STRING(a, "variable.name"), "heap block from app.c:7 + 16");
	ck_assert_str_eq(STRING(a, "variable.address"), "0x4000");
	ck_assert_int_eq(NUMBER(a, "variable.size"), 64);
	ck_assert_int_eq(NUMBER(a, "variable.allocated.0.line"), 7);
	ck_assert_int_eq(NUMBER(a, "variable.allocated.1.line"), 50);
	ck_assert_str_eq(STRING(a, "events.0.locks.0.mode"), "shared");
	ck_assert_str_eq(STRING(a, "events.0.locks.0.name"), "heap block from app.c:7 + 32");
	ck_assert_str_eq(STRING(a, "events.0.value"), "0x5");
	ck_assert(json_is_true(get(a, "events.0.volatile")));
	ck_assert_str_eq(STRING(a, "events.1.order"), "relaxed");
	ck_assert_int_eq(NUMBER(a, "events.1.stack.1.line"), 60);
	ck_assert_str_eq(STRING(anomaly_at(json, 31), "variable.kind"), "stack");
	ck_assert_str_eq(STRING(anomaly_at(json, 31), "variable.name"), "stack of thread main");
	ck_assert(json_is_true(get(anomaly_at(json, 32), "events.1.free")));
	json_decref(json);
	char *text = write_report(&f, "text", false, &each);
	static const char *const parts[] = {
	    "holding heap block from app.c:7 + 32 as a reader, acquired at event 6", "by thread main.1 (wor\\x1bker)",
	    "allocated by thread main, event 3\n    #0 app.c:7:9\n    #1 app.c:50\n",
	    "was created by main, event 5\n    #0 app.c:20\n", "warning: the trace is incomplete: the disk was full;"};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		ck_assert_msg(strstr(text, parts[i]) != NULL, "no '%s' in:\n%s", parts[i], text);
	assert_harmless(text, false);
	free(text);
	unload(&f);
}
END_TEST

START_TEST(the_schema_checker_rejects_what_the_schema_does_not_allow)
{
	struct fixture f;
	char why[1024];
	load(&f, two_races, &(struct analysis_options){0});
	json_t *schema = read_json(report_schema), *json = report_of(&f, &normal);
	json_t *race = get(json, "anomalies.0");
	json_object_set_new(race, "id", json_string("X1"));
	ck_assert(!schema_check(schema, json, why, sizeof why));
	json_object_set_new(race, "id", json_string("R1"));
	ck_assert(schema_check(schema, json, why, sizeof why));
	json_object_set_new(get(race, "evidence"), "hb", json_integer(1));
	ck_assert(!schema_check(schema, json, why, sizeof why));
	json_object_set_new(get(race, "evidence"), "hb", json_true());
	json_object_set_new(get(race, "events.0"), "event", json_integer(0));
	ck_assert(!schema_check(schema, json, why, sizeof why));
	json_object_set_new(get(race, "events.0"), "event", json_integer(1));
	json_object_del(race, "verdict");
	ck_assert(!schema_check(schema, json, why, sizeof why));
	json_decref(json);
	json_decref(schema);
	unload(&f);
}
END_TEST

SUITE(report)
{
	Suite *s = suite_create("report");
	TCase *c = tcase_create("reports");
	tcase_add_test(c, what_is_held_to_predicted_says_why);
	tcase_add_test(c, a_finding_is_told_by_its_race_though_a_violation_was_confirmed);
	tcase_add_test(c, a_race_is_reported_with_both_sides);
	tcase_add_test(c, ids_count_from_the_worst_on);
	tcase_add_test(c, a_fingerprint_does_not_depend_on_threads_numbers_or_which_side_came_first);
	tcase_add_test(c, bytes_that_are_not_utf8_do_not_break_the_report);
	tcase_add_test(c, nothing_from_a_trace_steers_a_terminal);
	tcase_add_test(c, the_text_names_both_sides_their_locks_and_the_sum);
	tcase_add_test(c, every_kind_of_anomaly_can_be_written);
	tcase_add_test(c, a_schedule_is_runs_of_ordinals_that_end_right_before_its_goal);
	tcase_add_test(c, what_a_recorded_trace_knows_is_in_the_report);
	tcase_add_test(c, the_schema_checker_rejects_what_the_schema_does_not_allow);
	suite_add_tcase(s, c);
	return s;
}
