/* Options of racetrace analyze; see options.h. */
#include "cmd/analyze/options.h"

#include "cmd/base/command.h"
#include "cmd/base/common.h"
#include "cmd/base/memory.h"
#include "cmd/base/setting.h"
#include "lib/report/findings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_ANOMALY = 'a',
	OPT_JOBS = 'j',
	OPT_EVERY = 256,
	OPT_ALL,
	OPT_ALLOW_INCOMPLETE,
	OPT_SOURCE_ROOT,
	OPT_ANOMALIES,
	OPT_KINDS,
	OPT_ORDERS,
	OPT_ONLY_ORDERS,
	OPT_FAIL_ON,
	OPT_PATTERN,
	OPT_REGIONS,
	OPT_GRANULARITY,
	OPT_MODEL,
	OPT_BUDGET,
	OPT_LIMIT,
	OPT_LIMITS,
	OPT_GUESS,
	OPT_EXHAUSTIVE,
	OPT_SCHEMA,
	OPT_STATS,
	OPT_CONFIRM,
	OPT_SHARD,
	OPT_FINDING,
	OPT_NO_CACHE
};

static const struct argp_option options[] = {
    {"anomalies", OPT_ANOMALIES, NULL, 0, "List anomalies with stacks and evidence in the text report, not findings",
     0},
    {"verbose", 'v', NULL, 0, "Show whole stacks in the text report, also calls within libraries", 0},
    {"anomaly", OPT_ANOMALY, "ID", 0, "List this anomaly only, such as R1", 0},
    {"finding", OPT_FINDING, "ID", 0, "List this finding only, such as F1, and its anomalies", 0},
    {"every", OPT_EVERY, NULL, 0, "List every pair of events, instead of one for each pair of source positions", 0},
    {"all", OPT_ALL, NULL, 0, "List conditional and refuted anomalies too", 0},
    {"allow-incomplete", OPT_ALLOW_INCOMPLETE, NULL, 0,
     "Exit with status 0, not 4, if nothing is found in a trace that was cut short or has no events", 0},
    {"kinds", OPT_KINDS, "LIST", 0, "Search for these kinds of anomaly only: race,atomicity,asv,deadlock,hang", 0},
    {"orders", OPT_ORDERS, "LIST", 0, "Compute these orders only, such as hybrid,hb,shb; all if not given", 0},
    {"only-orders", OPT_ONLY_ORDERS, NULL, 0,
     "List the pairs that one of the --orders leaves unordered, with any verdict; the exit status is 1 if any is "
     "listed, unless --fail-on is given",
     0},
    {"confirm", OPT_CONFIRM, NULL, 0, "Run the program again with the schedules of what is observed or proved", 0},
    {"fail-on", OPT_FAIL_ON, "WHAT", 0,
     "Exit with status 1 on a finding of this level or above: error (the default), warning, note; or on an anomaly of "
     "this verdict or a stronger one: confirmed, observed, proved, predicted, conditional, refuted; or never",
     0},
    {"pattern", OPT_PATTERN, "FILE", 0,
     "Search for the patterns of FILE as well, see racetrace-patterns(5); or, with w-w-w, for that built-in pattern",
     0},
    {"regions", OPT_REGIONS, "WHAT", 0,
     "Regions that are meant to be atomic: critical sections (locks, the default), functions or annotated regions", 0},
    {"granularity", OPT_GRANULARITY, "WHAT", 0,
     "Look for races by byte (the default), or by object first: a heap block, a global or 64 bytes of a stack whose "
     "accesses all hold a common lock is left out, and only the others are looked at by byte; nothing is "
     "proved then",
     0},
    {"model", OPT_MODEL, "MODEL", 0,
     "Races that count as observed: c11, those that the happens-before of C and C++ leaves unordered; or sc, those of "
     "them that SHB leaves unordered too; the trace's own model if not given",
     0},
    {"budget", OPT_BUDGET, "N[,TOTAL]", 0, "Execute at most N events to prove one candidate, and at most TOTAL for all",
     0},
    {"limit", OPT_LIMIT, "NAME=N", 0, "Set one of the limits that --limits lists; may be given several times", 0},
    {"limits", OPT_LIMITS, NULL, 0,
     "Print the limits of an analysis, with their defaults, and what each leaves out, and exit", 0},
    {"guess", OPT_GUESS, NULL, 0, "Give predicted anomalies the schedule that PECAN computes, though it is not valid",
     0},
    {"jobs", OPT_JOBS, "N", 0,
     "Use N processes to prove the candidates (1), and of 2 on one more thread that reads the trace; or analyze N of "
     "several traces at once. The report does not depend on N",
     0},
    {"shard", OPT_SHARD, "I/N", 0,
     "Decide the I-th of N shares of the candidates, and write a part instead of a report; 'racetrace merge' makes one "
     "report of all N parts",
     0},
    {"no-cache", OPT_NO_CACHE, NULL, 0,
     "Prove all candidates again: neither use nor write TRACE.cache, where what took long to prove is kept for the "
     "next "
     "analysis of the same trace",
     0},
    {"exhaustive", OPT_EXHAUSTIVE, NULL, 0,
     "Decide all races and deadlocks at once by visiting every state that the trace's events can reach; for small "
     "traces",
     0},
    {"schema", OPT_SCHEMA, NULL, 0, "Print the JSON Schema of the report and exit", 0},
    {"source-root", OPT_SOURCE_ROOT, "DIR", 0,
     "Show source lines of files below DIR too; otherwise only of files that have not changed since the recording", 0},
    {"stats", OPT_STATS, NULL, 0, "Print to standard error the size of the work and the time of each step", 0},
    {0}};

static const char doc[] =
    "Reports the data races, atomicity violations, atomic-set serializability violations and deadlocks that TRACE "
    "allows. TRACE is a file of 'racetrace record', JSON lines or RAPID's STD text, or a folder of them. Several are "
    "one "
    "report, which says of each finding in which of them it was seen.\v"
    "Exit status: 0 if nothing is at or above what --fail-on says; 1 if something is; 2 for wrong use; 3 if TRACE "
    "cannot be read; 4 if nothing is found and the trace was cut short or has no events.";

static const char *kind_at(int i)
{
	return i < ANOMALY_KINDS ? anomaly_kind_name((enum anomaly_kind)i) : NULL;
}
static const char *order_at(int i)
{
	return orders[i].name;
}
/* What --fail-on takes: verdicts, never, levels of findings. */
static const char *fail_on_at(int i)
{
	if (i < VERDICTS)
		return verdict_name((enum verdict)i);
	return i == VERDICTS            ? "never"
	       : i <= VERDICTS + LEVELS ? finding_level_name((enum finding_level)(i - VERDICTS - 1))
	                                : NULL;
}
static const char *const region_names[] = {
    [REGIONS_LOCKS] = "locks", [REGIONS_FUNCTIONS] = "functions", [REGIONS_ANNOTATED] = "annotated", NULL};
static const char *const granularity_names[] = {"byte", "object", NULL};

static const char *model_at(int i)
{
	return i < RT_MODELS ? rt_model_name((enum rt_memory_model)i) : NULL;
}

/* "N" or "N,TOTAL". */
static void parse_budget(struct argp_state *state, struct limits *limits, const char *text)
{
	uint64_t numbers[2] = {0, 0};
	const char *at = text;
	for (int i = 0; i < 2 && (!i || *at == ','); i++) {
		char *end;
		errno = 0;
		at += i; /* the comma */
		numbers[i] = strtoull(at, &end, 10);
		if (end == at || *at < '0' || *at > '9' || errno || !numbers[i])
			argp_error(state, "'%s' is not a budget: N or N,TOTAL, numbers of events", text);
		at = end;
	}
	if (*at)
		argp_error(state, "'%s' is not a budget: N or N,TOTAL, numbers of events", text);
	limits->of[LIMIT_SEARCH_EVENTS] = numbers[0];
	limits->of[LIMIT_SEARCH_EVENTS_TOTAL] = numbers[1];
}

/* "NAME=N". */
static void parse_limit(struct argp_state *state, struct limits *limits, const char *text)
{
	size_t length = strcspn(text, "=");
	enum limit limit = limit_find(text, length);
	if (limit == LIMITS)
		argp_error(state, "'%.*s' is not a limit that can be set: see --limits", (int)length, text);
	else
		limits->of[limit] =
		    cmd_number(state, limit_infos[limit].name, text + length + (text[length] == '='), 1, UINT32_MAX);
}

/* "I/N". */
static void parse_shard(struct argp_state *state, struct analyze_settings *s, const char *text)
{
	enum { SHARDS_MAX = 65536 };
	char digits[8] = "";
	size_t length = strcspn(text, "/");
	if (length >= sizeof digits || !text[length]) {
		argp_error(state, "'%s' is not a share: I/N, such as 1/4", text);
		return;
	}
	memcpy(digits, text, length);
	s->of = cmd_number(state, "the number of shares", text + length + 1, 1, SHARDS_MAX);
	s->shard = cmd_number(state, "the share", digits, 1, s->of);
}

/* The text of an option's help, with its defaults. argp frees it. */
static char *help_text(int key, const char *text, void *input)
{
	char *longer = NULL;
	(void)input;
	if (key != OPT_BUDGET)
		return (char *)(uintptr_t)text;
	if (asprintf(&longer, "%s (%" PRIu64 ",%" PRIu64 ")", text, limit_infos[LIMIT_SEARCH_EVENTS].value,
	             limit_infos[LIMIT_SEARCH_EVENTS_TOTAL].value) < 0)
		return (char *)(uintptr_t)text;
	return longer;
}

bool analyze_is_many(const struct analyze_settings *s)
{
	return s->traces.count > 1 || s->traces.folder;
}

static void finish(struct argp_state *state, struct analyze_settings *s)
{
	if (s->schema || s->limits)
		return;
	cmd_need_argument(state, s->traces.count ? s->traces.paths[0] : NULL, "trace", CMD_TRACE_HINT);
	if (analyze_is_many(s) && (s->anomaly || s->finding || s->confirm || s->only_orders || s->anomalies ||
	                           s->analysis.every || s->all || s->show_stats))
		argp_error(
		    state,
		    "several traces are one list of findings: --anomaly, --finding, --anomalies, --all, --every, "
		    "--only-orders, --confirm and --stats are for one");
	if (s->of && (analyze_is_many(s) || s->confirm || s->only_orders))
		argp_error(state, "--shard is for one trace, without --confirm and --only-orders");
	if (s->of && (s->reports.count != 1 || !s->reports.items[0].path || !strcmp(s->reports.items[0].path, "-")))
		argp_error(state, "--shard writes one part: name it with --output=FILE");
	if (s->only_orders && !s->analysis.orders)
		argp_error(state, "--only-orders needs --orders");
	if (s->only_orders && s->analysis.exhaustive)
		argp_error(state, "--only-orders and --exhaustive exclude each other");
	s->analysis.unproved = s->only_orders;
	s->analysis.user = s->user.items;
	if (s->user.count && s->analysis.kinds)
		s->analysis.kinds |= UINT32_C(1) << ANOMALY_PATTERN;
}

/* The name of a pattern that is off by default, or a file of patterns. */
static error_t add_pattern(struct argp_state *state, struct analyze_settings *s, const char *arg)
{
	struct rt_error err = {0};
	for (int i = 0; patterns[i].name; i++)
		if (patterns[i].asked && !strcmp(patterns[i].name, arg)) {
			s->analysis.asked |= UINT64_C(1) << i;
			return 0;
		}
	if (pattern_list_read(&s->user, arg, &err))
		argp_failure(state, EXIT_USAGE, 0, "%s", err.message);
	return 0;
}

static const struct cmd_setting settings[] = {
    CMD_SETS(OPT_ANOMALY, struct analyze_settings, anomaly),
    CMD_SETS(OPT_FINDING, struct analyze_settings, finding),
    CMD_SETS('v', struct analyze_settings, verbose),
    CMD_SETS(OPT_ANOMALIES, struct analyze_settings, anomalies),
    CMD_SETS(OPT_EVERY, struct analyze_settings, analysis.every),
    CMD_SETS(OPT_SOURCE_ROOT, struct analyze_settings, source_root),
    CMD_SETS(OPT_ALLOW_INCOMPLETE, struct analyze_settings, allow_incomplete),
    CMD_SETS(OPT_ALL, struct analyze_settings, all),
    CMD_SETS(OPT_ONLY_ORDERS, struct analyze_settings, only_orders),
    CMD_SETS(OPT_CONFIRM, struct analyze_settings, confirm),
    CMD_SETS(OPT_LIMITS, struct analyze_settings, limits),
    CMD_SETS(OPT_GUESS, struct analyze_settings, analysis.prove.guess),
    CMD_SETS(OPT_EXHAUSTIVE, struct analyze_settings, analysis.exhaustive),
    CMD_SETS(OPT_NO_CACHE, struct analyze_settings, no_cache),
    CMD_SETS(OPT_SCHEMA, struct analyze_settings, schema),
    CMD_SETS(OPT_STATS, struct analyze_settings, show_stats),
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct analyze_settings *s = state->input;
	struct rt_error err = {0};
	if (cmd_set(settings, key, arg, state, s))
		return 0;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &s->input;
		state->child_inputs[1] = &s->max_memory;
		state->child_inputs[2] = &s->reports;
		state->child_inputs[3] = &s->known;
		return 0;
	case OPT_KINDS:
		s->analysis.kinds = cmd_names(state, "a kind", arg, kind_at);
		return 0;
	case OPT_ORDERS:
		s->analysis.orders = cmd_names(state, "an order", arg, order_at);
		return 0;
	case OPT_FAIL_ON:
		s->fail_on = cmd_name(state, "a level or verdict", arg, strlen(arg), fail_on_at);
		s->fail_on_given = true;
		return 0;
	case OPT_PATTERN:
		return add_pattern(state, s, arg);
	case OPT_REGIONS:
		s->analysis.model.regions = (enum model_regions)cmd_word(state, "a kind of region", region_names, arg);
		return 0;
	case OPT_GRANULARITY:
		s->analysis.model.objects = cmd_word(state, "a granularity", granularity_names, arg) > 0;
		return 0;
	case OPT_MODEL:
		s->analysis.memory_model = (enum rt_memory_model)cmd_name(state, "a model", arg, strlen(arg), model_at);
		s->analysis.set_memory_model = true;
		return 0;
	case OPT_BUDGET:
		parse_budget(state, &s->analysis.limits, arg);
		return 0;
	case OPT_LIMIT:
		parse_limit(state, &s->analysis.limits, arg);
		return 0;
	case OPT_JOBS:
		s->analysis.jobs = cmd_jobs(state, arg);
		return 0;
	case OPT_SHARD:
		parse_shard(state, s, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (cmd_inputs_add(&s->traces, arg, &err))
			exit(cmd_fail(&err));
		return 0;
	case ARGP_KEY_END:
		finish(state, s);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&cmd_trace_argp, 0, NULL, 0},
                                             {&cmd_memory_argp, 0, NULL, 0},
                                             {&cmd_reports_argp, 0, NULL, 0},
                                             {&cmd_known_argp, 0, NULL, 0},
                                             {0}};
const struct argp analyze_argp = {options, parse, "TRACE...", doc, children, help_text, NULL};
