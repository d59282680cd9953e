/* Anomalies by source positions; see found.h. */
#include "lib/search/found.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

enum { EVERY_MAX = 5000000 };

struct found_key {
	const struct pattern *pattern;
	uint64_t pcs[ANOMALY_EVENTS_MAX];
};

struct found {
	uint64_t count, offered;
	bool observed;       /* instance 0 is one that occurred */
	uint32_t kept;       /* instances */
	uint32_t turn;       /* how many entries before it begin at the same position */
	uint32_t *instances; /* pattern->count events each */
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
	f = calloc(1, sizeof *f);
	if (f && !(f->instances = calloc((size_t)FOUND_INSTANCES * pattern->count, sizeof *f->instances))) {
		free(f);
		f = NULL;
	}
	if (!f) {
		l->failed = true;
		return NULL;
	}
	f->key = key;
	HASH_ADD_KEYPTR(hh, l->entries, &f->key, key_size(pattern), f);
	return f;
}

void found_count(struct found *f, uint64_t tuples)
{
	f->count += tuples;
}

bool found_full(const struct found *f)
{
	return f->kept == FOUND_INSTANCES;
}

static uint32_t place_for(struct found *f)
{
	if (f->kept < FOUND_INSTANCES)
		return f->kept++;
	/* Each instance that was offered has about the same chance to stay; the first does anyway. */
	uint64_t h = f->offered * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 31) % f->offered;
	return h && h < FOUND_INSTANCES ? (uint32_t)h : FOUND_INSTANCES;
}

void found_offer(struct found *f, const uint32_t *events, bool observed)
{
	uint32_t n = f->key.pattern->count;
	for (uint32_t i = 0; i < f->kept; i++)
		if (!memcmp(f->instances + (size_t)i * n, events, n * sizeof *events))
			return;
	f->offered++;
	uint32_t place = observed && !f->observed && f->kept == FOUND_INSTANCES ? FOUND_INSTANCES - 1 : place_for(f);
	if (place == FOUND_INSTANCES)
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
	l->failed |= l->unfolded++ == EVERY_MAX || !anomaly_add(l->list, &a);
}

/* How many came before that begin at the same position. */
struct turn {
	uint64_t pc;
	uint32_t count;
	UT_hash_handle hh;
};

static bool take_turns(struct found_list *l)
{
	struct turn *turns = NULL, *t, *next;
	bool ok = true;
	for (struct found *f = l->entries; ok && f; f = f->hh.next) {
		HASH_FIND(hh, turns, &f->key.pcs[0], sizeof f->key.pcs[0], t);
		if (!t && (t = calloc(1, sizeof *t)) != NULL) {
			t->pc = f->key.pcs[0];
			HASH_ADD(hh, turns, pc, sizeof t->pc, t);
		}
		if (t)
			f->turn = t->count++;
		ok = t;
	}
	HASH_ITER(hh, turns, t, next)
	{
		HASH_DEL(turns, t);
		free(t);
	}
	return ok;
}

static int by_turn(const struct found *a, const struct found *b)
{
	return a->turn != b->turn ? (a->turn < b->turn ? -1 : 1) : 0;
}

static bool add(struct found_list *l, const struct found *f)
{
	struct anomaly a = anomaly_of(f->key.pattern, f->instances, f->count, f->observed);
	if (f->kept > 1) {
		size_t size = (size_t)(f->kept - 1) * a.event_count * sizeof *a.others;
		if (!(a.others = malloc(size)))
			return false;
		memcpy(a.others, f->instances + a.event_count, size);
		a.other_count = f->kept - 1;
	}
	if (anomaly_add(l->list, &a))
		return true;
	free(a.others);
	return false;
}

enum rt_status found_finish(struct found_list *l, struct rt_error *err)
{
	l->failed = l->failed || !take_turns(l);
	if (!l->failed)
		HASH_SORT(l->entries, by_turn);
	struct found *f, *next;
	HASH_ITER(hh, l->entries, f, next)
	{
		if (!l->failed && f->kept)
			l->failed = !add(l, f);
		HASH_DEL(l->entries, f);
		free(f->instances);
		free(f);
	}
	if (l->failed && l->unfolded > EVERY_MAX)
		return rt_error_set(err, RT_EMEMORY, "more than %d tuples of events to list one by one", EVERY_MAX);
	return l->failed ? rt_error_set(err, RT_EMEMORY, "no memory for all anomalies") : RT_OK;
}
