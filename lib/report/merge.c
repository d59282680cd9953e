/* Joining the findings of several runs; see merge.h. */
#include "lib/report/merge.h"

#include "lib/base/free.h"
#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "lib/report/baseline.h"
#include "lib/report/digest.h"
#include "lib/report/suppress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *incident_kind_name(enum incident_kind kind)
{
	static const char *const names[INCIDENTS] = {
	    [INCIDENT_CRASH] = "crash",   [INCIDENT_ASSERTION] = "assertion", [INCIDENT_SANITIZER] = "sanitizer",
	    [INCIDENT_STATUS] = "status", [INCIDENT_DEADLOCK] = "deadlock",   [INCIDENT_HANG] = "hang"};
	return names[kind];
}

/* ---- Runs ---- */

static void free_report(struct report *r)
{
	if (!r)
		return;
	struct analysis *a = (struct analysis *)(uintptr_t)r->analysis;
	struct rt_trace *trace = a->trace;
	report_free(r);
	analysis_free(a);
	rt_trace_free(trace);
}

static void release_run(struct merge_run *run)
{
	free_report(run->report);
	free_all(run->name, run->strategy, run->repeat, run->end, run->incomplete, run->marks);
}

/* True if text is NULL or could be copied. */
static bool copy(char **to, const char *text)
{
	*to = text ? strdup(text) : NULL;
	return *to || !text;
}

static struct merge_run *add_run(struct merge *m, const struct merge_source *source)
{
	if (!vec_reserve(&m->runs, &m->run_room, (uint64_t)m->run_count + 1, sizeof *m->runs))
		return NULL;
	struct merge_run *run = &m->runs[m->run_count];
	*run = (struct merge_run){.number = (uint32_t)m->run_count + 1,
	                          .seed = source->seed,
	                          .duration_ns = source->duration_ns,
	                          .postponed = source->postponed,
	                          .thrashed = source->thrashed,
	                          .first = source->first,
	                          .last = source->last,
	                          .process = source->process};
	if (copy(&run->name, source->name) && copy(&run->strategy, source->strategy) &&
	    copy(&run->repeat, source->repeat) && copy(&run->end, source->end)) {
		m->run_count++;
		return run;
	}
	release_run(run);
	return NULL;
}

/* True if two marks are of one finding. Fingerprints alone may take one for another where several findings agree. */
static bool are_same(const struct merge *m, const struct merge_mark *a, const struct merge_mark *b)
{
	return m->one_build && a->incident == SIZE_MAX && b->incident == SIZE_MAX
	           ? finding_identities_match(&a->identity, &b->identity)
	           : !strcmp(a->fingerprint, b->fingerprint);
}

static struct merge_mark *mark_of(const struct merge *m, const struct merge_run *run, const struct merge_mark *mark)
{
	for (size_t i = 0; i < run->mark_count; i++)
		if (are_same(m, &run->marks[i], mark))
			return &run->marks[i];
	return NULL;
}

static bool add_mark(struct merge_run *run, const struct merge_mark *mark)
{
	if (!vec_reserve(&run->marks, &run->mark_room, (uint64_t)run->mark_count + 1, sizeof *run->marks))
		return false;
	run->marks[run->mark_count++] = *mark;
	return true;
}

/* The strongest mark of a finding in the first `runs` runs; NULL: none has it. */
static const struct merge_mark *known_mark(const struct merge *m, size_t runs, const struct merge_mark *of)
{
	const struct merge_mark *best = NULL;
	for (size_t i = 0; i < runs; i++) {
		const struct merge_mark *mark = mark_of(m, &m->runs[i], of);
		if (mark && (!best || mark->level > best->level ||
		             (mark->level == best->level && mark->verdict > best->verdict)))
			best = mark;
	}
	return best;
}

/* The marks of what the run's report has now. */
static bool mark_findings(const struct merge *m, struct merge_run *run)
{
	const struct findings *f = run->report->findings;
	struct merge_mark *before = run->marks;
	size_t count = run->mark_count;
	bool ok = true;
	run->marks = NULL;
	run->mark_count = run->mark_room = 0;
	for (size_t i = 0; ok && i < count; i++)
		if (before[i].incident != SIZE_MAX)
			ok = add_mark(run, &before[i]);
	for (size_t i = 0; ok && i < f->count; i++) {
		struct merge_mark mark = {.verdict = f->items[i].verdict,
		                          .own = f->items[i].verdict,
		                          .level = f->items[i].level,
		                          .incident = SIZE_MAX};
		memcpy(mark.fingerprint, f->items[i].fingerprint, sizeof mark.fingerprint);
		mark.identity = f->items[i].identity;
		mark.finding = i;
		for (size_t k = 0; k < count; k++)
			if (are_same(m, &before[k], &mark))
				mark.own = before[k].own;
		ok = add_mark(run, &mark);
	}
	free(before);
	return ok;
}

enum rt_status merge_add(struct merge *m, const struct merge_source *source, struct report *r, uint32_t *fresh,
                         struct rt_error *err)
{
	const struct rt_trace_info *info = rt_trace_info(r->analysis->trace);
	struct merge_run *run = add_run(m, source);
	bool better = m->run_count == 1; /* the first run says what the program is */
	if (!run) {
		free_report(r);
		return rt_error_set(err, RT_EMEMORY, "no memory to merge reports");
	}
	run->events = run->last ? run->last - run->first + 1 : info->events;
	run->threads = info->thread_count;
	run->report = r;
	if (!copy(&run->incomplete, r->incomplete) || !mark_findings(m, run))
		return rt_error_set(err, RT_EMEMORY, "no memory to merge reports");
	for (size_t i = 0; i < run->mark_count; i++) {
		const struct merge_mark *mark = &run->marks[i], *before = known_mark(m, m->run_count - 1, mark);
		run->fresh += !before;
		better |= !before || mark->level > before->level ||
		          (mark->level == before->level && mark->verdict > before->verdict);
	}
	bool stronger;
	enum rt_status status = merge_note_anomalies(m, r, &stronger, err);
	if (status)
		return status;
	run->unlisted = !better && stronger && !merge_has_room(m, run);
	if (!better && (!stronger || run->unlisted)) {
		free_report(r);
		run->report = NULL;
	}
	if (fresh)
		*fresh = run->fresh;
	return RT_OK;
}

enum rt_status merge_add_untraced(struct merge *m, const struct merge_source *source, struct rt_error *err)
{
	return add_run(m, source) ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory to merge reports");
}

enum rt_status merge_add_incident(struct merge *m, uint32_t number, enum incident_kind kind, const char *title,
                                  const char *key, uint32_t *fresh, struct rt_error *err)
{
	struct merge_run *run = &m->runs[number - 1];
	struct merge_mark mark = {.verdict = VERDICT_OBSERVED, .own = VERDICT_OBSERVED, .level = LEVEL_ERROR};
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	digest_text(&state, incident_kind_name(kind));
	digest_text(&state, key);
	snprintf(mark.fingerprint, sizeof mark.fingerprint, "%016" PRIx64, XXH3_64bits_digest(&state));
	bool is_new = !known_mark(m, number - 1, &mark);
	while (mark.incident < m->incident_count &&
	       strcmp(m->incidents[mark.incident].fingerprint, mark.fingerprint) != 0)
		mark.incident++;
	if (!vec_reserve(&m->incidents, &m->incident_room, (uint64_t)m->incident_count + 1, sizeof *m->incidents) ||
	    !add_mark(run, &mark))
		return rt_error_set(err, RT_EMEMORY, "no memory to merge reports");
	if (mark.incident == m->incident_count) {
		struct incident *incident = &m->incidents[m->incident_count];
		*incident = (struct incident){.kind = kind, .title = strdup(title)};
		memcpy(incident->fingerprint, mark.fingerprint, sizeof incident->fingerprint);
		if (!incident->title) {
			run->mark_count--;
			return rt_error_set(err, RT_EMEMORY, "no memory to merge reports");
		}
		m->incident_count++;
	}
	run->fresh += is_new;
	if (fresh)
		*fresh += is_new;
	return RT_OK;
}

/* ---- Joining ---- */

/* A finding of all runs, among those that agree in their key. */
struct merged_group {
	char key[17];
	const struct merge_mark *first;
	struct merged_finding *item;
	struct merged_group *next;
	UT_hash_handle hh;
};

/* The group that shows an anomaly. */
struct shown {
	uint64_t key;
	struct merged_group *group;
	UT_hash_handle hh;
};

struct merging {
	struct merge *m;
	struct merged_group *groups, *memory;
	struct shown *shown;
	size_t room;
};

static void free_items(struct merge *m)
{
	for (size_t i = 0; i < m->count; i++) {
		free(m->items[i].entries);
		free(m->items[i].runs);
	}
	free(m->items);
	m->items = NULL;
	m->count = 0;
	memset(m->levels, 0, sizeof m->levels);
	memset(m->summary, 0, sizeof m->summary);
	m->known = m->suppressed = 0;
}

static struct finding *finding_of(const struct merge_run *run, const struct merge_mark *mark)
{
	return run->report && mark->incident == SIZE_MAX ? &run->report->findings->items[mark->finding] : NULL;
}

/* The group of the mark; no two findings of one run are in one. */
static struct merged_group *find_group(const struct merge *m, struct merged_group *first, const struct merge_run *run,
                                       const struct merge_mark *mark)
{
	struct merged_group *found = NULL;
	for (struct merged_group *g = first; g; g = g->next) {
		if (g->item->runs[g->item->run_count - 1] == run->number && mark->incident == SIZE_MAX)
			continue;
		if (are_same(m, g->first, mark) &&
		    (!found || !finding_identities_compare(&g->first->identity, &mark->identity)))
			found = g;
	}
	return found;
}

/* A new one; NULL without memory. */
static struct merged_group *add_group(struct merging *j, const char *key, const struct merge_mark *mark)
{
	struct merged_finding *item = &j->m->items[j->m->count];
	struct merged_group *g = &j->memory[j->m->count], *first;
	memcpy(g->key, key, sizeof g->key);
	memcpy(item->fingerprint, mark->fingerprint, sizeof item->fingerprint);
	g->first = mark;
	g->item = item;
	item->group = j->m->count;
	if (!(item->runs = calloc(j->m->run_count, sizeof *item->runs)))
		return NULL;
	j->m->count++;
	HASH_FIND_STR(j->groups, key, first);
	if (first) {
		g->next = first->next;
		first->next = g;
		return g;
	}
	HASH_ADD_STR(j->groups, key, g);
	return HASH_ADDED(g) ? g : NULL;
}

/* The group that has an anomaly of the mark in another run; NULL: none. */
static struct merged_group *find_shown(const struct merging *j, const struct merge_run *run,
                                       const struct merge_mark *mark)
{
	struct shown *s;
	for (uint32_t i = 0; j->m->one_build && i < mark->identity.shown_count; i++) {
		HASH_FIND(hh, j->shown, &mark->identity.shown[i], sizeof s->key, s);
		if (s && s->group->item->runs[s->group->item->run_count - 1] != run->number)
			return s->group;
	}
	return NULL;
}

/* False without memory. */
static bool add_shown(struct merging *j, struct merged_group *g, const struct merge_mark *mark)
{
	for (uint32_t i = 0; j->m->one_build && i < mark->identity.shown_count; i++) {
		uint64_t key = mark->identity.shown[i];
		struct shown *s;
		HASH_FIND(hh, j->shown, &key, sizeof key, s);
		if (s)
			continue;
		HASH_MAKE(j->shown, key, key, s);
		if (!s)
			return false;
		s->group = g;
	}
	return true;
}

static bool add_to_group(struct merging *j, const struct merge_run *run, struct merge_mark *mark)
{
	char key[17];
	struct merged_group *g;
	if (j->m->one_build && mark->incident == SIZE_MAX)
		snprintf(key, sizeof key, "%016" PRIx64, mark->identity.stable);
	else
		memcpy(key, mark->fingerprint, sizeof key);
	HASH_FIND_STR(j->groups, key, g);
	if (!(g = find_group(j->m, g, run, mark)) && !(g = find_shown(j, run, mark)) && !(g = add_group(j, key, mark)))
		return false;
	if (!add_shown(j, g, mark))
		return false;
	mark->group = g->item->group;
	struct merged_finding *item = g->item;
	if (!item->run_count || item->runs[item->run_count - 1] != run->number)
		item->runs[item->run_count++] = run->number;
	const struct finding *f = finding_of(run, mark);
	if (mark->incident != SIZE_MAX)
		item->incident = &j->m->incidents[mark->incident];
	bool better = mark->level > item->level || (mark->level == item->level && mark->verdict > item->verdict);
	if (f && (better || !item->finding)) {
		item->report = run->report;
		item->finding = f;
		item->known = f->known;
		item->suppressed = f->suppressed;
	}
	if (better || item->run_count == 1) {
		item->level = mark->level;
		item->verdict = mark->verdict;
	}
	return true;
}

static double rank_of_item(const struct merged_finding *f)
{
	return f->finding ? f->report->entries[f->finding->entries[0]].rank.value : 2; /* above all */
}

static int compare_items(const void *a, const void *b)
{
	const struct merged_finding *x = a, *y = b;
	double p = rank_of_item(x), q = rank_of_item(y);
	if (x->level != y->level)
		return x->level > y->level ? -1 : 1;
	if (x->verdict != y->verdict)
		return x->verdict > y->verdict ? -1 : 1;
	if (p < q || p > q)
		return p > q ? -1 : 1;
	if (x->runs[0] != y->runs[0])
		return x->runs[0] < y->runs[0] ? -1 : 1;
	return strcmp(x->fingerprint, y->fingerprint);
}

/* By fingerprint: the id of an anomaly that stands for a finding. */
struct name {
	char fingerprint[17];
	const char *id;
	UT_hash_handle hh;
};

static void name_entry(struct report_entry *e, unsigned long numbers[ANOMALY_KINDS])
{
	snprintf(e->id, sizeof e->id, "%c%lu", anomaly_kind_letter(e->anomaly->kind), ++numbers[e->anomaly->kind]);
}

/* The anomalies of the findings that are listed. False without memory. */
static bool name_listed(struct merge *m, struct name **names, unsigned long numbers[ANOMALY_KINDS])
{
	for (size_t i = 0; i < m->count; i++) {
		const struct merged_finding *item = &m->items[i];
		for (size_t k = 0; k < item->entry_count; k++) {
			struct report_entry *e = &item->entries[k].report->entries[item->entries[k].entry];
			struct name *name = calloc(1, sizeof *name), *known;
			if (!name)
				return false;
			name_entry(e, numbers);
			m->summary[e->anomaly->kind][e->anomaly->verdict]++;
			memcpy(name->fingerprint, e->fingerprint, sizeof name->fingerprint);
			name->id = e->id;
			HASH_FIND_STR(*names, name->fingerprint, known);
			if (!known) {
				HASH_ADD_STR(*names, fingerprint, name);
				if (HASH_ADDED(name))
					continue;
			}
			free(name);
			if (!known)
				return false;
		}
	}
	return true;
}

/* The others are called as those that are the same. */
static void name_others(struct merge *m, struct name *names, unsigned long numbers[ANOMALY_KINDS])
{
	for (size_t i = 0; i < m->run_count; i++)
		for (size_t k = 0; m->runs[i].report && k < m->runs[i].report->count; k++) {
			struct report_entry *e = &m->runs[i].report->entries[k];
			struct name *name;
			if (e->id[0])
				continue;
			HASH_FIND_STR(names, e->fingerprint, name);
			if (name)
				memcpy(e->id, name->id, sizeof e->id);
			else
				name_entry(e, numbers);
		}
}

/* The id of a finding in the report of a run that has it. */
static void name_in_run(const struct merge_run *run, const struct merged_finding *item)
{
	for (size_t i = 0; run->report && i < run->mark_count; i++) {
		const struct merge_mark *mark = &run->marks[i];
		struct finding *f = mark->group == item->group ? finding_of(run, mark) : NULL;
		if (f)
			memcpy(f->id, item->id, sizeof f->id);
	}
}

/* The ids of the one report: of findings, in each report that has them, and of anomalies. False without memory. */
static bool name_items(struct merge *m)
{
	unsigned long numbers[ANOMALY_KINDS] = {0};
	struct name *names = NULL;
	for (size_t i = 0; i < m->run_count; i++)
		for (size_t k = 0; m->runs[i].report && k < m->runs[i].report->count; k++)
			m->runs[i].report->entries[k].id[0] = '\0';
	for (size_t i = 0; i < m->count; i++) {
		struct merged_finding *item = &m->items[i];
		snprintf(item->id, sizeof item->id, "F%zu", i + 1);
		for (size_t k = 0; k < m->run_count; k++)
			name_in_run(&m->runs[k], item);
	}
	bool ok = name_listed(m, &names, numbers);
	if (ok)
		name_others(m, names, numbers);
	HASH_FREE(names);
	return ok;
}

/* What a replay has joined to another finding since has none any more in the reports that are kept. */
static void drop_orphans(struct merge *m)
{
	size_t kept = 0;
	for (size_t i = 0; i < m->count; i++)
		if (m->items[i].finding || m->items[i].incident)
			m->items[kept++] = m->items[i];
		else
			free(m->items[i].runs);
	m->count = kept;
}

/* A finding of a trace is known to its report; an incident by its fingerprint alone. */
static void note_known_incidents(struct merge *m)
{
	const struct report *any = merge_any_report(m);
	for (size_t i = 0; any && i < m->count; i++) {
		struct merged_finding *item = &m->items[i];
		if (!item->incident)
			continue;
		item->suppressed = any->suppressions && suppressions_have(any->suppressions, item->fingerprint);
		item->known = item->suppressed || (any->baseline && baseline_has(any->baseline, item->fingerprint));
	}
}

static int compare_items_by_identity(const void *a, const void *b)
{
	const struct merged_finding *x = a, *y = b;
	if (!x->finding || !y->finding)
		return (x->finding != NULL) - (y->finding != NULL);
	uint64_t p = x->finding->identity.stable, q = y->finding->identity.stable;
	int order = finding_identities_compare(&x->finding->identity, &y->finding->identity);
	return p != q ? (p < q ? -1 : 1) : order ? order : x->group < y->group ? -1 : 1;
}

/* Runs may have numbered findings that agree otherwise, each its own ones: they are numbered again. */
static void number_items(struct merge *m)
{
	uint32_t number = 0;
	qsort(m->items, m->count, sizeof *m->items, compare_items_by_identity);
	for (size_t i = 0; i < m->count; i++) {
		struct merged_finding *item = &m->items[i];
		struct finding *f = (struct finding *)(uintptr_t)item->finding;
		if (!f)
			continue;
		bool agrees = i && item[-1].finding && item[-1].finding->identity.stable == f->identity.stable;
		number = agrees ? number + 1 : 0;
		finding_fingerprint(&f->identity, number, f->fingerprint);
		memcpy(item->fingerprint, f->fingerprint, sizeof item->fingerprint);
	}
}

static enum rt_status name_all(struct merge *m, struct rt_error *err)
{
	size_t groups = m->count;
	drop_orphans(m);
	note_known_incidents(m);
	if (m->one_build)
		number_items(m);
	qsort(m->items, m->count, sizeof *m->items, compare_items);
	if (!merge_join_entries(m, groups) || !name_items(m))
		return rt_error_set(err, RT_EMEMORY, "no memory to merge reports");
	for (size_t i = 0; i < m->count; i++) {
		m->known += m->items[i].known && !m->items[i].suppressed;
		m->suppressed += m->items[i].suppressed;
		m->levels[m->items[i].level] += !m->items[i].known;
	}
	for (size_t i = 0; i < m->run_count; i++) {
		enum rt_status status = m->runs[i].report ? report_name_causes(m->runs[i].report, err) : RT_OK;
		if (status)
			return status;
	}
	return RT_OK;
}

enum rt_status merge_finish(struct merge *m, struct rt_error *err)
{
	struct merging j = {.m = m};
	struct merged_group *g, *next;
	bool ok = true;
	free_items(m);
	for (size_t i = 0; ok && i < m->run_count; i++) {
		ok = !m->runs[i].report || mark_findings(m, &m->runs[i]);
		j.room += m->runs[i].mark_count;
	}
	j.memory = calloc(j.room + 1, sizeof *j.memory);
	m->items = calloc(j.room + 1, sizeof *m->items);
	ok = ok && j.memory && m->items;
	for (size_t i = 0; ok && i < m->run_count; i++)
		for (size_t k = 0; ok && k < m->runs[i].mark_count; k++)
			ok = add_to_group(&j, &m->runs[i], &m->runs[i].marks[k]);
	HASH_ITER(hh, j.groups, g, next)
	HASH_DELETE(hh, j.groups, g);
	HASH_FREE(j.shown);
	free(j.memory);
	return ok ? name_all(m, err) : rt_error_set(err, RT_EMEMORY, "no memory to merge reports");
}

void merge_release(struct merge *m)
{
	free_items(m);
	merge_release_anomalies(m);
	for (size_t i = 0; i < m->run_count; i++)
		release_run(&m->runs[i]);
	for (size_t i = 0; i < m->incident_count; i++)
		free(m->incidents[i].title);
	for (size_t i = 0; i < m->trial_count; i++)
		free(m->trials[i].what);
	free(m->trials);
	free(m->runs);
	free(m->incidents);
	*m = (struct merge){0};
}
