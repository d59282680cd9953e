/*
 * Atomicity violations: e1 and e3, consecutive accesses of one thread to one cell in one atomic region, with another
 * thread's access e2 in between that no serial order explains (AVIO's patterns). This is PECAN's Algorithm 2 on
 * classes: e2 may come between e1 and e3 if the partial order relation (POR) orders it neither before e1 nor after e3,
 * and if somewhere in between e1's thread holds no lock that excludes e2's.
 *
 * Of each cell, the pairs (e1, e3) that agree in thread, locks in between and sites are one class, and so are accesses
 * that agree in thread, locks and site. For a class of pairs and one of accesses, the e2s that fit a pair are a window
 * whose ends only move forward from pair to pair: counted in one sweep. An access that POR forces between e1 and e3, as
 * when a flag hands the work over and back, is intended to be there and is left out of the window. Where very many
 * classes meet at the same sites of a cell, or LIMIT_SEARCH_STEPS is reached, not all are combined, and the count is a
 * lower bound.
 *
 * Atomic accesses count like plain ones (two in a critical section are as little serializable), updates as writes.
 */
#include "lib/base/free.h"
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"
#include "lib/search/classes.h"
#include "lib/search/found.h"
#include "lib/search/gap.h"
#include "lib/search/steps.h"

/* Numbers of a class of pairs and of a class of accesses; the first three identify the family. */
enum { LOCAL_SITE1, LOCAL_SITE3, LOCAL_AGAIN, LOCAL_GAP, LOCAL_THREAD };
enum { REMOTE_SITE, REMOTE_AGAIN, REMOTE_UNUSED, REMOTE_LOCKSET, REMOTE_THREAD };
enum { FAMILY_KEY = 3, LOCKS_KEY = 3 };

/* Once an anomaly has its instances, at most COUNTED_MAX more pairs of classes are counted; without any, TRIED_TIMES as
 * many are tried as LIMIT_COMBINATIONS says. */
enum { COUNTED_MAX = 1024, TRIED_TIMES = 128 };

/* Two consecutive accesses of a thread to the cell, in one region. */
struct region_pair {
	uint32_t e1, e3;
	uint32_t class;
};

/* A member of a class, with what POR says of it: each sweep reads members one after the other, and the events
 * themselves are all over the memory. */
struct member {
	uint32_t event, pos;
	uint32_t clock; /* POR's, as for segment_order_race_horizon */
	uint32_t needs; /* what it needs: a clock of search_needs; MODEL_NONE: not looked up yet */
};
struct member_pair {
	struct member e1, e3;
};

struct atomicity_finder {
	const struct search_context *context;
	const struct model *m;
	const struct segment_order *por;
	const struct pattern
	    *triples[8]; /* by writes: 4 e1's, 2 e2's, 1 e3's; NULL: serializable, or not searched for */
	bool exact;      /* the trace's order is exact; then what it shows occurred */
	struct gaps gaps;
	struct found_list found;
	struct search_steps steps;
	uint32_t *last, *last_cell; /* by thread: its last access to the cell of last_cell */
	/* The current cell, and the pairs of the previous one. */
	uint32_t cell;
	struct region_pair *pairs, *before;
	uint32_t pair_count, pair_capacity, before_count, before_capacity, before_cell;
	struct classes locals, remotes;
	struct classes local_families, remote_families; /* of each, the classes at the same sites */
	struct classes local_locks, remote_locks;       /* the different ones */
	struct member_pair *local_members;
	struct member *remote_members;
	uint32_t local_capacity, remote_capacity;
	uint32_t *class_of; /* by access of the cell */
	uint32_t class_capacity;
	bool failed;
};

static void find_triples(struct atomicity_finder *s)
{
	for (const struct pattern *p = patterns; p->name; p++) {
		if (p->kind != ANOMALY_ATOMICITY || (p->asked && !(s->context->asked >> (p - patterns) & 1)))
			continue;
		unsigned writes = 0;
		for (int i = 0; i < 3; i++)
			writes = writes << 1 | (p->accesses[i] == PATTERN_WRITE);
		s->triples[writes] = p;
	}
}

/* True if the pair's events cover the previous cell as well, and are consecutive there too. */
static bool seen_before(struct atomicity_finder *s, uint32_t e1, uint32_t e3, uint32_t *at)
{
	const struct model *m = s->m;
	if (m->events[e1].object == s->cell || m->events[e3].object == s->cell || s->before_cell + 1 != s->cell)
		return false;
	while (*at < s->before_count && s->before[*at].e3 < e3)
		++*at;
	return *at < s->before_count && s->before[*at].e3 == e3 && s->before[*at].e1 == e1;
}

static void add_pair(struct atomicity_finder *s, uint32_t e1, uint32_t e3, uint32_t *at)
{
	const struct model *m = s->m;
	if (!vec_reserve(&s->pairs, &s->pair_capacity, (uint64_t)s->pair_count + 1, sizeof *s->pairs)) {
		s->failed = true;
		return;
	}
	uint32_t key[CLASS_KEY] = {[LOCAL_THREAD] = model_thread_of(m, e1),
	                           [LOCAL_GAP] = gaps_between(&s->gaps, e1, e3),
	                           [LOCAL_SITE1] = m->events[e1].site,
	                           [LOCAL_SITE3] = m->events[e3].site,
	                           [LOCAL_AGAIN] = seen_before(s, e1, e3, at)};
	uint32_t class = classes_index(&s->locals, key);
	s->failed |= s->locals.failed || s->gaps.failed;
	if (s->failed)
		return;
	s->locals.items[class].count++;
	s->pairs[s->pair_count++] = (struct region_pair){e1, e3, class};
}

/* Finds the cell's pairs, in the order of e3. */
static void make_pairs(struct atomicity_finder *s)
{
	const struct model *m = s->m;
	const uint32_t *events = &m->cell_events[m->cells[s->cell].first];
	uint32_t at = 0;
	struct region_pair *before = s->before;
	uint32_t capacity = s->before_capacity;
	s->before = s->pairs;
	s->before_count = s->pair_count;
	s->before_capacity = s->pair_capacity;
	s->pairs = before;
	s->pair_capacity = capacity;
	s->pair_count = 0;
	classes_clear(&s->locals);
	for (uint32_t i = 0; i < m->cells[s->cell].count && !s->failed; i++) {
		uint32_t e = events[i], region = m->segments[m->events[e].segment].region;
		uint32_t thread = model_thread_of(m, e);
		uint32_t last = s->last_cell[thread] == s->cell ? s->last[thread] : MODEL_NONE;
		if (region != MODEL_NONE && last != MODEL_NONE && m->segments[m->events[last].segment].region == region)
			add_pair(s, last, e, &at);
		s->last[thread] = e;
		s->last_cell[thread] = s->cell;
	}
}

static struct member member_of(const struct atomicity_finder *s, uint32_t e)
{
	return (struct member){e, s->m->events[e].pos, segment_order_race_clock(s->por, e), MODEL_NONE};
}

static bool group_pairs(struct atomicity_finder *s)
{
	if (!vec_reserve(&s->local_members, &s->local_capacity, s->pair_count, sizeof *s->local_members))
		return false;
	classes_place(&s->locals);
	for (uint32_t i = 0; i < s->pair_count; i++) {
		struct class *k = &s->locals.items[s->pairs[i].class];
		s->local_members[k->first + k->count++] =
		    (struct member_pair){member_of(s, s->pairs[i].e1), member_of(s, s->pairs[i].e3)};
	}
	return true;
}

static bool group_accesses(struct atomicity_finder *s)
{
	const struct model *m = s->m;
	uint32_t n = m->cells[s->cell].count;
	const uint32_t *events = &m->cell_events[m->cells[s->cell].first];
	if (!vec_reserve(&s->class_of, &s->class_capacity, n, sizeof *s->class_of) ||
	    !vec_reserve(&s->remote_members, &s->remote_capacity, n, sizeof *s->remote_members))
		return false;
	classes_clear(&s->remotes);
	for (uint32_t i = 0; i < n; i++) {
		const struct model_event *e = &m->events[events[i]];
		const struct model_segment *g = &m->segments[e->segment];
		uint32_t key[CLASS_KEY] = {[REMOTE_THREAD] = g->thread,
		                           [REMOTE_LOCKSET] = g->lockset,
		                           [REMOTE_SITE] = e->site,
		                           [REMOTE_AGAIN] = e->object != s->cell};
		s->class_of[i] = classes_index(&s->remotes, key);
		if (s->remotes.failed)
			return false;
		s->remotes.items[s->class_of[i]].count++;
	}
	classes_place(&s->remotes);
	for (uint32_t i = 0; i < n; i++) {
		struct class *k = &s->remotes.items[s->class_of[i]];
		s->remote_members[k->first + k->count++] = member_of(s, events[i]);
	}
	return true;
}

/* Links the classes of each family in a list, and gathers the locks of all. */
static bool make_families(struct classes *classes, struct classes *families, struct classes *locks)
{
	classes_clear(families);
	classes_clear(locks);
	for (uint32_t i = 0; i < classes->count; i++) {
		uint32_t key[CLASS_KEY] = {0}, lock[CLASS_KEY] = {classes->items[i].key[LOCKS_KEY]};
		memcpy(key, classes->items[i].key, FAMILY_KEY * sizeof *key);
		uint32_t f = classes_index(families, key);
		classes_index(locks, lock);
		if (families->failed || locks->failed)
			return false;
		classes->items[i].next = families->items[f].next;
		families->items[f].next = i;
		families->items[f].count++;
	}
	return true;
}

/* Position of a sweep in the class of accesses; each only moves forward. */
struct pair_window {
	uint32_t low, high;     /* those that POR orders neither before e1 nor after e3 */
	uint32_t forced, after; /* those that it orders after e1 and before e3 */
	uint32_t next;          /* the first one after e1 in the trace */
	uint32_t from, to;      /* those that neither e1 nor e3 rules out by what is needed, when last asked */
};

static uint32_t window_size(const struct pair_window *w)
{
	if (w->low >= w->high)
		return 0;
	uint32_t from = w->forced > w->low ? w->forced : w->low, to = w->after < w->high ? w->after : w->high;
	return w->high - w->low - (from < to ? to - from : 0);
}

/* Number of events of another thread that POR orders before the member. */
static uint32_t horizon(const struct atomicity_finder *s, const struct member *x, uint32_t thread)
{
	return clock_get(&s->por->clocks, x->clock, thread);
}

static void move_window(const struct atomicity_finder *s, struct pair_window *w, const struct member_pair *pair,
                        uint32_t thread, const struct class *remote)
{
	const struct member *e2s = &s->remote_members[remote->first];
	uint32_t n = remote->count, other = remote->key[REMOTE_THREAD];
	uint32_t begin = horizon(s, &pair->e1, other), end = horizon(s, &pair->e3, other);
	while (w->low < n && e2s[w->low].pos < begin)
		w->low++;
	while (w->high < n && horizon(s, &e2s[w->high], thread) <= pair->e3.pos)
		w->high++;
	while (w->next < n && e2s[w->next].event < pair->e1.event)
		w->next++;
	while (w->forced < n && horizon(s, &e2s[w->forced], thread) <= pair->e1.pos)
		w->forced++;
	while (w->after < n && e2s[w->after].pos < end)
		w->after++;
}

static bool in_window(const struct pair_window *w, uint32_t i)
{
	return i >= w->low && i < w->high && !(i >= w->forced && i < w->after);
}

static void offer(struct atomicity_finder *s, struct found *f, const struct member_pair *pair, const struct member *x)
{
	uint32_t e1 = pair->e1.event, e2 = x->event, e3 = pair->e3.event;
	if (steps_take(&s->steps, 1))
		found_offer(&s->found, f, (uint32_t[]){e1, e2, e3}, s->exact && e1 < e2 && e2 < e3);
}

/* The number of events of another thread that must have occurred before the member. */
static uint32_t needed(const struct trf *needs, struct member *x, uint32_t thread)
{
	if (x->needs == MODEL_NONE)
		x->needs = trf_clock_before(needs, x->event);
	return clock_get(&needs->clocks, x->needs, thread);
}

/*
 * Of the accesses of the window from *from to *to, leaves those that neither e1 nor e3 rules out: what e1 needs is a
 * prefix of the class, and those that need e3 are its end. Both only grow from pair to pair. Returns the number of
 * those that it leaves out.
 */
static uint32_t leave_possible(const struct atomicity_finder *s, struct pair_window *w, const struct class *local,
                               const struct class *remote, struct member_pair *pair, uint32_t *from, uint32_t *to)
{
	const struct trf *needs = search_needs(s->context);
	struct member *e2s = &s->remote_members[remote->first];
	if (!needs)
		return 0;
	uint32_t before = needed(needs, &pair->e1, remote->key[REMOTE_THREAD]);
	while (w->from < remote->count && e2s[w->from].pos < before)
		w->from++;
	while (w->to < remote->count && needed(needs, &e2s[w->to], local->key[LOCAL_THREAD]) <= pair->e3.pos)
		w->to++;
	struct pair_window left = *w;
	left.low = *from = w->from > w->low ? w->from : w->low;
	left.high = *to = w->to < w->high ? w->to : w->high;
	return window_size(w) - window_size(&left);
}

/* Offers the accesses of the window that are nearest to the pair in the trace, and the window's ends; then all of them,
 * as long as all may be kept. Where they are too many to be examined, those that are ruled out are
 * counted at once. */
static void offer_some(struct atomicity_finder *s, struct found *f, struct pair_window *w, const struct class *local,
                       const struct class *remote, struct member_pair *pair)
{
	const uint32_t at[] = {w->next, w->next - 1, w->after, w->high - 1, w->low};
	const struct member *e2s = &s->remote_members[remote->first];
	uint32_t from = w->low, to = w->high;
	if (found_only_counts(f))
		found_exclude(&s->found, f, leave_possible(s, w, local, remote, pair, &from, &to));
	for (size_t i = 0; i < sizeof at / sizeof *at; i++)
		if (at[i] >= from && at[i] < to && in_window(w, at[i]))
			offer(s, f, pair, &e2s[at[i]]);
	for (uint32_t i = from; i < to && s->steps.given && !found_full(&s->found, f); i++)
		if (in_window(w, i))
			offer(s, f, pair, &e2s[i]);
}

/* Lists each instance of the pair. */
static void list_window(struct atomicity_finder *s, const struct pattern *p, const struct pair_window *w,
                        const struct member_pair *pair, const struct member *e2s)
{
	uint32_t e1 = pair->e1.event, e3 = pair->e3.event;
	for (uint32_t j = w->low; j < w->high; j++) {
		uint32_t e2 = e2s[j].event;
		if (in_window(w, j))
			found_every(&s->found, p, (uint32_t[]){e1, e2, e3},
			            s->exact && e1 < e2 && e2 < e3 ? FOUND_OBSERVED : FOUND_POSSIBLE);
	}
}

/* Counts and offers the instances of a class of pairs and one of accesses; *entry is the anomaly's once it has one. */
static void sweep(struct atomicity_finder *s, const struct class *local, const struct class *remote,
                  const struct pattern *p, struct found **entry)
{
	struct member_pair *pairs = &s->local_members[local->first];
	const struct member *e2s = &s->remote_members[remote->first];
	struct pair_window w = {0};
	bool observed = false;
	for (uint32_t i = 0; i < local->count && !s->found.failed; i++) {
		struct member_pair *pair = &pairs[i];
		move_window(s, &w, pair, local->key[LOCAL_THREAD], remote);
		if (w.low == remote->count)
			break;
		uint32_t size = window_size(&w);
		if (!size)
			continue;
		if (s->context->every) {
			list_window(s, p, &w, pair, e2s);
			continue;
		}
		struct found *f = *entry;
		if (!f && !(f = *entry = found_entry(&s->found, p,
		                                     (uint32_t[]){pair->e1.event, e2s[w.low].event, pair->e3.event})))
			return;
		found_count(f, size);
		bool occurred = s->exact && in_window(&w, w.next) && e2s[w.next].event < pair->e3.event;
		if (!(i & (i - 1)) || i + 1 == local->count || !found_full(&s->found, f) || (occurred && !observed))
			offer_some(s, f, &w, local, remote, pair);
		observed |= occurred;
	}
}

static const struct pattern *triple_at(const struct atomicity_finder *s, const struct class *f1, const struct class *f2)
{
	const struct model_site *sites = s->m->sites;
	unsigned writes = (rt_op_writes(sites[f1->key[LOCAL_SITE1]].op) ? 4u : 0) |
	                  (rt_op_writes(sites[f2->key[REMOTE_SITE]].op) ? 2u : 0) |
	                  (rt_op_writes(sites[f1->key[LOCAL_SITE3]].op) ? 1u : 0);
	return s->triples[writes];
}

/* True if the locks let some access of the cell come between one of its pairs, or are too many to compare. */
static bool any_admitted(const struct atomicity_finder *s)
{
	enum { COMPARED_MAX = 1 << 22 };
	if ((uint64_t)s->local_locks.count * s->remote_locks.count > COMPARED_MAX)
		return true;
	for (uint32_t i = 0; i < s->local_locks.count; i++)
		for (uint32_t j = 0; j < s->remote_locks.count; j++)
			if (gaps_admit(&s->gaps, s->local_locks.items[i].key[0], s->remote_locks.items[j].key[0]))
				return true;
	return false;
}

static void search_families(struct atomicity_finder *s, const struct class *f1, const struct class *f2)
{
	const struct pattern *p = triple_at(s, f1, f2);
	struct found *entry = NULL;
	uint64_t tried = 0, most = TRIED_TIMES * s->context->lazy->limits->of[LIMIT_COMBINATIONS];
	/* A violation on several cells is counted at the first of them only. */
	if (!p || (f1->key[LOCAL_AGAIN] && f2->key[REMOTE_AGAIN]))
		return;
	for (uint32_t i = f1->next; i != UINT32_MAX; i = s->locals.items[i].next)
		for (uint32_t j = f2->next; j != UINT32_MAX && !s->found.failed; j = s->remotes.items[j].next) {
			const struct class *local = &s->locals.items[i], *remote = &s->remotes.items[j];
			if (!s->context->every && tried > COUNTED_MAX && entry && found_full(&s->found, entry)) {
				found_partial(entry);
				return;
			}
			if (!s->context->every && tried++ > most) {
				limits_reach(s->context->lazy->limits, LIMIT_COMBINATIONS, !entry);
				found_cut(&s->found, f1->key[LOCAL_SITE1]);
				return;
			}
			if (local->key[LOCAL_THREAD] == remote->key[REMOTE_THREAD] ||
			    !gaps_admit(&s->gaps, local->key[LOCAL_GAP], remote->key[REMOTE_LOCKSET]))
				continue;
			if (!s->context->every && !steps_take(&s->steps, (uint64_t)local->count + remote->count))
				return;
			sweep(s, local, remote, p, &entry);
		}
}

static void search_cell(struct atomicity_finder *s)
{
	make_pairs(s);
	if (s->failed || !s->pair_count)
		return;
	if (!group_accesses(s) || !make_families(&s->locals, &s->local_families, &s->local_locks) ||
	    !make_families(&s->remotes, &s->remote_families, &s->remote_locks)) {
		s->failed = true;
		return;
	}
	if (!any_admitted(s))
		return;
	s->failed = !group_pairs(s);
	steps_begin(&s->steps, s->m->cells[s->cell].count, model_entries(s->m));
	for (uint32_t i = 0; i < s->local_families.count; i++)
		for (uint32_t j = 0; j < s->remote_families.count && !s->failed; j++)
			search_families(s, &s->local_families.items[i], &s->remote_families.items[j]);
	for (uint32_t i = 0; !s->steps.given && i < s->local_families.count; i++)
		found_cut(&s->found, s->local_families.items[i].key[LOCAL_SITE1]);
}

static bool prepare(struct atomicity_finder *s)
{
	size_t threads = (size_t)s->m->thread_count + 1;
	s->last = malloc(threads * sizeof *s->last);
	s->last_cell = malloc(threads * sizeof *s->last_cell);
	if (!s->last || !s->last_cell || !gaps_init(&s->gaps, s->m))
		return false;
	memset(s->last_cell, 0xff, threads * sizeof *s->last_cell);
	s->before_cell = MODEL_NONE - 1;
	return true;
}

static void release(struct atomicity_finder *s)
{
	gaps_release(&s->gaps);
	classes_release(&s->locals);
	classes_release(&s->remotes);
	classes_release(&s->local_families);
	classes_release(&s->remote_families);
	classes_release(&s->local_locks);
	classes_release(&s->remote_locks);
	free_all(s->last, s->last_cell, s->pairs, s->before, s->local_members, s->remote_members, s->class_of);
}

enum rt_status atomicity_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err)
{
	struct atomicity_finder s = {.context = c,
	                             .m = c->m,
	                             .por = c->por,
	                             .exact = rt_trace_info(c->m->trace)->exact,
	                             .found = {.context = c, .list = list},
	                             .steps = steps_of(c->lazy->limits)};
	find_triples(&s);
	if (!c->m->region_count)
		return RT_OK;
	s.failed = !prepare(&s);
	for (; s.cell < c->m->cell_count && !s.failed && !s.found.failed; s.cell++) {
		search_cell(&s);
		s.before_cell = s.cell;
	}
	release(&s);
	s.found.failed |= s.failed;
	enum rt_status status = found_finish(&s.found, err);
	return status ? status : check_act_search(c, list, err);
}
