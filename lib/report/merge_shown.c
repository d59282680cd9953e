/* What formats ask of joined findings, and writing them; see merge.h. */
#include "lib/report/merge.h"

#include "lib/trace/snippet.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct merge_run *merge_first_run(const struct merge *m, const struct merged_finding *f)
{
	return &m->runs[f->runs[0] - 1];
}

bool merge_is_under(const struct merge *m, const struct merged_finding *f)
{
	size_t i = 0;
	if (!f->finding || f->known || f->level == LEVEL_NOTE || !finding_is_under(f->finding))
		return false;
	/* What it follows may be shown by another run's finding, which knows nothing of this one. */
	while (i < m->count && m->items[i].finding != f->finding->follows)
		i++;
	return i < m->count && !m->items[i].known && m->items[i].level > LEVEL_NOTE;
}

size_t merge_count(const struct merge *m, size_t levels[LEVELS])
{
	size_t under = 0;
	memcpy(levels, m->levels, sizeof m->levels);
	for (size_t i = 0; i < m->count; i++)
		if (merge_is_under(m, &m->items[i])) {
			levels[m->items[i].level]--;
			under++;
		}
	return under;
}

uint32_t merge_first_observed(const struct merge *m, const struct merged_finding *f)
{
	for (size_t i = 0; i < f->run_count; i++) {
		const struct merge_run *run = &m->runs[f->runs[i] - 1];
		for (size_t k = 0; k < run->mark_count; k++)
			if (run->marks[k].group == f->group && run->marks[k].own >= VERDICT_OBSERVED)
				return run->number;
	}
	return 0;
}

uint32_t merge_run_of(const struct merge *m, const struct report *r)
{
	size_t i = 0;
	while (i + 1 < m->run_count && m->runs[i].report != r)
		i++;
	return m->runs[i].number;
}

/* Runs among the first ones that are added, the others being processes that these made. */
static size_t runs_among(const struct merge *m, size_t count)
{
	size_t n = 0;
	for (size_t i = 0; i < count; i++)
		n += !m->runs[i].process;
	return n;
}

const char *merge_units(const struct merge *m, size_t n)
{
	bool windows = m->run_count > 0;
	for (size_t i = 0; i < m->run_count; i++)
		windows &= m->runs[i].last > 0;
	if (windows)
		return n == 1 ? "window" : "windows";
	if (runs_among(m, m->run_count) < m->run_count)
		return n == 1 ? "process" : "processes";
	return n == 1 ? "run" : "runs";
}

void merge_seen_text(const struct merge *m, const struct merged_finding *f, char *text, size_t size)
{
	snprintf(text, size, "seen in %zu of %zu %s, first in %s", f->run_count, m->run_count,
	         merge_units(m, m->run_count), merge_first_run(m, f)->name);
}

static void add_run(const char *what, const struct merge_run *run, char *text, size_t size)
{
	size_t n = strlen(text);
	snprintf(text + n, size - n, "%s%s%s", what, run->repeat ? ": " : "", run->repeat ? run->repeat : "");
}

void merge_repeat_text(const struct merge *m, const struct merged_finding *f, char *text, size_t size)
{
	const struct merge_run *first = merge_first_run(m, f);
	uint32_t observed = merge_first_observed(m, f);
	char then[300];
	merge_seen_text(m, f, text, size);
	add_run("", first, text, size);
	if (!observed || observed == first->number)
		return;
	snprintf(then, sizeof then, "; observed first in %.250s", m->runs[observed - 1].name);
	add_run(then, &m->runs[observed - 1], text, size);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* How all runs ended, if that was as a program does that was called wrongly; NULL: not so. */
static const char *common_end(const struct merge *m)
{
	const char *end = NULL;
	for (size_t i = 0; i < m->run_count; i++) {
		const char *of = m->runs[i].end;
		if (of && (!strcmp(of, "exit status 0") || (end && strcmp(of, end) != 0)))
			return NULL;
		end = of ? of : end;
	}
	return end;
}

size_t merge_runs_text(const struct merge *m, char *text, size_t size)
{
	uint64_t events = 0;
	uint32_t last = 0;
	size_t unlisted = 0;
	for (size_t i = 0; i < m->run_count; i++) {
		events += m->runs[i].events;
		unlisted += m->runs[i].unlisted;
		if (m->runs[i].fresh)
			last = m->runs[i].number;
	}
	size_t runs = runs_among(m, m->run_count);
	snprintf(text, size, "%zu %s", m->run_count, merge_units(m, m->run_count));
	size_t n = strlen(text);
	if (runs != m->run_count)
		snprintf(text + n, size - n, " of %zu run%s", runs, plural(runs));
	n = strlen(text);
	snprintf(text + n, size - n, ", %" PRIu64 " event%s", events, plural(events));
	n = strlen(text);
	const char *end = common_end(m);
	if (end)
		snprintf(text + n, size - n, ", each ending with %.100s", end);
	n = strlen(text);
	if (last)
		snprintf(text + n, size - n, "; the last with anything new was %s %zu",
		         runs == m->run_count ? merge_units(m, 1) : "run", runs_among(m, last));
	return unlisted;
}

bool merge_search_text(const struct merge *m, char *text, size_t size)
{
	const struct merge_search *s = &m->search;
	char within[64] = "";
	if (!s->reduction)
		return false;
	if (s->preemptions != UINT32_MAX)
		snprintf(within, sizeof within, " within %" PRIu32 " preemption%s", s->preemptions,
		         plural(s->preemptions));
	snprintf(text, size,
	         "%s executions%s: %" PRIu64 " run%s, %" PRIu64 " state%s, %" PRIu64 " transition%s, %" PRIu64
	         " pair%s of positions that race (reduction %s, %s)",
	         s->complete ? "all" : "not all", within, s->executions, plural(s->executions), s->states,
	         plural(s->states), s->transitions, plural(s->transitions), s->races, plural(s->races), s->reduction,
	         s->order);
	return true;
}

static void add_harm(const uint32_t harm[INCIDENTS], const uint64_t *seeds, char *text, size_t size)
{
	for (int kind = 0; kind < INCIDENTS; kind++) {
		size_t n = strlen(text);
		if (!harm[kind])
			continue;
		snprintf(text + n, size - n, ", %" PRIu32 " %s", harm[kind],
		         incident_kind_name((enum incident_kind)kind));
		n = strlen(text);
		if (seeds)
			snprintf(text + n, size - n, " (seed %" PRIu64 ")", seeds[kind]);
	}
}

void merge_trial_text(const struct merge_trial *t, char *text, size_t size)
{
	char seed[32] = "";
	if (t->created)
		snprintf(seed, sizeof seed, ", seed %" PRIu64, t->seed);
	snprintf(text, size, "%s %" PRIu32 " of %" PRIu32 ": %s of %s%s", t->created ? "real    " : "not seen",
	         t->created, t->runs, anomaly_kind_name(t->kind), t->what, seed);
	add_harm(t->harm, t->harm_seed, text, size);
}

void merge_plain_text(const struct merge *m, char *text, size_t size)
{
	snprintf(text, size, "beside %" PRIu32 " run%s without an aim", m->plain_runs, plural(m->plain_runs));
	add_harm(m->plain_harm, NULL, text, size);
}

size_t merge_entry_count(const struct finding *f, const struct merged_finding *in)
{
	return in ? in->entry_count : f->entry_count;
}

struct merge_entry merge_entry_at(const struct report *r, const struct finding *f, const struct merged_finding *in,
                                  size_t i)
{
	return in ? in->entries[i] : (struct merge_entry){.report = r, .entry = f->entries[i]};
}

uint32_t merge_kinds(const struct finding *f, const struct merged_finding *in)
{
	uint32_t kinds = f->kinds;
	for (size_t i = 0; in && i < in->entry_count; i++)
		kinds |= UINT32_C(1) << in->entries[i].report->entries[in->entries[i].entry].anomaly->kind;
	return kinds;
}

bool merge_incomplete_text(const struct merge *m, char *text, size_t size)
{
	const struct merge_run *first = NULL;
	size_t count = 0;
	for (size_t i = 0; i < m->run_count; i++) {
		count += m->runs[i].incomplete != NULL;
		if (m->runs[i].incomplete && !first)
			first = &m->runs[i];
	}
	if (first)
		snprintf(text, size, "%zu of %zu %s %s an incomplete trace, first %s: %s", count, m->run_count,
		         merge_units(m, m->run_count), count == 1 ? "has" : "have", first->name, first->incomplete);
	return first != NULL;
}

const struct report *merge_any_report(const struct merge *m)
{
	for (size_t i = 0; i < m->run_count; i++)
		if (m->runs[i].report)
			return m->runs[i].report;
	return NULL;
}

enum rt_status merge_write(const struct merge *m, const struct report_format *format, bool color, FILE *out,
                           struct rt_error *err)
{
	if (!format->write_merged)
		return rt_error_set(err, RT_EUSAGE, "the format '%s' is of one trace, not of several", format->name);
	if (!merge_any_report(m))
		return rt_error_set(err, RT_EINPUT, "no run has a trace");
	enum rt_status status = format->write_merged(m, color, out, err);
	for (size_t i = 0; i < m->run_count && !status; i++)
		if (m->runs[i].report && m->runs[i].report->sources->no_memory)
			status = rt_error_set(err, RT_EMEMORY, "no memory for the report");
	return status;
}
