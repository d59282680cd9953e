/*
 * The whole way of a trace: opened, analyzed, reported in each format, its schedules judged and expanded, converted and
 * read again. The inputs are traces of text whose events are mutated (mutate.h), so most get all the way. What must
 * hold: what is written as JSON is JSON; a schedule that is called a proof is valid for its readers; a trace that
 * was converted to racetrace's own format is the same events with the same verdicts.
 */
#include "lib/judge/verify.h"
#include "lib/report/report.h"
#include "lib/schedule/script.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/text.h"

#include <jansson.h>
#include <xxhash.h>

/* Larger inputs are slow, and tell nothing that smaller ones do not. */
enum { LINES_MAX = 300, THREADS_MAX = 64, CELLS_MAX = 1 << 16, LISTED_MAX = 60 };

static void fail(const char *what)
{
	fprintf(stderr, "fuzz_whole: %s\n", what);
	abort();
}

/* Which options: by the bytes themselves, so that an input always means the same. */
static struct analysis_options options_of(const uint8_t *data, size_t size)
{
	uint64_t bits = XXH64(data, size, 0);
	struct analysis_options o = {.limits.of = {[LIMIT_SEARCH_EVENTS] = 2000, [LIMIT_SEARCH_EVENTS_TOTAL] = 20000},
	                             .prove = {.guess = bits & 1},
	                             .every = (bits >> 1 & 7) == 0,
	                             .exhaustive = (bits >> 4 & 7) == 0,
	                             .unproved = (bits >> 7 & 15) == 0,
	                             .asked = bits >> 11 & 1 ? UINT64_MAX : 0,
	                             .orders = bits >> 12 & 1 ? UINT32_MAX : 0,
	                             .set_memory_model = bits >> 13 & 1,
	                             .memory_model = (enum rt_memory_model)(bits >> 14 & 1)};
	static const enum model_regions regions[] = {REGIONS_LOCKS, REGIONS_LOCKS, REGIONS_FUNCTIONS,
	                                             REGIONS_ANNOTATED};
	o.model.regions = regions[bits >> 15 & 3];
	if (o.unproved)
		o.exhaustive = false;
	return o;
}

/* The schedule of a listed anomaly, by way of the report, as a user reads it. */
static void use_schedule(struct rt_trace *trace, const struct report_entry *entry, char *text, size_t size)
{
	struct script *script;
	struct script_verdict verdict;
	struct rt_error err = {0};
	FILE *in = fmemopen(text, size, "r");
	bool read = in && !script_read(in, "report", entry->id, &script, &err);
	if (in)
		fclose(in);
	if (!read)
		fail("a report's schedule cannot be read");
	bool proved = entry->anomaly->verdict == VERDICT_PROVED;
	if (script_judge(script, trace, &verdict, &err) ? err.status != RT_EMEMORY : proved && verdict.fault)
		fail(err.message[0] ? err.message : verify_fault_text(verdict.fault));
	script_free(script);
}

static void use_report(struct rt_trace *trace, const struct report *r)
{
	struct rt_error err = {0};
	for (int i = 0; report_formats[i].name; i++) {
		char *text = NULL;
		size_t size = 0, schedules = 0;
		FILE *out = open_memstream(&text, &size);
		enum rt_status status = report_formats[i].write(r, i % 2, out, &err);
		fclose(out);
		bool json = !strcmp(report_formats[i].name, "json");
		if (!status && (json || !strcmp(report_formats[i].name, "sarif"))) {
			json_error_t where;
			json_t *value = json_loadb(text, size, 0, &where);
			if (!value)
				fail(where.text);
			json_decref(value);
		}
		for (size_t k = 0; json && !status && k < r->count && schedules < 4; k++)
			if (r->entries[k].anomaly->schedule && !r->entries[k].anomaly->guess && ++schedules)
				use_schedule(trace, &r->entries[k], text, size);
		free(text);
	}
}

/* True if the judge accepts the trace's own order: what it refuses, such as a lock with two holders, no program does.
 */
static bool is_run(const struct model *m)
{
	struct verdict_of_judge v = {.fault = VERIFY_NO_EVENT};
	struct judge *j = judge_create(m);
	struct schedule all = {.events = m->event_count, .count = m->event_count};
	all.steps = calloc((size_t)m->event_count + 1, sizeof *all.steps);
	for (uint32_t e = 0; all.steps && e < m->event_count; e++)
		all.steps[e] = (struct schedule_step){model_thread_of(m, e), m->events[e].pos, m->events[e].pos};
	if (j && all.steps && m->event_count) {
		const struct goal last = {GOAL_SEQUENCE, 1, {m->event_count - 1}};
		judge_verify(j, &all, &last, &v);
	}
	free(all.steps);
	judge_free(j);
	return !v.fault;
}

/* Analyzes and reports; false: refused, with a message. */
static bool analyze(struct rt_trace *trace, const struct analysis_options *options, bool report,
                    uint64_t summary[ANOMALY_KINDS][VERDICTS])
{
	struct report_options report_options = {.least = VERDICT_REFUTED, .every = options->every};
	struct analysis *a;
	struct report *r;
	struct rt_error err = {0};
	if (analysis_run(trace, options, &a, &err)) {
		if (!err.message[0])
			fail("an analysis failed without a message");
		return false;
	}
	/* Of what no program does, provers may promise too much; the judge refuses it then. */
	if (a->proofs.rejected && !rt_trace_info(trace)->warning_count && is_run(a->model))
		fail("a prover's schedule was refused");
	memcpy(summary, a->summary, sizeof a->summary);
	report &= a->anomalies.count <= LISTED_MAX;
	if (report && !report_create(a, &report_options, &r, &err)) {
		use_report(trace, r);
		report_free(r);
	}
	analysis_free(a);
	return true;
}

static void remove_folder(void);
static char folder[] = "/tmp/fuzz_whole.XXXXXX", file[64];
static void remove_folder(void)
{
	unlink(file);
	rmdir(folder);
}

/* To racetrace's own format and back. */
static struct rt_trace *convert(struct rt_trace *trace, const struct rt_event *events, size_t n)
{
	static struct rt_event again[FUZZ_EVENTS];
	struct rt_trace *back;
	struct rt_error err = {0};
	if (!file[0]) {
		if (!mkdtemp(folder))
			abort();
		snprintf(file, sizeof file, "%s/trace.zst", folder);
		atexit(remove_folder);
	}
	if (rt_export_file(trace, file, &err) || rt_trace_open(file, &back, &err))
		fail(err.message);
	if (fuzz_read(back, again) != n)
		fail("a converted trace has another number of events");
	for (size_t i = 0; i < n; i++) {
		const struct rt_event *x = &events[i], *y = &again[i];
		if (x->op != y->op || x->thread != y->thread || x->ordinal != y->ordinal || x->addr != y->addr ||
		    x->arg != y->arg || x->order != y->order || x->flags != y->flags || x->value != y->value)
			fail("a converted trace has other events");
	}
	return back;
}

/* What is quadratic in these is known to be, and bounded; it is not what this looks for. */
static bool is_small(const struct rt_trace *trace, const struct rt_event *events, size_t n)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < n; i++)
		bytes += rt_op_is_access(events[i].op) || events[i].op == RT_OP_ALLOC ? events[i].arg : 0;
	return n < FUZZ_EVENTS && rt_trace_info(trace)->thread_count <= THREADS_MAX && bytes < CELLS_MAX * 8;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rt_event events[FUZZ_EVENTS];
	static struct mutate_text lines[MUTATE_LINES];
	uint64_t summary[ANOMALY_KINDS][VERDICTS], again[ANOMALY_KINDS][VERDICTS];
	if (mutate_split(data, size, lines) > LINES_MAX)
		return -1;
	struct rt_trace *trace = fuzz_open(data, size);
	if (!trace)
		return 0;
	size_t n = fuzz_read(trace, events);
	struct analysis_options options = options_of(data, size);
	if (is_small(trace, events, n) && analyze(trace, &options, true, summary)) {
		const struct rt_trace_info *info = rt_trace_info(trace);
		bool whole = info->complete, zeroed = info->zeroed;
		options.set_memory_model = true;
		options.memory_model = info->model;
		struct rt_trace *back = convert(trace, events, n);
		if (whole && !zeroed && rt_trace_info(back)->model == info->model &&
		    options.memory_model == info->model && analyze(trace, &options, false, summary) &&
		    analyze(back, &options, false, again) && memcmp(summary, again, sizeof summary) != 0)
			fail("a converted trace has other verdicts");
		rt_trace_free(back);
	}
	rt_trace_free(trace);
	return 0;
}
