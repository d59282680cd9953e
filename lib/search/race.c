/*
 * Races: the two-event patterns r-w, w-r, w-w of PECAN (section 3) on the accesses of each cell.
 *
 * Accesses of a cell that agree in thread, locks held and site are one class. Of two classes that may conflict, the
 * pairs that no path of the partial order relation orders form, for each e2, a window of e1s: from the first that POR
 * does not order before e2 to the last before e2 in the trace. Both ends only move forward as e2 does, so a pair of
 * classes is counted in one sweep, however many pairs of events it stands for.
 *
 * Classes that differ in nothing but the site are held together in a family, and most pairs of families fall at once:
 * by a common lock, by trace order, or because POR orders the last of one before the first of the other.
 *
 * A cell with many classes may have a race at nearly each pair of source positions. Then LIMIT_RACES_OF_CELL of them
 * are enough: first those of accesses that are next to each other in the cell, which are likely to be seen in the
 * recorded run; then some of each two families, spread over their classes. How many pairs of families and classes are
 * looked at for them is bounded as well: half of what is left of LIMIT_ACCESS_PAIRS, and PAIRS_AN_ACCESS in any case;
 * and so are the accesses that are swept for them, by LIMIT_SEARCH_STEPS.
 */
#include "lib/base/set.h"
#include "lib/base/vec.h"
#include "lib/search/classes.h"
#include "lib/search/found.h"
#include "lib/search/sample.h"
#include "lib/search/steps.h"

/* Numbers of a class and of a family. Classes of a family agree in all but the site, and in that do the same kind of
 * access. starts: the cell is the first one of the events. */
enum { THREAD, LOCKSET, STARTS, SITE };
enum { WRITES = SITE, ATOMIC };

/* Number of instances that are kept, for the provers: where one cannot happen, another may, and nothing is said only if
 * each is refuted. Of calls on locks, more: a loop that makes and destroys one has an instance a round. Of what is
 * observed a few are enough. */
enum { INSTANCES_MAX = 256, INSTANCES_PER_SWEEP = 32, INSTANCES_OF_OBJECTS = 4096, INSTANCES_ENOUGH = 32 };

/* By accesses: reads before writes, and which of them writes. */
#define RACE(n, first, second)                                                                                         \
	{                                                                                                              \
		.name = n, .kind = ANOMALY_RACE, .count = 2, .threads = {0, 1}, .cells = {0, 0}, .regions = {0, 1},    \
		.accesses = {                                                                                          \
			first,                                                                                         \
			second                                                                                         \
		}                                                                                                      \
	}
static const struct pattern read_write = RACE("r-w", PATTERN_READ, PATTERN_WRITE);
static const struct pattern write_read = RACE("w-r", PATTERN_WRITE, PATTERN_READ);
static const struct pattern write_write = RACE("w-w", PATTERN_WRITE, PATTERN_WRITE);

/* The anomaly of two classes' sites. */
struct known {
	uint32_t sites[2];
	struct found *race; /* NULL: none is kept here */
};

struct race_finder {
	const struct search_context *context;
	const struct model *m;
	struct found_list found;
	/* The cell at hand. */
	struct classes classes, families;
	uint32_t (*ends)[2]; /* by family: its first and its last event */
	uint32_t end_capacity;
	uint32_t *class_of, *members; /* by access of the cell */
	uint32_t access_capacity, member_capacity;
	/* If it has many classes: */
	bool bounded;
	uint32_t left;      /* number of further races wanted of it */
	uint32_t sweeps;    /* pairs of classes that may be swept for them */
	uint64_t pairs;     /* pairs of families and classes that may be looked at */
	uint64_t all_pairs; /* those left for all cells */
	struct search_steps steps;
	struct set done;        /* pairs of classes, k1 << 32 | k2 */
	struct found **touched; /* the cell's races, some more than once */
	uint32_t touched_count, touched_capacity;
	uint32_t *arrays[2]; /* classes of the two families at hand */
	uint32_t array_capacities[2];
	struct known *known; /* by known_slot */
	bool failed;
};

/* More classes than the first are many; of those at most the second's pairs are swept. */
enum { CLASSES_FEW = 64, SWEEPS_MAX = 1 << 21, PAIRS_AN_ACCESS = 64 };

static bool make_families(struct race_finder *s)
{
	classes_clear(&s->families);
	for (uint32_t i = 0; i < s->classes.count; i++) {
		struct class *k = &s->classes.items[i];
		unsigned op = s->m->sites[k->key[SITE]].op;
		uint32_t first = s->members[k->first], last = s->members[k->first + k->count - 1];
		uint32_t key[CLASS_KEY] = {k->key[THREAD], k->key[LOCKSET], k->key[STARTS], rt_op_writes(op),
		                           rt_op_is_atomic(op)};
		uint32_t f = classes_index(&s->families, key);
		struct class *family = &s->families.items[f];
		if (s->families.failed || !vec_reserve(&s->ends, &s->end_capacity, (uint64_t)f + 1, sizeof *s->ends))
			return false;
		uint32_t *ends = s->ends[f];
		ends[0] = family->count && ends[0] < first ? ends[0] : first;
		ends[1] = family->count && ends[1] > last ? ends[1] : last;
		family->count++;
		k->next = family->next;
		family->next = i;
	}
	return true;
}

/* Sorts the cell's accesses into classes, each in trace order. */
static bool classify(struct race_finder *s, uint32_t cell)
{
	const struct model *m = s->m;
	uint32_t n = m->cells[cell].count;
	const uint32_t *events = &m->cell_events[m->cells[cell].first];
	if (!vec_reserve(&s->class_of, &s->access_capacity, n, sizeof *s->class_of) ||
	    !vec_reserve(&s->members, &s->member_capacity, n, sizeof *s->members))
		return false;
	classes_clear(&s->classes);
	uint32_t last_segment = MODEL_NONE, last_site = MODEL_NONE, last = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct model_event *e = &m->events[events[i]];
		bool starts = e->object == cell;
		if (e->segment != last_segment || e->site != last_site ||
		    s->classes.items[last].key[STARTS] != starts) {
			const struct model_segment *g = &m->segments[e->segment];
			uint32_t key[CLASS_KEY] = {
			    [THREAD] = g->thread, [LOCKSET] = g->lockset, [STARTS] = starts, [SITE] = e->site};
			last = classes_index(&s->classes, key);
			if (s->classes.failed)
				return false;
			last_segment = e->segment;
			last_site = e->site;
		}
		s->class_of[i] = last;
		s->classes.items[last].count++;
	}
	classes_place(&s->classes);
	for (uint32_t i = 0; i < n; i++) {
		struct class *k = &s->classes.items[s->class_of[i]];
		s->members[k->first + k->count++] = events[i];
	}
	return make_families(s);
}

static const struct pattern *pattern_of(unsigned op1, unsigned op2)
{
	if (!rt_op_writes(op1))
		return &read_write;
	return rt_op_writes(op2) ? &write_write : &write_read;
}

static enum found_rank rank_of_pair(const struct race_finder *s, uint32_t e1, uint32_t e2)
{
	if (hidden_in_run(s->context->hidden, s->context, e1, e2))
		return FOUND_POSSIBLE;
	if (search_unordered(s->context, s->context->shb, e1, e2))
		return FOUND_OBSERVED;
	return search_unordered(s->context, s->context->hb, e1, e2) ? FOUND_UNORDERED : FOUND_POSSIBLE;
}

/* What a sweep over the pairs of two classes found. */
struct sweep {
	uint64_t count, ruled_out;
	uint32_t pair[2];
	enum found_rank rank; /* of the pair */
	struct sample instances;
};

/* Number of instances that are kept of races between events of two classes. */
static uint32_t instances_of(const struct race_finder *s, const struct class *k1, const struct class *k2,
                             uint32_t usual)
{
	unsigned flags = s->m->sites[k1->key[SITE]].flags | s->m->sites[k2->key[SITE]].flags;
	return flags & RT_F_OBJECT ? INSTANCES_OF_OBJECTS : usual;
}

/* The first member from `from` on that e2 does not need: whatever it needs, so do all later ones of its thread. */
static uint32_t first_possible(const struct race_finder *s, const struct class *k1, uint32_t e2, uint32_t from)
{
	const struct trf *needs = s->context->every ? NULL : search_needs(s->context);
	const uint32_t *m1 = &s->members[k1->first];
	if (!needs)
		return from;
	uint32_t horizon = clock_get(&needs->clocks, trf_clock_before(needs, e2), k1->key[THREAD]);
	while (from < k1->count && s->m->events[m1[from]].pos < horizon)
		from++;
	return from;
}

/* Keeps instances of e2 with the members from `low` to `high`, the last ones first; one is enough when there are as
 * many as a sweep keeps. */
static void sample_pairs(struct race_finder *s, struct sweep *found, const uint32_t *members, uint32_t low,
                         uint32_t high, uint32_t e2, uint32_t most)
{
	for (uint32_t i = high; i-- > low && !s->failed;) {
		s->failed = !sample_add(&found->instances, (uint32_t[]){members[i], e2}, 2, most, most / 2);
		if (found->instances.count == most)
			return;
	}
}

/*
 * Pairs of two classes with e1 earlier. A pair that shares several cells is counted at the first of them alone: there
 * the cell is the first of one of the two events. Instances are ranked until one is good enough.
 */
static struct sweep sweep_classes(struct race_finder *s, const struct class *k1, const struct class *k2,
                                  const struct pattern *pattern)
{
	const uint32_t *m1 = &s->members[k1->first], *m2 = &s->members[k2->first];
	const struct model *m = s->m;
	struct sweep found = {.rank = FOUND_UNRANKED};
	const uint32_t most = instances_of(s, k1, k2, INSTANCES_PER_SWEEP);
	uint32_t low = 0, high = 0, ranked = 0, segment = MODEL_NONE, horizon = 0, possible = 0;
	for (uint32_t j = 0; j < k2->count && !s->failed && !s->found.failed; j++) {
		uint32_t e2 = m2[j];
		while (high < k1->count && m1[high] < e2)
			high++;
		if (m->events[e2].segment != segment) {
			segment = m->events[e2].segment;
			horizon = segment_order_race_horizon(s->context->por, e2, k1->key[THREAD]);
			while (low < k1->count && m->events[m1[low]].pos < horizon)
				low++;
			if (low == k1->count)
				break; /* and so for all later e2 */
		}
		if (low >= high)
			continue;
		if (s->context->every) {
			for (uint32_t i = low; i < high && !s->found.failed; i++)
				found_every(&s->found, pattern, (uint32_t[]){m1[i], e2}, rank_of_pair(s, m1[i], e2));
			continue;
		}
		found.count += high - low;
		possible = first_possible(s, k1, e2, possible < low ? low : possible);
		found.ruled_out += (possible < high ? possible : high) - low;
		sample_pairs(s, &found, m1, possible, high, e2, most);
		if (found.rank < FOUND_OBSERVED && ranked < high) {
			/* If the latest e1 is ordered, so are the earlier ones; and it stays ordered for later e2. */
			ranked = high;
			enum found_rank rank = rank_of_pair(s, m1[high - 1], e2);
			if (rank > found.rank) {
				found.rank = rank;
				found.pair[0] = m1[high - 1];
				found.pair[1] = e2;
			}
		}
	}
	return found;
}

/* The last anomalies that were asked for. In cells of many classes nearly every question is one of a few thousand. */
enum { KNOWN_BITS = 14 };
static struct known *known_slot(const struct race_finder *s, uint32_t site1, uint32_t site2)
{
	uint64_t pair = (uint64_t)site1 << 32 | site2;
	return &s->known[pair * UINT64_C(0x9e3779b97f4a7c15) >> (64 - KNOWN_BITS)];
}

/* The anomaly of the two classes' source positions, in rising order; NULL: there is none yet. */
static struct found *known_race(const struct race_finder *s, const struct class *k1, const struct class *k2,
                                uint64_t *positions)
{
	const uint32_t sites[2] = {k1->key[SITE], k2->key[SITE]};
	struct known *known = known_slot(s, sites[0], sites[1]);
	if (known->race && known->sites[0] == sites[0] && known->sites[1] == sites[1])
		return known->race;
	const struct model_site *site1 = &s->m->sites[k1->key[SITE]], *site2 = &s->m->sites[k2->key[SITE]];
	uint64_t p1 = model_position(site1), p2 = model_position(site2);
	positions[0] = p1 < p2 ? p1 : p2;
	positions[1] = p1 < p2 ? p2 : p1;
	*known =
	    (struct known){{sites[0], sites[1]}, found_find(&s->found, pattern_of(site1->op, site2->op), positions)};
	return known->race;
}

/* True if all events of the thread up to e1 are ordered before e2 and all that follows it. */
static bool all_ordered(const struct race_finder *s, uint32_t e1, uint32_t e2)
{
	return s->m->events[e1].pos < segment_order_race_horizon(s->context->por, e2, model_thread_of(s->m, e1));
}

static void touch(struct race_finder *s, struct found *race)
{
	if (!vec_reserve(&s->touched, &s->touched_capacity, (uint64_t)s->touched_count + 1, sizeof *s->touched))
		s->failed = true;
	else
		s->touched[s->touched_count++] = race;
}

/* True if the pair of classes would add nothing to what is known but to the number of instances. */
static bool is_settled(const struct race_finder *s, const struct class *k1, const struct class *k2)
{
	uint64_t positions[2];
	struct found *race = known_race(s, k1, k2, positions);
	bool settled =
	    race && found_rank(race) == FOUND_OBSERVED && found_kept(race) >= instances_of(s, k1, k2, INSTANCES_ENOUGH);
	if (settled)
		found_partial(race);
	return settled;
}

/* Adds to the anomaly of the two classes' source positions what a sweep found. */
static void merge(struct race_finder *s, const struct class *k1, const struct class *k2, const struct pattern *pattern,
                  const struct sweep *sweep)
{
	uint64_t positions[2];
	struct found *race = known_race(s, k1, k2, positions);
	if (!race && (race = found_at(&s->found, pattern, positions)))
		s->left -= s->bounded;
	if (!race)
		return;
	found_count(race, sweep->count);
	found_rule_out(race, sweep->ruled_out);
	const uint32_t most = instances_of(s, k1, k2, INSTANCES_MAX);
	for (uint32_t i = 0; i < sweep->instances.count; i++)
		found_keep(&s->found, race, &sweep->instances.events[2 * (size_t)i], most);
	found_represent(race, sweep->pair, sweep->rank);
	if (s->bounded)
		touch(s, race);
}

static void search_classes(struct race_finder *s, const struct class *k1, const struct class *k2)
{
	const struct model *m = s->m;
	uint32_t last1 = s->members[k1->first + k1->count - 1];
	uint32_t first2 = s->members[k2->first], last2 = s->members[k2->first + k2->count - 1];
	if (s->members[k1->first] > last2 || all_ordered(s, last1, first2))
		return;
	if (s->bounded && !steps_take(&s->steps, (uint64_t)k1->count + k2->count))
		return;
	const struct pattern *pattern = pattern_of(m->sites[k1->key[SITE]].op, m->sites[k2->key[SITE]].op);
	struct sweep sweep = sweep_classes(s, k1, k2, pattern);
	if (sweep.count)
		merge(s, k1, k2, pattern, &sweep);
	sample_release(&sweep.instances);
}

static bool may_race(const struct race_finder *s, uint32_t f1, uint32_t f2)
{
	const uint32_t *key1 = s->families.items[f1].key, *key2 = s->families.items[f2].key;
	uint32_t first = s->ends[f1][0], last = s->ends[f2][1];
	return key1[THREAD] != key2[THREAD] && (key1[STARTS] || key2[STARTS]) && (key1[WRITES] || key2[WRITES]) &&
	       !(key1[ATOMIC] && key2[ATOMIC]) && first < last &&
	       !model_locksets_exclude(s->m, key1[LOCKSET], key2[LOCKSET]) &&
	       !all_ordered(s, s->ends[f1][1], s->ends[f2][0]);
}

/* One more pair is looked at. False: no more are. */
static bool look(struct race_finder *s)
{
	if (!s->pairs)
		return false;
	s->pairs--;
	return true;
}

/* Looks at a pair of classes, once. False: it is enough. */
static bool search_once(struct race_finder *s, uint32_t k1, uint32_t k2)
{
	if (!look(s))
		return false;
	if (is_settled(s, &s->classes.items[k1], &s->classes.items[k2]))
		return true;
	bool added = true;
	if (!set_add(&s->done, (uint64_t)k1 << 32 | k2, &added))
		s->failed = true;
	if (!added)
		return true;
	search_classes(s, &s->classes.items[k1], &s->classes.items[k2]);
	s->sweeps--;
	return s->left && s->sweeps && s->steps.given && !s->failed && !s->found.failed;
}

static bool may_race_in(const struct race_finder *s, const struct class *k1, const struct class *k2)
{
	unsigned op1 = s->m->sites[k1->key[SITE]].op, op2 = s->m->sites[k2->key[SITE]].op;
	return k1->key[THREAD] != k2->key[THREAD] && (k1->key[STARTS] || k2->key[STARTS]) &&
	       (rt_op_writes(op1) || rt_op_writes(op2)) && !(rt_op_is_atomic(op1) && rt_op_is_atomic(op2)) &&
	       !model_locksets_exclude(s->m, k1->key[LOCKSET], k2->key[LOCKSET]);
}

/* Accesses that follow each other in the cell, or with one between them: a read and a write of each are often one
 * update. */
static bool search_neighbours(struct race_finder *s, uint32_t count)
{
	enum { NEAR = 3 };
	for (uint32_t i = 1; i < count; i++)
		for (uint32_t j = i < NEAR ? 0 : i - NEAR; j < i; j++)
			if (may_race_in(s, &s->classes.items[s->class_of[j]], &s->classes.items[s->class_of[i]]) &&
			    !search_once(s, s->class_of[j], s->class_of[i]))
				return false;
	return true;
}

/* The classes of a family as an array. */
static uint32_t list_classes(struct race_finder *s, uint32_t f, int which)
{
	uint32_t n = 0;
	for (uint32_t k = s->families.items[f].next; k != UINT32_MAX; k = s->classes.items[k].next) {
		if (!vec_reserve(&s->arrays[which], &s->array_capacities[which], (uint64_t)n + 1,
		                 sizeof *s->arrays[which])) {
			s->failed = true;
			return 0;
		}
		s->arrays[which][n++] = k;
	}
	return n;
}

/* Some pairs of two families, at most as many new races as wanted. False: the cell has enough. */
static bool search_families(struct race_finder *s, uint32_t f1, uint32_t f2, uint32_t most)
{
	uint32_t n1 = list_classes(s, f1, 0), n2 = list_classes(s, f2, 1);
	uint32_t until = s->left > most ? s->left - most : 0;
	for (uint32_t apart = 0; apart < n2; apart++)
		for (uint32_t i = 0; i < n1 && s->left > until; i++)
			if (!search_once(s, s->arrays[0][i], s->arrays[1][(i + apart) % n2]))
				return false;
	return !s->failed && !s->found.failed;
}

/* Pairs of all families; fair: the same number of new races of each two. False: it is enough of the cell. */
static bool search_spread(struct race_finder *s, bool fair)
{
	uint32_t n = s->families.count, pairs = 0;
	/* Counted first; if not all can be looked at, those that are not far apart. */
	uint64_t most = s->pairs / 4 / n;
	uint32_t reach = most < n ? (uint32_t)most : n;
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t apart = 0; apart < reach; apart++)
			for (uint32_t i = 0; i < n; i++) {
				uint32_t f1 = i, f2 = (i + apart) % n;
				if (!look(s))
					return false;
				if (!may_race(s, f1, f2))
					continue;
				if (pass == 0)
					pairs++;
				else if (!search_families(s, f1, f2, fair ? s->left / pairs-- + 1 : s->left))
					return false;
			}
	return reach == n;
}

/* Number of pairs of classes that may be looked at; they take as much memory as instances do. */
static uint32_t most_sweeps(const struct search_context *c)
{
	enum { A_PAIR = 48 }; /* bytes, while the set of them grows */
	uint64_t most = c->lazy->memory / A_PAIR;
	return c->lazy->memory && most < SWEEPS_MAX ? (uint32_t)most : SWEEPS_MAX;
}

/* A cell of many classes: as many races as are listed of one. */
static void search_some(struct race_finder *s, uint32_t count)
{
	set_clear(&s->done);
	s->bounded = true;
	s->left = (uint32_t)s->context->lazy->limits->of[LIMIT_RACES_OF_CELL];
	s->sweeps = most_sweeps(s->context);
	uint64_t least = (uint64_t)PAIRS_AN_ACCESS * count, given = s->all_pairs / 2 > least ? s->all_pairs / 2 : least;
	s->pairs = given;
	s->touched_count = 0;
	steps_begin(&s->steps, count, model_entries(s->m));
	/* Fairly first; then the rest, as far as there is room for it. */
	bool all = search_neighbours(s, count) && search_spread(s, true) && search_spread(s, false);
	s->bounded = false;
	given -= s->pairs;
	s->all_pairs -= given < s->all_pairs ? given : s->all_pairs;
	if (all)
		return;
	s->context->lazy->memory_reached |= !s->sweeps && most_sweeps(s->context) < SWEEPS_MAX;
	for (uint32_t i = 0; !s->steps.given && i < s->classes.count; i++)
		found_cut(&s->found, s->classes.items[i].key[SITE]);
	if (s->steps.given || !s->left)
		limits_reach(s->context->lazy->limits, s->left ? LIMIT_ACCESS_PAIRS : LIMIT_RACES_OF_CELL, true);
	for (uint32_t i = 0; i < s->touched_count; i++)
		found_partial(s->touched[i]);
}

static void search_cell(struct race_finder *s, uint32_t count)
{
	if (s->classes.count > CLASSES_FEW && !s->context->every) {
		search_some(s, count);
		return;
	}
	const struct class *classes = s->classes.items, *families = s->families.items;
	for (uint32_t i = 0; i < s->families.count; i++)
		for (uint32_t j = 0; j < s->families.count && !s->failed && !s->found.failed; j++) {
			if (!may_race(s, i, j))
				continue;
			for (uint32_t k1 = families[i].next; k1 != UINT32_MAX; k1 = classes[k1].next)
				for (uint32_t k2 = families[j].next; k2 != UINT32_MAX; k2 = classes[k2].next)
					search_classes(s, &classes[k1], &classes[k2]);
		}
}

/* True if one lock guards every access of the cell. Then no two of them can race; many cells are so. */
static bool is_guarded(const struct model *m, uint32_t cell)
{
	uint32_t lockset = m->cells[cell].lockset;
	return lockset != MODEL_NONE && model_locksets_exclude(m, lockset, lockset);
}

/* True if each access of the cell is ordered before the next one, and so before all that follow: no two of them can
 * race. What threads hand on is so, and what a thread alone uses. */
static bool is_handed_on(const struct race_finder *s, uint32_t cell)
{
	const struct model *m = s->m;
	const uint32_t *events = &m->cell_events[m->cells[cell].first];
	for (uint32_t i = 1; i < m->cells[cell].count; i++)
		if (model_thread_of(m, events[i - 1]) != model_thread_of(m, events[i]) &&
		    !all_ordered(s, events[i - 1], events[i]))
			return false;
	return true;
}

static void release(struct race_finder *s)
{
	classes_release(&s->classes);
	classes_release(&s->families);
	free(s->ends);
	free(s->class_of);
	free(s->members);
	set_release(&s->done);
	free(s->touched);
	free(s->known);
	free(s->arrays[0]);
	free(s->arrays[1]);
}

enum rt_status race_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err)
{
	struct race_finder s = {.context = c,
	                        .m = c->m,
	                        .found = {.context = c, .list = list},
	                        .known = calloc((size_t)1 << KNOWN_BITS, sizeof *s.known),
	                        .all_pairs = c->lazy->limits->of[LIMIT_ACCESS_PAIRS],
	                        .steps = steps_of(c->lazy->limits)};
	s.failed = !s.known;
	for (uint32_t cell = 0; cell < c->m->cell_count && !s.failed && !s.found.failed; cell++) {
		if (c->m->cells[cell].count < 2 || is_guarded(c->m, cell) || is_handed_on(&s, cell))
			continue;
		s.failed = !classify(&s, cell) || s.failed;
		if (!s.failed)
			search_cell(&s, c->m->cells[cell].count);
	}
	s.found.failed |= s.failed;
	if (!s.found.failed)
		alloc_race_search(&s.found);
	release(&s);
	return found_finish(&s.found, err);
}
