/* Anomalies by source positions; see found.h. */
#include "lib/search/found.h"

#include "lib/base/hash.h"
#include "lib/base/set.h"
#include "lib/base/vec.h"

#include <inttypes.h>
#include <xxhash.h>

/* Of an entry's tuples that are ruled out the first are kept. SEEN_MAX of all its tuples are told apart from those
 * offered again; after OFFERS_MAX of them no more than some are asked for. */
enum { RULED_OUT_KEPT = 8, SEEN_MAX = 1 << 13, OFFERS_MAX = 1 << 20 };

struct found_key {
	const struct pattern *pattern;
	uint64_t pcs[ANOMALY_EVENTS_MAX];
};

struct found {
	uint64_t count, offered;
	uint64_t ruled_out;  /* tuples that were offered and are */
	bool uncounted;      /* too many to tell apart: some may have been counted again */
	uint32_t *excluded;  /* the first RULED_OUT_KEPT of them, like instances */
	bool observed;       /* instance 0 is one that occurred */
	bool partial;        /* not every tuple was offered */
	uint32_t kept;       /* instances */
	uint32_t *instances; /* pattern->count events each */
	uint32_t capacity;   /* in events */
	/* What was kept when it was offered, for its being offered again: hashes. One that two have loses an instance,
	 * and then fewer are kept than there are, which is no harm. */
	struct set seen;
	UT_hash_handle hh;
	struct found_key key;
};

static size_t key_size(const struct pattern *p)
{
	return offsetof(struct found_key, pcs) + p->count * sizeof(uint64_t);
}

struct found *found_entry(struct found_list *l, const struct pattern *pattern, const uint32_t *events)
{
	const struct model *m = l->context->m;
	struct found_key key;
	memset(&key, 0, sizeof key);
	key.pattern = pattern;
	for (uint32_t i = 0; i < pattern->count; i++)
		key.pcs[i] = m->sites[m->events[events[i]].site].pc;
	struct found *f;
	HASH_FIND(hh, l->entries, &key, key_size(pattern), f);
	if (f)
		return f;
	if (HASH_COUNT(l->entries) >= SEARCH_ANOMALIES) {
		l->context->lazy->limits->anomalies = true;
		return NULL;
	}
	f = calloc(1, sizeof *f);
	if (!f) {
		l->failed = true;
		return NULL;
	}
	f->key = key;
	HASH_ADD_KEYPTR(hh, l->entries, &f->key, key_size(pattern), f);
	if (HASH_ADDED(f))
		return f;
	free(f);
	l->failed = true;
	return NULL;
}

void found_count(struct found *f, uint64_t tuples)
{
	f->count += tuples;
}

void found_partial(struct found *f)
{
	f->partial = true;
}

/* A source position that found_cut was told of. */
struct found_cut {
	uint64_t pc;
	UT_hash_handle hh;
};

static const struct found_cut *find_cut(const struct found_list *l, uint64_t pc)
{
	struct found_cut *c;
	HASH_FIND(hh, l->cuts, &pc, sizeof pc, c);
	return c;
}

void found_cut(struct found_list *l, uint32_t site)
{
	uint64_t pc = l->context->m->sites[site].pc;
	if (find_cut(l, pc))
		return;
	struct found_cut *c = calloc(1, sizeof *c);
	if (!c) {
		l->failed = true;
		return;
	}
	c->pc = pc;
	HASH_ADD(hh, l->cuts, pc, sizeof c->pc, c);
	if (HASH_ADDED(c))
		return;
	free(c);
	l->failed = true;
}

static void free_cuts(struct found_list *l)
{
	struct found_cut *c, *next;
	HASH_ITER(hh, l->cuts, c, next)
	{
		HASH_DEL(l->cuts, c);
		free(c);
	}
}

/* Is some of what has the entry's source positions left out? */
static bool is_cut(const struct found_list *l, const struct found *f)
{
	for (uint32_t i = 0; i < f->key.pattern->count; i++)
		if (find_cut(l, f->key.pcs[i]))
			return true;
	return false;
}

/* What may be kept of all entries: more of a longer trace. */
static uint64_t found_all(const struct found_list *l)
{
	return FOUND_ALL + (uint64_t)l->context->m->event_count;
}

static bool no_room(const struct found_list *l, const struct found *f)
{
	return f->kept >= (l->kept < found_all(l) ? FOUND_INSTANCES : FOUND_FEW);
}

bool found_full(const struct found_list *l, const struct found *f)
{
	return no_room(l, f) || f->offered + f->ruled_out > OFFERS_MAX;
}

/* The instance's place, f->kept: none. */
static uint32_t place_for(struct found_list *l, struct found *f, bool full)
{
	if (!full) {
		l->kept++;
		return f->kept++;
	}
	/* Each instance that was offered has about the same chance to stay; the first does anyway. */
	uint64_t h = f->offered * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 31) % f->offered;
	return h && h < f->kept ? (uint32_t)h : f->kept;
}

/* Is it not kept yet? Then there is room for it. When all are kept that may be, what comes is not told from what came
 * after that: it is more than is kept in any case. */
static bool is_new(struct found_list *l, struct found *f, const uint32_t *events, bool full)
{
	uint32_t n = f->key.pattern->count;
	f->uncounted |= f->kept + f->ruled_out >= SEEN_MAX || l->excluded >= found_all(l);
	bool told = !full && !f->uncounted;
	uint64_t hash = XXH3_64bits(events, n * sizeof *events) | 1;
	bool added = !told && !set_has(&f->seen, hash);
	if ((!full && !vec_reserve(&f->instances, &f->capacity, ((uint64_t)f->kept + 1) * n, sizeof *events)) ||
	    (told && !set_add(&f->seen, hash, &added))) {
		l->failed = true;
		return false;
	}
	return added;
}

/* Is the goal's event i right behind the one before it in its thread, which may have seen another write then? */
static bool continues(const struct model *m, const uint32_t *events, uint32_t i)
{
	return i && events[i - 1] == model_pred(m, events[i]);
}

/* Does one of the events need one that is to come after it? Then no correct reordering has the tuple. */
static bool is_ruled_out(const struct found_list *l, const struct pattern *p, const uint32_t *events)
{
	const struct model *m = l->context->m;
	const struct trf *needs = search_needs(l->context);
	/* Of two events neither comes first. */
	for (uint32_t i = 0; needs && p->count > 2 && i < p->count; i++) {
		if (continues(m, events, i))
			continue;
		uint32_t clock = trf_clock_before(needs, events[i]), own = model_thread_of(m, events[i]);
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
	else if (f->ruled_out < RULED_OUT_KEPT)
		memcpy(f->excluded + f->ruled_out * f->key.pattern->count, events, size);
	f->ruled_out++;
	l->excluded++;
}

void found_offer(struct found_list *l, struct found *f, const uint32_t *events, bool observed)
{
	uint32_t n = f->key.pattern->count;
	bool full = no_room(l, f);
	if (!is_new(l, f, events, full))
		return;
	if (!observed && is_ruled_out(l, f->key.pattern, events)) {
		exclude(l, f, events);
		return;
	}
	f->offered++;
	uint32_t place = observed && !f->observed && full ? f->kept - 1 : place_for(l, f, full);
	if (place == f->kept)
		return;
	uint32_t *to = f->instances + (size_t)place * n;
	if (observed && !f->observed) {
		memcpy(to, f->instances, n * sizeof *to);
		to = f->instances;
		f->observed = true;
	} else if (!place && f->observed) {
		return;
	}
	memcpy(to, events, n * sizeof *to);
}

static struct anomaly anomaly_of(const struct pattern *p, const uint32_t *events, uint64_t count, bool observed)
{
	struct anomaly a = {.kind = p->kind,
	                    .pattern = p->name,
	                    .verdict = observed ? VERDICT_OBSERVED : VERDICT_PREDICTED,
	                    .witness = observed ? WITNESS_RECORDED : WITNESS_NONE,
	                    .count = count,
	                    .event_count = p->count};
	memcpy(a.events, events, p->count * sizeof *events);
	return a;
}

void found_every(struct found_list *l, const struct pattern *pattern, const uint32_t *events, bool observed)
{
	struct anomaly a = anomaly_of(pattern, events, 1, observed);
	if (l->unfolded++ >= SEARCH_EVERY)
		l->failed = l->full = l->context->lazy->limits->anomalies = true;
	else
		l->failed |= !anomaly_add(l->list, &a);
}

static bool add(struct found_list *l, const struct found *f)
{
	const uint32_t n = f->key.pattern->count;
	bool partial = f->partial || is_cut(l, f), all = !partial && !found_full(l, f);
	/* Those that share several cells were counted at each of these. */
	uint64_t count = all && !f->uncounted ? f->kept + f->ruled_out : f->count;
	uint32_t excluded = f->ruled_out < RULED_OUT_KEPT ? (uint32_t)f->ruled_out : RULED_OUT_KEPT;
	struct anomaly a = anomaly_of(f->key.pattern, f->kept ? f->instances : f->excluded, count, f->observed);
	a.partial = partial;
	a.ruled_out = all ? count - f->kept : 0;
	if (f->kept + excluded > 1) {
		if (!(a.others = malloc((size_t)(f->kept + excluded) * n * sizeof *a.others)))
			return false;
		if (f->kept)
			memcpy(a.others, f->instances, (size_t)f->kept * n * sizeof *a.others);
		if (excluded)
			memcpy(a.others + (size_t)f->kept * n, f->excluded, (size_t)excluded * n * sizeof *a.others);
		/* The first one is the anomaly's own. */
		a.other_count = f->kept + excluded - 1;
		memmove(a.others, a.others + n, (size_t)a.other_count * n * sizeof *a.others);
	}
	if (anomaly_add(l->list, &a))
		return true;
	free(a.others);
	return false;
}

enum rt_status found_finish(struct found_list *l, struct rt_error *err)
{
	struct found *f, *next;
	HASH_ITER(hh, l->entries, f, next)
	{
		if (!l->failed && (f->kept || f->ruled_out))
			l->failed = !add(l, f);
		HASH_DEL(l->entries, f);
		free(f->instances);
		set_release(&f->seen);
		free(f->excluded);
		free(f);
	}
	free_cuts(l);
	return l->failed && !l->full ? rt_error_set(err, RT_EMEMORY, "no memory for all anomalies") : RT_OK;
}
