/*
 * Deadlocks: cycles of the lock graph, after Goodlock (Havelund, SPIN 2000; Bensalem and Havelund, 2005), with all that
 * threads wait for (resources.h).
 *
 * Waits that agree in thread, resource wanted, resources held and site are one group. A cycle is a sequence of groups
 * of different threads in which each wants, in an excluding mode, a resource that the next one has, and the last one a
 * resource that the first one has. No two hold a common lock in excluding modes (a guard: they would never meet). Its
 * instances are one wait a group, none of which the partial order relation puts before the others' threads come to
 * theirs. Of a group, those unordered with a given wait are a window. Its ends only move forward, so that instances are
 * counted without looking at all tuples. The end of a wait takes its mutex again and so is an acquire of it; until the
 * wait is signalled it is in another group, which wants the condition. A wait that may give up (timed, or a try) waits
 * for no thread, but others may wait for what its thread has.
 *
 * Threads that do wait for one another when the trace ends (stuck.h) are observed.
 *
 * Cycles are looked for by length, short ones first, up to LENGTH_MAX threads and LIMIT_CYCLE_STEPS steps a length. One
 * of more than SHORT_MAX threads is a deadlock of its own only if none of them wants what one has that is not the next:
 * else some of its threads are a shorter cycle. A last pass looks whether there is a longer one, so that the report can
 * say that it lacks some (LIMIT_CYCLE_THREADS).
 */
#include "lib/base/hash.h"
#include "lib/base/lower_bound.h"
#include "lib/base/sort.h"
#include "lib/search/found.h"
#include "lib/search/resources.h"
#include "lib/search/stuck.h"

#include <assert.h>

/* Tuples of acquires that are looked at: of all cycles of a length; of a cycle in any case, so that each has instances.
 */
enum { LENGTH_MAX = LIMIT_CYCLE_THREADS_MAX, SHORT_MAX = 6, TUPLES_MAX = 1 << 20, TUPLES_LEAST = 256 };
enum { INSTANCES_MAX = 32, INSTANCES_PER_CYCLE = 16, INSTANCES_PER_EVENT = 2 };

struct group_key {
	uint32_t thread, lock, held, left,
	    site; /* lock: a resource (resources.h); left: its first of resources.gives */
};

struct lock_group {
	struct group_key key;
	bool shared;           /* wants it as a reader */
	bool gone;             /* cannot be in a cycle */
	uint32_t first, count; /* members: search.members[first .. first + count), in trace order */
	UT_hash_handle hh;
};

/* As the length of a cycle: any of more threads than are predicted. A path of PATH_MAX groups counts as one. */
enum { LONGER = LENGTH_MAX + 1, PATH_MAX = 256 };
static_assert(LENGTH_MAX <= ANOMALY_EVENTS_MAX, "an anomaly has an event of each thread");

/* By the number of threads. */
#define CYCLE(length) [length] = {.name = "cycle-" #length, .kind = ANOMALY_DEADLOCK, .count = length}
static const struct pattern cycles[LENGTH_MAX + 1] = {CYCLE(2),  CYCLE(3),  CYCLE(4),  CYCLE(5),  CYCLE(6),
                                                      CYCLE(7),  CYCLE(8),  CYCLE(9),  CYCLE(10), CYCLE(11),
                                                      CYCLE(12), CYCLE(13), CYCLE(14), CYCLE(15), CYCLE(16)};

struct deadlock_finder {
	const struct search_context *context;
	const struct model *m;
	struct found_list found;
	struct lock_group *table, **groups; /* hash table; those that may be in a cycle */
	uint32_t group_count;
	uint32_t *members;
	uint32_t *holders, *holders_first; /* group indices by lock held; by lock: where they begin */
	struct resources resources;
	uint64_t steps;
	bool failed, cut; /* cut: by LIMIT_CYCLE_STEPS, or at the first longer cycle */
	/* The cycle at hand. */
	struct lock_group *path[PATH_MAX];
	uint32_t length;
	uint32_t tuple[LENGTH_MAX];
	struct found *deadlock;
	bool plain; /* all of its waits are for locks and ends */
	uint32_t instances, event_instances;
	uint64_t tuples, tuples_left; /* looked at of this cycle; of all of this length */
};

/* Number of resources that a thread has in a group: its locks, and what it has still to give. */
static uint32_t has_count(const struct deadlock_finder *s, const struct lock_group *g)
{
	return s->m->locksets[g->key.held].count + s->resources.first[g->key.thread + 1] - g->key.left;
}

static uint32_t has_resource(const struct deadlock_finder *s, const struct lock_group *g, uint32_t i)
{
	const struct model_lockset *set = &s->m->locksets[g->key.held];
	return i < set->count ? set->locks[i].object : s->resources.gives[g->key.left + i - set->count].resource;
}

/* Group of a wait (signal: of one for a condition, until that is signalled), found or made if wanted; NULL: nothing
 * waits for its thread or it for nothing (or no memory). */
static struct lock_group *group_of(struct deadlock_finder *s, uint32_t e, bool signal, bool make)
{
	const struct model *m = s->m;
	struct group_key key = {model_thread_of(m, e), MODEL_NONE, resources_locks(m, e), 0, m->events[e].site};
	if (signal ? model_op(m, e) != RT_OP_WAIT_END : !resources_waits(m, e))
		return NULL;
	key.left = resources_left(&s->resources, e);
	if (!m->locksets[key.held].count && key.left == s->resources.first[key.thread + 1])
		return NULL;
	key.lock = resources_wanted(&s->resources, e, signal);
	if (key.lock == MODEL_NONE)
		return NULL;
	struct lock_group *g;
	HASH_FIND(hh, s->table, &key, sizeof key, g);
	if (g || !make)
		return g;
	HASH_MAKE(s->table, key, key, g);
	if (g)
		g->shared = m->sites[key.site].op == RT_OP_ACQUIRE_SHARED;
	else
		s->failed = true;
	return g;
}

/* True if members of the group have the resource in a mode that keeps others from acquiring it. */
static bool holds_against(const struct deadlock_finder *s, const struct lock_group *g, uint32_t resource, bool shared)
{
	const struct model_lock *held = model_lockset_lock(s->m, g->key.held, resource);
	if (held)
		return !(shared && held->shared);
	for (uint32_t i = g->key.left; i < s->resources.first[g->key.thread + 1]; i++)
		if (s->resources.gives[i].resource == resource)
			return true;
	return false;
}

/* By lock: how many groups hold and want it. */
struct demand {
	uint32_t *wanted, *held;
};

static void count_group(const struct deadlock_finder *s, const struct demand *d, const struct lock_group *g,
                        uint32_t by)
{
	d->wanted[g->key.lock] += by;
	for (uint32_t i = 0; i < has_count(s, g); i++)
		d->held[has_resource(s, g, i)] += by;
}

static bool may_be_in_cycle(const struct deadlock_finder *s, const struct demand *d, const struct lock_group *g)
{
	bool waited_for = false;
	for (uint32_t i = 0; i < has_count(s, g) && !waited_for; i++)
		waited_for = d->wanted[has_resource(s, g, i)] != 0;
	return waited_for && d->held[g->key.lock];
}

/* By the number of locks held. */
static int compare_held(const void *x, const void *y, void *model)
{
	const struct model *m = model;
	const struct lock_group *const *a = x, *const *b = y;
	uint32_t n = m->locksets[(*a)->key.held].count, k = m->locksets[(*b)->key.held].count;
	return n < k ? -1 : n > k;
}

/*
 * Drops the groups that want what none holds, or hold only what none wants, until all that are left have a successor
 * and a predecessor. Of a program that orders its locks nothing is left. There each group that goes takes the next
 * with it, so they are looked at by the number of locks held, in both directions by turns. As it only saves work, the
 * number of rounds is bounded.
 */
static bool trim(struct deadlock_finder *s)
{
	enum { ROUNDS_MAX = 64 };
	size_t locks = (size_t)resources_count(s->m) + 1, n = HASH_COUNT(s->table);
	struct demand d = {calloc(locks, sizeof *d.wanted), calloc(locks, sizeof *d.held)};
	struct lock_group **all = malloc((n + 1) * sizeof *all);
	bool ok = d.wanted && d.held && all, more = ok;
	n = 0;
	for (struct lock_group *g = s->table; ok && g; g = g->hh.next) {
		count_group(s, &d, g, 1);
		all[n++] = g;
	}
	if (more)
		qsort_r(all, n, sizeof *all, compare_held, (void *)(uintptr_t)s->m);
	for (uint32_t round = 0; more && round < ROUNDS_MAX; round++) {
		more = false;
		for (size_t i = 0; i < n; i++) {
			struct lock_group *g = all[round % 2 ? i : n - 1 - i];
			if (g->gone || may_be_in_cycle(s, &d, g))
				continue;
			count_group(s, &d, g, UINT32_MAX); /* one less */
			g->gone = more = true;
		}
	}
	free(d.wanted);
	free(d.held);
	free(all);
	return ok;
}

/* Lists the groups that are left, their members, and which groups hold which lock. */
static bool list_groups(struct deadlock_finder *s)
{
	const struct model *m = s->m;
	uint32_t members = 0, holders = 0;
	s->groups = malloc(((size_t)HASH_COUNT(s->table) + 1) * sizeof *s->groups);
	s->holders_first = calloc((size_t)resources_count(m) + 2, sizeof *s->holders_first);
	if (!s->groups || !s->holders_first)
		return false;
	for (struct lock_group *g = s->table; g; g = g->hh.next) {
		if (g->gone)
			continue;
		s->groups[s->group_count++] = g;
		g->first = members;
		members += g->count;
		g->count = 0;
		for (uint32_t i = 0; i < has_count(s, g); i++, holders++)
			s->holders_first[has_resource(s, g, i) + 2]++;
	}
	s->members = malloc(((size_t)members + 1) * sizeof *s->members);
	s->holders = malloc(((size_t)holders + 1) * sizeof *s->holders);
	if (!s->members || !s->holders)
		return false;
	for (uint32_t lock = 0; lock < resources_count(m); lock++)
		s->holders_first[lock + 2] += s->holders_first[lock + 1];
	for (uint32_t k = 0; k < s->group_count; k++)
		for (uint32_t i = 0; i < has_count(s, s->groups[k]); i++)
			s->holders[s->holders_first[has_resource(s, s->groups[k], i) + 1]++] = k;
	for (uint32_t i = 0; s->group_count && i < m->sync_count; i++)
		for (int signal = 0; signal < 2; signal++) {
			struct lock_group *g = group_of(s, m->sync[i], signal, false);
			if (g && !g->gone)
				s->members[g->first + g->count++] = m->sync[i];
		}
	return true;
}

/* Instances of a cycle. */

/* The anomaly of the cycle's source positions, in rising order; NULL without memory, and when as many are kept as may
 * be. */
static struct found *deadlock_of(struct deadlock_finder *s)
{
	uint64_t positions[LENGTH_MAX];
	for (uint32_t i = 0; i < s->length; i++)
		positions[i] = model_position(&s->m->sites[s->path[i]->key.site]);
	qsort(positions, s->length, sizeof *positions, compare_u64);
	return found_at(&s->found, &cycles[s->length], positions);
}

/* Copies the tuple so that its earliest event comes first; the order of the cycle stays. */
static void rotate(const struct deadlock_finder *s, uint32_t *out)
{
	uint32_t first = 0;
	for (uint32_t i = 1; i < s->length; i++)
		if (s->tuple[i] < s->tuple[first])
			first = i;
	for (uint32_t i = 0; i < s->length; i++)
		out[i] = s->tuple[(first + i) % s->length];
}

/* One whole tuple. False: no more like it, of the same first event, are of interest. */
static bool add_tuple(struct deadlock_finder *s)
{
	uint32_t events[LENGTH_MAX];
	rotate(s, events);
	if (s->context->every) {
		found_every(&s->found, &cycles[s->length], events, FOUND_POSSIBLE);
		return true;
	}
	if (found_kept(s->deadlock) == INSTANCES_MAX || s->instances == INSTANCES_PER_CYCLE ||
	    s->event_instances == INSTANCES_PER_EVENT)
		return false;
	found_keep(&s->found, s->deadlock, events, INSTANCES_MAX);
	s->instances++;
	s->event_instances++;
	return true;
}

/* The window of the group's members that are unordered with the cycle's event k: its begin, the first that does not
 * come before that; its end, the first that it comes before. */
static uint32_t window_end(const struct deadlock_finder *s, const struct lock_group *g, uint32_t k, bool begin)
{
	const struct model *m = s->m;
	uint32_t e = s->tuple[k], thread = model_thread_of(m, e), last = g->first + g->count;
	uint32_t horizon = resources_horizon(s->context->por, e, s->path[k]->key.lock, g->key.thread);
	if (begin)
		return lower_bound(i, g->first, last, m->events[s->members[i]].pos < horizon);
	return lower_bound(i, g->first, last,
	                   resources_horizon(s->context->por, s->members[i], g->key.lock, thread) <= m->events[e].pos);
}

/* True if one more tuple is looked at. If not, the count of the cycle's anomaly is too low. */
static bool look(struct deadlock_finder *s)
{
	if (s->context->every)
		return true;
	s->tuples++;
	if (s->tuples_left)
		s->tuples_left--;
	else if (s->tuples > TUPLES_LEAST || found_kept(s->deadlock) == INSTANCES_MAX) {
		found_partial(s->deadlock);
		return false;
	}
	return true;
}

/* True if the wait before the i-th one of the cycle waits for the i-th one's thread to go on, and the last one, if
 * this is it, for the first one's. */
static bool needs_it(const struct deadlock_finder *s, uint32_t i)
{
	const struct segment_order *por = s->context->por;
	return (!i || resources_need(&s->resources, por, s->tuple[i - 1], s->path[i - 1]->key.lock, s->tuple[i])) &&
	       (i + 1 < s->length ||
	        resources_need(&s->resources, por, s->tuple[i], s->path[i]->key.lock, s->tuple[0]));
}

/* True if each of its instances is one in which threads wait for one another, as of locks and ends. */
static bool is_plain(const struct deadlock_finder *s)
{
	for (uint32_t i = 0; i < s->length; i++) {
		uint32_t e = s->members[s->path[i]->first], wanted = s->path[i]->key.lock;
		if (wanted < s->m->object_count && wanted != model_lock_taken(s->m, e))
			return false;
	}
	return true;
}

/* Chooses the cycle's i-th event and those after it, among those unordered with the ones chosen before. */
static void choose(struct deadlock_finder *s, uint32_t i)
{
	const struct lock_group *g = s->path[i];
	uint32_t low = g->first, high = g->first + g->count;
	for (uint32_t k = 0; k < i; k++) {
		uint32_t begin = window_end(s, g, k, true), end = window_end(s, g, k, false);
		low = begin > low ? begin : low;
		high = end < high ? end : high;
	}
	bool last = i + 1 == s->length;
	if (last && low < high && s->deadlock && s->plain)
		found_count(s->deadlock, high - low);
	for (; low < high && !s->found.failed; low++) {
		if (!look(s))
			return;
		s->tuple[i] = s->members[low];
		if (!i)
			s->event_instances = 0;
		if (!s->plain && !needs_it(s, i))
			continue;
		if (!s->plain && last && s->deadlock)
			found_count(s->deadlock, 1);
		if (!last)
			choose(s, i + 1);
		else if (!add_tuple(s) && s->plain)
			return; /* what is only counted needs no look at each */
	}
}

static void add_cycle(struct deadlock_finder *s)
{
	s->plain = is_plain(s);
	s->deadlock = s->context->every ? NULL : deadlock_of(s);
	if (!s->deadlock && !s->context->every)
		return;
	s->tuples = s->instances = 0;
	choose(s, 0);
}

/* Cycles. */

/* True if the last wait of a comes before the thread of b can come to b's first one. */
static bool all_before(const struct deadlock_finder *s, const struct lock_group *a, const struct lock_group *b)
{
	uint32_t last = s->members[a->first + a->count - 1], first = s->members[b->first];
	return s->m->events[last].pos < resources_horizon(s->context->por, first, b->key.lock, a->key.thread);
}

/* True if the two may wait at the same time: different threads, no guard, and not all of one before all of the other.
 */
static bool may_meet(const struct deadlock_finder *s, const struct lock_group *a, const struct lock_group *b)
{
	if (a->key.thread == b->key.thread || a->key.lock == b->key.lock ||
	    model_locksets_exclude(s->m, a->key.held, b->key.held))
		return false;
	return !all_before(s, a, b) && !all_before(s, b, a);
}

/* True if the group wants what one of the path has, or has what one wants, where the cycle does not lead from the one
 * to the other: it leads from the path's last one to the group, and from that to the first one if it is the last. */
static bool has_chord(const struct deadlock_finder *s, const struct lock_group *g, uint32_t depth)
{
	bool last = depth + 1 == s->length || s->length == LONGER, any = false;
	for (uint32_t k = 0; k < depth && !any; k++) {
		const struct lock_group *p = s->path[k];
		any = (k + 1 < depth && holds_against(s, g, p->key.lock, p->shared)) ||
		      (!(last && !k) && holds_against(s, p, g->key.lock, g->shared));
	}
	return any;
}

/* False: no more cycles of the length are looked for. A longer path takes more, as all of it is looked at. */
static bool step(struct deadlock_finder *s, uint32_t depth)
{
	s->steps += s->length == LONGER ? depth : 1;
	if (s->steps <= s->context->lazy->limits->of[LIMIT_CYCLE_STEPS])
		return true;
	limits_reach(s->context->lazy->limits, LIMIT_CYCLE_STEPS, true);
	s->cut = true;
	return false;
}

/* True if the path, with this last group, is to be extended further; if it is a cycle, that is added or noted. */
static bool goes_on(struct deadlock_finder *s, uint32_t count)
{
	const struct lock_group *last = s->path[count - 1];
	if (count < s->length && s->length != LONGER)
		return true;
	bool closed = holds_against(s, s->path[0], last->key.lock, last->shared);
	if (s->length != LONGER && closed)
		add_cycle(s);
	if (s->length == LONGER && (closed || count == PATH_MAX) && count > LENGTH_MAX) {
		limits_reach(s->context->lazy->limits, LIMIT_CYCLE_THREADS, true);
		s->cut = true;
	}
	return s->length == LONGER && !closed && count < PATH_MAX;
}

/* Extends the path, whose first group has the lowest index, to cycles of the present length. */
static void extend(struct deadlock_finder *s, uint32_t start, uint32_t depth)
{
	const struct lock_group *end = s->path[depth - 1];
	uint32_t lock = end->key.lock;
	for (uint32_t i = s->holders_first[lock]; i < s->holders_first[lock + 1] && !s->found.failed; i++) {
		struct lock_group *g = s->groups[s->holders[i]];
		if ((s->length == LONGER && s->cut) || !step(s, depth))
			return;
		bool fits = s->holders[i] > start && holds_against(s, g, lock, end->shared);
		for (uint32_t k = 0; k < depth && fits; k++)
			fits = may_meet(s, s->path[k], g);
		if (!fits || (s->length > SHORT_MAX && has_chord(s, g, depth)))
			continue;
		s->path[depth] = g;
		if (goes_on(s, depth + 1))
			extend(s, start, depth + 1);
	}
}

/* Counts those at the source positions of an observed one with it, and says no more of them. */
static void merge_observed(struct deadlock_finder *s, struct anomaly *a)
{
	uint64_t positions[LENGTH_MAX];
	if (a->event_count > LENGTH_MAX)
		return;
	for (uint32_t k = 0; k < a->event_count; k++)
		positions[k] = model_position_of(s->m, a->events[k]);
	qsort(positions, a->event_count, sizeof *positions, compare_u64);
	struct found *f = found_find(&s->found, &cycles[a->event_count], positions);
	if (!f)
		return;
	a->count += found_counted(f);
	found_drop(&s->found, f);
}

enum rt_status deadlock_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err)
{
	struct deadlock_finder s = {.context = c, .m = c->m, .found = {.context = c, .list = list}};
	size_t begin = list->count;
	s.failed = !stuck_report(c->m, true, list) || !resources_find(&s.resources, c->m);
	size_t end = list->count;
	for (uint32_t i = 0; i < c->m->sync_count && !s.failed; i++)
		for (int signal = 0; signal < 2; signal++) {
			struct lock_group *g = group_of(&s, c->m->sync[i], signal, true);
			if (g)
				g->count++;
		}
	s.failed = s.failed || !trim(&s) || !list_groups(&s);
	for (s.length = 2; s.length <= (s.cut ? SHORT_MAX : LONGER) && !s.failed && !s.found.failed; s.length++) {
		s.steps = 0;
		s.tuples_left = TUPLES_MAX;
		for (uint32_t i = 0; i < s.group_count; i++) {
			s.path[0] = s.groups[i];
			extend(&s, i, 1);
		}
	}
	for (size_t i = begin; i < end; i++)
		merge_observed(&s, &list->items[i]);
	HASH_FREE(s.table);
	free(s.groups);
	free(s.members);
	free(s.holders);
	free(s.holders_first);
	resources_release(&s.resources);
	s.found.failed |= s.failed;
	return found_finish(&s.found, err);
}
