/* What formats ask of joined findings, and writing them; see merge.h. */
#include "lib/report/merge.h"

#include "lib/trace/snippet.h"

#include <stdio.h>

const struct merge_run *merge_first_run(const struct merge *m, const struct merged_finding *f)
{
	return &m->runs[f->runs[0] - 1];
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

const char *merge_unit(const struct merge *m)
{
	bool windows = m->run_count > 0;
	for (size_t i = 0; i < m->run_count; i++)
		windows &= m->runs[i].last > 0;
	return windows ? "window" : "run";
}

void merge_seen_text(const struct merge *m, const struct merged_finding *f, char *text, size_t size)
{
	snprintf(text, size, "seen in %zu of %zu %s%s, first in %s", f->run_count, m->run_count, merge_unit(m),
	         m->run_count == 1 ? "" : "s", merge_first_run(m, f)->name);
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
		snprintf(text, size, "%zu of %zu %s%s %s an incomplete trace, first %s: %s", count, m->run_count,
		         merge_unit(m), m->run_count == 1 ? "" : "s", count == 1 ? "has" : "have", first->name,
		         first->incomplete);
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
