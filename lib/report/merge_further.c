/* Anomalies of a finding that other runs show than the one that stands for it; see merge.h. */
#include "lib/report/merge.h"

#include "lib/base/hash.h"
#include "lib/base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reports that are kept for the sake of anomalies alone: each has its trace in memory. */
enum { KEPT_MOST = 16, KEPT_EVENTS = 4000000 };

/* The strongest verdict that an anomaly has in a report that is kept. */
struct merge_anomaly {
	char fingerprint[17];
	enum verdict verdict;
	UT_hash_handle hh;
};

enum rt_status merge_note_anomalies(struct merge *m, const struct report *r, bool *better, struct rt_error *err)
{
	*better = false;
	for (size_t i = 0; i < r->count; i++) {
		const struct report_entry *e = &r->entries[i];
		struct merge_anomaly *known;
		HASH_FIND_STR(m->anomalies, e->fingerprint, known);
		if (known && known->verdict >= e->anomaly->verdict)
			continue;
		*better = true;
		if (!known) {
			if (!(known = calloc(1, sizeof *known)))
				return rt_error_set(err, RT_EMEMORY, "no memory to merge reports");
			memcpy(known->fingerprint, e->fingerprint, sizeof known->fingerprint);
			HASH_ADD_STR(m->anomalies, fingerprint, known);
			if (!HASH_ADDED(known)) {
				free(known);
				return rt_error_set(err, RT_EMEMORY, "no memory to merge reports");
			}
		}
		known->verdict = e->anomaly->verdict;
	}
	return RT_OK;
}

bool merge_has_room(struct merge *m, const struct merge_run *run)
{
	if (run->last || m->kept_for_anomalies == KEPT_MOST || m->kept_events + run->events > KEPT_EVENTS)
		return false;
	m->kept_for_anomalies++;
	m->kept_events += run->events;
	return true;
}

void merge_release_anomalies(struct merge *m)
{
	HASH_FREE(m->anomalies);
}

/* ---- Of one finding ---- */

/* Where a finding of all runs has an anomaly. */
struct seat {
	char key[48]; /* the finding's group and the anomaly's fingerprint */
	size_t index;
	UT_hash_handle hh;
};

static bool add_entry(struct merged_finding *f, const struct merge_entry *e)
{
	if (!vec_reserve(&f->entries, &f->entry_room, (uint64_t)f->entry_count + 1, sizeof *f->entries))
		return false;
	f->entries[f->entry_count++] = *e;
	return true;
}

static const struct report_entry *entry_of(const struct merge_entry *e)
{
	return &e->report->entries[e->entry];
}

/* An anomaly of a run: it is new, or it has a stronger verdict there; all of the first run are new. */
static bool take(struct seat **seats, struct merged_finding *f, const struct merge_entry *e, bool own)
{
	char key[48];
	struct seat *seat;
	snprintf(key, sizeof key, "%zu %s", f->group, entry_of(e)->fingerprint);
	HASH_FIND_STR(*seats, key, seat);
	if (seat && !own) {
		struct merge_entry *known = &f->entries[seat->index];
		if (entry_of(known)->anomaly->verdict < entry_of(e)->anomaly->verdict)
			*known = *e;
		return true;
	}
	if (!seat) {
		if (!(seat = calloc(1, sizeof *seat)))
			return false;
		memcpy(seat->key, key, sizeof key);
		seat->index = f->entry_count;
		HASH_ADD_STR(*seats, key, seat);
		if (!HASH_ADDED(seat)) {
			free(seat);
			return false;
		}
	}
	return add_entry(f, e);
}

static bool take_finding(struct seat **seats, struct merged_finding *f, const struct report *r,
                         const struct finding *of, bool own)
{
	bool ok = true;
	for (size_t i = 0; ok && i < of->entry_count; i++)
		ok = take(seats, f, &(struct merge_entry){r, of->entries[i]}, own);
	return ok;
}

/* The findings of a run that others stand for. */
static bool take_run(struct seat **seats, struct merged_finding *const *of_group, const struct merge_run *run)
{
	bool ok = true;
	for (size_t i = 0; ok && run->report && i < run->mark_count; i++) {
		const struct merge_mark *mark = &run->marks[i];
		struct merged_finding *f = mark->incident == SIZE_MAX ? of_group[mark->group] : NULL;
		if (f && f->finding && f->report != run->report)
			ok = take_finding(seats, f, run->report, &run->report->findings->items[mark->finding], false);
	}
	return ok;
}

bool merge_join_entries(struct merge *m, size_t groups)
{
	struct merged_finding **of_group = calloc(groups + 1, sizeof *of_group);
	struct seat *seats = NULL;
	bool ok = of_group != NULL;
	for (size_t i = 0; ok && i < m->count; i++) {
		struct merged_finding *f = &m->items[i];
		of_group[f->group] = f;
		ok = !f->finding || take_finding(&seats, f, f->report, f->finding, true);
	}
	for (size_t i = 0; ok && i < m->run_count; i++)
		ok = take_run(&seats, of_group, &m->runs[i]);
	HASH_FREE(seats);
	free(of_group);
	return ok;
}
