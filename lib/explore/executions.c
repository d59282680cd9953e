/* The executions of a stateless search: those to be made, and the states that were visited; see executions.h. */
#include "lib/explore/executions_parts.h"

#include "lib/base/free.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

const char *executions_reduction_name(enum executions_reduction r)
{
	static const char *const names[EXECUTIONS_REDUCTIONS] = {"none", "partial", "full"};
	return names[r];
}

const char *executions_order_name(enum executions_order o)
{
	static const char *const names[EXECUTIONS_ORDERS] = {"dfs", "bfs", "random"};
	return names[o];
}

enum rt_status executions_create(const struct executions_options *options, struct executions **out,
                                 struct rt_error *err)
{
	struct executions *s = calloc(1, sizeof *s);
	if (!s || !(s->items = calloc(1, sizeof *s->items))) {
		free(s);
		return rt_error_set(err, RT_EMEMORY, "no memory to search");
	}
	s->o = *options;
	s->room = s->count = 1; /* the execution without choices */
	s->random = options->seed;
	*out = s;
	return RT_OK;
}

void executions_forget(struct executions *s)
{
	HASH_FREE(s->states);
	for (size_t i = s->head; i < s->count; i++)
		free(s->items[i].choices);
	s->head = s->count = 0;
	set_clear(&s->scheduled);
}

void executions_free(struct executions *s)
{
	if (!s)
		return;
	executions_forget(s);
	sharing_release(&s->sharing);
	set_release(&s->scheduled);
	set_release(&s->race_keys);
	for (size_t i = 0; i < s->proof_count; i++)
		free(s->proofs[i].choices);
	free_all(s->proofs, s->current.choices, s->items, s->races, s);
}

bool executions_visited(const struct executions *s, uint64_t hash, uint32_t preemptions)
{
	struct visited_state *state;
	HASH_FIND(hh, s->states, &hash, sizeof hash, state);
	return state && (s->o.preemptions == UINT32_MAX || state->preemptions <= preemptions);
}

bool executions_are_all(const struct executions *s)
{
	if (s->proof_count)
		return false;
	for (size_t i = s->head; i < s->count; i++)
		if (!s->items[i].target || !executions_visited(s, s->items[i].target, s->items[i].preemptions))
			return false;
	return true;
}

const struct executions_counts *executions_counts(const struct executions *s)
{
	return &s->counts;
}

const struct executions_race *executions_races(const struct executions *s, size_t *count)
{
	*count = s->race_count;
	return s->races;
}

uint64_t executions_mix(uint64_t a, uint64_t b)
{
	a ^= b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2);
	a = (a ^ a >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	a = (a ^ a >> 27) * UINT64_C(0x94d049bb133111eb);
	return a ^ a >> 31;
}

bool executions_visit(struct executions *s, uint64_t hash, uint32_t preemptions, bool *fresh)
{
	struct visited_state *state;
	HASH_FIND(hh, s->states, &hash, sizeof hash, state);
	*fresh = !state;
	if (state) {
		state->preemptions = preemptions < state->preemptions ? preemptions : state->preemptions;
		return true;
	}
	HASH_MAKE(s->states, hash, hash, state);
	if (state)
		state->preemptions = preemptions;
	return state;
}

bool executions_next(struct executions *s, const uint8_t **choices, uint32_t *count, bool *shows)
{
	*shows = s->proof_count > 0;
	if (*shows) {
		free(s->current.choices);
		s->current = s->proofs[--s->proof_count];
		*choices = s->current.choices;
		*count = s->current.count;
		return true;
	}
	while (s->head < s->count) {
		size_t at = s->o.order == EXECUTIONS_BFS ? s->head : s->count - 1;
		if (s->o.order == EXECUTIONS_RANDOM)
			at = s->head + (s->random = executions_mix(s->random, 1)) % (s->count - s->head);
		struct execution w = s->items[at];
		if (s->o.order == EXECUTIONS_BFS)
			s->head++;
		else
			s->items[at] = s->items[--s->count];
		if (w.target && executions_visited(s, w.target, w.preemptions)) {
			free(w.choices);
			continue;
		}
		free(s->current.choices);
		s->current = w;
		*choices = w.choices;
		*count = w.count;
		return true;
	}
	return false;
}

bool executions_add(struct executions *s, const uint8_t *choices, uint32_t count, bool shows)
{
	struct execution added = {.choices = malloc((size_t)count + 1), .count = count};
	bool room = shows ? vec_reserve(&s->proofs, &s->proof_room, (uint64_t)s->proof_count + 1, sizeof *s->proofs)
	                  : vec_reserve(&s->items, &s->room, (uint64_t)s->count + 1, sizeof *s->items);
	if (!added.choices || !room) {
		free(added.choices);
		return false;
	}
	if (count)
		memcpy(added.choices, choices, count);
	if (shows)
		s->proofs[s->proof_count++] = added;
	else
		s->items[s->count++] = added;
	return true;
}

void executions_fail(struct executions *s, bool diverged)
{
	s->counts.executions++;
	s->counts.diverged += diverged;
	s->counts.overflows += !diverged;
}
