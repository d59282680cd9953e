/*
 * cp: causally-precedes (Smaragdakis, Evans, Sadowski, Yi, Flanagan, POPL 2012). Of two critical sections of one lock,
 * A earlier, rel(A) is CP-before acq(B) when (a) they contain conflicting events, or (b) A contains x and B contains y
 * with x CP-before y; (c) CP is closed under composition with happens-before on both sides. Fork, join and the rest of
 * the partial order relation count as CP edges themselves.
 *
 * Exact on the whole trace, without windows. For each section B it keeps the newest section A that is ordered before it
 * (older ones follow; of readers' sections, which do not exclude each other, the newest of each thread). One walk
 * determines rule (a). Forward passes with two clocks a thread, H (happens-before) and K (CP), then add rule (b) until
 * nothing changes: a few passes over the synchronisation events. "x CP-before y" for some x in A, y in B is acq(A)
 * CP-before rel(B).
 */
#include "lib/base/free.h"
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"
#include "lib/order/builtin.h"
#include "lib/order/lock_clock.h"
#include "lib/relation/por.h"
#include "lib/relation/sections.h"

struct order_result {
	struct segment_order cp; /* clocks of the events that are CP-before each segment */
};

/* A reader's section that is before another section; `next` has one of another thread. */
struct cp_reader {
	uint32_t section, next; /* next: index + 1, 0: the end */
};

struct cp {
	const struct model *m;
	struct segment_order *out;
	const struct sections *sections; /* borrowed */
	uint32_t *before;  /* by section: newest writer's section that rule (a) or (b) orders before it, MODEL_NONE */
	uint32_t *readers; /* by section: the same of readers since, a list: index + 1 in reader_list, 0: none */
	struct cp_reader *reader_list;
	uint32_t reader_count, reader_capacity;
	bool failed;
	uint32_t *release_h; /* by section: H at its release, with the release */
	uint32_t *at_end;    /* by section: K at its release; of open ones, at the thread's last event */
	uint32_t *h, *k;     /* by thread */
	struct lock_clock *locks;
};

/* Records a reader's section before mine; false if it, or a newer one of its thread, is recorded. */
static bool order_reader(struct cp *c, uint32_t mine, uint32_t earlier)
{
	const struct section *s = c->sections->items;
	for (uint32_t i = c->readers[mine]; i; i = c->reader_list[i - 1].next) {
		uint32_t *known = &c->reader_list[i - 1].section;
		if (s[*known].thread != s[earlier].thread)
			continue;
		if (s[*known].place >= s[earlier].place)
			return false;
		*known = earlier;
		return true;
	}
	if (!vec_reserve(&c->reader_list, &c->reader_capacity, (uint64_t)c->reader_count + 1, sizeof *c->reader_list)) {
		c->failed = true;
		return false;
	}
	c->reader_list[c->reader_count] = (struct cp_reader){earlier, c->readers[mine]};
	c->readers[mine] = ++c->reader_count;
	return true;
}

/* Orders a section before mine; false if it was. The sections before a writer's section follow from that one. */
static bool order_section(struct cp *c, uint32_t mine, uint32_t earlier)
{
	const struct section *s = c->sections->items;
	uint32_t *before = &c->before[mine];
	if (s[earlier].release == MODEL_NONE || (*before != MODEL_NONE && s[*before].place >= s[earlier].place))
		return false;
	if (s[earlier].shared)
		return order_reader(c, mine, earlier);
	*before = earlier;
	return true;
}

static void conflict(void *arg, uint32_t mine, uint32_t earlier)
{
	order_section(arg, mine, earlier);
}

/* Applies rule (a) to all sections. */
static bool rule_a(struct cp *c)
{
	struct section_walk *w = section_walk_create(c->m, c->sections);
	bool ok = w;
	uint32_t section;
	for (uint32_t e = 0; e < c->m->event_count && ok; e++)
		ok = section_walk_step(w, e, &section, conflict, c);
	section_walk_free(w);
	return ok;
}

/* An earlier section's release is before the acquire at which a thread has this clock K; often K has it already. */
static uint32_t after_release(struct cp *c, uint32_t k, uint32_t earlier)
{
	const struct section *s = &c->sections->items[earlier];
	if (clock_get(&c->out->clocks, k, s->thread) > c->m->events[s->release].pos)
		return k;
	return clock_join(&c->out->clocks, k, c->release_h[earlier]);
}

static void take(struct cp *c, uint32_t section)
{
	const struct section *s = &c->sections->items[section];
	const struct lock_clock *l = &c->locks[s->lock];
	struct clocks *clocks = &c->out->clocks;
	uint32_t *h = &c->h[s->thread], *k = &c->k[s->thread];
	lock_clock_acquire(l, clocks, s, h, k);
	if (c->before[section] != MODEL_NONE)
		*k = after_release(c, *k, c->before[section]);
	for (uint32_t i = c->readers[section]; i; i = c->reader_list[i - 1].next)
		*k = after_release(c, *k, c->reader_list[i - 1].section);
}

static void release(struct cp *c, uint32_t section)
{
	const struct section *s = &c->sections->items[section];
	c->at_end[section] = c->k[s->thread];
	c->release_h[section] = lock_clock_release(&c->locks[s->lock], &c->out->clocks, s, c->m->events[s->release].pos,
	                                           c->h[s->thread], c->k[s->thread]);
}

/* One synchronisation event of a pass. section: the one that it opens or closes. */
static void step(struct cp *c, struct por *hard, uint32_t e, uint32_t section)
{
	const struct model *m = c->m;
	struct clocks *clocks = &c->out->clocks;
	uint32_t thread = model_thread_of(m, e);
	if (!m->events[e].pos)
		c->h[thread] = c->k[thread] = por_now(hard, thread);
	uint32_t received = por_receive(hard, e, 0);
	c->h[thread] = clock_join(clocks, c->h[thread], received);
	c->k[thread] = clock_join(clocks, c->k[thread], received);
	if (section != MODEL_NONE && model_lock_taken(m, e) != MODEL_NONE)
		take(c, section);
	else if (section != MODEL_NONE)
		release(c, section);
	por_send(hard, e, c->h[thread]);
	por_set_now(hard, thread, c->h[thread]);
	c->out->segments[m->events[e].segment] = c->k[thread];
	if (model_op(m, e) == RT_OP_FORK && m->threads[m->events[e].object].fork == e) {
		uint32_t child = m->events[e].object;
		c->out->begin[child] = c->h[child] = c->k[child] = por_now(hard, child);
	}
}

/* One forward pass over the synchronisation events: H and K of all segments. */
static bool pass(struct cp *c)
{
	const struct model *m = c->m;
	clocks_release(&c->out->clocks);
	struct por *hard = clocks_init(&c->out->clocks, m->thread_count) ? por_create(m, &c->out->clocks, false) : NULL;
	if (!hard)
		return false;
	memset(c->h, 0, m->thread_count * sizeof *c->h);
	memset(c->k, 0, m->thread_count * sizeof *c->k);
	memset(c->locks, 0, m->object_count * sizeof *c->locks);
	/* Of a section that has not ended (two may overlap in a trace that is not well formed) the last pass's is of no
	 * use: those clocks are gone. */
	memset(c->release_h, 0, c->sections->count * sizeof *c->release_h);
	memset(c->out->begin, 0, m->thread_count * sizeof *c->out->begin);
	memset(c->out->segments, 0xff, m->segment_count * sizeof *c->out->segments);
	struct section_walk *w = section_walk_create(m, c->sections);
	bool ok = w;
	for (uint32_t i = 0; i < m->sync_count && ok; i++) {
		uint32_t e = m->sync[i], section = MODEL_NONE;
		if (!rt_op_is_access(model_op(m, e)))
			ok = section_walk_step(w, e, &section, NULL, NULL);
		step(c, hard, e, section);
	}
	section_walk_free(w);
	for (uint32_t i = 0; i < c->sections->count; i++)
		if (c->sections->items[i].release == MODEL_NONE)
			c->at_end[i] = c->k[c->sections->items[i].thread];
	ok = ok && por_ok(hard);
	por_free(hard);
	return ok;
}

/*
 * The newest section of a group (one lock, one thread) before `mine` whose acquire is CP-before mine's end and which
 * excludes mine; MODEL_NONE if there is none.
 */
static uint32_t newest_before(const struct cp *c, const struct section_group *g, const struct section *mine,
                              uint32_t known)
{
	const struct section *s = c->sections->items;
	const uint32_t *list = c->sections->sorted + g->first;
	uint32_t low =
	    lower_bound(i, 0, g->count, s[list[i]].place < mine->place && c->m->events[s[list[i]].acquire].pos < known);
	while (low && (!sections_exclude(&s[list[low - 1]], mine) || s[list[low - 1]].release == MODEL_NONE))
		low--;
	return low ? list[low - 1] : MODEL_NONE;
}

/* The same of all groups, where the lock is taken in turn: the newest one comes after the others. */
static bool order_newest(struct cp *c, uint32_t i)
{
	const struct section *s = c->sections->items;
	uint32_t from = c->before[i] == MODEL_NONE ? 0 : s[c->before[i]].place + 1;
	uint32_t found = sections_newest_before(c->sections, c->m, &c->out->clocks, c->at_end[i], &s[i], from);
	return found != MODEL_NONE && order_section(c, i, found);
}

/* Applies rule (b) to all sections, with the last pass's clocks. True if it added an order. */
static bool rule_b(struct cp *c)
{
	const struct section *s = c->sections->items;
	bool more = false;
	for (uint32_t i = 0; i < c->sections->count; i++) {
		if (c->sections->in_turn[s[i].lock]) {
			more |= order_newest(c, i);
			continue;
		}
		for (uint32_t g = c->sections->lock_first[s[i].lock]; g < c->sections->lock_first[s[i].lock + 1]; g++) {
			const struct section_group *group = &c->sections->groups[g];
			if (group->thread == s[i].thread)
				continue;
			uint32_t known = clock_get(&c->out->clocks, c->at_end[i], group->thread);
			uint32_t found = known ? newest_before(c, group, &s[i], known) : MODEL_NONE;
			more |= found != MODEL_NONE && order_section(c, i, found);
		}
	}
	return more;
}

static bool compute(struct cp *c)
{
	const struct model *m = c->m;
	if (!c->sections)
		return false;
	size_t n = (size_t)c->sections->count + 1;
	c->before = malloc(n * sizeof *c->before);
	c->readers = calloc(n, sizeof *c->readers);
	c->release_h = calloc(n, sizeof *c->release_h);
	c->at_end = calloc(n, sizeof *c->at_end);
	c->h = calloc((size_t)m->thread_count + 1, sizeof *c->h);
	c->k = calloc((size_t)m->thread_count + 1, sizeof *c->k);
	c->locks = calloc((size_t)m->object_count + 1, sizeof *c->locks);
	c->out->begin = calloc((size_t)m->thread_count + 1, sizeof *c->out->begin);
	c->out->segments = malloc(((size_t)m->segment_count + 1) * sizeof *c->out->segments);
	if (!c->before || !c->readers || !c->release_h || !c->at_end || !c->h || !c->k || !c->locks || !c->out->begin ||
	    !c->out->segments)
		return false;
	memset(c->before, 0xff, n * sizeof *c->before);
	if (!rule_a(c))
		return false;
	do {
		if (c->failed || !pass(c))
			return false;
	} while (rule_b(c));
	return !c->failed && segment_order_fill(m, c->out->segments, c->out->begin);
}

enum rt_status cp_compute(struct facts *f, struct order_result **out, struct rt_error *err)
{
	struct order_result *r = calloc(1, sizeof *r);
	struct cp c = {.m = f->m, .out = r ? &r->cp : NULL, .sections = facts_sections(f)};
	bool ok = r;
	if (ok) {
		r->cp.m = f->m;
		ok = compute(&c);
	}
	free_all(c.before, c.readers, c.reader_list, c.release_h, c.at_end, c.h, c.k, c.locks);
	*out = r;
	if (ok)
		return RT_OK;
	cp_free(r);
	*out = NULL;
	return rt_error_set(err, RT_EMEMORY, "no memory to order the trace's events");
}

bool cp_unordered(const struct order_result *r, uint32_t e1, uint32_t e2)
{
	return !segment_order_before(&r->cp, e1, e2);
}

uint32_t cp_horizon(const struct order_result *r, uint32_t e2, uint32_t thread)
{
	return segment_order_horizon(&r->cp, e2, thread);
}

void cp_free(struct order_result *r)
{
	if (!r)
		return;
	segment_order_release(&r->cp);
	free(r);
}
