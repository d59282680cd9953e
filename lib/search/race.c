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
 * A cell with many classes may have a race at nearly each pair of source positions. Then SEARCH_RACES of them are
 * enough: first those of accesses that are next to each other in the cell, which are likely to be seen in the recorded
 * run; then some of each two families, spread over their classes. How many pairs of families and classes are looked at
 * for them is bounded as well: half of what is left of SEARCH_PAIRS, and PAIRS_AN_ACCESS in any case.
 */
#include "lib/base/hash.h"
#include "lib/base/set.h"
#include "lib/base/table.h"
#include "lib/base/vec.h"
#include "lib/search/search.h"

struct class
{
	uint32_t thread, lockset, site;
	bool starts;           /* the cell is its events' first one */
	uint32_t first, count; /* members: search.members[first .. first + count) */
	uint32_t next;         /* class of the same family, MODEL_NONE: the last */
};

/* Classes that agree in all but the site, and in that do the same kind of access. */
struct family {
	uint32_t thread, lockset;
	bool starts, writes, atomic;
	uint32_t classes;     /* the first of them */
	uint32_t first, last; /* its first and last event */
};

/* What tells anomalies apart, unless every pair is wanted. */
struct race_key {
	uint64_t low, high; /* pcs */
	const char *pattern;
};

/*
 * Some instances of an anomaly, for the provers: where one cannot happen, another may. Of calls on locks, more: a loop
 * that makes and destroys one has an instance a round, and nothing is said of it only if each is refuted.
 */
enum { INSTANCES_MAX = 32, INSTANCES_PER_SWEEP = 16, INSTANCES_OF_OBJECTS = 4096 };
struct instances {
	uint32_t (*pairs)[2];
	uint32_t count, capacity;
	uint64_t offered;
};

struct race {
	struct race_key key;
	uint64_t count, ruled_out;
	bool partial;    /* not all pairs of events at these positions were looked at */
	uint32_t e1, e2; /* best instance so far */
	int rank;        /* how good it is: RANK_ */
	struct instances instances;
	UT_hash_handle hh;
};

enum { RANK_NONE = -1, RANK_HYBRID, RANK_HB, RANK_SHB };

struct search {
	const struct search_context *context;
	const struct model *m;
	struct anomaly_list *list;
	struct race *races;
	/* The cell at hand. */
	struct class *classes;
	uint32_t class_count, class_capacity;
	struct family *families;
	uint32_t family_count, family_capacity;
	struct table table;     /* of classes */
	uint32_t *family_slots; /* the same of families */
	uint32_t family_slot_capacity;
	uint32_t *class_of, *members; /* by access of the cell */
	uint32_t access_capacity, member_capacity;
	/* If it has many classes: */
	bool bounded;
	uint32_t left;         /* number of further races wanted of it */
	uint32_t sweeps;       /* pairs of classes that may be swept for them */
	uint64_t pairs;        /* pairs of families and classes that may be looked at */
	uint64_t all_pairs;    /* those left for all cells */
	struct set done;       /* pairs of classes, k1 << 32 | k2 */
	struct race **touched; /* the cell's races, some more than once */
	uint32_t touched_count, touched_capacity;
	uint32_t *arrays[2]; /* classes of the two families at hand */
	uint32_t array_capacities[2];
	bool failed;
	bool full; /* failed, since as many pairs are listed one by one as may be */
};

/* More classes than the first are many; of those at most the second's pairs are swept. */
enum { CLASSES_FEW = 64, SWEEPS_MAX = 1 << 21, PAIRS_AN_ACCESS = 64 };

static uint32_t class_hash(const struct class *k)
{
	uint64_t h = ((uint64_t)k->thread << 32 | k->site) * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 29 ^ ((uint64_t)k->lockset << 1 | k->starts)) * UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(h >> 32);
}

static bool class_equal(const struct class *a, const struct class *b)
{
	return a->thread == b->thread && a->site == b->site && a->lockset == b->lockset && a->starts == b->starts;
}

static uint32_t class_index(struct search *s, const struct class *k)
{
	uint32_t hash = class_hash(k);
	for (uint32_t at = hash, i; (i = table_next(&s->table, hash, &at)) != TABLE_NONE;)
		if (class_equal(&s->classes[i], k))
			return i;
	if (!vec_reserve(&s->classes, &s->class_capacity, (uint64_t)s->class_count + 1, sizeof *s->classes) ||
	    !table_put(&s->table, hash, s->class_count)) {
		s->failed = true;
		return 0;
	}
	s->classes[s->class_count] = *k;
	return s->class_count++;
}

static void clear_classes(struct search *s)
{
	if (table_is_sparse(&s->table))
		for (uint32_t i = 0; i < s->class_count; i++)
			table_clear_hash(&s->table, class_hash(&s->classes[i]));
	else
		table_clear(&s->table);
	s->class_count = 0;
}

/* The family of a class: where it is in the hash table of families, or would be. */
static uint32_t *family_slot(const struct search *s, const struct family *k, uint32_t mask)
{
	uint64_t h = ((uint64_t)k->thread << 32 | k->lockset) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t at = (uint32_t)(h >> 32) + (uint32_t)(k->starts + 2 * k->writes + 4 * k->atomic);
	for (; s->family_slots[at & mask]; at++) {
		const struct family *f = &s->families[s->family_slots[at & mask] - 1];
		if (f->thread == k->thread && f->lockset == k->lockset && f->starts == k->starts &&
		    f->writes == k->writes && f->atomic == k->atomic)
			break;
	}
	return &s->family_slots[at & mask];
}

static bool make_families(struct search *s)
{
	const struct model *m = s->m;
	uint32_t mask = 15;
	while (mask < 2 * (uint64_t)s->class_count && mask < UINT32_MAX / 2)
		mask = 2 * mask + 1;
	if (!vec_reserve(&s->family_slots, &s->family_slot_capacity, (uint64_t)mask + 1, sizeof *s->family_slots))
		return false;
	memset(s->family_slots, 0, ((size_t)mask + 1) * sizeof *s->family_slots);
	s->family_count = 0;
	for (uint32_t i = 0; i < s->class_count; i++) {
		struct class *k = &s->classes[i];
		unsigned op = m->sites[k->site].op;
		uint32_t first = s->members[k->first], last = s->members[k->first + k->count - 1];
		struct family own = {k->thread,           k->lockset, k->starts, rt_op_writes(op),
		                     rt_op_is_atomic(op), MODEL_NONE, first,     last};
		uint32_t *slot = family_slot(s, &own, mask);
		if (!*slot) {
			if (!vec_reserve(&s->families, &s->family_capacity, (uint64_t)s->family_count + 1, sizeof own))
				return false;
			s->families[s->family_count++] = own;
			*slot = s->family_count;
		}
		struct family *f = &s->families[*slot - 1];
		k->next = f->classes;
		f->classes = i;
		f->first = first < f->first ? first : f->first;
		f->last = last > f->last ? last : f->last;
	}
	return true;
}

/* Sorts the cell's accesses into classes, each in trace order. */
static bool classify(struct search *s, uint32_t cell)
{
	const struct model *m = s->m;
	uint32_t n = m->cells[cell].count;
	const uint32_t *events = &m->cell_events[m->cells[cell].first];
	if (!vec_reserve(&s->class_of, &s->access_capacity, n, sizeof *s->class_of) ||
	    !vec_reserve(&s->members, &s->member_capacity, n, sizeof *s->members))
		return false;
	clear_classes(s);
	uint32_t last_segment = MODEL_NONE, last_site = MODEL_NONE, last = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct model_event *e = &m->events[events[i]];
		bool starts = e->object == cell;
		if (e->segment != last_segment || e->site != last_site || s->classes[last].starts != starts) {
			const struct model_segment *g = &m->segments[e->segment];
			struct class k = {g->thread, g->lockset, e->site, starts, 0, 0, MODEL_NONE};
			last = class_index(s, &k);
			if (s->failed)
				return false;
			last_segment = e->segment;
			last_site = e->site;
		}
		s->class_of[i] = last;
		s->classes[last].count++;
	}
	uint32_t first = 0;
	for (uint32_t i = 0; i < s->class_count; i++) {
		s->classes[i].first = first;
		first += s->classes[i].count;
		s->classes[i].count = 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct class *k = &s->classes[s->class_of[i]];
		s->members[k->first + k->count++] = events[i];
	}
	return make_families(s);
}

static const char *pattern_of(unsigned op1, unsigned op2)
{
	if (!rt_op_writes(op1))
		return "r-w";
	return rt_op_writes(op2) ? "w-w" : "w-r";
}

static int rank_of_pair(const struct search *s, uint32_t e1, uint32_t e2)
{
	if (hidden_between(s->context->hidden, s->context, e1, e2))
		return RANK_HYBRID;
	if (search_unordered(s->context, s->context->shb, e1, e2))
		return RANK_SHB;
	return search_unordered(s->context, s->context->hb, e1, e2) ? RANK_HB : RANK_HYBRID;
}

/* What a sweep over the pairs of two classes found. */
struct sweep {
	uint64_t count, ruled_out;
	uint32_t e1, e2;
	int rank;
	struct instances instances;
};

/* Keeps a pair. When there are as many as are kept, each that comes may take the place of one in their second half, so
 * that these are spread over the trace; the first half is what came first. */
static void add_instance(struct search *s, struct instances *n, uint32_t most, uint32_t e1, uint32_t e2)
{
	n->offered++;
	if (n->count >= most) {
		uint64_t h = n->offered * UINT64_C(0x9e3779b97f4a7c15);
		h = (h ^ h >> 31) % n->offered;
		if (h >= most / 2 && h < most) {
			n->pairs[h][0] = e1;
			n->pairs[h][1] = e2;
		}
		return;
	}
	if (!vec_reserve(&n->pairs, &n->capacity, (uint64_t)n->count + 1, sizeof *n->pairs)) {
		s->failed = true;
		return;
	}
	n->pairs[n->count][0] = e1;
	n->pairs[n->count++][1] = e2;
}

/* How many instances are kept of races between events of two classes. */
static uint32_t instances_of(const struct search *s, const struct class *k1, const struct class *k2, uint32_t usual)
{
	unsigned flags = s->m->sites[k1->site].flags | s->m->sites[k2->site].flags;
	return flags & RT_F_OBJECT ? INSTANCES_OF_OBJECTS : usual;
}

/* The anomaly's further instances: all that are known but the one that stands for it. */
static bool give_instances(struct anomaly *a, const struct instances *n)
{
	if (!n->count)
		return true;
	a->others = malloc(n->count * sizeof n->pairs[0]);
	for (uint32_t i = 0; a->others && i < n->count; i++)
		if (n->pairs[i][0] != a->events[0] || n->pairs[i][1] != a->events[1])
			memcpy(a->others + (size_t)2 * a->other_count++, n->pairs[i], sizeof n->pairs[i]);
	return a->others;
}

static void add_pair(struct search *s, uint32_t e1, uint32_t e2, uint64_t count, int rank, const char *pattern,
                     const struct race *race)
{
	/* By the standards of C and C++ happens-before alone says what a data race is. */
	bool observed = rank == RANK_SHB || (rank == RANK_HB && s->context->c11);
	struct anomaly a = {.kind = ANOMALY_RACE,
	                    .pattern = pattern,
	                    .verdict = observed ? VERDICT_OBSERVED : VERDICT_PREDICTED,
	                    .witness = observed ? WITNESS_RECORDED : WITNESS_NONE,
	                    .follows = observed && rank == RANK_HB,
	                    .count = count,
	                    .ruled_out = race ? race->ruled_out : 0,
	                    .partial = race && race->partial,
	                    .event_count = 2,
	                    .events = {e1, e2}};
	size_t most = s->context->most ? s->context->most : SEARCH_EVERY;
	if (s->list->count >= most) {
		s->failed = true;
		s->full = !s->context->most;
		s->context->lazy->limits->anomalies |= s->full;
		return;
	}
	if ((race && !give_instances(&a, &race->instances)) || !anomaly_add(s->list, &a)) {
		free(a.others);
		s->failed = true;
	}
}

/* The first member from `from` on that e2 does not need: whatever it needs, so do all later ones of its thread. */
static uint32_t first_possible(const struct search *s, const struct class *k1, uint32_t e2, uint32_t from)
{
	const struct trf *needs = s->context->every ? NULL : search_needs(s->context);
	const uint32_t *m1 = &s->members[k1->first];
	if (!needs)
		return from;
	uint32_t horizon = clock_get(&needs->clocks, trf_clock_before(needs, e2), k1->thread);
	while (from < k1->count && s->m->events[m1[from]].pos < horizon)
		from++;
	return from;
}

/*
 * Pairs of two classes with e1 earlier. A pair that shares several cells is counted at the first of them alone: there
 * the cell is the first of one of the two events. Instances are ranked until one is good enough.
 */
static struct sweep sweep_classes(struct search *s, const struct class *k1, const struct class *k2, const char *pattern,
                                  int enough)
{
	const uint32_t *m1 = &s->members[k1->first], *m2 = &s->members[k2->first];
	const struct model *m = s->m;
	struct sweep found = {.rank = RANK_NONE};
	const uint32_t most = instances_of(s, k1, k2, INSTANCES_PER_SWEEP);
	uint32_t low = 0, high = 0, ranked = 0, segment = MODEL_NONE, horizon = 0, possible = 0;
	for (uint32_t j = 0; j < k2->count && !s->failed; j++) {
		uint32_t e2 = m2[j];
		while (high < k1->count && m1[high] < e2)
			high++;
		if (m->events[e2].segment != segment) {
			segment = m->events[e2].segment;
			horizon = segment_order_race_horizon(s->context->por, e2, k1->thread);
			while (low < k1->count && m->events[m1[low]].pos < horizon)
				low++;
			if (low == k1->count)
				break; /* and so for all later e2 */
		}
		if (low >= high)
			continue;
		found.count += high - low;
		if (s->context->every)
			for (uint32_t i = low; i < high && !s->failed; i++)
				add_pair(s, m1[i], e2, 1, rank_of_pair(s, m1[i], e2), pattern, NULL);
		possible = first_possible(s, k1, e2, possible < low ? low : possible);
		found.ruled_out += (possible < high ? possible : high) - low;
		for (uint32_t i = high; i-- > possible && !s->failed;) {
			add_instance(s, &found.instances, most, m1[i], e2);
			if (found.instances.count == most)
				break; /* one of each e2 is enough then */
		}
		if (!s->context->every && found.rank < enough && ranked < high) {
			/* If the latest e1 is ordered, so are the earlier ones; and it stays ordered for later e2. */
			ranked = high;
			int rank = rank_of_pair(s, m1[high - 1], e2);
			if (rank > found.rank) {
				found.rank = rank;
				found.e1 = m1[high - 1];
				found.e2 = e2;
			}
		}
	}
	return found;
}

static struct race *find_race(const struct search *s, uint64_t pc1, uint64_t pc2, const char *pattern,
                              struct race_key *key)
{
	memset(key, 0, sizeof *key);
	key->low = pc1 < pc2 ? pc1 : pc2;
	key->high = pc1 < pc2 ? pc2 : pc1;
	key->pattern = pattern;
	struct race *race;
	HASH_FIND(hh, s->races, key, sizeof *key, race);
	return race;
}

/* The anomaly of these source positions; NULL without memory. */
static struct race *race_of(struct search *s, uint64_t pc1, uint64_t pc2, const char *pattern)
{
	struct race_key key;
	struct race *race = find_race(s, pc1, pc2, pattern, &key);
	if (race || !(race = calloc(1, sizeof *race)))
		return race;
	race->key = key;
	race->rank = RANK_NONE;
	s->left -= s->bounded;
	HASH_ADD(hh, s->races, key, sizeof race->key, race);
	if (HASH_ADDED(race))
		return race;
	free(race);
	return NULL;
}

static void merge(struct search *s, struct race *race, const struct sweep *found, uint32_t most)
{
	race->count += found->count;
	race->ruled_out += found->ruled_out;
	for (uint32_t i = 0; i < found->instances.count; i++)
		add_instance(s, &race->instances, most, found->instances.pairs[i][0], found->instances.pairs[i][1]);
	if (found->rank > race->rank || (found->rank == race->rank && found->e2 < race->e2)) {
		race->rank = found->rank;
		race->e1 = found->e1;
		race->e2 = found->e2;
	}
}

/* Are all events of the thread up to e1 ordered before e2 and all that follows it? */
static bool all_ordered(const struct search *s, uint32_t e1, uint32_t e2)
{
	return s->m->events[e1].pos < segment_order_race_horizon(s->context->por, e2, model_thread_of(s->m, e1));
}

static void touch(struct search *s, struct race *race)
{
	if (!vec_reserve(&s->touched, &s->touched_capacity, (uint64_t)s->touched_count + 1, sizeof *s->touched))
		s->failed = true;
	else
		s->touched[s->touched_count++] = race;
}

/* The anomaly of the two classes' source positions; NULL: there is none yet. */
static struct race *known_race(const struct search *s, const struct class *k1, const struct class *k2)
{
	const struct model_site *site1 = &s->m->sites[k1->site], *site2 = &s->m->sites[k2->site];
	struct race_key key;
	return find_race(s, site1->pc, site2->pc, pattern_of(site1->op, site2->op), &key);
}

/* Would the pair of classes add nothing to what is known but to the number of instances? */
static bool is_settled(const struct search *s, const struct class *k1, const struct class *k2)
{
	struct race *race = known_race(s, k1, k2);
	bool settled =
	    race && race->rank == RANK_SHB && race->instances.count >= instances_of(s, k1, k2, INSTANCES_MAX);
	if (settled)
		race->partial = true;
	return settled;
}

static void search_classes(struct search *s, const struct class *k1, const struct class *k2)
{
	const struct model *m = s->m;
	uint32_t last1 = s->members[k1->first + k1->count - 1];
	uint32_t first2 = s->members[k2->first], last2 = s->members[k2->first + k2->count - 1];
	if (s->members[k1->first] > last2 || all_ordered(s, last1, first2))
		return;
	const struct model_site *site1 = &m->sites[k1->site], *site2 = &m->sites[k2->site];
	const char *pattern = pattern_of(site1->op, site2->op);
	if (s->context->every) {
		free(sweep_classes(s, k1, k2, pattern, RANK_NONE).instances.pairs);
		return;
	}
	struct sweep found = sweep_classes(s, k1, k2, pattern, RANK_SHB);
	bool room = HASH_COUNT(s->races) < SEARCH_ANOMALIES;
	struct race *race = NULL;
	if (found.count && (room || known_race(s, k1, k2)))
		race = race_of(s, site1->pc, site2->pc, pattern);
	else if (found.count)
		s->context->lazy->limits->anomalies = true;
	if (race)
		merge(s, race, &found, instances_of(s, k1, k2, INSTANCES_MAX));
	if (race && s->bounded)
		touch(s, race);
	s->failed |= found.count && room && !race;
	free(found.instances.pairs);
}

static bool may_race(const struct search *s, const struct family *f1, const struct family *f2)
{
	return f1->thread != f2->thread && (f1->starts || f2->starts) && (f1->writes || f2->writes) &&
	       !(f1->atomic && f2->atomic) && f1->first < f2->last &&
	       !model_locksets_exclude(s->m, f1->lockset, f2->lockset) && !all_ordered(s, f1->last, f2->first);
}

/* One more pair is looked at. False: no more are. */
static bool look(struct search *s)
{
	if (!s->pairs)
		return false;
	s->pairs--;
	return true;
}

/* Looks at a pair of classes, once. False: it is enough. */
static bool search_once(struct search *s, uint32_t k1, uint32_t k2)
{
	if (!look(s))
		return false;
	if (is_settled(s, &s->classes[k1], &s->classes[k2]))
		return true;
	bool added = true;
	if (!set_add(&s->done, (uint64_t)k1 << 32 | k2, &added))
		s->failed = true;
	if (!added)
		return true;
	search_classes(s, &s->classes[k1], &s->classes[k2]);
	s->sweeps--;
	return s->left && s->sweeps && !s->failed;
}

static bool may_race_in(const struct search *s, const struct class *k1, const struct class *k2)
{
	unsigned op1 = s->m->sites[k1->site].op, op2 = s->m->sites[k2->site].op;
	return k1->thread != k2->thread && (k1->starts || k2->starts) && (rt_op_writes(op1) || rt_op_writes(op2)) &&
	       !(rt_op_is_atomic(op1) && rt_op_is_atomic(op2)) &&
	       !model_locksets_exclude(s->m, k1->lockset, k2->lockset);
}

/* Accesses that follow each other in the cell, or with one between them: a read and a write of each are often one
 * update. */
static bool search_neighbours(struct search *s, uint32_t count)
{
	enum { NEAR = 3 };
	for (uint32_t i = 1; i < count; i++)
		for (uint32_t j = i < NEAR ? 0 : i - NEAR; j < i; j++)
			if (may_race_in(s, &s->classes[s->class_of[j]], &s->classes[s->class_of[i]]) &&
			    !search_once(s, s->class_of[j], s->class_of[i]))
				return false;
	return true;
}

/* The classes of a family as an array. */
static uint32_t list_classes(struct search *s, const struct family *f, int which)
{
	uint32_t n = 0;
	for (uint32_t k = f->classes; k != MODEL_NONE; k = s->classes[k].next) {
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
static bool search_families(struct search *s, const struct family *f1, const struct family *f2, uint32_t most)
{
	uint32_t n1 = list_classes(s, f1, 0), n2 = list_classes(s, f2, 1);
	uint32_t until = s->left > most ? s->left - most : 0;
	for (uint32_t apart = 0; apart < n2; apart++)
		for (uint32_t i = 0; i < n1 && s->left > until; i++)
			if (!search_once(s, s->arrays[0][i], s->arrays[1][(i + apart) % n2]))
				return false;
	return !s->failed;
}

/* Pairs of all families; fair: the same number of new races of each two. False: it is enough of the cell. */
static bool search_spread(struct search *s, bool fair)
{
	uint32_t n = s->family_count, pairs = 0;
	/* Counted first; if not all can be looked at, those that are not far apart. */
	uint64_t most = s->pairs / 4 / n;
	uint32_t reach = most < n ? (uint32_t)most : n;
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t apart = 0; apart < reach; apart++)
			for (uint32_t i = 0; i < n; i++) {
				const struct family *f1 = &s->families[i], *f2 = &s->families[(i + apart) % n];
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

/* A cell of many classes: as many races as are listed of one. */
static void search_some(struct search *s, uint32_t count)
{
	set_clear(&s->done);
	s->bounded = true;
	s->left = SEARCH_RACES;
	s->sweeps = SWEEPS_MAX;
	uint64_t least = (uint64_t)PAIRS_AN_ACCESS * count, given = s->all_pairs / 2 > least ? s->all_pairs / 2 : least;
	s->pairs = given;
	s->touched_count = 0;
	/* Fairly first; then the rest, as far as there is room for it. */
	bool all = search_neighbours(s, count) && search_spread(s, true) && search_spread(s, false);
	s->bounded = false;
	given -= s->pairs;
	s->all_pairs -= given < s->all_pairs ? given : s->all_pairs;
	if (all)
		return;
	if (s->left)
		s->context->lazy->limits->pairs = true;
	else
		s->context->lazy->limits->races = true;
	for (uint32_t i = 0; i < s->touched_count; i++)
		s->touched[i]->partial = true;
}

static void search_cell(struct search *s, uint32_t count)
{
	if (s->class_count > CLASSES_FEW && !s->context->every) {
		search_some(s, count);
		return;
	}
	for (uint32_t i = 0; i < s->family_count; i++)
		for (uint32_t j = 0; j < s->family_count && !s->failed; j++) {
			if (!may_race(s, &s->families[i], &s->families[j]))
				continue;
			for (uint32_t k1 = s->families[i].classes; k1 != MODEL_NONE; k1 = s->classes[k1].next)
				for (uint32_t k2 = s->families[j].classes; k2 != MODEL_NONE && !s->failed;
				     k2 = s->classes[k2].next)
					search_classes(s, &s->classes[k1], &s->classes[k2]);
		}
}

/* Does one lock guard every access of the cell? Then no two of them can race; many cells are so. */
static bool is_guarded(const struct model *m, uint32_t cell)
{
	uint32_t lockset = m->cells[cell].lockset;
	return lockset != MODEL_NONE && model_locksets_exclude(m, lockset, lockset);
}

enum rt_status race_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err)
{
	struct search s = {.context = c, .m = c->m, .list = list, .all_pairs = SEARCH_PAIRS};
	for (uint32_t cell = 0; cell < c->m->cell_count && !s.failed; cell++) {
		if (c->m->cells[cell].count < 2 || is_guarded(c->m, cell))
			continue;
		s.failed = !classify(&s, cell) || s.failed;
		if (!s.failed)
			search_cell(&s, c->m->cells[cell].count);
	}
	struct race *race, *next;
	HASH_ITER(hh, s.races, race, next)
	{
		add_pair(&s, race->e1, race->e2, race->count, race->rank, race->key.pattern, race);
		HASH_DEL(s.races, race);
		free(race->instances.pairs);
		free(race);
	}
	free(s.classes);
	free(s.families);
	table_release(&s.table);
	free(s.family_slots);
	free(s.class_of);
	free(s.members);
	set_release(&s.done);
	free(s.touched);
	free(s.arrays[0]);
	free(s.arrays[1]);
	if (s.failed && !s.full)
		return rt_error_set(err, RT_EMEMORY, "no memory for all races%s",
		                    c->every ? " (every pair of them was asked for)" : "");
	return alloc_race_search(c, list, err);
}
