/* What model.h says of its arrays, looked at in tests (rt_assert). */
#include "lib/trace/loader.h"

static const char *broken_events(const struct model *m)
{
	for (uint32_t e = 0; e < m->event_count; e++) {
		const struct model_event *x = &m->events[e];
		if (x->segment >= m->segment_count || x->site >= m->site_count)
			return "an event's segment or site is out of range";
		const struct model_thread *t = &m->threads[model_thread_of(m, e)];
		if (x->pos >= t->count || t->events[x->pos] != e)
			return "an event is not where its thread has it";
		if (e && x->number < m->events[e - 1].number)
			return "events are not in the trace's order";
		const struct model_site *site = &m->sites[x->site];
		if (rt_op_is_access(site->op) &&
		    (!site->cells || x->object >= m->cell_count || site->cells > m->cell_count - x->object))
			return "an access's cells are out of range";
	}
	return NULL;
}

static const char *broken_cells(const struct model *m)
{
	for (uint32_t c = 0; c < m->cell_count; c++)
		for (uint32_t i = 0; i < m->cells[c].count; i++) {
			const uint32_t *entry = &m->cell_events[m->cells[c].first + i];
			if (*entry >= m->event_count || (i && entry[0] <= entry[-1]))
				return "a cell's accesses are not in the trace's order";
		}
	return NULL;
}

static const char *broken_locksets(const struct model *m)
{
	for (uint32_t i = 0; i < m->lockset_count; i++)
		for (uint32_t k = 0; k < m->locksets[i].count; k++) {
			const struct model_lock *lock = &m->locksets[i].locks[k];
			if (lock->object >= m->object_count || (k && lock[0].object <= lock[-1].object))
				return "a set of locks is not sorted";
		}
	for (uint32_t i = 0; i < m->segment_count; i++)
		if (m->segments[i].lockset >= m->lockset_count || m->segments[i].thread >= m->thread_count)
			return "a segment's locks or thread are out of range";
	return NULL;
}

static const char *broken_lists(const struct model *m)
{
	for (uint32_t i = 0; i < m->sync_count; i++)
		if (m->sync[i] >= m->event_count || (i && m->sync[i] <= m->sync[i - 1]))
			return "synchronisation is not in the trace's order";
	for (uint32_t i = 1; i < m->turn_count; i++)
		if (m->turns[i].first <= m->turns[i - 1].first || m->turns[i].thread == m->turns[i - 1].thread)
			return "turns do not follow one another";
	for (uint32_t i = 1; i < m->arg_count; i++)
		if (m->args[i].event <= m->args[i - 1].event)
			return "second operands are not sorted";
	return NULL;
}

static const char *broken_values(const struct model *m)
{
	uint32_t count = 0;
	for (uint32_t e = 0; m->value_count && e < m->event_count; e++) {
		if (e % MODEL_VALUES_GROUP == 0 && m->values.before[e / MODEL_VALUES_GROUP] != count)
			return "values are not counted";
		if (!model_has_value(m, e))
			continue;
		if (!rt_op_is_access(model_op(m, e)))
			return "what is no access has a value";
		count++;
	}
	return count == m->value_count ? NULL : "there are other values than events have";
}

const char *model_broken(const struct model *m)
{
	const char *why = broken_locksets(m);
	why = why ? why : broken_events(m);
	why = why ? why : broken_cells(m);
	why = why ? why : broken_values(m);
	return why ? why : broken_lists(m);
}
