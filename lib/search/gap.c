/* Locks held between two events of a thread; see gap.h. */
#include "lib/search/gap.h"

#include "lib/base/vec.h"

/* Longer gaps are not examined; gaps with more weakest locksets count as unlocked. */
enum { SEGMENTS_MAX = 512, WEAKEST_MAX = 4, MEMO = 4096, SAME_SEARCHED = 64 };

struct gap_set {
	uint32_t locksets[WEAKEST_MAX];
	uint32_t count;
};
struct gap_memo {
	uint32_t from, to, gap;
};

bool gaps_init(struct gaps *g, const struct model *m)
{
	*g = (struct gaps){.m = m};
	uint32_t *last = malloc(((size_t)m->thread_count + 1) * sizeof *last);
	g->next = malloc(((size_t)m->segment_count + 1) * sizeof *g->next);
	g->memo = malloc(MEMO * sizeof *g->memo);
	if (!last || !g->next || !g->memo) {
		free(last);
		gaps_release(g);
		return false;
	}
	memset(g->memo, 0xff, MEMO * sizeof *g->memo);
	memset(last, 0xff, ((size_t)m->thread_count + 1) * sizeof *last);
	for (uint32_t i = m->segment_count; i--;) {
		uint32_t thread = m->segments[i].thread;
		g->next[i] = last[thread];
		last[thread] = i;
	}
	free(last);
	return true;
}

void gaps_release(struct gaps *g)
{
	free(g->next);
	free(g->sets);
	free(g->memo);
	*g = (struct gaps){0};
}

/* True if b holds all locks of a, at least as exclusively: an event that may come in where b is held may where a is. */
static bool weaker(const struct model *m, uint32_t a, uint32_t b)
{
	const struct model_lockset *x = &m->locksets[a], *y = &m->locksets[b];
	uint32_t j = 0;
	for (uint32_t i = 0; i < x->count; i++, j++) {
		while (j < y->count && y->locks[j].object < x->locks[i].object)
			j++;
		if (j == y->count || y->locks[j].object != x->locks[i].object ||
		    (y->locks[j].shared && !x->locks[i].shared))
			return false;
	}
	return true;
}

/* Adds a lockset, unless a weaker one is there; removes stronger ones. False if there are too many. */
static bool add(const struct model *m, struct gap_set *s, uint32_t lockset)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < s->count; i++)
		if (s->locksets[i] == lockset || weaker(m, s->locksets[i], lockset))
			return true;
	for (uint32_t i = 0; i < s->count; i++)
		if (!weaker(m, lockset, s->locksets[i]))
			s->locksets[kept++] = s->locksets[i];
	s->count = kept;
	if (s->count == WEAKEST_MAX)
		return false;
	s->locksets[s->count++] = lockset;
	return true;
}

static struct gap_set collect(const struct gaps *g, uint32_t from, uint32_t to)
{
	const struct model *m = g->m;
	struct gap_set s = {.count = 0};
	const struct gap_set none = {{0}, 1};
	uint32_t looked = 0;
	for (uint32_t i = from; i != MODEL_NONE && m->segments[i].lockset; i = g->next[i]) {
		if (looked++ == SEGMENTS_MAX || !add(m, &s, m->segments[i].lockset))
			return none;
		if (i == to)
			return s;
	}
	return none;
}

static uint32_t number_of(struct gaps *g, const struct gap_set *s)
{
	if (s->count == 1)
		return s->locksets[0];
	for (uint32_t i = g->set_count, n = SAME_SEARCHED; i-- && n--;)
		if (g->sets[i].count == s->count &&
		    !memcmp(g->sets[i].locksets, s->locksets, s->count * sizeof *s->locksets))
			return g->m->lockset_count + i;
	if (!vec_reserve(&g->sets, &g->set_capacity, (uint64_t)g->set_count + 1, sizeof *g->sets)) {
		g->failed = true;
		return 0;
	}
	g->sets[g->set_count] = *s;
	return g->m->lockset_count + g->set_count++;
}

uint32_t gaps_between(struct gaps *g, uint32_t e1, uint32_t e3)
{
	uint32_t from = g->m->events[e1].segment, to = g->m->events[e3].segment;
	if (from == to)
		return g->m->segments[from].lockset;
	struct gap_memo *memo = &g->memo[(from * UINT32_C(2654435761) ^ to * UINT32_C(0x85ebca6b)) >> 20];
	if (memo->from != from || memo->to != to) {
		struct gap_set s = collect(g, from, to);
		*memo = (struct gap_memo){from, to, number_of(g, &s)};
	}
	return memo->gap;
}

bool gaps_admit(const struct gaps *g, uint32_t gap, uint32_t lockset)
{
	if (gap < g->m->lockset_count)
		return !model_locksets_exclude(g->m, gap, lockset);
	const struct gap_set *s = &g->sets[gap - g->m->lockset_count];
	for (uint32_t i = 0; i < s->count; i++)
		if (!model_locksets_exclude(g->m, s->locksets[i], lockset))
			return true;
	return false;
}

uint32_t gaps_core(const struct gaps *g, uint32_t gap)
{
	return gap < g->m->lockset_count ? gap : 0;
}
