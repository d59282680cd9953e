/* racetrace schedule: prints the schedule of an anomaly, by steps or event by event, and checks any schedule. */
#include "cmd/base/command.h"
#include "cmd/base/common.h"
#include "cmd/base/memory.h"
#include "cmd/base/setting.h"
#include "cmd/perfetto.h"
#include "lib/base/input.h"
#include "lib/base/memory_file.h"
#include "lib/report/report.h"
#include "lib/schedule/script.h"
#include "lib/schedule/script_places.h"

#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_VERIFY = 256, OPT_EXPAND, OPT_PERFETTO };

struct settings {
	struct rt_trace_options input;
	const char *path, *trace, *anomaly;
	uint64_t max_memory; /* 0: derived from the free memory */
	bool verify, expand, perfetto;
};

static const struct argp_option options[] = {
    {"anomaly", 'a', "ID", 0, "Take the schedule of this anomaly, such as R1", 0},
    {"expand", OPT_EXPAND, NULL, 0, "List every event of the schedule, one a line", 0},
    {"perfetto", OPT_PERFETTO, NULL, 0,
     "Draw the schedule for Perfetto, as JSON: critical sections as slices, hand-overs of locks as flows", 0},
    {"trace", 't', "TRACE", 0, "The trace of the schedule, if FILE names none or it was moved", 0},
    {"verify", OPT_VERIFY, NULL, 0, "Check whether the events of the trace can occur in this order", 0},
    {0}};

static const char doc[] =
    "Prints the schedule of an anomaly, or checks a schedule. FILE is a report of 'racetrace analyze' in JSON, a "
    "trace, which is analyzed first, or a schedule in JSON ('-': standard input).\vA schedule says how far each thread "
    "runs before the next one does, and the goal that is then reached: a race (two accesses come next), a sequence of "
    "events or a deadlock. --verify prints 'valid', or 'not valid' with the event that breaks a rule, and the rule. "
    "Exit status: 0; 1 if the schedule is not valid; 2 for wrong use; 3 if a file cannot be read.";

static const struct cmd_setting settings[] = {
    CMD_SETS('a', struct settings, anomaly),       CMD_SETS('t', struct settings, trace),
    CMD_SETS(OPT_EXPAND, struct settings, expand), CMD_SETS(OPT_PERFETTO, struct settings, perfetto),
    CMD_SETS(OPT_VERIFY, struct settings, verify), {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct settings *s = state->input;
	if (cmd_set(settings, key, arg, state, s))
		return 0;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &s->input;
		state->child_inputs[1] = &s->max_memory;
		return 0;
	case ARGP_KEY_ARG:
		cmd_take_argument(state, &s->path, arg);
		return 0;
	case ARGP_KEY_END:
		cmd_need_argument(state, s->path, "file", "it is a report, a trace or a schedule");
		if (s->verify && s->expand)
			argp_error(state, "--verify and --expand exclude each other");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static size_t count_schedules(const struct report *r)
{
	size_t n = 0;
	for (size_t i = 0; i < r->count; i++)
		n += r->entries[i].anomaly->schedule != NULL;
	return n;
}

/* Analyzes the trace and reads the anomaly's schedule from the written report, as that of a report file is read. */
static enum rt_status schedule_of(const struct report *r, const struct settings *s, struct script **out,
                                  struct rt_error *err)
{
	size_t count = count_schedules(r);
	if (!s->anomaly && count > 1) /* the report of all may be large */
		return rt_error_set(err, RT_EUSAGE, "'%s' has %zu anomalies with a schedule: say which by --anomaly",
		                    s->path, count);
	struct rt_bytes text = {0};
	FILE *memory = rt_memory_file(&text), *again = NULL;
	enum rt_status status = RT_EMEMORY;
	if (memory) {
		status = report_find("json")->write(r, false, memory, err);
		if (fclose(memory) == 0 && !status)
			again = fmemopen(text.data, text.len, "r");
		else if (!status)
			status = RT_EMEMORY;
	}
	if (again) {
		status = script_read(again, s->path, s->anomaly, out, err);
		fclose(again);
	} else if (status == RT_OK || (err->status == RT_OK && status == RT_EMEMORY)) {
		status = rt_error_set(err, RT_EMEMORY, "no memory for the report");
	}
	rt_bytes_release(&text);
	return status;
}

static enum rt_status analyze(struct rt_trace *trace, const struct settings *s, struct script **out,
                              struct rt_error *err)
{
	uint64_t max_memory = s->max_memory;
	struct analysis_options analysis_options = {.limits.of[LIMIT_SCHEDULE_STEPS] = s->anomaly ? UINT64_MAX : 0,
	                                            .model = {.admit = cmd_admit, .admit_arg = &max_memory}};
	struct report_options report_options = {.least = VERDICT_PREDICTED, .only = s->anomaly};
	struct analysis *a;
	struct report *r;
	enum rt_status status = analysis_run(trace, &analysis_options, &a, err);
	if (status)
		return status;
	status = report_create(a, &report_options, &r, err);
	if (!status) {
		status = schedule_of(r, s, out, err);
		report_free(r);
	}
	analysis_free(a);
	return status;
}

static enum rt_status load(const struct settings *s, struct script **script, struct rt_trace **trace,
                           struct rt_error *err)
{
	FILE *file = rt_input_file(s->path, err);
	if (!file)
		return err->status;
	enum rt_status status;
	if (cmd_holds_script(file)) {
		status = script_read(file, !strcmp(s->path, "-") ? "standard input" : s->path, s->anomaly, script, err);
	} else {
		status = cmd_open_trace_of(file, s->path, &s->input, trace, err);
		if (!status)
			status = analyze(*trace, s, script, err);
	}
	fclose(file);
	return status;
}

/* --- judging --- */

/* An event that is named by its thread and ordinal, or by its number; and the trace's event if it was found. */
struct wanted {
	struct script_place place;
	struct rt_event event;
	bool found;
};

static void find_events(struct rt_trace *trace, struct wanted *wanted, size_t count)
{
	struct rt_pass pass;
	for (struct rt_event *e = rt_pass_first(&pass, trace, NULL); e; e = rt_pass_next(&pass))
		for (size_t k = 0; k < count; k++) {
			const struct script_place *p = &wanted[k].place;
			if (p->number ? p->number == e->number : p->thread == e->thread && p->ordinal == e->ordinal) {
				wanted[k].event = *e;
				wanted[k].found = true;
			}
		}
}

/* "main.1 5 (event 7, write x, app.c:12)" */
static void print_place(const struct rt_trace *trace, const struct wanted *w)
{
	const struct rt_trace_info *info = rt_trace_info(trace);
	const struct rt_event *e = &w->event;
	uint32_t thread = w->place.thread;
	printf("%s %" PRIu64, thread < info->thread_count ? cmd_text(info->threads[thread].name).text : "?",
	       w->found ? e->ordinal : w->place.ordinal);
	if (!w->found)
		return;
	enum rt_group group = rt_op_group(e->op);
	printf(" (event %" PRIu64 ", %s", e->number, rt_op_name(e->op));
	if (group == RT_GROUP_THREAD && e->op != RT_OP_BEGIN && e->addr < info->thread_count)
		printf(" %s", cmd_text(info->threads[e->addr].name).text);
	else if (group != RT_GROUP_THREAD && group != RT_GROUP_CODE && e->addr)
		printf(" %s", cmd_address(trace, e->addr).text);
	struct cmd_text position = cmd_position(trace, e->pc);
	printf("%s%s)", position.text[0] ? ", " : "", position.text);
}

static int print_verdict(struct rt_trace *trace, const struct script_verdict *v)
{
	struct wanted wanted[] = {{.place = v->fault ? v->at : v->first_uncertain}, {.place = v->other}};
	bool has[] = {wanted[0].place.thread != UINT32_MAX, wanted[1].place.thread != UINT32_MAX};
	if (has[0] || has[1])
		find_events(trace, wanted, 2);
	if (!v->fault) {
		fputs("valid", stdout);
		if (v->uncertain) {
			printf(", if %" PRIu32 " reads saw the writes that time stamps tell, the first at ",
			       v->uncertain);
			print_place(trace, &wanted[0]);
		}
		putchar('\n');
		return EXIT_CLEAN;
	}
	fputs("not valid: ", stdout);
	if (v->name)
		printf("thread '%s': ", cmd_text(v->name).text);
	else if (has[0])
		print_place(trace, &wanted[0]), fputs(": ", stdout);
	fputs(verify_fault_text(v->fault), stdout);
	if (has[1])
		fputs(": see ", stdout), print_place(trace, &wanted[1]);
	putchar('\n');
	return EXIT_FOUND;
}

static int verify(const struct script *script, struct rt_trace *trace)
{
	struct script_verdict v;
	struct rt_error err = {0};
	if (script_judge(script, trace, &v, &err))
		return cmd_fail(&err);
	return print_verdict(trace, &v);
}

/* --- printing --- */

static bool print_event(void *context, const struct rt_event *e, bool goal)
{
	cmd_print_event(context, e, goal ? "  <- goal" : "");
	return !ferror(stdout);
}

static int expand(const struct settings *s, const struct script *script, struct rt_trace *trace)
{
	struct rt_error err = {0};
	if (script_expand(script, trace, print_event, trace, &err)) {
		rt_error_context(&err, "'%s'", s->path);
		return cmd_fail(&err);
	}
	return EXIT_CLEAN;
}

static bool draw_event(void *context, const struct rt_event *e, bool goal)
{
	perfetto_event(context, e, goal);
	return !ferror(stdout);
}

static int draw(const struct settings *s, const struct script *script, struct rt_trace *trace)
{
	struct rt_error err = {0};
	struct perfetto *p = perfetto_begin(trace, stdout);
	if (!p) {
		rt_error_set(&err, RT_EMEMORY, "no memory for the events of '%s'", s->path);
		return cmd_fail(&err);
	}
	enum rt_status status = script_expand(script, trace, draw_event, p, &err);
	if (status)
		rt_error_context(&err, "'%s'", s->path);
	enum rt_status ended = perfetto_end(p, status ? NULL : &err);
	return status || ended ? cmd_fail(&err) : EXIT_CLEAN;
}

static int act(const struct settings *s, struct script *script, struct rt_trace **trace)
{
	struct rt_error err = {0};
	/* "-" was the standard input of the command that wrote the report. */
	const char *known = script->trace && strcmp(script->trace, "-") != 0 ? script->trace : NULL,
	           *path = s->trace ? s->trace : known;
	if (!s->verify && !s->expand && !s->perfetto) {
		/* Without the trace, the schedule is as it was. */
		if (!*trace && path && access(path, R_OK) == 0 && cmd_open_trace(path, &s->input, trace, &err))
			return cmd_fail(&err);
		if (*trace && script_unfold(script, *trace, &err))
			return cmd_fail(&err);
		/* Places are of a program, which a recorded trace names. */
		if (*trace && rt_trace_info(*trace)->command && script_find_places(script, *trace, &err))
			return cmd_fail(&err);
		if (script_write(script, stdout))
			return EXIT_CLEAN;
		rt_error_set(&err, RT_EMEMORY, "no memory to write the schedule");
		return cmd_fail(&err);
	}
	if (!path && !*trace) {
		rt_error_set(&err, RT_EUSAGE, "'%s' does not name its trace: give it with --trace", s->path);
		return cmd_fail(&err);
	}
	if (s->trace && *trace) {
		rt_trace_free(*trace);
		*trace = NULL;
	}
	if ((!*trace && cmd_open_trace(path, &s->input, trace, &err)) || script_unfold(script, *trace, &err))
		return cmd_fail(&err);
	return s->verify ? verify(script, *trace) : s->perfetto ? draw(s, script, *trace) : expand(s, script, *trace);
}

int cmd_schedule(int argc, char **argv)
{
	static const struct argp_child children[] = {
	    {&cmd_trace_argp, 0, NULL, 0}, {&cmd_memory_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {options, parse, "FILE", doc, children, NULL, NULL};
	struct settings s = {0};
	struct rt_error err = {0};
	struct script *script = NULL;
	struct rt_trace *trace = NULL;
	cmd_parse(&argp, argc, argv, 0, &s);
	int status = load(&s, &script, &trace, &err) || !script ? cmd_fail(&err) : act(&s, script, &trace);
	if (trace && (status == EXIT_CLEAN || status == EXIT_FOUND)) /* also of what could not be read meanwhile */
		cmd_warn_incomplete(trace);
	script_free(script);
	rt_trace_free(trace);
	return status;
}
