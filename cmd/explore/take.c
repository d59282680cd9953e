/* The runs of an exploration that have ended: analyzed, kept, merged, and how to repeat each; see explore.h. */
#include "cmd/base/common.h"
#include "cmd/base/known.h"
#include "cmd/base/memory.h"
#include "cmd/explore/explore.h"
#include "lib/base/memory_file.h"
#include "lib/base/output.h"
#include "lib/explore/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

/* ---- How to repeat a run ---- */

/* A word as the shell reads it. */
static void put_word(FILE *out, const char *word)
{
	bool plain = *word && !word[strcspn(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!")];
	fputs(plain ? " " : " '", out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	if (!plain)
		fputc('\'', out);
}

/* Options of `racetrace explore` that the strategy goes by. */
static void put_search(const struct exploring *x, FILE *out)
{
	if (!x->o.strategy->came)
		return;
	fprintf(out, " --reduction=%s --search=%s", executions_reduction_name(x->o.reduction),
	        executions_order_name(x->o.order));
	if (x->o.preemptions != UINT32_MAX)
		fprintf(out, " --preemptions=%" PRIu32, x->o.preemptions);
}

/* True if the run is repeated by an exploration: `record` alone cannot, or it would have more options than a person
 * copies from a report. */
static bool needs_exploration(const struct run_order *order)
{
	enum { OPTIONS_MAX = 12 };
	size_t count = 0;
	bool learns = false;
	for (; order->options && order->options[count]; count++)
		learns |= !strncmp(order->options[count], "--learn", 7);
	return order->plan || order->file[0] || learns || count > OPTIONS_MAX;
}

static void put_repeat(const struct exploring *x, const struct run_order *order, uint32_t number, FILE *out)
{
	bool explores = needs_exploration(order);
	if (explores) {
		fprintf(out, "racetrace explore --strategy=%s --seed=%" PRIu64 " --runs=%" PRIu32, x->o.strategy->name,
		        x->o.seed, number - x->first);
		put_search(x, out);
		if (x->o.depth)
			fprintf(out, " --depth=%" PRIu32, x->o.depth);
		if (x->o.before) {
			fputs(" --before", out);
			put_word(out, x->o.before);
		}
		if (x->o.input) {
			char input[PATH_MAX + 16];
			snprintf(input, sizeof input, "--input=%s", x->o.input);
			put_word(out, input);
		}
	} else {
		fputs("racetrace record", out);
	}
	for (size_t i = 0; !explores && order->options && order->options[i]; i++)
		if (!strcmp(order->options[i], "--outcome"))
			i++;
		else if (strcmp(order->options[i], "--strategy=native") != 0)
			put_word(out, order->options[i]);
	put_word(out, "--");
	for (char *const *word = x->o.program; *word; word++)
		put_word(out, *word);
	if (!explores && x->o.input && strcmp(x->o.input, "-") != 0) {
		fputs(" <", out);
		put_word(out, x->o.input);
	}
}

/* The command that repeats a run, which is the caller's. NULL without memory. */
static char *repeat_text(const struct exploring *x, const struct run_order *order, uint32_t number)
{
	struct rt_bytes text = {0};
	FILE *out = rt_memory_file(&text);
	if (!out)
		return NULL;
	put_repeat(x, order, number, out);
	fputc('\0', out);
	if (fclose(out) == 0)
		return (char *)text.data;
	rt_bytes_release(&text);
	return NULL;
}

/* ---- What it was ---- */

static uint64_t number_of(const json_t *json, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(json, key));
	return n > 0 ? (uint64_t)n : 0;
}

static void read_outcome(const struct run_slot *s, struct run_told *told)
{
	json_t *json = json_load_file(s->outcome, 0, NULL);
	const char *end = json_string_value(json_object_get(json, "end"));
	snprintf(told->end, sizeof told->end, "%s", end ? end : "");
	told->controlled =
	    !json || json_is_true(json_object_get(json, "controlled")) || (!s->order.strategy && !s->order.plan);
	told->created = number_of(json, "created");
	told->thrashed = number_of(json, "thrashed");
	told->postponed = number_of(json, "postponed");
	json_decref(json);
}

/* What `record` itself has written, as the reason why there is no trace. */
void explore_failed(struct exploring *x, const struct run_end *end)
{
	size_t n;
	const char *own = run_own_line(end, &n);
	x->failed++;
	if (x->failure[0])
		return;
	if (own)
		snprintf(x->failure, sizeof x->failure, "%.*s", (int)n, own);
	else
		snprintf(x->failure, sizeof x->failure, "%s",
		         end->kind == RUN_NOT_STARTED ? strerror(end->value) : "there is no trace");
}

/* Analyzes a trace. *a and *r are the caller's; NULL on failure, which is the trace's fault but for memory. */
static enum rt_status analyze(struct exploring *x, const char *path, struct analysis **a, struct report **r,
                              struct rt_error *err)
{
	uint64_t max_memory = 0;
	struct analysis_options analysis = {.model = {.admit = cmd_admit, .admit_arg = &max_memory},
	                                    .prove.guess = x->o.strategy->ended != NULL,
	                                    .limits.of[LIMIT_SCHEDULE_STEPS] = x->o.strategy->ended ? UINT64_MAX : 0,
	                                    .jobs = x->o.jobs};
	struct report_options report = {.least = VERDICT_PREDICTED, .source_root = x->o.source_root};
	struct rt_trace *trace;
	*a = NULL;
	*r = NULL;
	cmd_known_use(x->o.known, &report);
	enum rt_status status = cmd_open_trace(path, NULL, &trace, err);
	if (status)
		return status;
	status = analysis_run(trace, &analysis, a, err);
	if (!status)
		status = report_create(*a, &report, r, err);
	if (status) {
		analysis_free(*a);
		rt_trace_free(trace);
		*a = NULL;
	}
	return status;
}

static bool shows_stuck(const struct report *r)
{
	return r->summary[ANOMALY_DEADLOCK][VERDICT_OBSERVED] || r->summary[ANOMALY_HANG][VERDICT_OBSERVED];
}

/* To another file system. */
static enum rt_status copy_trace(const char *from, const char *to, struct rt_error *err)
{
	enum { PIECE = 1 << 30 };
	struct rt_output out;
	int fd = open(from, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return rt_error_set(err, RT_ESYSTEM, "cannot read '%s': %s", from, strerror(errno));
	enum rt_status status = rt_output_create(&out, to, RT_OUTPUT_FILE, err);
	if (!status) {
		ssize_t n;
		do
			n = sendfile(out.fd, fd, NULL, PIECE);
		while (n > 0 || (n < 0 && errno == EINTR));
		if (n < 0) {
			status = rt_error_set(err, RT_ESYSTEM, "cannot write '%s': %s", to, strerror(errno));
			rt_output_discard(&out);
		} else {
			status = rt_output_commit(&out, err);
		}
	}
	close(fd);
	return status;
}

/*
 * Moves the slot's trace to where it stays until the end. Where that cannot be, it stays in the slot. False: there is
 * no trace.
 */
static bool keep_trace(struct exploring *x, const char *from, uint32_t number, int process, char *to, size_t size)
{
	struct rt_error err = {0};
	if (process)
		snprintf(to, size, "%s/run-%" PRIu32 ".%d.zst", x->o.traces ? x->o.traces : x->folder, number, process);
	else
		snprintf(to, size, "%s/run-%" PRIu32 ".zst", x->o.traces ? x->o.traces : x->folder, number);
	if (access(from, R_OK) != 0)
		return false;
	if (rename(from, to) == 0)
		return true;
	if (errno != EXDEV)
		rt_error_set(&err, RT_ESYSTEM, "cannot write '%s': %s", to, strerror(errno));
	else if (copy_trace(from, to, &err) == RT_OK)
		return true; /* what is in the slot is overwritten */
	if (!x->unkept++)
		snprintf(x->why_unkept, sizeof x->why_unkept, "%s", err.message);
	snprintf(to, size, "%s", from);
	return true;
}

/* The traces of the processes that the run made. */
static enum rt_status take_children(struct exploring *x, const struct run_slot *s, const struct merge_source *of,
                                    struct rt_error *err)
{
	char pattern[600], path[4200], name[400];
	glob_t found;
	enum rt_status status = RT_OK;
	snprintf(pattern, sizeof pattern, "%s/trace.zst.*", s->folder);
	if (glob(pattern, 0, NULL, &found) != 0)
		return RT_OK;
	for (size_t i = 0; !status && i < found.gl_pathc; i++) {
		struct analysis *a;
		struct report *r;
		struct rt_error why = {0};
		struct merge_source source = *of;
		source.process = true;
		source.end = NULL;
		source.name = name;
		snprintf(name, sizeof name, "%s, process %zu", of->name, i + 2);
		if (!keep_trace(x, found.gl_pathv[i], x->ended, (int)i + 2, path, sizeof path))
			continue;
		if (analyze(x, path, &a, &r, &why) == RT_OK)
			status = merge_add(&x->merge, &source, r, NULL, err);
		if (!status && !x->merge.runs[x->merge.run_count - 1].report)
			unlink(path);
	}
	globfree(&found);
	return status;
}

/* Whether the run has only needed longer than it was given. */
static enum rt_status is_slow(const struct run_end *end, struct rt_trace *trace, bool *slow, struct rt_error *err)
{
	*slow = false;
	return end->kind == RUN_TIMEOUT && end->grew ? progress_of(trace, slow, err) : RT_OK;
}

/* The run's own trace: the strategy sees it before it is merged, and what is new in it afterwards. */
static enum rt_status take_trace(struct exploring *x, struct run_slot *s, const char *path,
                                 const struct merge_source *source, const struct run_told *told, bool *stuck,
                                 struct rt_error *err)
{
	const struct explore_strategy *strategy = x->o.strategy;
	struct run_result result = {
	    .order = &s->order, .slot = s, .told = told, .t = s->t, .harm = explore_harm(try_end(s->t), told->end)};
	struct analysis *a = NULL;
	struct report *r = NULL;
	struct rt_error why = {0};
	enum rt_status status = path ? analyze(x, path, &a, &r, &why) : RT_OK;
	if (status == RT_EMEMORY)
		return rt_error_set(err, status, "%s", why.message);
	if (status && !x->failure[0])
		snprintf(x->failure, sizeof x->failure, "%s", why.message);
	x->failed += status != RT_OK;
	result.analysis = a;
	if (a && !x->uninstrumented[0] && rt_trace_info(a->trace)->binary)
		snprintf(x->uninstrumented, sizeof x->uninstrumented, "%s", x->o.program[0]);
	*stuck = r && shows_stuck(r);
	bool slow = false;
	status = a ? is_slow(try_end(s->t), a->trace, &slow, err) : RT_OK;
	if (slow) { /* it is no hang */
		result.harm = INCIDENTS;
		*stuck = true;
		x->slow++;
	}
	if (!status && strategy->ended)
		status = strategy->ended(x, &result, err);
	if (r) {
		enum rt_status added = merge_add(&x->merge, source, r, &result.fresh, err);
		status = status ? status : added;
	} else if (!status) {
		status = merge_add_untraced(&x->merge, source, err);
	}
	result.analysis = NULL;
	if (!status && strategy->merged)
		status = strategy->merged(x, &result, err);
	return status;
}

enum rt_status explore_take(struct exploring *x, struct run_slot *s, struct rt_error *err)
{
	const struct run_end *end = try_end(s->t);
	char name[300], ended[128], path[4200] = "";
	struct run_told told;
	bool stuck = false;
	if (end->kind == RUN_INTERRUPTED)
		return RT_OK;
	x->ended++;
	read_outcome(s, &told);
	x->uncontrolled += !told.controlled;
	x->thrashed += told.thrashed;
	x->postponed += told.postponed;
	enum rt_status status = x->o.strategy->came ? x->o.strategy->came(x, &s->order, err) : RT_OK;
	if (status)
		return status;
	if (s->order.unseen && explore_harm(end, told.end) == INCIDENTS) /* its status 0 may be the one that differs */
		return explore_end(x, end, told.end, false, 0, err);
	explore_end_text(end, told.end, ended, sizeof ended);
	char *repeat = repeat_text(x, &s->order, x->ended);
	if (!repeat)
		return rt_error_set(err, RT_EMEMORY, "no memory to explore");
	snprintf(name, sizeof name, "%s%srun %" PRIu32, x->label ? x->label : "", x->label ? ", " : "", x->ended);
	struct merge_source source = {.name = name,
	                              .strategy = s->order.plan       ? x->o.strategy->name
	                                          : s->order.strategy ? s->order.strategy
	                                                              : "native",
	                              .seed = s->order.seed,
	                              .repeat = repeat,
	                              .end = ended,
	                              .duration_ns = end->duration_ns,
	                              .postponed = told.postponed,
	                              .thrashed = told.thrashed};
	bool traced = keep_trace(x, try_trace_path(s->t), x->ended, 0, path, sizeof path);
	if (!traced)
		explore_failed(x, end);
	status = take_trace(x, s, traced ? path : NULL, &source, &told, &stuck, err);
	uint32_t number = (uint32_t)x->merge.run_count;
	if (!status && traced)
		status = explore_end(x, end, told.end, stuck, number, err);
	if (!status && traced && !x->merge.runs[number - 1].report)
		unlink(path);
	if (!status)
		status = take_children(x, s, &source, err);
	free(repeat);
	return status;
}
