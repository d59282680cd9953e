/*
 * The JSON report, schema racetrace.report/1 (docs/report.schema.json). It is written member by member and anomaly by
 * anomaly, one a line, so that a report of a million pairs is never in memory as a whole.
 */
#include "lib/report/formats.h"
#include "lib/report/json/findings.h"
#include "lib/report/limits.h"
#include "lib/report/modules.h"

#include <stdlib.h>
#include <string.h>

/* The head */

static void put_creation(struct json_report *j, const char *key, const struct description *fork)
{
	struct json_writer *w = &j->w;
	jw_object(w, key);
	jw_text(w, "by", json_thread_name(j, fork->event.thread));
	jw_number(w, "event", fork->event.number);
	json_put_stack(j, "stack", fork);
	jw_object_end(w);
}

/* Descriptions of the forks of the threads that listed anomalies involve, by thread; NULL without memory. */
static const struct description **forks_create(const struct report *r, uint32_t thread_count)
{
	const struct description **forks = calloc((size_t)thread_count + 1, sizeof *forks);
	for (size_t i = 0; forks && i < r->count; i++) {
		const struct anomaly *anomaly = r->entries[i].anomaly;
		for (uint32_t k = 0; k < anomaly->event_count; k++) {
			const struct description *d = report_event(r, anomaly->events[k]);
			if (d && d->fork && d->event.thread < thread_count)
				forks[d->event.thread] = description_of(r->descriptions, d->fork);
		}
	}
	return forks;
}

static void put_threads(struct json_report *j, const char *key)
{
	const struct description **forks = forks_create(j->r, j->info->thread_count);
	struct json_writer *w = &j->w;
	w->failed |= !forks;
	jw_array(w, key);
	for (uint32_t i = 0; forks && i < j->info->thread_count; i++) {
		const struct rt_thread *t = &j->info->threads[i];
		jw_object(w, NULL);
		jw_text(w, "name", t->name);
		if (t->label)
			jw_text(w, "label", t->label);
		jw_number(w, "events", t->events);
		if (forks[i])
			put_creation(j, "created", forks[i]);
		jw_object_end(w);
	}
	jw_array_end(w);
	free(forks);
}

static void put_command(struct json_writer *w, const char *key, const struct rt_trace_info *info)
{
	if (!info->command) {
		jw_null(w, key);
		return;
	}
	jw_array(w, key);
	for (const char *const *word = info->command; *word; word++)
		jw_text(w, NULL, *word);
	jw_array_end(w);
}

static void put_exit(struct json_writer *w, const char *key, const struct rt_trace_info *info)
{
	if (info->exit_kind == RT_EXIT_UNKNOWN) {
		jw_null(w, key);
		return;
	}
	jw_object(w, key);
	jw_text(w, "kind", info->exit_kind == RT_EXIT_SIGNAL ? "signal" : "status");
	jw_integer(w, "value", info->exit_value);
	jw_object_end(w);
}

static void put_plain_modules(struct json_writer *w, const char *key, const struct rt_trace *trace)
{
	struct plain_modules plain;
	size_t n;
	rt_trace_modules(trace, &n);
	bool none = !n || rt_trace_info(trace)->binary;
	if (none || !plain_modules_find(trace, &plain)) {
		w->failed |= !none;
		jw_null(w, key);
		return;
	}
	jw_object(w, key);
	jw_array(w, "modules");
	for (size_t i = 0; i < plain.count; i++)
		jw_text(w, NULL, plain.paths[i]);
	jw_array_end(w);
	jw_number(w, "system", plain.system);
	jw_object_end(w);
	plain_modules_release(&plain);
}

static void put_warnings(struct json_writer *w, const struct rt_trace_info *info)
{
	jw_array(w, "warnings");
	for (uint32_t i = 0; i < info->warning_count; i++) {
		jw_object(w, NULL);
		jw_text(w, "kind", info->warnings[i].kind);
		jw_number(w, "count", info->warnings[i].count);
		jw_number(w, "first", info->warnings[i].line);
		jw_text(w, "text", info->warnings[i].text);
		jw_object_end(w);
	}
	jw_array_end(w);
}

static void put_trace(struct json_report *j)
{
	const struct rt_trace_info *info = j->info;
	struct json_writer *w = &j->w;
	jw_object(w, NULL);
	jw_text(w, "path", info->path);
	jw_text(w, "format", info->format);
	jw_number(w, "events", info->events);
	jw_number(w, "left_out", info->left_out);
	jw_number(w, "lost", info->lost);
	put_threads(j, "threads");
	jw_text(w, "order", info->exact ? "exact" : "stamped");
	jw_text(w, "model", rt_model_name(j->r->analysis->memory_model));
	jw_bool(w, "complete", info->complete);
	if (!info->complete)
		jw_text(w, "incomplete_why", info->incomplete_why);
	if (info->warning_count)
		put_warnings(w, info);
	if (info->sync_only)
		jw_bool(w, "sync_only", true);
	if (info->binary)
		jw_bool(w, "binary", true);
	put_plain_modules(w, "not_instrumented", j->r->analysis->trace);
	put_command(w, "command", info);
	put_exit(w, "exit", info);
	jw_object_end(w);
}

static void put_tool(struct json_writer *w)
{
	jw_object(w, NULL);
	jw_text(w, "name", "racetrace");
	jw_text(w, "version", RT_VERSION);
	jw_object_end(w);
}

static void put_limits(struct json_report *j)
{
	const struct report *r = j->r;
	struct json_writer *w = &j->w;
	const struct prove_counts *proofs = &r->analysis->proofs;
	struct report_limit limits[LIMITS];
	size_t n = report_limits(r, limits);
	jw_object(w, NULL);
	for (size_t i = 0; i < n; i++) {
		jw_object(w, limits[i].name);
		jw_number(w, "bound", limits[i].bound);
		/* JSON's own */
		bool calls = !strcmp(limits[i].name, limit_infos[LIMIT_LISTED_CALLS].name);
		bool anomalies = !strcmp(limits[i].name, limit_infos[LIMIT_LISTED_ANOMALIES].name);
		jw_bool(w, "hit", calls ? j->stacks.is_long : anomalies ? j->cut : limits[i].hit);
		if (!strcmp(limits[i].name, limit_infos[LIMIT_SEARCH_STATES].name))
			jw_number(w, "visited", proofs->states);
		jw_object_end(w);
	}
	jw_object_end(w);
}

/* By kind that was searched for, then by verdict. */
static void put_summary(struct json_writer *w, const struct report *r, bool replayed,
                        const uint64_t summary[ANOMALY_KINDS][VERDICTS])
{
	jw_object(w, NULL);
	for (int kind = 0; kind < ANOMALY_KINDS; kind++) {
		if (!(r->analysis->kinds >> kind & 1))
			continue;
		jw_object(w, anomaly_kind_name((enum anomaly_kind)kind));
		for (int v = VERDICTS; v-- > 0;)
			if (v != VERDICT_CONFIRMED || replayed)
				jw_number(w, verdict_name((enum verdict)v), summary[kind][v]);
		jw_object_end(w);
	}
	jw_object_end(w);
}

/* The first pairs of the orders that promise something about them, and the condition of the promise. */
static void put_promises(struct json_writer *w, const struct report *r)
{
	const struct analysis *a = r->analysis;
	const struct model *m = a->model;
	jw_object(w, NULL);
	for (int i = 0; orders[i].name; i++) {
		if (!(a->first_known >> i & 1) || a->first[i].e2 == MODEL_NONE)
			continue;
		jw_array(w, orders[i].name);
		jw_number(w, NULL, m->events[a->first[i].e1].number);
		jw_number(w, NULL, m->events[a->first[i].e2].number);
		jw_array_end(w);
	}
	if (a->nesting.count) {
		jw_object(w, "not_nested");
		jw_number(w, "count", a->nesting.count);
		jw_number(w, "outer", m->events[a->nesting.outer].number);
		jw_number(w, "inner", m->events[a->nesting.inner].number);
		jw_number(w, "release", m->events[a->nesting.release].number);
		jw_object_end(w);
	}
	jw_object_end(w);
}

/* Each member of the report is on a line of its own, as each anomaly is. */
static void next_line(struct json_report *j, const char *text)
{
	fputs(text, j->w.out);
	j->w.more = false;
}

/* As far as it is of the trace. */
static void put_trace_head(struct json_report *j, const char *incomplete)
{
	next_line(j, "{");
	if (incomplete) {
		next_line(j, "\"incomplete\": ");
		jw_text(&j->w, NULL, incomplete);
		next_line(j, ",");
	}
	next_line(j, "\n\"schema\": \"racetrace.report/1\",\n\"tool\": ");
	put_tool(&j->w);
	next_line(j, ",\n\"trace\": ");
	put_trace(j);
	next_line(j, ",\n\"limits\": ");
	put_limits(j);
}

static void put_head(struct json_report *j)
{
	put_trace_head(j, j->r->incomplete);
	if (j->r->analysis->undecided) {
		next_line(j, ",\n\"undecided\": ");
		jw_number(&j->w, NULL, j->r->analysis->undecided);
	}
	next_line(j, ",\n\"summary\": ");
	put_summary(&j->w, j->r, j->r->replayed, j->r->summary);
	if (j->r->analysis->first_known) {
		next_line(j, ",\n\"promises\": ");
		put_promises(&j->w, j->r);
	}
	if (!j->r->alone) {
		next_line(j, ",\n\"findings\": [");
		for (size_t i = 0; i < j->r->findings->count && !j->w.failed && !ferror(j->w.out); i++) {
			next_line(j, i ? ",\n" : "\n");
			json_finding(j, j->r, &j->r->findings->items[i]);
		}
		next_line(j, j->r->findings->count ? "\n]" : "]");
	}
	next_line(j, ",\n\"anomalies\": [");
}

/* The entries that are not listed; NULL: none, or without memory. */
static bool *find_left_out(struct json_report *j)
{
	const struct report *r = j->r;
	bool *left_out = j->cut ? calloc(r->count, sizeof *left_out) : NULL;
	j->w.failed |= j->cut && !left_out;
	for (size_t i = 0; left_out && i < r->findings->count; i++) {
		const struct finding *f = &r->findings->items[i];
		for (size_t k = j->each; k < f->entry_count; k++)
			left_out[f->entries[k]] = !json_lists(j, r, f, k);
	}
	return left_out;
}

enum rt_status report_json(const struct report *r, bool color, FILE *out, struct rt_error *err)
{
	struct json_report j = {.w = {.out = out}};
	bool any = false;
	(void)color;
	json_report_turn(&j, r);
	json_choose_listed(&j, NULL);
	bool *left_out = find_left_out(&j);
	put_head(&j);
	for (size_t i = 0; i < r->count && !j.w.failed && !ferror(out); i++) {
		if (left_out && left_out[i])
			continue;
		next_line(&j, any ? ",\n" : "\n");
		json_put_anomaly(&j, &r->entries[i]);
		any = true;
	}
	fputs(any ? "\n]" : "]", out);
	free(left_out);
	json_put_stacks(&j);
	fputs("\n}\n", out);
	json_report_release(&j);
	return j.w.failed
	           ? rt_error_set(err, RT_EMEMORY, "no memory for the report, or the trace changed while it was read")
	           : RT_OK;
}

/* Several runs */

static void put_run(struct json_writer *w, const struct merge_run *run)
{
	jw_object(w, NULL);
	jw_number(w, "number", run->number);
	jw_text(w, "name", run->name);
	if (run->report)
		jw_text(w, "trace", rt_trace_info(run->report->analysis->trace)->path);
	if (run->strategy) {
		jw_text(w, "strategy", run->strategy);
		jw_number(w, "seed", run->seed);
	}
	if (run->repeat)
		jw_text(w, "repeat", run->repeat);
	if (run->end)
		jw_text(w, "end", run->end);
	if (run->incomplete)
		jw_text(w, "incomplete", run->incomplete);
	if (run->unlisted)
		jw_bool(w, "unlisted", true);
	if (run->last) {
		jw_number(w, "first_event", run->first);
		jw_number(w, "last_event", run->last);
	}
	jw_number(w, "events", run->events);
	jw_number(w, "threads", run->threads);
	if (run->duration_ns)
		jw_number(w, "milliseconds", run->duration_ns / 1000000);
	if (run->postponed) {
		jw_number(w, "postponed", run->postponed);
		jw_number(w, "thrashed", run->thrashed);
	}
	jw_number(w, "findings", run->mark_count);
	jw_number(w, "new", run->fresh);
	jw_object_end(w);
}

static void put_seen(struct json_writer *w, const struct merge *m, const struct merged_finding *f)
{
	const struct merge_run *first = merge_first_run(m, f);
	jw_object(w, "seen");
	jw_number(w, "count", f->run_count);
	jw_number(w, "of", m->run_count);
	jw_number(w, "first", first->number);
	if (merge_first_observed(m, f))
		jw_number(w, "observed", merge_first_observed(m, f));
	if (first->strategy)
		jw_number(w, "seed", first->seed);
	if (first->repeat)
		jw_text(w, "repeat", first->repeat);
	jw_array(w, "runs");
	for (size_t i = 0; i < f->run_count; i++)
		jw_number(w, NULL, f->runs[i]);
	jw_array_end(w);
	jw_object_end(w);
}

static void put_incident(struct json_writer *w, const struct merge *m, const struct merged_finding *f)
{
	jw_object(w, NULL);
	jw_text(w, "id", f->id);
	jw_text(w, "level", finding_level_name(f->level));
	jw_text(w, "title", f->incident->title);
	jw_text(w, "verdict", verdict_name(f->verdict));
	jw_array(w, "kinds");
	jw_text(w, NULL, incident_kind_name(f->incident->kind));
	jw_array_end(w);
	jw_null(w, "variable");
	jw_array(w, "places");
	jw_array_end(w);
	jw_array(w, "anomalies");
	jw_array_end(w);
	jw_null(w, "follows");
	jw_null(w, "guard");
	jw_null(w, "fix");
	jw_text(w, "fingerprint", f->fingerprint);
	if (f->suppressed)
		jw_bool(w, "suppressed", true);
	else if (f->known)
		jw_bool(w, "known", true);
	put_seen(w, m, f);
	jw_object_end(w);
}

static void put_harm(struct json_writer *w, const char *key, const uint32_t harm[INCIDENTS], const uint64_t *seeds)
{
	jw_array(w, key);
	for (int kind = 0; kind < INCIDENTS; kind++) {
		if (!harm[kind])
			continue;
		jw_object(w, NULL);
		jw_text(w, "kind", incident_kind_name((enum incident_kind)kind));
		jw_number(w, "runs", harm[kind]);
		if (seeds)
			jw_number(w, "seed", seeds[kind]);
		jw_object_end(w);
	}
	jw_array_end(w);
}

static void put_trials(struct json_writer *w, const struct merge *m)
{
	jw_object(w, NULL);
	jw_number(w, "plain_runs", m->plain_runs);
	put_harm(w, "plain_harm", m->plain_harm, NULL);
	jw_array(w, "patterns");
	for (size_t i = 0; i < m->trial_count; i++) {
		const struct merge_trial *t = &m->trials[i];
		jw_object(w, NULL);
		jw_text(w, "fingerprint", t->fingerprint);
		jw_text(w, "kind", anomaly_kind_name(t->kind));
		jw_text(w, "what", t->what);
		jw_number(w, "runs", t->runs);
		jw_number(w, "created", t->created);
		if (t->created)
			jw_number(w, "seed", t->seed);
		put_harm(w, "harm", t->harm, t->harm_seed);
		jw_object_end(w);
	}
	jw_array_end(w);
	jw_object_end(w);
}

static void put_search(struct json_writer *w, const struct merge_search *s)
{
	jw_object(w, NULL);
	jw_text(w, "reduction", s->reduction);
	jw_text(w, "order", s->order);
	if (s->preemptions != UINT32_MAX)
		jw_number(w, "preemptions", s->preemptions);
	jw_bool(w, "complete", s->complete);
	jw_number(w, "executions", s->executions);
	jw_number(w, "states", s->states);
	jw_number(w, "transitions", s->transitions);
	jw_number(w, "races", s->races);
	jw_object_end(w);
}

static void put_merged(struct json_report *j, const struct merge *m, const struct merged_finding *f)
{
	json_finding_open(j, f->report, f->finding, f);
	put_seen(&j->w, m, f);
	jw_object_end(&j->w);
}

static void put_merged_head(struct json_report *j, const struct merge *m)
{
	bool replayed = false;
	char lacking[4096];
	for (int kind = 0; kind < ANOMALY_KINDS; kind++)
		replayed |= m->summary[kind][VERDICT_CONFIRMED] != 0;
	put_trace_head(j, merge_incomplete_text(m, lacking, sizeof lacking) ? lacking : NULL);
	next_line(j, ",\n\"runs\": [");
	for (size_t i = 0; i < m->run_count; i++) {
		next_line(j, i ? ",\n" : "\n");
		put_run(&j->w, &m->runs[i]);
	}
	next_line(j, "\n]");
	if (m->trial_count) {
		next_line(j, ",\n\"trials\": ");
		put_trials(&j->w, m);
	}
	if (m->search.reduction) {
		next_line(j, ",\n\"search\": ");
		put_search(&j->w, &m->search);
	}
	next_line(j, ",\n\"summary\": ");
	put_summary(&j->w, j->r, replayed, m->summary);
	next_line(j, ",\n\"findings\": [");
	for (size_t i = 0; i < m->count && !j->w.failed && !ferror(j->w.out); i++) {
		next_line(j, i ? ",\n" : "\n");
		if (m->items[i].finding)
			put_merged(j, m, &m->items[i]);
		else
			put_incident(&j->w, m, &m->items[i]);
	}
	next_line(j, m->count ? "\n]" : "]");
	next_line(j, ",\n\"anomalies\": [");
}

enum rt_status report_json_merged(const struct merge *m, bool color, FILE *out, struct rt_error *err)
{
	struct json_report j = {.w = {.out = out}};
	bool any = false;
	(void)color;
	json_report_turn(&j, merge_any_report(m));
	json_choose_listed(&j, m);
	put_merged_head(&j, m);
	for (size_t i = 0; i < m->count && !j.w.failed && !ferror(out); i++) {
		const struct finding *f = m->items[i].finding;
		for (size_t k = 0; k < m->items[i].entry_count && !j.w.failed && !ferror(out); k++) {
			struct merge_entry e = m->items[i].entries[k];
			if (!json_lists(&j, m->items[i].report, f, k))
				continue;
			if (e.report != j.r)
				json_report_turn(&j, e.report);
			j.run = merge_run_of(m, e.report);
			next_line(&j, any ? ",\n" : "\n");
			json_put_anomaly(&j, &e.report->entries[e.entry]);
			any = true;
		}
	}
	fputs(any ? "\n]" : "]", out);
	json_put_stacks(&j);
	fputs("\n}\n", out);
	json_report_release(&j);
	return j.w.failed
	           ? rt_error_set(err, RT_EMEMORY, "no memory for the report, or the trace changed while it was read")
	           : RT_OK;
}
