/* Reads whose writers are certain; see certain.h. Computed cell by cell, on demand. */
#include "lib/base/free.h"
#include "lib/base/lower_bound.h"
#include "lib/prove/certain_state.h"

#include <stdlib.h>
#include <string.h>

enum { CELL_UNKNOWN, CELL_CERTAIN, CELL_MIXED };

void certain_free(struct certain *c)
{
	if (!c)
		return;
	free_all(c->cells, c->uncertain, c->writes, c->write_count, c->last, c->before, c->writers);
	free_all(c->latest, c->near, c->updating, c->changed);
	free(c);
}

/* What questions about schedules need. */
static bool init_schedules(struct certain *c, struct facts *f)
{
	const struct model *m = c->m;
	size_t cells = (size_t)m->cell_count + 1;
	c->latest = malloc(cells * sizeof *c->latest);
	c->near = malloc(cells * sizeof *c->near);
	c->updating = calloc((size_t)m->thread_count + 1, sizeof *c->updating);
	c->changed = calloc(cells, sizeof *c->changed);
	c->values = m->value_count ? facts_values(f) : NULL;
	if (!c->last_writes || !c->latest || !c->near || !c->updating || !c->changed || (m->value_count && !c->values))
		return false;
	memset(c->latest, 0xff, cells * sizeof *c->latest);
	for (uint32_t cell = 0; cell < m->cell_count; cell++)
		c->near[cell] = m->cells[cell].first;
	return true;
}

struct certain *certain_create(struct facts *f, bool exact)
{
	const struct model *m = f->m;
	struct certain *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	c->m = m;
	c->exact = exact;
	if (exact)
		return c;
	size_t entries = model_entries(m);
	c->last_writes = facts_last_writes(f);
	c->cells = calloc((size_t)m->cell_count + 1, 1);
	c->uncertain = calloc(entries / 8 + 1, 1);
	c->writes = malloc((entries + 1) * sizeof *c->writes);
	c->write_count = calloc((size_t)m->cell_count + 1, sizeof *c->write_count);
	c->last = malloc(((size_t)m->thread_count + 1) * sizeof *c->last);
	c->before = malloc(((size_t)m->thread_count + 1) * sizeof *c->before);
	c->writers = malloc(((size_t)m->thread_count + 1) * sizeof *c->writers);
	if (!c->cells || !c->uncertain || !c->writes || !c->write_count || !c->last || !c->before || !c->writers ||
	    (c->hb = facts_hb(f)) == NULL || !init_schedules(c, f)) {
		certain_free(c);
		return NULL;
	}
	memset(c->last, 0xff, ((size_t)m->thread_count + 1) * sizeof *c->last);
	memset(c->before, 0xff, ((size_t)m->thread_count + 1) * sizeof *c->before);
	return c;
}

/*
 * One walk over the cell's accesses in trace order, or against it. Forward: checks that every thread's last write so
 * far is before the write w that the read saw; the reading thread's own one as well, since another thread's may have
 * come before it. Backward: checks that every other thread's next write comes after the read.
 */
static bool clashes(const struct certain *c, uint32_t read, uint32_t w, uint32_t other, bool forward)
{
	const struct model *m = c->m;
	if (forward ? other == w : model_thread_of(m, other) == model_thread_of(m, read))
		return false;
	if (forward)
		return w == MODEL_NONE || !(segment_order_before(c->hb, other, w) || certain_exact_pair(m, other, w));
	return !(segment_order_before(c->hb, read, other) || certain_exact_pair(m, read, other));
}

/* True if the read races with the write that it saw by the trace. It may then have come before that write. */
static bool races_with(const struct certain *c, uint32_t w, uint32_t read)
{
	const struct model *m = c->m;
	return w != MODEL_NONE && model_thread_of(m, w) != model_thread_of(m, read) &&
	       !segment_order_before(c->hb, w, read) && !certain_exact_pair(m, w, read);
}

static void walk(struct certain *c, uint32_t cell, bool forward)
{
	const struct model *m = c->m;
	uint32_t first = m->cells[cell].first, n = m->cells[cell].count, writers = 0, w = MODEL_NONE;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = forward ? first + k : first + n - 1 - k, e = m->cell_events[i];
		unsigned op = model_op(m, e);
		if (forward && rt_op_reads(op) && races_with(c, w, e)) {
			c->uncertain[i / 8] |= (uint8_t)(1 << i % 8);
			c->cells[cell] = CELL_MIXED;
		}
		for (uint32_t t = 0; rt_op_reads(op) && t < writers; t++)
			if (clashes(c, e, w, c->last[c->writers[t]], forward)) {
				c->uncertain[i / 8] |= (uint8_t)(1 << i % 8);
				c->cells[cell] = CELL_MIXED;
				break;
			}
		if (!rt_op_writes(op))
			continue;
		uint32_t thread = model_thread_of(m, e);
		if (c->last[thread] == MODEL_NONE)
			c->writers[writers++] = thread;
		c->last[thread] = w = e;
	}
	while (writers)
		c->last[c->writers[--writers]] = MODEL_NONE;
}

static bool uncertain_in(struct certain *c, uint32_t cell, uint32_t e)
{
	if (c->cells[cell] == CELL_UNKNOWN) {
		c->cells[cell] = CELL_CERTAIN;
		walk(c, cell, true);
		walk(c, cell, false);
	}
	if (c->cells[cell] == CELL_CERTAIN)
		return false;
	uint32_t entry = certain_entry(c, cell, e);
	return c->uncertain[entry / 8] >> entry % 8 & 1;
}

bool certain_is_uncertain(struct certain *c, uint32_t e)
{
	const struct model *m = c->m;
	unsigned op = model_op(m, e);
	uint32_t end = m->events[e].object + m->sites[m->events[e].site].cells;
	if (c->exact || !rt_op_is_access(op) || !rt_op_reads(op))
		return false;
	for (uint32_t cell = m->events[e].object; cell < end; cell++)
		if (uncertain_in(c, cell, e))
			return true;
	return false;
}

static int by_thread(const void *a, const void *b, void *model)
{
	const struct model *m = model;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t tx = model_thread_of(m, x), ty = model_thread_of(m, y);
	return tx != ty ? (tx > ty) - (tx < ty) : (x > y) - (x < y);
}

/* Lists the cell's writes thread by thread, once: c->writes from the cell's first entry on. */
static void list_writes(struct certain *c, uint32_t cell)
{
	const struct model *m = c->m;
	uint32_t first = m->cells[cell].first, *count = &c->write_count[cell];
	if (*count)
		return;
	for (uint32_t i = first; i < first + m->cells[cell].count; i++)
		if (rt_op_writes(model_op(m, m->cell_events[i])))
			c->writes[first + (*count)++] = m->cell_events[i];
	if (*count)
		qsort_r(c->writes + first, *count, sizeof *c->writes, by_thread, (void *)m);
}

/*
 * For each thread: the last write of the cell that the read may have seen, and the last one that is before it. A
 * thread's writes before the read come first, those after it (or the read itself) last.
 */
static void gather(struct certain *c, uint32_t cell, uint32_t read)
{
	const struct model *m = c->m;
	list_writes(c, cell);
	const uint32_t *w = c->writes + m->cells[cell].first;
	for (uint32_t i = 0, next; i < c->write_count[cell]; i = next) {
		uint32_t thread = model_thread_of(m, w[i]);
		next = lower_bound(k, i, c->write_count[cell], model_thread_of(m, w[k]) == thread);
		uint32_t seen = lower_bound(k, i, next, !segment_order_before(c->hb, read, w[k]));
		uint32_t before = lower_bound(k, i, seen, segment_order_before(c->hb, w[k], read));
		if (seen == i)
			continue;
		c->writers[c->writer_count++] = thread;
		c->last[thread] = w[seen - 1];
		c->before[thread] = before > i ? w[before - 1] : MODEL_NONE;
	}
}

/* True if another write certainly covered this one before the read. */
static bool is_covered(const struct certain *c, uint32_t w, uint32_t read)
{
	for (uint32_t i = 0; segment_order_before(c->hb, w, read) && i < c->writer_count; i++) {
		uint32_t other = c->before[c->writers[i]];
		if (other != MODEL_NONE && other != w && segment_order_before(c->hb, w, other))
			return true;
	}
	return false;
}

/* Calls f for the writes of one cell. */
static bool writers_in(struct certain *c, uint32_t cell, uint32_t e, bool (*f)(void *arg, uint32_t write), void *arg)
{
	bool ok = true;
	gather(c, cell, e);
	for (uint32_t i = 0; ok && i < c->writer_count; i++) {
		uint32_t w = c->last[c->writers[i]];
		ok = is_covered(c, w, e) || f(arg, w);
	}
	while (c->writer_count) {
		uint32_t thread = c->writers[--c->writer_count];
		c->last[thread] = c->before[thread] = MODEL_NONE;
	}
	return ok;
}

bool certain_writers(struct certain *c, uint32_t e, uint64_t most, bool (*f)(void *arg, uint32_t write), void *arg)
{
	const struct model *m = c->m;
	uint32_t end = m->events[e].object + m->sites[m->events[e].site].cells;
	if (!certain_is_uncertain(c, e))
		return true;
	for (uint32_t cell = m->events[e].object; cell < end; cell++)
		if (m->cells[cell].count > most || !writers_in(c, cell, e, f, arg))
			return false;
	return true;
}

bool certain_runs_on(const struct model *m, const struct schedule *s, const uint32_t *goal, uint32_t count, uint32_t i)
{
	uint32_t thread = model_thread_of(m, goal[i]), pos = m->events[goal[i]].pos;
	for (uint32_t k = s->count; k-- > 0;)
		if (s->steps[k].thread == thread)
			return s->steps[k].to > pos &&
			       !(!m->program && i + 1 < count && model_pred(m, goal[i + 1]) == goal[i] &&
			         s->steps[k].to == pos + 1);
	return false;
}

uint32_t certain_entry(struct certain *c, uint32_t cell, uint32_t e)
{
	enum { NEAR = 8 };
	const struct model *m = c->m;
	uint32_t end = m->cells[cell].first + m->cells[cell].count, at = c->near[cell];
	for (int i = 0; i < NEAR && at + 1 < end && m->cell_events[at] < e; i++)
		at++;
	if (m->cell_events[at] != e)
		at = model_entry(m, cell, e);
	return c->near[cell] = at;
}

bool certain_sees_the_same(struct certain *c, uint32_t e, uint32_t cell, uint32_t write)
{
	const struct model *m = c->m;
	const struct values *v = c->values;
	uint32_t entry = certain_entry(c, cell, e), before = last_writes_before(c->last_writes, entry);
	bool known = !uncertain_in(c, cell, e);
	if (known && before == write)
		return true;
	if (!v)
		return false;
	uint64_t bits;
	if (!values_sure(v, cell, write) || values_like(v, before) != values_like(v, write))
		return false;
	return (known && values_sure(v, cell, before)) || (model_value(m, e, cell, &bits) && !model_raced(m, entry));
}

/* One event of the schedule: true if it reads what it need not have read in the run. */
static bool replay(struct certain *c, uint32_t e)
{
	const struct model *m = c->m;
	const struct model_site *site = &m->sites[m->events[e].site];
	uint32_t cell = m->events[e].object, end = cell + site->cells;
	uint32_t thread = model_thread_of(m, e);
	bool same = true, updating = c->updating[thread];
	if (!rt_op_is_access(site->op))
		return false;
	for (; cell < end; cell++) {
		if (rt_op_reads(site->op))
			same &= !c->changed[cell] && certain_sees_the_same(c, e, cell, c->latest[cell]);
		if (rt_op_writes(site->op)) {
			c->latest[cell] = certain_entry(c, cell, e);
			c->changed[cell] = updating;
		}
	}
	c->updating[thread] = !same && model_is_update(m, e);
	return !same && !c->updating[thread];
}

void certain_forget(struct certain *c, const struct schedule *s)
{
	const struct model *m = c->m;
	for (uint32_t i = 0; i < s->count; i++)
		for (uint32_t pos = s->steps[i].from; pos <= s->steps[i].to; pos++) {
			uint32_t e = m->threads[s->steps[i].thread].events[pos];
			bool writes = rt_op_writes(model_op(m, e));
			c->updating[s->steps[i].thread] = false;
			for (uint32_t k = 0; writes && k < m->sites[m->events[e].site].cells; k++) {
				c->latest[m->events[e].object + k] = MODEL_NONE;
				c->changed[m->events[e].object + k] = false;
			}
		}
}

uint32_t certain_count_uncertain(struct certain *c, const struct schedule *s, const uint32_t *goal, uint32_t goal_count,
                                 uint32_t *first)
{
	uint32_t uncertain = 0;
	*first = MODEL_NONE;
	for (uint32_t i = 0; !c->exact && i < s->count; i++)
		for (uint32_t pos = s->steps[i].from; pos <= s->steps[i].to; pos++) {
			uint32_t e = c->m->threads[s->steps[i].thread].events[pos];
			bool own = false;
			for (uint32_t g = 0; g < goal_count; g++)
				own |= goal[g] == e && !certain_runs_on(c->m, s, goal, goal_count, g);
			if (!replay(c, e) || own)
				continue;
			if (!uncertain++)
				*first = e;
		}
	if (!c->exact)
		certain_forget(c, s);
	return uncertain && certain_in_any_order(c, s, goal, goal_count) ? 0 : uncertain;
}
