/* Updates that nothing depends on; see updates.h. */
#include "lib/prove/updates.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FOLLOWERS = 8 };

/* The events after an update when it was first seen, by the site of its read. */
struct course {
	uint32_t sites[FOLLOWERS];
	uint32_t count;
	bool decides;
};

/* True if the two positions are in one source line of one function. Without positions: the same code address. */
static bool same_line(const struct model *m, uint64_t a, uint64_t b)
{
	size_t n, k;
	const struct rt_frame *f = rt_trace_frames(m->trace, a, &n), *g = rt_trace_frames(m->trace, b, &k);
	if (a == b)
		return true;
	if (!n || !k || !f->line || f->line != g->line || !f->file || !g->file || strcmp(f->file, g->file))
		return false;
	return !f->text || !g->text || !strcmp(f->text, g->text);
}

/* The write of the update that begins with the read at pos; MODEL_NONE if it begins none. */
static uint32_t update_at(const struct model *m, const struct model_thread *t, uint32_t pos)
{
	if (pos + 1 >= t->count)
		return MODEL_NONE;
	uint32_t read = t->events[pos], write = t->events[pos + 1];
	if (model_op(m, read) != RT_OP_READ || model_op(m, write) != RT_OP_WRITE ||
	    m->events[read].object != m->events[write].object ||
	    m->sites[m->events[read].site].cells != m->sites[m->events[write].site].cells)
		return MODEL_NONE;
	return same_line(m, m->sites[m->events[read].site].pc, m->sites[m->events[write].site].pc) ? write : MODEL_NONE;
}

/* Compares the following events with those recorded, up to the shorter end. */
static void follow(struct course *c, const struct model *m, const struct model_thread *t, uint32_t pos)
{
	for (uint32_t i = 0; i < FOLLOWERS && pos + i < t->count; i++) {
		uint32_t site = m->events[t->events[pos + i]].site;
		if (i == c->count)
			c->sites[c->count++] = site;
		else if (c->sites[i] != site)
			c->decides = true;
	}
}

/* Records the events after the read at pos. A read that is an update one time and not another is depended on. */
static void note(struct course *c, const struct model *m, const struct model_thread *t, uint32_t pos)
{
	if (update_at(m, t, pos) != MODEL_NONE)
		follow(c, m, t, pos + 2);
	else if (pos + 1 < t->count)
		c->decides = true;
}

uint8_t *updates_find(const struct model *m)
{
	uint8_t *updates = calloc((size_t)m->event_count / 8 + 1, 1);
	struct course *courses = calloc((size_t)m->site_count + 1, sizeof *courses);
	for (int pass = 0; updates && courses && pass < 2; pass++)
		for (uint32_t i = 0; i < m->thread_count; i++) {
			const struct model_thread *t = &m->threads[i];
			for (uint32_t pos = 0; pos < t->count; pos++) {
				uint32_t e = t->events[pos];
				struct course *c = &courses[m->events[e].site];
				if (model_op(m, e) != RT_OP_READ)
					continue;
				if (!pass)
					note(c, m, t, pos);
				else if (!c->decides && update_at(m, t, pos) != MODEL_NONE)
					updates[e / 8] |= (uint8_t)(1 << e % 8);
			}
		}
	if (!courses) {
		free(updates);
		updates = NULL;
	}
	free(courses);
	return updates;
}

/*
 * True if it includes a free or a call on a lock. Whether a block is freed or a lock destroyed often depends on a
 * counter; that the counter could be updated in another order says nothing then.
 */
static bool ends_use(const struct model *m, const struct goal *goal)
{
	for (uint32_t i = 0; i < goal->count; i++)
		if (m->sites[m->events[goal->events[i]].site].flags & (RT_F_OBJECT | RT_F_FREE))
			return true;
	return false;
}

static bool is_update(const uint8_t *updates, uint32_t e)
{
	return updates[e / 8] >> e % 8 & 1;
}

static bool share_cell(const struct model *m, uint32_t e1, uint32_t e2)
{
	uint32_t first1 = m->events[e1].object, first2 = m->events[e2].object;
	return first1 < first2 + m->sites[m->events[e2].site].cells &&
	       first2 < first1 + m->sites[m->events[e1].site].cells;
}

/* True if an event of the schedule other than the updates reads what one of them counts, and may depend on it. */
static bool is_looked_at(const uint8_t *updates, const struct model *m, const struct schedule *s, const uint32_t *reads,
                         uint32_t count)
{
	for (uint32_t i = 0; i < s->count; i++)
		for (uint32_t pos = s->steps[i].from; pos <= s->steps[i].to; pos++) {
			uint32_t e = m->threads[s->steps[i].thread].events[pos];
			if (!rt_op_is_access(model_op(m, e)) || !rt_op_reads(model_op(m, e)) || is_update(updates, e))
				continue;
			for (uint32_t k = 0; k < count; k++)
				if (share_cell(m, e, reads[k]))
					return true;
		}
	return false;
}

bool updates_are_all(const uint8_t *updates, const struct model *m, const struct goal *goal, const struct schedule *s,
                     const uint32_t *reads, uint32_t count)
{
	enum { FEW = 64 };
	for (uint32_t i = 0; i < count; i++)
		if (count > FEW || goal_has(goal, reads[i]) || !is_update(updates, reads[i]))
			return false;
	return count && !ends_use(m, goal) && !is_looked_at(updates, m, s, reads, count);
}

enum { UPDATES_MAX = 64 };

/* True if the event reads what one of the updates that have occurred counts. */
static bool looks_at(const struct model *m, uint32_t e, const uint32_t *updates, uint32_t count, const bool *occurred)
{
	if (!rt_op_is_access(model_op(m, e)) || !rt_op_reads(model_op(m, e)) || model_is_update(m, e))
		return false;
	for (uint32_t k = 0; k < count; k++)
		if (occurred[k] && share_cell(m, e, updates[k]))
			return true;
	return false;
}

/* Number of racing reads in the schedule that look at one of the updates; *certain: others do, too. */
static uint64_t racy_looks(struct certain *c, const struct model *m, const struct schedule *s, const uint32_t *updates,
                           uint32_t count, bool *certain)
{
	uint64_t looks = 0;
	bool occurred[UPDATES_MAX] = {false};
	for (uint32_t i = 0; count && i < s->count; i++)
		for (uint32_t pos = s->steps[i].from; pos <= s->steps[i].to; pos++) {
			uint32_t e = m->threads[s->steps[i].thread].events[pos];
			for (uint32_t k = 0; k < count; k++)
				occurred[k] |= updates[k] == e;
			if (!looks_at(m, e, updates, count, occurred))
				continue;
			looks++;
			*certain |= !certain_is_uncertain(c, e);
		}
	return looks;
}

bool updates_or_racy_reads(struct certain *c, const struct model *m, const struct schedule *s, const uint32_t *reads,
                           uint32_t count)
{
	uint32_t updates[UPDATES_MAX], n = 0;
	uint64_t racy = 0;
	bool certain = false;
	for (uint32_t i = 0; i < count; i++) {
		bool uncertain = certain_is_uncertain(c, reads[i]);
		racy += uncertain;
		if (uncertain)
			continue;
		if (!model_is_update(m, reads[i]) || n == UPDATES_MAX)
			return false;
		updates[n++] = reads[i];
	}
	racy += racy_looks(c, m, s, updates, n, &certain);
	return racy && !certain;
}
