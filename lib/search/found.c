/* Anomalies by source positions; see found.h. */
#include "lib/search/found.h"

#include "lib/anomaly/goal.h"
#include "lib/base/hash.h"
#include "lib/base/set.h"
#include "lib/search/sample.h"

/* Of an entry's tuples that are ruled out the first are kept. SEEN_MAX of all its tuples are distinguished from those
 * offered again; after OFFERS_MAX of them found_full is true. */
enum { RULED_OUT_KEPT = 8, SEEN_MAX = 1 << 13, OFFERS_MAX = 1 << 20 };

struct found_key {
	const struct pattern *pattern;
	uint64_t positions[ANOMALY_EVENTS_MAX];
};

struct found {
	uint64_t count;
	uint64_t ruled_out; /* number of tuples that were ruled out */
	bool once;          /* no tuple is offered twice, so the count is exact */
	bool uncounted;     /* too many to distinguish: some may have been counted again */
	bool partial;       /* not every tuple was offered */
	enum found_rank rank;
	uint32_t
	    best[ANOMALY_EVENTS_MAX]; /* the instance that represents it, if rank is set; else the first one does */
	struct sample instances;
	uint32_t *excluded; /* the first RULED_OUT_KEPT of those ruled out, like instances */
	uint32_t excluded_count;
	uint32_t full_again; /* number of calls of found_full_again */
	/* Hashes of the tuples that were offered, since they may be offered again. Of two with the same hash one is
	 * lost, and then fewer are kept than there are, which is no harm. */
	struct set seen;
	UT_hash_handle hh;
	struct found_key key;
};

static size_t key_size(const struct pattern *p)
{
	return offsetof(struct found_key, positions) + p->count * sizeof(uint64_t);
}

static struct found_key key_of(const struct pattern *pattern, const uint64_t *positions)
{
	struct found_key key = {.pattern = pattern};
	memcpy(key.positions, positions, pattern->count * sizeof *positions);
	return key;
}

static struct found *find(const struct found_list *l, const struct found_key *key, unsigned *hash)
{
	size_t size = key_size(key->pattern);
	struct found *f = NULL;
	HASH_VALUE(key, size, *hash);
	if (l->filter && l->filter[*hash % FOUND_FILTER / 64] >> *hash % 64 & 1)
		HASH_FIND_BYHASHVALUE(hh, l->entries, key, size, *hash, f);
	return f;
}

struct found *found_find(const struct found_list *l, const struct pattern *pattern, const uint64_t *positions)
{
	struct found_key key = key_of(pattern, positions);
	unsigned hash;
	return find(l, &key, &hash);
}

struct found *found_at(struct found_list *l, const struct pattern *pattern, const uint64_t *positions)
{
	struct found_key key = key_of(pattern, positions);
	unsigned hash;
	struct found *f = find(l, &key, &hash);
	if (f)
		return f;
	struct limits *limits = l->context->lazy->limits;
	if (HASH_COUNT(l->entries) >= limits->of[LIMIT_ANOMALIES]) {
		limits_reach(limits, LIMIT_ANOMALIES, true);
		return NULL;
	}
	if (!l->filter)
		l->filter = calloc(FOUND_FILTER / 64, sizeof *l->filter);
	if (!l->filter || !(f = calloc(1, sizeof *f))) {
		l->failed = true;
		return NULL;
	}
	f->key = key;
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, l->entries, &f->key, key_size(pattern), hash, f);
	if (HASH_ADDED(f)) {
		l->filter[hash % FOUND_FILTER / 64] |= UINT64_C(1) << hash % 64;
		return f;
	}
	free(f);
	l->failed = true;
	return NULL;
}

struct found *found_entry(struct found_list *l, const struct pattern *pattern, const uint32_t *events)
{
	const struct model *m = l->context->m;
	uint64_t positions[ANOMALY_EVENTS_MAX];
	for (uint32_t i = 0; i < pattern->count; i++)
		positions[i] = model_position_of(m, events[i]);
	return found_at(l, pattern, positions);
}

bool found_no_more(const struct found_list *l)
{
	return HASH_COUNT(l->entries) >= l->context->lazy->limits->of[LIMIT_ANOMALIES];
}

uint32_t found_full_again(struct found *f)
{
	return f->full_again += f->full_again < UINT32_MAX;
}

void found_drop(struct found_list *l, struct found *f)
{
	HASH_DEL(l->entries, f);
	sample_release(&f->instances);
	set_release(&f->seen);
	free(f->excluded);
	free(f);
}

void found_count(struct found *f, uint64_t tuples)
{
	f->count += tuples;
}

void found_rule_out(struct found *f, uint64_t tuples)
{
	f->ruled_out += tuples;
	f->once = true;
}

uint64_t found_counted(const struct found *f)
{
	return f->count;
}

uint32_t found_kept(const struct found *f)
{
	return f->instances.count;
}

enum found_rank found_rank(const struct found *f)
{
	return f->rank;
}

void found_partial(struct found *f)
{
	f->partial = true;
}

/* A source position at which found_cut was called. */
struct found_cut {
	uint64_t position;
	UT_hash_handle hh;
};

static const struct found_cut *find_cut(const struct found_list *l, uint64_t position)
{
	struct found_cut *c;
	HASH_FIND(hh, l->cuts, &position, sizeof position, c);
	return c;
}

void found_cut(struct found_list *l, uint32_t site)
{
	uint64_t position = model_position(&l->context->m->sites[site]);
	if (find_cut(l, position))
		return;
	struct found_cut *c;
	HASH_MAKE(l->cuts, position, position, c);
	l->failed |= !c;
}

/* True if tuples at one of the entry's source positions were left out. */
static bool is_cut(const struct found_list *l, const struct found *f)
{
	for (uint32_t i = 0; i < f->key.pattern->count; i++)
		if (find_cut(l, f->key.positions[i]))
			return true;
	return false;
}

/* Number of instances that may be kept of all entries if there is memory for them: more of a longer trace. */
static uint64_t all_of_events(const struct found_list *l)
{
	return FOUND_ALL + (uint64_t)l->context->m->event_count;
}

/* Number of those that may be kept: no more than memory allows. They are copied once. */
static uint64_t found_all(const struct found_list *l)
{
	enum { AN_INSTANCE = 32, A_HASH = 32 };
	uint64_t all = all_of_events(l), memory = l->context->lazy->memory;
	return memory && memory / (AN_INSTANCE + A_HASH) < all ? memory / (AN_INSTANCE + A_HASH) : all;
}

/* True if memory has bounded what is kept and told apart. */
static bool memory_reached(const struct found_list *l)
{
	uint64_t all = found_all(l);
	return all < all_of_events(l) && (l->kept >= all || l->excluded >= all || l->remembered >= all);
}

static bool no_room(const struct found_list *l, const struct found *f)
{
	return f->instances.count >= (l->kept < found_all(l) ? FOUND_INSTANCES : FOUND_FEW);
}

bool found_full(const struct found_list *l, const struct found *f)
{
	return no_room(l, f) || f->instances.offered + f->ruled_out > OFFERS_MAX;
}

/* Multiply and fold: a tuple is a few words, and tuples are offered by the ten million. Never 0. */
static uint64_t hash_of(const uint32_t *events, uint32_t n)
{
	uint64_t hash = n;
	for (uint32_t i = 0; i < n; i++) {
		hash = (hash + events[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash | 1;
}

/* True if the tuple was not offered before. When the entry has no room for it, tuples are no longer remembered: there
 * are more than are kept in any case. */
static bool is_new(struct found_list *l, struct found *f, const uint32_t *events, bool full)
{
	f->uncounted |= f->instances.count + f->ruled_out >= SEEN_MAX || l->excluded >= found_all(l) ||
	                (l->context->lazy->memory && l->remembered >= found_all(l));
	uint64_t hash = hash_of(events, f->key.pattern->count);
	if (full || f->uncounted)
		return !set_has(&f->seen, hash);
	bool added = false;
	l->failed |= !set_add(&f->seen, hash, &added);
	l->remembered += added;
	return added;
}

/* True if the goal's event i is the next one of its thread after event i - 1, which may see another write then. */
static bool continues(const struct model *m, const uint32_t *events, uint32_t i)
{
	return i && events[i - 1] == model_pred(m, events[i]);
}

/* Clock of what event i of a tuple needs in order to be next. */
static uint32_t clock_before(struct found_list *l, const struct trf *needs, const uint32_t *events, uint32_t i,
                             uint32_t count)
{
	if (goal_awaits_signal(l->context->m, events, count, i))
		return trf_clock_unsignalled(needs, events[i]);
	if (l->asked[i].event != events[i] + 1) {
		l->asked[i].event = events[i] + 1;
		l->asked[i].clock = trf_clock_before(needs, events[i]);
	}
	return l->asked[i].clock;
}

/* True if one of the events needs one that comes after it in the pattern: no correct reordering has the tuple. */
static bool is_ruled_out(struct found_list *l, const struct pattern *p, const uint32_t *events)
{
	const struct model *m = l->context->m;
	const struct trf *needs = search_needs(l->context);
	/* Of two events neither comes first. */
	for (uint32_t i = 0; needs && p->count > 2 && i + 1 < p->count; i++) {
		if (continues(m, events, i))
			continue;
		uint32_t clock = clock_before(l, needs, events, i, p->count), own = model_thread_of(m, events[i]);
		for (uint32_t k = i + 1; k < p->count; k++) {
			uint32_t thread = model_thread_of(m, events[k]);
			if (thread != own && clock_get(&needs->clocks, clock, thread) > m->events[events[k]].pos)
				return true;
		}
	}
	return false;
}

/* Counts a tuple that is ruled out, and keeps it if it is one of the first. */
static void exclude(struct found_list *l, struct found *f, const uint32_t *events)
{
	size_t size = f->key.pattern->count * sizeof *events;
	if (!f->excluded && !(f->excluded = malloc(RULED_OUT_KEPT * size)))
		l->failed = true;
	else if (f->excluded_count < RULED_OUT_KEPT)
		memcpy(f->excluded + f->excluded_count++ * f->key.pattern->count, events, size);
	f->ruled_out++;
	l->excluded++;
}

bool found_only_counts(const struct found *f)
{
	return f->uncounted && f->excluded_count == RULED_OUT_KEPT;
}

void found_exclude(struct found_list *l, struct found *f, uint64_t tuples)
{
	f->ruled_out += tuples;
	l->excluded += tuples;
}

void found_represent(struct found *f, const uint32_t *events, enum found_rank rank)
{
	uint32_t n = f->key.pattern->count;
	if (rank < f->rank || (rank == f->rank && events[n - 1] >= f->best[n - 1]))
		return;
	f->rank = rank;
	memcpy(f->best, events, n * sizeof *events);
}

void found_offer(struct found_list *l, struct found *f, const uint32_t *events, bool observed)
{
	bool full = no_room(l, f);
	if (!is_new(l, f, events, full))
		return;
	if (!observed && is_ruled_out(l, f->key.pattern, events)) {
		exclude(l, f, events);
		return;
	}
	if (observed && f->rank != FOUND_OBSERVED)
		found_represent(f, events, FOUND_OBSERVED);
	uint32_t n = f->key.pattern->count, kept = f->instances.count;
	l->failed |= !sample_add(&f->instances, events, n, full ? kept : kept + 1, 1);
	l->kept += f->instances.count - kept;
}

void found_keep(struct found_list *l, struct found *f, const uint32_t *events, uint32_t most)
{
	f->once = true;
	l->failed |= !sample_add(&f->instances, events, f->key.pattern->count, most, (most + 1) / 2);
}

static struct anomaly anomaly_of(const struct found_list *l, const struct pattern *p, const uint32_t *events,
                                 uint64_t count, enum found_rank rank)
{
	/* By the standards of C and C++ happens-before alone determines what a data race is. */
	bool observed = rank == FOUND_OBSERVED || (rank == FOUND_UNORDERED && l->context->c11);
	struct anomaly a = {.kind = p->kind,
	                    .pattern = p->name,
	                    .verdict = observed ? VERDICT_OBSERVED : VERDICT_PREDICTED,
	                    .witness = observed ? WITNESS_RECORDED : WITNESS_NONE,
	                    .follows = observed && rank == FOUND_UNORDERED,
	                    .count = count,
	                    .event_count = p->count};
	memcpy(a.events, events, p->count * sizeof *events);
	return a;
}

void found_every(struct found_list *l, const struct pattern *pattern, const uint32_t *events, enum found_rank rank)
{
	struct anomaly a = anomaly_of(l, pattern, events, 1, rank);
	struct limits *limits = l->context->lazy->limits;
	size_t most = l->context->most;
	if (l->unfolded++ < (most ? most : limits->of[LIMIT_EVERY])) {
		l->failed |= !anomaly_add(l->list, &a);
		return;
	}
	l->failed = true;
	l->full = !most;
	limits_reach(limits, LIMIT_EVERY, l->full);
}

void found_tuple(struct found_list *l, const struct pattern *pattern, const uint32_t *events, bool observed)
{
	if (l->context->every) {
		found_every(l, pattern, events, observed ? FOUND_OBSERVED : FOUND_POSSIBLE);
		return;
	}
	struct found *f = found_entry(l, pattern, events);
	if (!f)
		return;
	found_count(f, 1);
	found_offer(l, f, events, observed);
}

/* The anomaly's further instances: all that are kept, apart from its own. False without memory. */
static bool add_others(struct anomaly *a, const struct found *f)
{
	const struct {
		const uint32_t *events;
		uint32_t count;
	} parts[] = {{f->instances.events, f->instances.count}, {f->excluded, f->excluded_count}};
	size_t n = f->key.pattern->count, size = n * sizeof *a->others;
	if (parts[0].count + parts[1].count < 2 && f->rank == FOUND_UNRANKED)
		return true;
	if (!(a->others = malloc(((size_t)parts[0].count + parts[1].count + 1) * size)))
		return false;
	for (int k = 0; k < 2; k++)
		for (uint32_t i = 0; i < parts[k].count; i++)
			if (memcmp(parts[k].events + i * n, a->events, size))
				memcpy(a->others + a->other_count++ * n, parts[k].events + i * n, size);
	return true;
}

static bool add(const struct found_list *l, const struct found *f)
{
	const uint32_t *first = f->rank != FOUND_UNRANKED ? f->best
	                        : f->instances.count      ? f->instances.events
	                                                  : f->excluded;
	bool partial = l->cut || f->partial || is_cut(l, f), all = !f->once && !partial && !found_full(l, f);
	/* Those that share several cells were counted at each of these. */
	uint64_t count = all && !f->uncounted ? f->instances.count + f->ruled_out : f->count;
	struct anomaly a = anomaly_of(l, f->key.pattern, first, count, f->rank);
	a.partial = partial;
	if (f->once)
		a.ruled_out = f->ruled_out;
	else if (all)
		a.ruled_out = count - f->instances.count;
	if (add_others(&a, f) && anomaly_add(l->list, &a))
		return true;
	free(a.others);
	return false;
}

enum rt_status found_finish(struct found_list *l, struct rt_error *err)
{
	struct found *f, *next;
	l->context->lazy->memory_reached |= memory_reached(l);
	HASH_ITER(hh, l->entries, f, next)
	{
		if (!l->failed && (f->instances.count || f->excluded_count || f->rank != FOUND_UNRANKED))
			l->failed = !add(l, f);
		found_drop(l, f);
	}
	HASH_FREE(l->cuts);
	free(l->filter);
	l->filter = NULL;
	if (!l->failed || l->full)
		return RT_OK;
	return rt_error_set(err, RT_EMEMORY, "no memory for all anomalies%s",
	                    l->context->every ? " (every one of them was asked for)" : "");
}
