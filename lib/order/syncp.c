/*
 * syncp: sync-preserving races (Mathur, Pavlogiannis, Viswanathan, POPL 2021). A correct reordering is sync-preserving
 * if it keeps the order of the critical sections of each lock that it contains. (e1, e2) is such a race iff the ideal
 * contains neither. The ideal is the least set of events that contains all events before e1 and e2 in their threads,
 * and is closed. It is closed under thread order, reads-from, the partial order relation, and a rule for locks: of two
 * acquires of one lock in the set, the earlier section's release is in it.
 *
 * The ideal is a prefix of each thread. It grows with e1 and e2 along their threads, so a query that comes after one of
 * the same two threads continues from there. Its events in trace order, then e1 and e2, are the witness. Readers'
 * sections do not close one another.
 *
 * Of the sections of one lock and thread (a group) that the ideal has begun only the newest can be open, so closing the
 * locks looks at that one only. Where the ideal grows by many sections at once, the newest of each group is searched
 * for instead of walking over all: a query late in a long trace then costs no more.
 */
#include "lib/order/syncp.h"

#include "lib/base/free.h"
#include "lib/base/lower_bound.h"
#include "lib/order/builtin.h"
#include "lib/relation/sections.h"
#include "lib/relation/trf.h"

#include <stdlib.h>
#include <string.h>

struct order_result {
	const struct model *m;
	const struct trf *trf; /* borrowed, like the next */
	const struct sections *sections;
	uint32_t *of_thread;    /* section indices, thread by thread, in order */
	uint32_t *first;        /* by thread: where its sections begin; one more at the end */
	uint32_t *group;        /* by section: its group */
	uint32_t *thread_group; /* groups, thread by thread */
	uint32_t *group_first;  /* by thread: where its groups begin; one more at the end */
	uint32_t
	    *exclusive; /* by place in sections.sorted: place + 1 of the group's newest writer up to there; 0: none */
	/* The current query. */
	uint32_t *ideal;   /* by thread: number of its events */
	uint32_t *seen;    /* by thread: the ideal when its sections were last examined */
	uint32_t *scanned; /* by thread: number of its sections that are begun */
	uint32_t *begun;   /* by group: number of its sections that are begun */
	uint32_t *touched; /* groups with begun sections */
	uint32_t touched_count;
	uint32_t *dirty; /* locks with sections that were begun since they were last closed */
	uint32_t dirty_count;
	bool *is_dirty;
	uint32_t threads[2], pos[2]; /* of the last query */
	bool stuck;                  /* the ideal needs a release that the trace does not have */
};

static void include_clock(struct order_result *r, uint32_t clock)
{
	for (uint32_t t = 0; t < r->m->thread_count; t++) {
		uint32_t n = clock_get(&r->trf->clocks, clock, t);
		if (n > r->ideal[t])
			r->ideal[t] = n;
	}
}

static void include(struct order_result *r, uint32_t e)
{
	uint32_t thread = model_thread_of(r->m, e), n = r->m->events[e].pos + 1;
	if (n <= r->ideal[thread])
		return;
	include_clock(r, trf_clock(r->trf, e));
	r->ideal[thread] = n;
}

static void include_before(struct order_result *r, uint32_t e)
{
	uint32_t thread = model_thread_of(r->m, e), pos = r->m->events[e].pos;
	include_clock(r, trf_clock_before(r->trf, e));
	if (pos > r->ideal[thread])
		r->ideal[thread] = pos;
}

/* The ideal must contain the release of this section. */
static void close_section(struct order_result *r, uint32_t section)
{
	if (r->sections->items[section].release == MODEL_NONE)
		r->stuck = true;
	else
		include(r, r->sections->items[section].release);
}

static void begin(struct order_result *r, uint32_t group, uint32_t count)
{
	uint32_t lock = r->sections->groups[group].lock;
	if (!r->begun[group])
		r->touched[r->touched_count++] = group;
	r->begun[group] = count;
	if (!r->is_dirty[lock]) {
		r->is_dirty[lock] = true;
		r->dirty[r->dirty_count++] = lock;
	}
}

/* Number of sections, in a list of one thread, whose acquire is before its event `end`; at least `low`. */
static uint32_t count_begun(const struct order_result *r, const uint32_t *list, uint32_t low, uint32_t count,
                            uint32_t end)
{
	uint32_t step = 1, high = low;
	while (high < count && r->sections->items[list[high]].acquire < end) {
		low = high + 1;
		high += step;
		step *= 2;
	}
	if (high > count)
		high = count;
	return lower_bound(i, low, high, r->sections->items[list[i]].acquire < end);
}

/* Begins the sections by which the thread's part of the ideal has grown since they were last examined. */
static void begin_sections(struct order_result *r, uint32_t thread)
{
	enum { SEARCH = 8 }; /* a search in a group costs as much as walking over this many sections */
	const uint32_t *list = &r->of_thread[r->first[thread]];
	uint32_t from = r->scanned[thread], end = model_next(r->m, thread, r->ideal[thread]);
	uint32_t to = count_begun(r, list, from, r->first[thread + 1] - r->first[thread], end);
	uint32_t groups = r->group_first[thread + 1] - r->group_first[thread];
	r->seen[thread] = r->ideal[thread];
	r->scanned[thread] = to;
	if ((to - from) / SEARCH <= groups) {
		for (uint32_t i = from; i < to; i++)
			begin(r, r->group[list[i]], r->begun[r->group[list[i]]] + 1);
		return;
	}
	for (uint32_t i = 0; i < groups; i++) {
		uint32_t g = r->thread_group[r->group_first[thread] + i];
		const struct section_group *group = &r->sections->groups[g];
		uint32_t count = count_begun(r, &r->sections->sorted[group->first], r->begun[g], group->count, end);
		if (count != r->begun[g])
			begin(r, g, count);
	}
}

/* Of two sections of the lock that exclude each other, closes the earlier one. */
static void close_lock(struct order_result *r, uint32_t lock)
{
	const struct sections *s = r->sections;
	uint32_t newest = 0, newest_exclusive = 0; /* places + 1 */
	for (uint32_t g = s->lock_first[lock]; g < s->lock_first[lock + 1]; g++) {
		if (!r->begun[g])
			continue;
		uint32_t at = s->groups[g].first + r->begun[g] - 1, place = s->items[s->sorted[at]].place + 1;
		newest = place > newest ? place : newest;
		newest_exclusive = r->exclusive[at] > newest_exclusive ? r->exclusive[at] : newest_exclusive;
	}
	for (uint32_t g = s->lock_first[lock]; g < s->lock_first[lock + 1]; g++) {
		if (!r->begun[g])
			continue;
		uint32_t section = s->sorted[s->groups[g].first + r->begun[g] - 1];
		if ((s->items[section].shared ? newest_exclusive : newest) > s->items[section].place + 1)
			close_section(r, section);
	}
}

/* Closes the ideal. */
static void saturate(struct order_result *r)
{
	for (bool more = true; more && !r->stuck;) {
		more = false;
		for (uint32_t t = 0; t < r->m->thread_count; t++)
			if (r->ideal[t] != r->seen[t]) {
				begin_sections(r, t);
				more = true;
			}
		while (r->dirty_count) {
			uint32_t lock = r->dirty[--r->dirty_count];
			r->is_dirty[lock] = false;
			close_lock(r, lock);
		}
	}
}

static void reset(struct order_result *r)
{
	size_t bytes = r->m->thread_count * sizeof *r->ideal;
	memset(r->ideal, 0, bytes);
	memset(r->seen, 0, bytes);
	memset(r->scanned, 0, bytes);
	for (uint32_t i = 0; i < r->touched_count; i++)
		r->begun[r->touched[i]] = 0;
	r->touched_count = 0;
	r->stuck = false;
}

/* The least ideal after which both events are next. False if every such ideal contains one of them. */
static bool find_ideal(struct order_result *r, uint32_t e1, uint32_t e2)
{
	const struct model *m = r->m;
	const uint32_t events[2] = {e1, e2};
	bool later = true;
	for (int i = 0; i < 2; i++)
		later &= r->threads[i] == model_thread_of(m, events[i]) && r->pos[i] <= m->events[events[i]].pos;
	if (!later)
		reset(r);
	for (int i = 0; i < 2; i++) {
		r->threads[i] = model_thread_of(m, events[i]);
		r->pos[i] = m->events[events[i]].pos;
		include_before(r, events[i]);
	}
	/* The events that the two need may contain one of them already. */
	if (r->ideal[r->threads[0]] <= r->pos[0] && r->ideal[r->threads[1]] <= r->pos[1])
		saturate(r);
	return !r->stuck && r->ideal[r->threads[0]] <= r->pos[0] && r->ideal[r->threads[1]] <= r->pos[1];
}

bool syncp_unordered(const struct order_result *result, uint32_t e1, uint32_t e2)
{
	/* Queries change only the work space that the result carries along, not the answer. */
	struct order_result *r = (struct order_result *)(uintptr_t)result;
	return find_ideal(r, e1, e2);
}

const uint32_t *syncp_ideal(const struct order_result *result, const uint32_t *events, uint32_t count)
{
	struct order_result *r = (struct order_result *)(uintptr_t)result;
	const struct model *m = r->m;
	reset(r);
	r->threads[0] = MODEL_NONE; /* the next query starts anew */
	for (uint32_t i = 0; i < count; i++)
		include_before(r, events[i]);
	saturate(r);
	bool found = !r->stuck;
	for (uint32_t i = 0; i < count; i++)
		found &= r->ideal[model_thread_of(m, events[i])] <= m->events[events[i]].pos;
	return found ? r->ideal : NULL;
}

/* Sections and groups by thread. */
static void sort_by_thread(struct order_result *r)
{
	const struct sections *s = r->sections;
	uint32_t threads = r->m->thread_count;
	for (uint32_t i = 0; i < s->count; i++)
		r->first[s->items[i].thread + 1]++;
	for (uint32_t g = 0; g < s->group_count; g++)
		r->group_first[s->groups[g].thread + 1]++;
	for (uint32_t t = 0; t < threads; t++) {
		r->first[t + 1] += r->first[t];
		r->group_first[t + 1] += r->group_first[t];
	}
	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t t = s->items[i].thread;
		r->of_thread[r->first[t] + r->scanned[t]++] = i;
	}
	for (uint32_t g = 0; g < s->group_count; g++) {
		uint32_t t = s->groups[g].thread, exclusive = 0;
		r->thread_group[r->group_first[t] + r->seen[t]++] = g;
		for (uint32_t i = s->groups[g].first; i < s->groups[g].first + s->groups[g].count; i++) {
			const struct section *section = &s->items[s->sorted[i]];
			r->group[s->sorted[i]] = g;
			if (!section->shared)
				exclusive = section->place + 1;
			r->exclusive[i] = exclusive;
		}
	}
	memset(r->scanned, 0, threads * sizeof *r->scanned);
	memset(r->seen, 0, threads * sizeof *r->seen);
}

static bool make_room(struct order_result *r)
{
	size_t threads = (size_t)r->m->thread_count + 2, objects = (size_t)r->m->object_count + 1;
	size_t sections = (size_t)r->sections->count + 1, groups = (size_t)r->sections->group_count + 1;
	r->ideal = calloc(threads, sizeof *r->ideal);
	r->seen = calloc(threads, sizeof *r->seen);
	r->scanned = calloc(threads, sizeof *r->scanned);
	r->first = calloc(threads, sizeof *r->first);
	r->group_first = calloc(threads, sizeof *r->group_first);
	r->of_thread = malloc(sections * sizeof *r->of_thread);
	r->group = malloc(sections * sizeof *r->group);
	r->exclusive = malloc(sections * sizeof *r->exclusive);
	r->thread_group = malloc(groups * sizeof *r->thread_group);
	r->begun = calloc(groups, sizeof *r->begun);
	r->touched = malloc(groups * sizeof *r->touched);
	r->dirty = malloc(objects * sizeof *r->dirty);
	r->is_dirty = calloc(objects, sizeof *r->is_dirty);
	return r->ideal && r->seen && r->scanned && r->first && r->group_first && r->of_thread && r->group &&
	       r->exclusive && r->thread_group && r->begun && r->touched && r->dirty && r->is_dirty;
}

enum rt_status syncp_compute(struct facts *f, struct order_result **out, struct rt_error *err)
{
	struct order_result *r = *out = calloc(1, sizeof *r);
	if (!r)
		return rt_error_set(err, RT_EMEMORY, "no memory to order the trace's events");
	r->m = f->m;
	r->trf = facts_trf(f);
	r->sections = facts_sections(f);
	r->threads[0] = r->threads[1] = MODEL_NONE;
	if (r->trf && r->sections && make_room(r)) {
		sort_by_thread(r);
		return RT_OK;
	}
	syncp_free(r);
	*out = NULL;
	return rt_error_set(err, RT_EMEMORY, "no memory to order the trace's events");
}

void syncp_free(struct order_result *r)
{
	if (!r)
		return;
	free_all(r->ideal, r->seen, r->scanned, r->first, r->group_first, r->of_thread, r->group, r->exclusive,
	         r->thread_group, r->begun, r->touched, r->dirty, r->is_dirty, r);
}
