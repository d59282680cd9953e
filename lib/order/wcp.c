/*
 * wcp: weak-causally-precedes (Kini, Mathur, Viswanathan, PLDI 2017). Of two critical sections of one lock, A earlier:
 * (a) rel(A) is WCP-before an event of B that conflicts with one of A; (b) rel(A) is WCP-before rel(B) when A contains
 * x and B contains y with x WCP-before y; (c) composition with happens-before on both sides. Fork, join and the rest of
 * the partial order relation count as edges themselves, since plain program-order edges would be unsound where a
 * program forks inside a section.
 *
 * One streaming pass with two clocks a thread: H (happens-before) and P (WCP). The paper's queues are one history of
 * sections a lock with a cursor for each reading thread; only the newest conflicting section of another thread matters
 * for rule (a). A thread does not consume its own sections: that would order too much.
 */
#include "lib/base/free.h"
#include "lib/order/builtin.h"
#include "lib/order/lock_clock.h"
#include "lib/relation/por.h"
#include "lib/relation/sections.h"
#include "lib/relation/timeline.h"

#include <stdlib.h>
#include <string.h>

struct order_result {
	const struct model *m;
	struct clocks clocks;
	struct timeline timeline; /* events that are WCP-before the one at pos */
};

struct wcp {
	const struct model *m;
	struct order_result *out;
	const struct sections *sections; /* borrowed */
	uint32_t *release_h;             /* by section: H at its release, with the release; 0: open */
	uint32_t *cursor; /* by group of sections (lock, thread) and mode: place of the next section to look at */
	uint32_t *group;  /* by section: its group */
	uint32_t *h, *p;  /* by thread */
	struct lock_clock *locks;
};

/* The section's release, and all events before it, is before an event with this clock P; often P has it already. */
static uint32_t after_release(struct wcp *w, uint32_t p, uint32_t section)
{
	const struct section *s = &w->sections->items[section];
	if (!w->release_h[section] || clock_get(&w->out->clocks, p, s->thread) > w->m->events[s->release].pos)
		return p;
	return clock_join(&w->out->clocks, p, w->release_h[section]);
}

/* Rule (a): the earlier section's release comes before this access, whose thread's clock it joins. */
static void conflict(void *arg, uint32_t mine, uint32_t earlier)
{
	struct wcp *w = arg;
	uint32_t *p = &w->p[w->sections->items[mine].thread];
	*p = after_release(w, *p, earlier);
}

static void take(struct wcp *w, uint32_t section)
{
	const struct section *s = &w->sections->items[section];
	const struct lock_clock *l = &w->locks[s->lock];
	struct clocks *clocks = &w->out->clocks;
	uint32_t *h = &w->h[s->thread], *p = &w->p[s->thread];
	lock_clock_acquire(l, clocks, s, h, p);
}

/*
 * Rule (b) of a lock that is taken in turn: the last section whose acquire is WCP-before this release comes after all
 * others that are, as each has the ones before it in its happens-before.
 */
static void rule_b_in_turn(struct wcp *w, uint32_t section)
{
	const struct section *mine = &w->sections->items[section];
	uint32_t *cursor = &w->cursor[2 * w->group[section] + mine->shared], *p = &w->p[mine->thread], last;
	while ((last = sections_newest_before(w->sections, w->m, &w->out->clocks, *p, mine, *cursor)) != MODEL_NONE) {
		*p = after_release(w, *p, last);
		*cursor = w->sections->items[last].place + 1;
	}
}

/*
 * Rule (b): finds the sections of the lock whose acquire is WCP-before this release, oldest first; their releases are
 * then before it, too. A writer's release comes after those before it, so of several only the last is joined.
 */
static void rule_b(struct wcp *w, uint32_t section)
{
	const struct section *s = w->sections->items, *mine = &s[section];
	const uint32_t *history = w->sections->by_place + w->sections->place_first[mine->lock];
	uint32_t *cursor = &w->cursor[2 * w->group[section] + mine->shared], *p = &w->p[mine->thread];
	uint32_t last = MODEL_NONE; /* writer's section that is still to be joined */
	while (*cursor < mine->place) {
		uint32_t other = history[*cursor];
		if (s[other].thread == mine->thread || !sections_exclude(&s[other], mine)) {
			++*cursor;
			continue;
		}
		if (!w->release_h[other])
			break;
		if (clock_get(&w->out->clocks, *p, s[other].thread) <= w->m->events[s[other].acquire].pos) {
			if (last == MODEL_NONE)
				break;
			*p = after_release(w, *p, last);
			last = MODEL_NONE;
			continue;
		}
		if (s[other].shared)
			*p = after_release(w, *p, other);
		else
			last = other;
		++*cursor;
	}
	if (last != MODEL_NONE)
		*p = after_release(w, *p, last);
}

static void release(struct wcp *w, uint32_t section)
{
	const struct section *s = &w->sections->items[section];
	if (w->sections->in_turn[s->lock])
		rule_b_in_turn(w, section);
	else
		rule_b(w, section);
	w->release_h[section] = lock_clock_release(&w->locks[s->lock], &w->out->clocks, s, w->m->events[s->release].pos,
	                                           w->h[s->thread], w->p[s->thread]);
}

static void step_sync(struct wcp *w, struct por *hard, uint32_t e, uint32_t section)
{
	const struct model *m = w->m;
	struct clocks *clocks = &w->out->clocks;
	uint32_t thread = model_thread_of(m, e), received = por_receive(hard, e, 0);
	w->h[thread] = clock_join(clocks, w->h[thread], received);
	w->p[thread] = clock_join(clocks, w->p[thread], received);
	if (section != MODEL_NONE && model_lock_taken(m, e) != MODEL_NONE)
		take(w, section);
	else if (section != MODEL_NONE)
		release(w, section);
	por_send(hard, e, w->h[thread]);
	por_set_now(hard, thread, w->h[thread]);
}

static bool walk(struct wcp *w, struct por *hard, struct section_walk *sections)
{
	const struct model *m = w->m;
	for (uint32_t e = 0, sync = 0; e < m->event_count; e++) {
		uint32_t thread = model_thread_of(m, e), pos = m->events[e].pos, section;
		if (!pos)
			w->h[thread] = w->p[thread] = por_now(hard, thread);
		uint32_t before = w->p[thread];
		if (!section_walk_step(sections, e, &section, conflict, w))
			return false;
		if (sync < m->sync_count && m->sync[sync] == e) {
			step_sync(w, hard, e, section);
			sync++;
		}
		if (!pos || w->p[thread] != before)
			timeline_add(&w->out->timeline, thread, pos, w->p[thread]);
	}
	return por_ok(hard) && !w->out->timeline.failed;
}

static bool number_groups(struct wcp *w)
{
	size_t n = (size_t)w->sections->count + 1;
	w->group = malloc(n * sizeof *w->group);
	w->cursor = calloc(2 * ((size_t)w->sections->group_count + 1), sizeof *w->cursor);
	if (!w->group || !w->cursor)
		return false;
	for (uint32_t g = 0; g < w->sections->group_count; g++)
		for (uint32_t i = 0; i < w->sections->groups[g].count; i++)
			w->group[w->sections->sorted[w->sections->groups[g].first + i]] = g;
	return true;
}

static bool compute(struct wcp *w)
{
	const struct model *m = w->m;
	struct order_result *r = w->out;
	if (!clocks_init(&r->clocks, m->thread_count) || !timeline_init(&r->timeline, m->thread_count) ||
	    !w->sections || !number_groups(w))
		return false;
	w->release_h = calloc((size_t)w->sections->count + 1, sizeof *w->release_h);
	w->h = calloc((size_t)m->thread_count + 1, sizeof *w->h);
	w->p = calloc((size_t)m->thread_count + 1, sizeof *w->p);
	w->locks = calloc((size_t)m->object_count + 1, sizeof *w->locks);
	struct por *hard = por_create(m, &r->clocks, false);
	struct section_walk *sections = section_walk_create(m, w->sections);
	bool ok = w->release_h && w->h && w->p && w->locks && hard && sections && walk(w, hard, sections);
	por_free(hard);
	section_walk_free(sections);
	return ok;
}

enum rt_status wcp_compute(struct facts *f, struct order_result **out, struct rt_error *err)
{
	struct order_result *r = calloc(1, sizeof *r);
	struct wcp w = {.m = f->m, .out = r, .sections = facts_sections(f)};
	bool ok = r;
	if (ok) {
		r->m = f->m;
		ok = compute(&w);
	}
	free_all(w.release_h, w.cursor, w.group, w.h, w.p, w.locks);
	*out = r;
	if (ok)
		return RT_OK;
	wcp_free(r);
	*out = NULL;
	return rt_error_set(err, RT_EMEMORY, "no memory to order the trace's events");
}

uint32_t wcp_horizon(const struct order_result *r, uint32_t e2, uint32_t thread)
{
	uint32_t own = model_thread_of(r->m, e2), pos = r->m->events[e2].pos;
	return own == thread ? pos + 1 : clock_get(&r->clocks, timeline_at(&r->timeline, own, pos), thread);
}

bool wcp_unordered(const struct order_result *r, uint32_t e1, uint32_t e2)
{
	return r->m->events[e1].pos >= wcp_horizon(r, e2, model_thread_of(r->m, e1));
}

void wcp_free(struct order_result *r)
{
	if (!r)
		return;
	clocks_release(&r->clocks);
	timeline_release(&r->timeline);
	free(r);
}
