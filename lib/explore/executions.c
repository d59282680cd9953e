/* Stateless search; see executions.h. */
#include "lib/explore/executions.h"

#include "lib/base/hash.h"
#include "lib/base/set.h"
#include "lib/base/vec.h"
#include "lib/explore/sharing.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = RT_SEARCH_THREADS };

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

/* ---- What is kept ---- */

/* An execution to be made. */
struct work {
	uint8_t *choices;
	uint32_t count;
	uint64_t target; /* hash of the state behind the last choice; 0: not known */
	uint32_t preemptions;
};

/* A state that was visited, with the fewest preemptions. */
struct state {
	uint64_t hash;
	uint32_t preemptions;
	UT_hash_handle hh;
};

struct executions {
	struct executions_options o;
	struct executions_counts counts;
	struct state *states;
	struct set scheduled; /* hashes of states that a work leads to */
	struct work *items;
	size_t count, room, head; /* items[head..count) are to be made */
	struct work *proofs;      /* executions that show a race */
	size_t proof_count, proof_room;
	struct work current; /* that executions_next gave; its choices are owned */
	struct sharing sharing;
	struct executions_race *races;
	size_t race_count, race_room;
	struct set race_keys;
	uint64_t random;
};

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

static void forget_states(struct executions *s)
{
	struct state *state, *next;
	HASH_ITER(hh, s->states, state, next)
	{
		HASH_DELETE(hh, s->states, state);
		free(state);
	}
	for (size_t i = s->head; i < s->count; i++)
		free(s->items[i].choices);
	s->head = s->count = 0;
	set_clear(&s->scheduled);
}

void executions_free(struct executions *s)
{
	if (!s)
		return;
	forget_states(s);
	sharing_release(&s->sharing);
	set_release(&s->scheduled);
	set_release(&s->race_keys);
	for (size_t i = 0; i < s->proof_count; i++)
		free(s->proofs[i].choices);
	free(s->proofs);
	free(s->current.choices);
	free(s->items);
	free(s->races);
	free(s);
}

static bool is_visited(const struct executions *s, uint64_t hash, uint32_t preemptions)
{
	struct state *state;
	HASH_FIND(hh, s->states, &hash, sizeof hash, state);
	return state && (s->o.preemptions == UINT32_MAX || state->preemptions <= preemptions);
}

bool executions_are_all(const struct executions *s)
{
	if (s->proof_count)
		return false;
	for (size_t i = s->head; i < s->count; i++)
		if (!s->items[i].target || !is_visited(s, s->items[i].target, s->items[i].preemptions))
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

static uint64_t mix(uint64_t a, uint64_t b)
{
	a ^= b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2);
	a = (a ^ a >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	a = (a ^ a >> 27) * UINT64_C(0x94d049bb133111eb);
	return a ^ a >> 31;
}

/* *fresh: it was not visited at all. False without memory. */
static bool visit(struct executions *s, uint64_t hash, uint32_t preemptions, bool *fresh)
{
	struct state *state;
	HASH_FIND(hh, s->states, &hash, sizeof hash, state);
	*fresh = !state;
	if (state) {
		state->preemptions = preemptions < state->preemptions ? preemptions : state->preemptions;
		return true;
	}
	if (!(state = calloc(1, sizeof *state)))
		return false;
	*state = (struct state){.hash = hash, .preemptions = preemptions};
	HASH_ADD(hh, s->states, hash, sizeof state->hash, state);
	if (HASH_ADDED(state))
		return true;
	free(state);
	return false;
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
			at = s->head + (s->random = mix(s->random, 1)) % (s->count - s->head);
		struct work w = s->items[at];
		if (s->o.order == EXECUTIONS_BFS)
			s->head++;
		else
			s->items[at] = s->items[--s->count];
		if (w.target && is_visited(s, w.target, w.preemptions)) {
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

bool executions_again(struct executions *s, const uint8_t *choices, uint32_t count, bool shows)
{
	struct work again = {.choices = malloc((size_t)count + 1), .count = count};
	bool room = shows ? vec_reserve(&s->proofs, &s->proof_room, (uint64_t)s->proof_count + 1, sizeof *s->proofs)
	                  : vec_reserve(&s->items, &s->room, (uint64_t)s->count + 1, sizeof *s->items);
	if (!again.choices || !room) {
		free(again.choices);
		return false;
	}
	if (count)
		memcpy(again.choices, choices, count);
	if (shows)
		s->proofs[s->proof_count++] = again;
	else
		s->items[s->count++] = again;
	return true;
}

void executions_fail(struct executions *s, bool diverged)
{
	s->counts.executions++;
	s->counts.diverged += diverged;
	s->counts.overflows += !diverged;
}

/* ---- One execution ---- */

/* What the next step at an object depends on. */
struct dependency {
	uint64_t key;
	uint64_t written; /* hash of the last write, or operation */
	uint64_t reads;   /* sum of the hashes of the reads since */
	UT_hash_handle hh;
};

struct thread {
	struct rt_search_record step; /* that it is about to do */
	bool pending;                 /* it was not done */
	uint64_t hash;                /* of what it has done */
	struct locks_held held;
};

struct walk {
	struct executions *s;
	struct thread threads[THREADS];
	struct dependency *dependencies;
	uint8_t *path;
	uint32_t length, preemptions;
	uint32_t fresh; /* races */
	bool overflow;  /* an access was too wide */
	bool no_memory;
};

/* True if another thread may go on before it. */
static bool is_visible(const struct executions *s, const struct rt_search_record *r)
{
	bool none = s->o.reduction == EXECUTIONS_NONE;
	switch (r->op) {
	case RT_OP_NONE:
		return false;
	case RT_OP_BEGIN:
	case RT_OP_END:
	case RT_OP_FORK:
	case RT_OP_JOIN:
		return none;
	case RT_OP_RELEASE:
		return none || s->sharing.tries;
	default:
		if (!search_is_plain(r) || (none && !(r->flags & RT_SEARCH_OWN)))
			return true;
		return sharing_has(&s->sharing, s->o.reduction == EXECUTIONS_FULL, r->pc);
	}
}

/* A step that is tried again is still to be done. */
static bool is_retried(unsigned op)
{
	return op == RT_OP_ACQUIRE || op == RT_OP_ACQUIRE_SHARED || op == RT_OP_SEM_WAIT || op == RT_OP_ONCE_SEEN;
}

static bool awaits_visible(const struct walk *w, uint32_t t)
{
	const struct thread *thread = &w->threads[t];
	return (thread->pending || is_retried(thread->step.op)) && is_visible(w->s, &thread->step);
}

static struct dependency *dependency_of(struct walk *w, uint64_t key, bool make)
{
	struct dependency *d;
	HASH_FIND(hh, w->dependencies, &key, sizeof key, d);
	if (d || !make)
		return d;
	if ((d = calloc(1, sizeof *d))) {
		d->key = key;
		HASH_ADD(hh, w->dependencies, key, sizeof d->key, d);
		if (HASH_ADDED(d))
			return d;
	}
	free(d);
	w->no_memory = true;
	return NULL;
}

enum { MEMORY, OBJECT }; /* kinds of keys */
static uint64_t key_of(unsigned kind, uint64_t address)
{
	return mix(kind, address);
}

/* The keys that a step depends on; returns their number. */
static uint32_t keys_of(const struct rt_search_record *r, uint64_t keys[GRANULES_MAX])
{
	uint32_t n = 0;
	if (!rt_op_is_access(r->op)) {
		keys[n++] = key_of(OBJECT, r->object);
		if (r->op == RT_OP_WAIT_BEGIN || r->op == RT_OP_WAIT_END)
			keys[n++] = key_of(OBJECT, r->arg);
		return n;
	}
	uint64_t last = (r->object + search_bytes(r) - 1) / GRANULE;
	for (uint64_t at = r->object / GRANULE; at <= last && n < GRANULES_MAX; at++)
		keys[n++] = key_of(MEMORY, at);
	return n;
}

/* The hash of a thread's history when it has done its step. */
static uint64_t hash_after(struct walk *w, uint32_t t)
{
	const struct rt_search_record *r = &w->threads[t].step;
	bool writes = !rt_op_is_access(r->op) || rt_op_writes(r->op);
	uint64_t keys[GRANULES_MAX], h = mix(mix(w->threads[t].hash, r->op), r->pc);
	uint32_t n = keys_of(r, keys);
	for (uint32_t i = 0; i < n; i++) {
		const struct dependency *d = dependency_of(w, keys[i], false);
		h = mix(h, keys[i]);
		h = mix(h, d ? d->written : 0);
		if (writes)
			h = mix(h, d ? d->reads : 0);
	}
	return h ? h : 1;
}

static void do_visible(struct walk *w, uint32_t t)
{
	const struct rt_search_record *r = &w->threads[t].step;
	bool writes = !rt_op_is_access(r->op) || rt_op_writes(r->op);
	uint64_t keys[GRANULES_MAX], h = hash_after(w, t);
	uint32_t n = keys_of(r, keys);
	for (uint32_t i = 0; i < n; i++) {
		struct dependency *d = dependency_of(w, keys[i], true);
		if (!d)
			return;
		d->reads = writes ? 0 : d->reads + h;
		d->written = writes ? h : d->written;
	}
	w->threads[t].hash = h;
}

static uint64_t part(uint32_t t, uint64_t hash)
{
	return hash ? mix(hash, t + 1) : 0;
}

static uint64_t hash_of(const struct walk *w)
{
	uint64_t sum = 1;
	for (uint32_t t = 0; t < THREADS; t++)
		sum += part(t, w->threads[t].hash);
	return sum ? sum : 1;
}

/* ---- States ---- */

static bool races(const struct rt_search_record *a, const struct rt_search_record *b)
{
	return rt_op_is_access(a->op) && rt_op_is_access(b->op) && (rt_op_writes(a->op) || rt_op_writes(b->op)) &&
	       !(rt_op_is_atomic(a->op) && rt_op_is_atomic(b->op)) && a->object < b->object + search_bytes(b) &&
	       b->object < a->object + search_bytes(a);
}

static void add_race(struct walk *w, uint32_t x, uint32_t y)
{
	struct executions *s = w->s;
	const struct rt_search_record *a = &w->threads[x].step, *b = &w->threads[y].step;
	bool added;
	if (a->pc > b->pc || (a->pc == b->pc && a->op > b->op)) {
		add_race(w, y, x);
		return;
	}
	if (!set_add(&s->race_keys, mix(mix(mix(a->pc, a->op), b->pc), b->op) | 1, &added) ||
	    (added && !vec_reserve(&s->races, &s->race_room, (uint64_t)s->race_count + 1, sizeof *s->races))) {
		w->no_memory = true;
		return;
	}
	if (!added)
		return;
	s->races[s->race_count++] = (struct executions_race){{a->pc, b->pc}, {a->op, b->op}};
	w->fresh++;
	uint8_t *choices = malloc((size_t)w->length + 2);
	if (!choices || !vec_reserve(&s->proofs, &s->proof_room, (uint64_t)s->proof_count + 1, sizeof *s->proofs)) {
		free(choices);
		w->no_memory = true;
		return;
	}
	memcpy(choices, w->path, w->length);
	choices[w->length] = (uint8_t)x;
	choices[w->length + 1] = (uint8_t)y;
	s->proofs[s->proof_count++] = (struct work){.choices = choices, .count = w->length + 2};
}

/* Theorem 1: all pairs of pending accesses. */
static void look_at_pending(struct walk *w, uint64_t enabled)
{
	for (uint32_t x = 0; x < THREADS; x++)
		for (uint32_t y = x + 1; enabled >> x & 1 && y < THREADS; y++)
			if (enabled >> y & 1 && w->threads[x].pending && w->threads[y].pending &&
			    races(&w->threads[x].step, &w->threads[y].step))
				add_race(w, x, y);
}

/* The execution that takes thread t after the path. */
static void schedule(struct walk *w, uint32_t t, uint64_t target, uint32_t preemptions)
{
	struct executions *s = w->s;
	bool added = true;
	if (s->o.preemptions != UINT32_MAX && preemptions > s->o.preemptions) {
		s->counts.bounded = true;
		return;
	}
	if (target && is_visited(s, target, preemptions))
		return;
	if (target && s->o.preemptions == UINT32_MAX && !set_add(&s->scheduled, target, &added))
		w->no_memory = true;
	if (!added)
		return;
	if (s->head > 4096 && s->head > s->count / 2) {
		memmove(s->items, s->items + s->head, (s->count - s->head) * sizeof *s->items);
		s->count -= s->head;
		s->head = 0;
	}
	uint8_t *choices = malloc((size_t)w->length + 1);
	if (!choices || !vec_reserve(&s->items, &s->room, (uint64_t)s->count + 1, sizeof *s->items)) {
		free(choices);
		w->no_memory = true;
		return;
	}
	memcpy(choices, w->path, w->length);
	choices[w->length] = (uint8_t)t;
	s->items[s->count++] = (struct work){choices, w->length + 1, target, preemptions};
}

/* True if thread t instead of the one that had the turn, which could go on as well, is a preemption. */
static bool preempts(const struct walk *w, const struct rt_search_record *choice, uint32_t t)
{
	return choice->arg < THREADS && choice->arg != t && choice->object >> choice->arg & 1 &&
	       awaits_visible(w, (uint32_t)choice->arg);
}

/* A state at which all enabled threads are about to do what others may notice. False: it is known. */
static bool enter_state(struct walk *w, const struct rt_search_record *choice)
{
	struct executions *s = w->s;
	uint64_t hash = hash_of(w);
	bool fresh;
	if (is_visited(s, hash, w->preemptions))
		return false;
	if (!visit(s, hash, w->preemptions, &fresh)) {
		w->no_memory = true;
		return false;
	}
	s->counts.states += fresh;
	look_at_pending(w, choice->object);
	for (uint32_t t = 0; t < THREADS; t++) {
		if (!(choice->object >> t & 1))
			continue;
		s->counts.transitions += fresh;
		if (t == choice->thread)
			continue;
		uint64_t target = hash - part(t, w->threads[t].hash) + part(t, hash_after(w, t));
		schedule(w, t, target ? target : 1, w->preemptions + preempts(w, choice, t));
	}
	return true;
}

/* True if the walk goes on. advances: the step could be done; else it was tried in vain, which nobody notices. */
static bool take_choice(struct walk *w, const struct rt_search_record *choice, uint32_t given, bool advances)
{
	uint32_t unnoticed = 0; /* the first thread whose next step others do not notice; THREADS: there is none */
	while (unnoticed < THREADS && !(choice->object >> unnoticed & 1 && !awaits_visible(w, unnoticed)))
		unnoticed++;
	bool visible = awaits_visible(w, choice->thread);
	if (unnoticed != THREADS && visible && w->length >= given) {
		/* Threads that do something of their own come first. */
		schedule(w, unnoticed, 0, w->preemptions);
		return false;
	}
	if (unnoticed == THREADS && !enter_state(w, choice) && w->length >= given)
		return false;
	if (unnoticed == THREADS)
		w->preemptions += preempts(w, choice, choice->thread);
	if (w->s->o.preemptions != UINT32_MAX && w->preemptions > w->s->o.preemptions)
		return false;
	if (!advances && is_retried(w->threads[choice->thread].step.op))
		return true;
	if (w->threads[choice->thread].pending)
		w->no_memory |= !sharing_note(&w->s->sharing, choice->thread, &w->threads[choice->thread].held,
		                              &w->threads[choice->thread].step, &w->overflow);
	if (visible)
		do_visible(w, choice->thread);
	w->threads[choice->thread].pending = false;
	return true;
}

/* A signal wakes one of several. */
static void take_wake(struct walk *w, const struct rt_search_record *wake, uint32_t given)
{
	for (uint32_t t = 0; t < THREADS && w->length >= given; t++)
		if (wake->object >> t & 1 && t != wake->thread)
			schedule(w, t, 0, w->preemptions);
	if (wake->arg < THREADS)
		w->threads[wake->arg].hash = mix(w->threads[wake->arg].hash, wake->thread + 1);
}

static bool take_record(struct walk *w, const struct rt_search_record *r, uint32_t given, bool advances)
{
	bool more = true;
	if (r->thread >= THREADS)
		return false;
	switch ((enum rt_search_kind)r->kind) {
	case RT_SEARCH_STEP:
		w->threads[r->thread].step = *r;
		w->threads[r->thread].pending = true;
		return true;
	case RT_SEARCH_CHOICE:
		more = take_choice(w, r, given, advances);
		break;
	case RT_SEARCH_WAKE:
		take_wake(w, r, given);
		break;
	}
	w->path[w->length++] = (uint8_t)r->thread;
	return more && !w->no_memory;
}

/* For each choice: does its thread come to another step, before it goes on again? */
static void look_ahead(const struct rt_search_record *records, size_t n, bool *advances)
{
	bool steps[THREADS] = {false};
	for (size_t i = n; i-- > 0;) {
		uint32_t t = records[i].thread;
		if (t >= THREADS || records[i].kind == RT_SEARCH_WAKE)
			continue;
		advances[i] = steps[t];
		steps[t] = records[i].kind == RT_SEARCH_STEP;
	}
}

/* All is visited anew when a position turned out to be shared. */
static enum rt_status begin_round(struct executions *s, struct rt_error *err)
{
	s->sharing.grew = false;
	forget_states(s);
	s->counts.states = s->counts.transitions = 0;
	s->counts.bounded = false;
	if (!vec_reserve(&s->items, &s->room, 1, sizeof *s->items))
		return rt_error_set(err, RT_EMEMORY, "no memory to search");
	s->items[s->count++] = (struct work){0};
	return RT_OK;
}

enum rt_status executions_take(struct executions *s, uint32_t count, const struct rt_search_record *records, size_t n,
                               uint32_t *fresh, struct rt_error *err)
{
	struct walk *w = calloc(1, sizeof *w);
	struct dependency *d, *next;
	*fresh = 0;
	bool *advances = calloc(n + 1, sizeof *advances);
	if (!w || !advances || !(w->path = malloc(n + 1))) {
		free(advances);
		free(w);
		return rt_error_set(err, RT_EMEMORY, "no memory to search");
	}
	w->s = s;
	s->counts.executions++;
	look_ahead(records, n, advances);
	for (size_t i = 0; i < n && take_record(w, &records[i], count, advances[i]); i++)
		;
	bool no_memory = w->no_memory;
	s->counts.overflows += w->overflow;
	*fresh = w->fresh;
	HASH_ITER(hh, w->dependencies, d, next)
	{
		HASH_DELETE(hh, w->dependencies, d);
		free(d);
	}
	free(advances);
	free(w->path);
	free(w);
	if (no_memory)
		return rt_error_set(err, RT_EMEMORY, "no memory to search");
	return s->sharing.grew ? begin_round(s, err) : RT_OK;
}
