/*
 * Windows of random traces with every kind of synchronisation. What a window shows is true of the whole trace: its
 * conflicting pairs are those that the whole trace leaves unordered, by every relation that decides a verdict, and what
 * is proved there can be done by a reordering of the whole trace, as the oracle finds by trying them.
 */
#include "lib/analysis/windows.h"
#include "lib/report/report.h"
#include "lib/report/steps.h"
#include "lib/schedule/script.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

#include <check.h>

static const unsigned mixes[] = {
    ORACLE_LOCKS,
    ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_READERS,
    ORACLE_LOCKS | ORACLE_CONDITIONS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_CONDITIONS,
    ORACLE_LOCKS | ORACLE_BARRIERS | ORACLE_SEMAPHORES | ORACLE_ONCES | ORACLE_ANNOTATIONS,
    ORACLE_LOCKS | ORACLE_ATOMICS | ORACLE_HALF_ACCESSES,
    ORACLE_LOCKS | ORACLE_VALUES,
    ORACLE_ALL,
    ORACLE_ALL | ORACLE_STRAYS,
};
enum { TRACES = 8000, MIXES = sizeof mixes / sizeof *mixes, LENGTH = 30 };

struct tally {
	uint64_t windows, doubtful, pairs, proved, observed, sequences, deadlocks, schedules;
};

static int place(const struct model *m, uint32_t e)
{
	return (int)m->events[e].number - 1;
}

/* The trace of the events that the model keeps: a thread's next event is its next one that another thread may see. */
struct reduced {
	struct oracle_trace t;
	int place[ORACLE_EVENTS];
};

static void reduce(const struct oracle_trace *t, const struct model *m, struct reduced *out)
{
	out->t = *t;
	out->t.count = 0;
	memset(out->place, 0xff, sizeof out->place);
	for (uint32_t e = 0; e < m->event_count; e++) {
		if (e && m->events[e].number == m->events[e - 1].number)
			continue;
		out->place[place(m, e)] = out->t.count;
		out->t.events[out->t.count++] = t->events[place(m, e)];
	}
}

static struct analysis *analyze_whole(const struct oracle_trace *t, struct memory_trace *memory)
{
	struct analysis_options options = {.unproved = true, .model.all_cells = false};
	struct analysis *a;
	struct rt_error err = {0};
	ck_assert_msg(!analysis_run(random_trace(memory, t), &options, &a, &err), "%s", err.message);
	return a;
}

static char *const names[] = {"main", "main.1", "main.2", "main.3", "main.4", "main.5", "main.6", "main.7"};
_Static_assert(sizeof names / sizeof *names >= ORACLE_THREADS, "each thread has a name");

static struct analysis *analyze_window(const struct oracle_trace *t, struct memory_trace *memory, uint64_t first,
                                       uint64_t last, bool every, bool exact, struct window *w)
{
	struct analysis_options options = {.every = every, .unproved = every};
	struct window_survey survey;
	struct analysis *a;
	struct rt_error err = {0};
	struct rt_trace *trace = random_trace(memory, t);
	trace->info.exact = exact;
	for (int i = 0; i < t->threads; i++)
		memory->threads[i].name = names[i];
	ck_assert_msg(!window_survey(trace, &survey, &err), "%s", err.message);
	ck_assert_uint_eq(survey.events, (uint64_t)t->count);
	ck_assert_msg(!windows_one(&survey, first, last, &options, w, &a, &err), "%s", err.message);
	window_survey_release(&survey);
	return a;
}

static bool is_in(const struct window *w, int at)
{
	return (uint64_t)at + 1 >= w->first && (uint64_t)at + 1 <= w->last;
}

/* The candidates are the pairs of the stretch that hybrid leaves unordered; happens-before is that of the whole trace.
 */
static void check_relations(const struct oracle_trace *t, struct oracle *o, uint64_t first, uint64_t last,
                            struct tally *tally)
{
	static oracle_pairs found;
	struct memory_trace memory;
	struct window w;
	struct analysis *a = analyze_window(t, &memory, first, last, true, true, &w);
	struct model *m = a->model;
	memset(found, 0, sizeof found);
	tally->windows++;
	tally->doubtful += w.doubtful;
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *x = &a->anomalies.items[i];
		int e1 = place(m, x->events[0]), e2 = place(m, x->events[1]);
		ck_assert_msg(x->verdict >= VERDICT_PREDICTED, "refuted by a window");
		ck_assert_msg(is_in(&w, e1), "an event of the opening is part of an anomaly in\n%s", random_text(t));
		if (x->kind == ANOMALY_RACE)
			found[e1][e2] = true;
	}
	const struct segment_order *hb = facts_hb(&a->facts);
	ck_assert_ptr_nonnull(hb);
	for (uint32_t e1 = 0; e1 < m->event_count && !w.doubtful; e1++)
		for (uint32_t e2 = e1 + 1; e2 < m->event_count; e2++) {
			int i = place(m, e1), j = place(m, e2);
			if (i < 0 || !oracle_conflict(t, i, j))
				continue;
			tally->pairs++;
			if (found[i][j] != o->hybrid[i][j])
				ck_abort_msg("%d to %d %s (%d, %d) of\n%s", (int)first, (int)last,
				             found[i][j] ? "finds" : "does not find", i + 1, j + 1, random_text(t));
			if (segment_order_before(hb, e1, e2) == o->hb[i][j])
				ck_abort_msg("%d to %d: happens-before of (%d, %d) is another one in\n%s", (int)first,
				             (int)last, i + 1, j + 1, random_text(t));
		}
	analysis_free(a);
}

static void check_shown(const struct reduced *r, const struct oracle_trace *t, struct oracle *o, const struct model *m,
                        const struct window *w, const struct anomaly *x, struct tally *tally)
{
	int events[ANOMALY_EVENTS_MAX];
	for (uint32_t i = 0; i < x->event_count; i++) {
		ck_assert(is_in(w, place(m, x->events[i])));
		events[i] = r->place[place(m, x->events[i])];
		ck_assert_int_ge(events[i], 0);
	}
	int e1 = place(m, x->events[0]), e2 = place(m, x->events[1]);
	if (x->kind == ANOMALY_HANG)
		return;
	if (x->kind == ANOMALY_RACE && x->verdict == VERDICT_OBSERVED) {
		bool observed = t->program ? o->hb[e1][e2] : o->shb[e1][e2];
		ck_assert_msg(observed, "%d to %d: (%d, %d) is observed in\n%s", (int)w->first, (int)w->last, e1 + 1,
		              e2 + 1, random_text(t));
		tally->observed++;
		return;
	}
	bool sequence = x->kind == ANOMALY_ATOMICITY || x->kind == ANOMALY_ASV;
	if (!oracle_reaches(&r->t, sequence, events, (int)x->event_count))
		ck_abort_msg("%d to %d: %s %s %d %d %d is %s but impossible in\n%s", (int)w->first, (int)w->last,
		             anomaly_kind_name(x->kind), x->pattern, e1 + 1, e2 + 1,
		             x->event_count > 2 ? place(m, x->events[2]) + 1 : 0, verdict_name(x->verdict),
		             random_text(t));
	tally->proved += x->kind == ANOMALY_RACE;
	tally->sequences += sequence;
	tally->deadlocks += x->kind == ANOMALY_DEADLOCK;
}

/* The schedule, as a report writes it, is one of the whole trace: the judge accepts it behind the recorded events. */
static void check_schedule(const struct oracle_trace *t, const struct report *r, const struct window *w,
                           const struct anomaly *x, struct tally *tally)
{
	const struct rt_trace_info *info = rt_trace_info(r->analysis->trace);
	const struct model *m = r->analysis->model;
	struct script *s = calloc(1, sizeof *s);
	struct script_verdict v;
	struct steps steps;
	struct rt_error err = {0};
	ck_assert(steps_init(&steps, m, r->descriptions, x));
	*s = (struct script){.recorded = m->recorded,
	                     .names = calloc(info->thread_count, sizeof *s->names),
	                     .name_count = info->thread_count,
	                     .steps = calloc(steps.count + 1, sizeof *s->steps),
	                     .step_count = steps.count,
	                     .goal_count = x->event_count,
	                     .kind_given = true,
	                     .kind = goal_of(x).kind};
	for (uint32_t i = 0; i < info->thread_count; i++)
		s->names[i] = strdup(info->threads[i].name);
	for (size_t i = 0; i < steps.count; i++)
		s->steps[i] = (struct script_step){steps.items[i].thread, steps.items[i].from, steps.items[i].to, {0}};
	for (uint32_t i = 0; i < x->event_count; i++)
		s->goal[i] = (struct script_event){model_thread_of(m, x->events[i]),
		                                   description_ordinal(r->descriptions, m->events[x->events[i]].number),
		                                   {0}};
	ck_assert_msg(!script_unfold(s, r->analysis->trace, &err), "%s", err.message);
	ck_assert_msg(!script_judge(s, r->analysis->trace, &v, &err), "%s", err.message);
	if (v.fault)
		ck_abort_msg("%d to %d: the schedule of %s %s %d %d is refused at %d: %s\n%s", (int)w->first,
		             (int)w->last, anomaly_kind_name(x->kind), x->pattern, place(m, x->events[0]) + 1,
		             x->event_count > 1 ? place(m, x->events[1]) + 1 : 0, (int)v.at.number,
		             verify_fault_text(v.fault), random_text(t));
	tally->schedules += w->first > 1;
	steps_release(&steps);
	script_free(s);
}

static void check_schedules(const struct oracle_trace *t, struct analysis *a, const struct window *w,
                            struct tally *tally)
{
	struct report_options options = {.least = VERDICT_PREDICTED, .anomalies = true};
	struct report *r;
	struct rt_error err = {0};
	ck_assert_msg(!report_create(a, &options, &r, &err), "%s", err.message);
	for (size_t i = 0; i < r->count; i++)
		if (r->entries[i].anomaly->verdict > VERDICT_PREDICTED && r->entries[i].anomaly->schedule)
			check_schedule(t, r, w, r->entries[i].anomaly, tally);
	report_free(r);
}

static void check_verdicts(const struct oracle_trace *t, struct oracle *o, const struct reduced *r, uint64_t first,
                           uint64_t last, bool exact, struct tally *tally)
{
	struct memory_trace memory;
	struct window w;
	struct analysis *a = analyze_window(t, &memory, first, last, false, exact, &w);
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *x = &a->anomalies.items[i];
		ck_assert_int_ge(x->verdict, VERDICT_PREDICTED);
		ck_assert(x->verdict > VERDICT_PREDICTED || reasons_has(&x->reasons, REASON_WINDOWED));
		ck_assert(!x->schedule || w.whole_begins || !w.doubtful);
		ck_assert(x->schedule || x->verdict != VERDICT_PROVED);
		ck_assert(x->verdict == VERDICT_PREDICTED || !w.doubtful);
		ck_assert(exact || x->verdict != VERDICT_PROVED);
		if (x->verdict > VERDICT_PREDICTED)
			check_shown(r, t, o, a->model, &w, x, tally);
	}
	check_schedules(t, a, &w, tally);
	analysis_free(a);
}

static void check_trace(const struct oracle_trace *t, uint64_t seed, struct tally *tally)
{
	static struct oracle o;
	static struct reduced r;
	struct memory_trace memory;
	uint64_t count = (uint64_t)t->count, first = 1 + seed * 7 % (count / 2 + 1),
	         last = first + 5 + seed * 3 % (count - first + 1);
	if (last > count)
		last = count;
	memset(&o, 0, sizeof o);
	oracle_run(t, &o);
	struct analysis *whole = analyze_whole(t, &memory);
	reduce(t, whole->model, &r);
	analysis_free(whole);
	check_relations(t, &o, first, last, tally);
	check_verdicts(t, &o, &r, first, last, true, tally);
	check_verdicts(t, &o, &r, first, last, false, tally);
	check_verdicts(t, &o, &r, first, count, true, tally);
}

START_TEST(windows_show_what_is_true_of_the_whole_trace)
{
	struct tally tally = {0};
	struct oracle_trace t;
	for (uint64_t seed = 1; seed <= random_seeds(TRACES, MIXES); seed++) {
		memset(&t, 0, sizeof t);
		oracle_random(&t, seed * MIXES + (uint64_t)_i, mixes[_i], LENGTH);
		t.program = seed % 2;
		uint64_t ordinals[ORACLE_THREADS] = {0};
		for (int i = 0; i < t.count; i++)
			t.events[i].ordinal = ++ordinals[t.events[i].thread];
		check_trace(&t, seed, &tally);
	}
	assert_enough(tally.pairs, 40, TRACES);
	assert_enough(tally.proved + tally.observed + tally.sequences, 80, TRACES);
	assert_enough(tally.schedules, 40, TRACES);
	ck_assert_uint_lt(tally.doubtful, tally.windows);
}
END_TEST

/* A row of loads that see the same write: the model of the whole trace keeps two of them, that of a window others. */
START_TEST(a_race_of_a_late_load_of_a_row_has_a_schedule_in_the_whole_trace)
{
	enum { LOADS = 5, X = 1000 };
	struct oracle_trace t = {.threads = 2, .program = _i};
	struct tally tally = {0};
	struct memory_trace memory;
	for (uint32_t i = 0; i < LOADS; i++)
		t.events[t.count++] = (struct rt_event){
		    .thread = 1, .op = RT_OP_ATOMIC_LOAD, .addr = X, .arg = 8, .pc = 1, .ordinal = i + 1, .order = 2};
	t.events[t.count++] =
	    (struct rt_event){.thread = 0, .op = RT_OP_WRITE, .addr = X, .arg = 8, .pc = 2, .ordinal = 1};
	for (int i = 0; i < t.count; i++)
		t.events[i].number = t.events[i].stamp = (uint64_t)i + 1;
	for (uint64_t first = 1; first <= LOADS; first++) {
		struct window w;
		struct analysis *a = analyze_window(&t, &memory, first, (uint64_t)t.count, false, true, &w);
		ck_assert_uint_eq(a->anomalies.count, 1);
		check_schedules(&t, a, &w, &tally);
		analysis_free(a);
	}
	ck_assert_uint_eq(tally.schedules, LOADS - 1);
}
END_TEST

/* What is observed of the waits that the trace ends with, in the window from event `first` on. */
static void check_waits(const char *text, uint64_t first, uint64_t deadlocks, uint64_t hangs)
{
	struct analysis_options options = {0};
	struct window_survey survey;
	struct window w;
	struct analysis *a;
	struct rt_error err = {0};
	struct rt_trace *trace = scratch_trace(text);
	ck_assert_msg(!window_survey(trace, &survey, &err), "%s", err.message);
	ck_assert_msg(!windows_one(&survey, first, survey.events, &options, &w, &a, &err), "%s", err.message);
	ck_assert_msg(a->summary[ANOMALY_DEADLOCK][VERDICT_OBSERVED] == deadlocks &&
	                  a->summary[ANOMALY_HANG][VERDICT_OBSERVED] == hangs,
	              "from event %d on of\n%s", (int)first, text);
	window_survey_release(&survey);
	analysis_free(a);
	rt_trace_free(trace);
}

#define TWO "{\"schema\":\"racetrace.events/1\",\"threads\":[\"main\",\"b\"]}\n"
#define THREE "{\"schema\":\"racetrace.events/1\",\"threads\":[\"main\",\"b\",\"c\"]}\n"
#define E(op, thread, object, more) "{\"op\":\"" op "\",\"thread\":\"" thread "\",\"object\":\"" object "\"" more "}\n"
#define FOR(what) ",\"for\":\"" what "\""
#define WRITE(thread) E("write", thread, "0x100", ",\"size\":4")
#define END(thread) E("end", thread, "0x0", "")
#define LOST_SIGNAL                                                                                                    \
	E("acquire", "main", "x", "")                                                                                  \
	E("wait-begin", "main", "c", ",\"arg\":\"x\"")                                                                 \
	E("block", "main", "c", FOR("wait-end"))

START_TEST(a_window_knows_only_the_waits_that_locks_close)
{
	/* A handler that was installed before the window may send the signal; so may a thread that goes on. */
	check_waits(TWO E("hb-before", "main", "0x200e", "") WRITE("main") END("b") LOST_SIGNAL, 1, 0, 0);
	check_waits(TWO E("hb-before", "main", "0x200e", "") WRITE("main") END("b") LOST_SIGNAL, 2, 0, 0);
	check_waits(THREE WRITE("c") WRITE("main") END("b") LOST_SIGNAL, 1, 0, 0);
	check_waits(THREE WRITE("c") WRITE("main") END("b") LOST_SIGNAL, 2, 0, 0);
	check_waits(TWO WRITE("main") END("b") LOST_SIGNAL, 1, 0, 1);
	/* Locks that were taken before it. */
	static const char ring[] = THREE E("acquire", "main", "x", "") E("acquire", "b", "y", "") WRITE("c")
	    E("block", "main", "y", FOR("acquire")) E("block", "b", "x", FOR("acquire"));
	for (uint64_t first = 1; first <= 5; first++)
		check_waits(ring, first, 1, 0);
}
END_TEST

/* Threads that wait to read are behind a writer only if a reader had the lock when they came. Here a writer had. */
START_TEST(a_window_does_not_know_what_came_before_a_wait)
{
	static const char text[] =
	    THREE E("acquire", "c", "l", "") E("acquire", "b", "m", "") E("release", "c", "l", "")
	        E("acquire-shared", "main", "l", "") WRITE("main") E("block", "c", "l", FOR("acquire"))
	            E("block", "b", "l", FOR("acquire-shared")) E("block", "main", "m", FOR("acquire"));
	for (uint64_t first = 1; first <= 8; first++)
		check_waits(text, first, 0, 0);
}
END_TEST

/* A message behind a flag: as a witness needs the flag to be read before it is set, a schedule would show nothing. */
START_TEST(a_window_has_no_schedule_of_what_reads_forbid)
{
	struct analysis_options options = {.kinds = 1u << ANOMALY_RACE, .every = true};
	struct window_survey survey;
	struct window w;
	struct analysis *a;
	struct rt_error err = {0};
	struct rt_trace *trace = scratch_trace(TWO E("write", "main", "0x200", ",\"size\":4") WRITE("main") E(
	    "read", "b", "0x100", ",\"size\":4") E("read", "b", "0x200", ",\"size\":4"));
	ck_assert_msg(!window_survey(trace, &survey, &err), "%s", err.message);
	ck_assert_msg(!windows_one(&survey, 1, survey.events, &options, &w, &a, &err), "%s", err.message);
	ck_assert(w.whole_begins);
	uint32_t predicted = 0;
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *x = &a->anomalies.items[i];
		predicted += x->verdict == VERDICT_PREDICTED;
		ck_assert(x->verdict != VERDICT_PREDICTED || !x->schedule);
	}
	ck_assert_uint_eq(predicted, 1);
	window_survey_release(&survey);
	analysis_free(a);
	rt_trace_free(trace);
}
END_TEST

/* Of all events: all of it, the largest number included. */
START_TEST(a_window_has_its_share_of_the_limits)
{
	static struct oracle_trace t;
	static struct memory_trace memory;
	struct analysis_options options = {0};
	struct window_survey survey;
	struct window w;
	struct analysis *a;
	struct rt_error err = {0};
	for (int i = 0; i < LIMITS; i++)
		options.limits.of[i] = UINT64_MAX;
	const struct limits whole = limits_complete(&options.limits);
	oracle_random(&t, 1, ORACLE_ALL, 20);
	ck_assert_msg(!window_survey(random_trace(&memory, &t), &survey, &err), "%s", err.message);
	ck_assert_msg(!windows_one(&survey, 1, survey.events, &options, &w, &a, &err), "%s", err.message);
	for (int i = 0; i < LIMITS; i++)
		ck_assert_uint_eq(a->limits.of[i], whole.of[i]);
	analysis_free(a);
	window_survey_release(&survey);
}
END_TEST

static enum rt_status admit_up_to(void *allowed, const struct rt_trace_info *info, const struct model_size *size,
                                  struct rt_error *err)
{
	return analysis_memory(info, size) <= *(uint64_t *)allowed ? RT_OK : rt_error_set(err, RT_ELARGE, "too large");
}

struct taken {
	uint64_t needs[64], last;
	size_t count;
};

static enum rt_status take_need(struct analysis *a, const struct window *w, void *arg, struct rt_error *err)
{
	struct taken *t = arg;
	(void)err;
	ck_assert_uint_lt(t->count, 64);
	ck_assert_uint_eq(w->first, t->last + 1);
	t->last = w->last;
	t->needs[t->count++] = analysis_memory(rt_trace_info(a->trace), &a->model->size);
	analysis_free(a);
	return RT_OK;
}

/* Four fifths of what events are allowed, whatever their number. */
START_TEST(windows_are_as_large_as_the_memory_allows)
{
	enum { EVENTS = 120000, VARIABLES = 49 };
	struct rt_event *events = calloc(EVENTS, sizeof *events);
	struct memory_trace memory;
	struct rt_error err = {0};
	ck_assert_ptr_nonnull(events);
	/* Each of two threads has two accesses in a section of its own lock. */
	for (uint32_t i = 0; i < EVENTS; i++) {
		static const enum rt_op ops[] = {RT_OP_ACQUIRE, RT_OP_READ, RT_OP_WRITE, RT_OP_RELEASE};
		enum rt_op op = ops[i / 2 % 4];
		events[i] = (struct rt_event){.op = op,
		                              .thread = i % 2,
		                              .addr = rt_op_is_access(op) ? 0x1000 + 8 * (i % VARIABLES) : i % 2 + 1,
		                              .arg = rt_op_is_access(op) ? 8 : 0,
		                              .pc = i % 7,
		                              .number = i + 1,
		                              .stamp = i + 1};
	}
	struct rt_trace *trace = memory_trace(&memory, events, EVENTS, 2);
	uint64_t base = analysis_memory(rt_trace_info(trace), &(struct model_size){0});
	for (uint64_t more = 1 << 20; more <= 3 << 20; more += 1 << 18) {
		struct taken taken = {.count = 0};
		uint64_t allowed = base + more;
		struct analysis_options options = {.kinds = 1u << ANOMALY_DEADLOCK, .memory = allowed};
		options.model.admit = admit_up_to;
		options.model.admit_arg = &allowed;
		ck_assert_msg(!windows_analyze(trace, &options, take_need, &taken, &err), "%s", err.message);
		ck_assert_uint_eq(taken.last, EVENTS);
		ck_assert_uint_gt(taken.count, 1);
		for (size_t i = 0; i + 1 < taken.count; i++)
			ck_assert_uint_ge((taken.needs[i] - base) * 5, more * 4);
	}
	free(events);
}
END_TEST

SUITE(window)
{
	Suite *s = suite_create("window");
	TCase *c = tcase_create("windows");
	tcase_set_timeout(c, 600);
	tcase_add_loop_test(c, windows_show_what_is_true_of_the_whole_trace, 0, MIXES);
	tcase_add_test(c, a_window_has_its_share_of_the_limits);
	tcase_add_loop_test(c, a_race_of_a_late_load_of_a_row_has_a_schedule_in_the_whole_trace, 0, 2);
	tcase_add_test(c, a_window_knows_only_the_waits_that_locks_close);
	tcase_add_test(c, a_window_does_not_know_what_came_before_a_wait);
	tcase_add_test(c, windows_are_as_large_as_the_memory_allows);
	tcase_add_test(c, a_window_has_no_schedule_of_what_reads_forbid);
	suite_add_tcase(s, c);
	return s;
}
