/* Orders saturated by reads-from and locks; see saturate.h. */
#include "lib/prove/saturate.h"

#include "lib/base/free.h"
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"
#include "lib/relation/sections.h"

/* `from`'s next edge in the list is `next`. */
struct saturation_edge {
	uint32_t to, next;
};
/* A write in the window, sorted by cell, slot, pos. */
struct saturation_write {
	uint32_t cell, slot, pos, entry;
	uint32_t end; /* index after the slot's last write of the cell */
};
/* A read in the window and the write that it must see: an entry of cell_events, MODEL_NONE: the initial value. */
struct saturation_read {
	uint32_t id, cell, entry;
	uint32_t first; /* index of the cell's first write */
};
/* A section that does not end before the window, sorted by lock, slot, acquire. */
struct saturation_hold {
	uint32_t lock, slot;
	uint32_t acquire, release; /* pos; release: MODEL_NONE if it is not in the window */
	uint32_t over;             /* the event that ends it in the trace, MODEL_NONE */
	uint32_t first, end;       /* indices: of the lock's first section, after the slot's last one of the lock */
	bool shared;
};

static uint32_t *clock_of(const struct saturation *s, uint32_t id)
{
	return &s->clocks[(size_t)id * s->slots];
}

static uint32_t slot_at(const struct saturation *s, uint32_t id)
{
	return lower_bound(i, 1, s->slots, s->first[i] <= id) - 1;
}

static uint32_t id_of(const struct saturation *s, uint32_t slot, uint32_t pos)
{
	return s->first[slot] + (pos - s->from[s->thread[slot]]);
}

/* Sets the event's id if it is in the window, and returns whether it is. */
static bool find_id(const struct saturation *s, uint32_t e, uint32_t *id)
{
	uint32_t thread = model_thread_of(s->m, e), pos = s->m->events[e].pos;
	if (pos < s->from[thread] || pos >= s->to[thread])
		return false;
	*id = id_of(s, s->slot_of[thread], pos);
	return true;
}

void saturation_release(struct saturation *s)
{
	free_all(s->slot_of, s->thread, s->first, s->clocks, s->edges, s->edges_of, s->writes, s->seen, s->holds,
	         s->queue, s->queued);
	s->slot_of = s->thread = s->first = s->clocks = s->edges_of = s->queue = NULL;
	s->edges = NULL;
	s->writes = NULL;
	s->seen = NULL;
	s->holds = NULL;
	s->queued = NULL;
	s->edge_count = s->edge_capacity = s->write_count = s->write_capacity = 0;
	s->seen_count = s->seen_capacity = s->hold_count = s->hold_capacity = 0;
}

/* The order itself. */

static bool fail(struct saturation *s, enum saturated state)
{
	if (s->state == SATURATED)
		s->state = state;
	return false;
}

/* Joins the clock of `from`, and itself, into the clock of `to`. True if that grew. */
static bool join(struct saturation *s, uint32_t from, uint32_t slot, uint32_t to)
{
	uint32_t *clock = clock_of(s, to), *other = clock_of(s, from);
	bool grew = false;
	for (uint32_t u = 0; u < s->slots; u++) {
		uint32_t n = u == slot ? other[u] + 1 : other[u];
		grew |= n > clock[u];
		clock[u] = n > clock[u] ? n : clock[u];
	}
	return grew;
}

static void reach(struct saturation *s, uint32_t from, uint32_t slot, uint32_t to, uint32_t head, uint32_t *count)
{
	if (!join(s, from, slot, to) || s->queued[to])
		return;
	s->queued[to] = true;
	s->queue[(head + (*count)++) % s->ids] = to;
}

/* Propagates grown clocks to all later events. A clock's own component is its event's pos: if that grows, there is a
 * cycle. */
static bool propagate(struct saturation *s, uint32_t id)
{
	uint32_t head = 0, count = 1;
	s->queue[0] = id;
	s->queued[id] = true;
	while (count) {
		uint32_t at = s->queue[head], slot = slot_at(s, at);
		uint32_t pos = at - s->first[slot] + s->from[s->thread[slot]];
		head = head + 1 < s->ids ? head + 1 : 0;
		count--;
		s->queued[at] = false;
		if (clock_of(s, at)[slot] > pos)
			return fail(s, SATURATED_CYCLE);
		if (++s->spent > s->budget)
			return fail(s, SATURATED_BUDGET);
		if (at + 1 < s->first[slot + 1])
			reach(s, at, slot, at + 1, head, &count);
		for (uint32_t k = s->edges_of[at]; k != MODEL_NONE; k = s->edges[k].next)
			reach(s, at, slot, s->edges[k].to, head, &count);
	}
	return true;
}

static bool push_edge(struct saturation *s, uint32_t from, uint32_t to)
{
	if (!vec_reserve(&s->edges, &s->edge_capacity, (uint64_t)s->edge_count + 1, sizeof *s->edges))
		return fail(s, SATURATED_NO_MEMORY);
	s->edges[s->edge_count] = (struct saturation_edge){to, s->edges_of[from]};
	s->edges_of[from] = s->edge_count++;
	return true;
}

/* Orders one event before another; ids. False on failure or if that makes a cycle. */
static bool order(struct saturation *s, uint32_t from, uint32_t to)
{
	uint32_t slot = slot_at(s, from), pos = from - s->first[slot] + s->from[s->thread[slot]];
	if (clock_of(s, to)[slot] > pos)
		return true;
	if (!push_edge(s, from, to))
		return false;
	return !join(s, from, slot, to) || propagate(s, to);
}

/* Contents of the window. */

/* Adds the accesses of an event. Reads that may see any write have no constraint. */
static bool add_access(struct saturation *s, uint32_t slot, uint32_t id, uint32_t e)
{
	const struct model *m = s->m;
	uint32_t end = m->events[e].object + m->sites[m->events[e].site].cells;
	bool reads = reads_must(s->reads, s->goal, e), writes = rt_op_writes(model_op(m, e));
	for (uint32_t cell = m->events[e].object, entry = MODEL_NONE; cell < end; cell++) {
		entry = reads_entry(s->reads, e, cell, entry);
		s->spent++;
		if (!vec_reserve(&s->writes, &s->write_capacity, (uint64_t)s->write_count + 1, sizeof *s->writes) ||
		    !vec_reserve(&s->seen, &s->seen_capacity, (uint64_t)s->seen_count + 1, sizeof *s->seen))
			return fail(s, SATURATED_NO_MEMORY);
		if (writes)
			s->writes[s->write_count++] = (struct saturation_write){cell, slot, m->events[e].pos, entry, 0};
		if (reads)
			s->seen[s->seen_count++] =
			    (struct saturation_read){id, cell, last_writes_before(s->reads->last_writes, entry), 0};
	}
	return true;
}

/* The clock of the events that e needs. A goal's own read need not see what it saw, nor need its thread's next goal
 * event: MODEL_NONE, which needs only the event before it. */
static uint32_t needs_of(const struct saturation *s, uint32_t e)
{
	const struct goal *g = s->goal;
	if (!goal_runs(g, e))
		return trf_clock(s->base->trf, e);
	for (uint32_t i = 1; i < g->count; i++)
		if (g->events[i] == e && goal_continues(g, s->m, i))
			return MODEL_NONE;
	return trf_clock_before(s->base->trf, e);
}

/* Gives an event its clock, and edges from the events that its thread did not need before. */
static bool add_needs(struct saturation *s, uint32_t slot, uint32_t id, uint32_t e)
{
	uint32_t clock = needs_of(s, e);
	uint32_t *own = clock_of(s, id), *previous = id > s->first[slot] ? clock_of(s, id - 1) : NULL;
	for (uint32_t u = 0; u < s->slots; u++) {
		uint32_t thread = s->thread[u], known = previous ? previous[u] : s->from[thread], n = known;
		if (u == slot)
			n = s->m->events[e].pos;
		else if (clock != MODEL_NONE)
			n = clock_get(&s->base->trf->clocks, clock, thread);
		/* The write that a goal's read saw may be outside the window. */
		own[u] = n < known || n > s->to[thread] ? known : n;
		if (u != slot && own[u] > known && !push_edge(s, id_of(s, u, own[u] - 1), id))
			return false;
	}
	return true;
}

static bool add_hold(struct saturation *s, uint32_t slot, const struct section *section)
{
	if (!section)
		return true;
	uint32_t to = s->to[section->thread], acquire = s->m->events[section->acquire].pos;
	uint32_t release = section->release == MODEL_NONE ? MODEL_NONE : s->m->events[section->release].pos;
	if (!vec_reserve(&s->holds, &s->hold_capacity, (uint64_t)s->hold_count + 1, sizeof *s->holds))
		return fail(s, SATURATED_NO_MEMORY);
	s->holds[s->hold_count++] = (struct saturation_hold){.lock = section->lock,
	                                                     .slot = slot,
	                                                     .acquire = acquire,
	                                                     .release = release < to ? release : MODEL_NONE,
	                                                     .over = section->release,
	                                                     .shared = section->shared};
	return true;
}

/* The section that an event begins. */
static bool add_section(struct saturation *s, uint32_t slot, uint32_t e)
{
	uint32_t lock = model_lock_taken(s->m, e);
	return lock == MODEL_NONE ||
	       add_hold(s, slot, base_section(s->base, s->thread[slot], lock, s->m->events[e].pos + 1));
}

/* The sections that a thread is in when the window begins. */
static bool add_held(struct saturation *s, uint32_t slot)
{
	uint32_t thread = s->thread[slot];
	const struct model_lockset *held = base_held(s->m, thread, s->from[thread]);
	for (uint32_t i = 0; i < held->count; i++)
		if (!add_hold(s, slot, base_section(s->base, thread, held->locks[i].object, s->from[thread])))
			return false;
	return true;
}

static int compare_writes(const void *a, const void *b)
{
	const struct saturation_write *x = a, *y = b;
	if (x->cell != y->cell)
		return x->cell < y->cell ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return x->pos < y->pos ? -1 : x->pos != y->pos;
}

static int compare_holds(const void *a, const void *b)
{
	const struct saturation_hold *x = a, *y = b;
	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return x->acquire < y->acquire ? -1 : x->acquire != y->acquire;
}

static uint32_t first_write(const struct saturation *s, uint32_t cell)
{
	return lower_bound(middle, 0, s->write_count, s->writes[middle].cell < cell);
}

/* Sorts writes and sections, and sets the bounds of those of one cell or lock, and of one thread among them. */
static void sort(struct saturation *s)
{
	if (s->write_count)
		qsort(s->writes, s->write_count, sizeof *s->writes, compare_writes);
	if (s->hold_count)
		qsort(s->holds, s->hold_count, sizeof *s->holds, compare_holds);
	for (uint32_t i = s->write_count; i-- > 0;) {
		struct saturation_write *w = &s->writes[i];
		bool same = i + 1 < s->write_count && w[1].cell == w->cell && w[1].slot == w->slot;
		w->end = same ? w[1].end : i + 1;
	}
	for (uint32_t i = s->hold_count; i-- > 0;) {
		struct saturation_hold *h = &s->holds[i];
		bool same = i + 1 < s->hold_count && h[1].lock == h->lock && h[1].slot == h->slot;
		h->end = same ? h[1].end : i + 1;
	}
	for (uint32_t i = 0; i < s->hold_count; i++)
		s->holds[i].first = i && s->holds[i - 1].lock == s->holds[i].lock ? s->holds[i - 1].first : i;
	for (uint32_t i = 0; i < s->seen_count; i++)
		s->seen[i].first = first_write(s, s->seen[i].cell);
}

static bool make_room(struct saturation *s)
{
	const struct model *m = s->m;
	s->slot_of = malloc(((size_t)m->thread_count + 1) * sizeof *s->slot_of);
	s->thread = calloc((size_t)m->thread_count + 1, sizeof *s->thread);
	s->first = malloc(((size_t)m->thread_count + 1) * sizeof *s->first);
	if (!s->slot_of || !s->thread || !s->first)
		return fail(s, SATURATED_NO_MEMORY);
	s->slots = s->ids = 0;
	for (uint32_t t = 0; t < m->thread_count; t++) {
		s->slot_of[t] = MODEL_NONE;
		if (s->to[t] <= s->from[t])
			continue;
		s->slot_of[t] = s->slots;
		s->thread[s->slots] = t;
		s->first[s->slots++] = s->ids;
		s->ids += s->to[t] - s->from[t];
	}
	s->first[s->slots] = s->ids;
	if ((uint64_t)s->ids * s->slots > s->budget)
		return fail(s, SATURATED_BUDGET);
	s->clocks = malloc(((size_t)s->ids * s->slots + 1) * sizeof *s->clocks);
	s->edges_of = malloc(((size_t)s->ids + 1) * sizeof *s->edges_of);
	s->queue = malloc(((size_t)s->ids + 1) * sizeof *s->queue);
	s->queued = calloc((size_t)s->ids + 1, sizeof *s->queued);
	if (!s->clocks || !s->edges_of || !s->queue || !s->queued)
		return fail(s, SATURATED_NO_MEMORY);
	memset(s->edges_of, 0xff, ((size_t)s->ids + 1) * sizeof *s->edges_of);
	return true;
}

static bool add_event(struct saturation *s, uint32_t slot, uint32_t id)
{
	uint32_t thread = s->thread[slot];
	uint32_t e = s->m->threads[thread].events[s->from[thread] + id - s->first[slot]];
	s->spent++;
	if (!add_needs(s, slot, id, e))
		return false;
	return rt_op_is_access(model_op(s->m, e)) ? add_access(s, slot, id, e) : add_section(s, slot, e);
}

static bool open_window(struct saturation *s)
{
	if (!make_room(s))
		return false;
	for (uint32_t slot = 0; slot < s->slots; slot++) {
		if (!add_held(s, slot))
			return false;
		for (uint32_t id = s->first[slot]; id < s->first[slot + 1]; id++)
			if (!add_event(s, slot, id))
				return false;
	}
	sort(s);
	return true;
}

/* Adds the order that the goal requires, and that a wait has begun when its signal comes. */
static bool order_goal(struct saturation *s)
{
	const struct goal *g = s->goal;
	uint32_t from, to;
	for (uint32_t i = 0; g->kind == GOAL_SEQUENCE && i + 1 < g->count; i++)
		if (find_id(s, g->events[i], &from) && find_id(s, g->events[i + 1], &to) && !order(s, from, to))
			return false;
	if (g->kind == GOAL_SEQUENCE && find_id(s, g->events[g->count - 1], &to))
		for (uint32_t slot = 0; slot < s->slots; slot++)
			if (s->first[slot + 1] - 1 != to && !order(s, s->first[slot + 1] - 1, to))
				return false;
	return true;
}

static bool order_waits(struct saturation *s)
{
	const struct waits *w = s->waits;
	for (uint32_t slot = 0; slot < s->slots; slot++)
		for (uint32_t id = s->first[slot]; id < s->first[slot + 1]; id++) {
			uint32_t thread = s->thread[slot], begin, signal;
			uint32_t e = s->m->threads[thread].events[s->from[thread] + id - s->first[slot]];
			if (model_op(s->m, e) != RT_OP_WAIT_END || w->signal_of[e] == MODEL_NONE)
				continue;
			uint32_t k = waits_of(w, w->signal_of[e]);
			while (k < w->count && w->items[k].end != e)
				k++;
			if (k < w->count && find_id(s, w->items[k].begin, &begin) &&
			    find_id(s, w->items[k].signal, &signal) && !order(s, begin, signal))
				return false;
		}
	return true;
}

/* The rules. */

/* One thread's writes of the cell that r reads, from `first` on. writer: the write that r saw, MODEL_NONE if it is
 * before the window. */
static bool order_read(struct saturation *s, const struct saturation_read *r, uint32_t writer, uint32_t first)
{
	const struct saturation_write *w = s->writes;
	uint32_t slot = w[first].slot, end = w[first].end, count = clock_of(s, r->id)[slot];
	uint32_t low = lower_bound(i, first, end, w[i].pos < count);
	/* The last write before r, if r did not see it. */
	if (low > first && w[low - 1].entry != r->entry) {
		if (writer == MODEL_NONE)
			return fail(s, SATURATED_CYCLE);
		if (!order(s, id_of(s, slot, w[low - 1].pos), writer))
			return false;
	}
	/* The first write after the one that r saw. */
	low = first;
	if (writer != MODEL_NONE) {
		uint32_t writer_slot = slot_at(s, writer), pos = clock_of(s, writer)[writer_slot];
		low = lower_bound(i, first, end, clock_of(s, id_of(s, slot, w[i].pos))[writer_slot] <= pos);
	}
	if (low == end || id_of(s, slot, w[low].pos) == r->id)
		return true;
	return order(s, r->id, id_of(s, slot, w[low].pos));
}

static bool order_reads(struct saturation *s)
{
	for (uint32_t i = 0; i < s->seen_count; i++) {
		const struct saturation_read *r = &s->seen[i];
		uint32_t writer = MODEL_NONE;
		if (r->entry != MODEL_NONE && !find_id(s, s->m->cell_events[r->entry], &writer))
			writer = MODEL_NONE;
		for (uint32_t k = r->first; k < s->write_count && s->writes[k].cell == r->cell; k = s->writes[k].end) {
			s->spent++;
			if (!order_read(s, r, writer, k))
				return false;
		}
	}
	return true;
}

/* One thread's sections of b's lock, [first, its end): those whose acquire is before b's release end before b. */
static bool order_hold(struct saturation *s, const struct saturation_hold *b, uint32_t first, bool last)
{
	const struct saturation_hold *h = s->holds;
	uint32_t acquire = id_of(s, b->slot, b->acquire);
	uint32_t end = b->release == MODEL_NONE ? acquire : id_of(s, b->slot, b->release);
	uint32_t count = last && b->release == MODEL_NONE ? MODEL_NONE : clock_of(s, end)[h[first].slot];
	uint32_t low = lower_bound(i, first, h[first].end, h[i].acquire < count);
	while (low > first && b->shared && h[low - 1].shared)
		low--;
	if (low == first)
		return true;
	const struct saturation_hold *a = &h[low - 1];
	if (a->release != MODEL_NONE)
		return order(s, id_of(s, a->slot, a->release), acquire);
	s->missing = a->over;
	return fail(s, last || a->over == MODEL_NONE ? SATURATED_CYCLE : SATURATED_MISSING);
}

static bool order_holds(struct saturation *s, bool last)
{
	for (uint32_t i = 0; i < s->hold_count; i++) {
		const struct saturation_hold *b = &s->holds[i];
		uint32_t k = b->first;
		if (b->acquire < s->from[s->thread[b->slot]])
			continue;
		for (; k < s->hold_count && s->holds[k].lock == b->lock; k = s->holds[k].end) {
			s->spent++;
			if (s->holds[k].slot != b->slot && !order_hold(s, b, k, last))
				return false;
		}
	}
	return true;
}

enum saturated saturate(struct saturation *s, bool last, uint64_t budget)
{
	s->state = SATURATED;
	s->spent = 0;
	s->budget = budget;
	if (!open_window(s) || !order_goal(s) || !order_waits(s))
		return s->state;
	for (uint32_t edges = MODEL_NONE; edges != s->edge_count;) {
		edges = s->edge_count;
		if (!order_reads(s) || !order_holds(s, last))
			return s->state;
		if (s->spent > s->budget)
			return SATURATED_BUDGET;
	}
	return SATURATED;
}

bool saturation_allows(const struct saturation *s, uint32_t e, const uint32_t *pos)
{
	uint32_t id;
	if (!find_id(s, e, &id))
		return false;
	for (uint32_t u = 0; u < s->slots; u++)
		if (u != s->slot_of[model_thread_of(s->m, e)] && clock_of(s, id)[u] > pos[s->thread[u]])
			return false;
	return true;
}
