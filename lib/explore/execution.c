/* One execution of a stateless search, step by step; see executions.h. */
#include "lib/explore/executions_parts.h"

#include "lib/base/vec.h"
#include "tracefmt/event.h"

#include <stdlib.h>
#include <string.h>

/* What the next step at an object depends on. */
struct dependency {
	uint64_t key;
	uint64_t written; /* hash of the last write, or operation */
	uint64_t reads;   /* sum of the hashes of the reads since */
	UT_hash_handle hh;
};

struct walk_thread {
	struct rt_search_record step; /* that it is about to do */
	bool pending;                 /* it was not done */
	uint64_t hash;                /* of what it has done */
	struct locks_held held;
};

struct execution_walk {
	struct executions *s;
	struct walk_thread threads[THREADS];
	struct dependency *dependencies;
	uint8_t *path; /* the choices so far, and room for two more */
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

static bool awaits_visible(const struct execution_walk *w, uint32_t t)
{
	const struct walk_thread *thread = &w->threads[t];
	return (thread->pending || is_retried(thread->step.op)) && is_visible(w->s, &thread->step);
}

static struct dependency *dependency_of(struct execution_walk *w, uint64_t key, bool make)
{
	struct dependency *d;
	HASH_FIND(hh, w->dependencies, &key, sizeof key, d);
	if (d || !make)
		return d;
	HASH_MAKE(w->dependencies, key, key, d);
	w->no_memory |= !d;
	return d;
}

enum { MEMORY, OBJECT }; /* kinds of keys */
static uint64_t key_of(unsigned kind, uint64_t address)
{
	return executions_mix(kind, address);
}

/* The keys that a step depends on; returns their number. */
static uint32_t keys_of(const struct rt_search_record *r, uint64_t keys[ACCESS_MAX])
{
	uint32_t n = 0;
	if (!rt_op_is_access(r->op)) {
		keys[n++] = key_of(OBJECT, r->object);
		if (r->op == RT_OP_WAIT_BEGIN || r->op == RT_OP_WAIT_END)
			keys[n++] = key_of(OBJECT, r->arg);
		return n;
	}
	for (uint64_t bytes = search_bytes(r); n < bytes && n < ACCESS_MAX; n++)
		keys[n] = key_of(MEMORY, r->object + n);
	return n;
}

/* The hash of a thread's history when it has done its step. */
static uint64_t hash_after(struct execution_walk *w, uint32_t t)
{
	const struct rt_search_record *r = &w->threads[t].step;
	bool writes = !rt_op_is_access(r->op) || rt_op_writes(r->op);
	uint64_t keys[ACCESS_MAX], h = executions_mix(executions_mix(w->threads[t].hash, r->op), r->pc);
	uint32_t n = keys_of(r, keys);
	for (uint32_t i = 0; i < n; i++) {
		const struct dependency *d = dependency_of(w, keys[i], false);
		h = executions_mix(h, keys[i]);
		h = executions_mix(h, d ? d->written : 0);
		if (writes)
			h = executions_mix(h, d ? d->reads : 0);
	}
	return h ? h : 1;
}

static void do_visible(struct execution_walk *w, uint32_t t)
{
	const struct rt_search_record *r = &w->threads[t].step;
	bool writes = !rt_op_is_access(r->op) || rt_op_writes(r->op);
	uint64_t keys[ACCESS_MAX], h = hash_after(w, t);
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
	return hash ? executions_mix(hash, t + 1) : 0;
}

static uint64_t hash_of(const struct execution_walk *w)
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

static void add_race(struct execution_walk *w, uint32_t x, uint32_t y)
{
	struct executions *s = w->s;
	const struct rt_search_record *a = &w->threads[x].step, *b = &w->threads[y].step;
	bool added;
	if (a->pc > b->pc || (a->pc == b->pc && a->op > b->op)) {
		add_race(w, y, x);
		return;
	}
	if (!set_add(&s->race_keys, executions_mix(executions_mix(executions_mix(a->pc, a->op), b->pc), b->op) | 1,
	             &added) ||
	    (added && !vec_reserve(&s->races, &s->race_room, (uint64_t)s->race_count + 1, sizeof *s->races))) {
		w->no_memory = true;
		return;
	}
	if (!added)
		return;
	s->races[s->race_count++] = (struct executions_race){{a->pc, b->pc}};
	w->fresh++;
	w->path[w->length] = (uint8_t)x;
	w->path[w->length + 1] = (uint8_t)y;
	w->no_memory |= !executions_add(s, w->path, w->length + 2, true);
}

/* Theorem 1: all pairs of pending accesses. */
static void look_at_pending(struct execution_walk *w, uint64_t enabled)
{
	for (uint32_t x = 0; x < THREADS; x++)
		for (uint32_t y = x + 1; enabled >> x & 1 && y < THREADS; y++)
			if (enabled >> y & 1 && w->threads[x].pending && w->threads[y].pending &&
			    races(&w->threads[x].step, &w->threads[y].step))
				add_race(w, x, y);
}

/* The execution that takes thread t after the path. */
static void schedule(struct execution_walk *w, uint32_t t, uint64_t target, uint32_t preemptions)
{
	struct executions *s = w->s;
	bool added = true;
	if (s->o.preemptions != UINT32_MAX && preemptions > s->o.preemptions) {
		s->counts.bounded = true;
		return;
	}
	if (target && executions_visited(s, target, preemptions))
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
	w->path[w->length] = (uint8_t)t;
	if (!executions_add(s, w->path, w->length + 1, false)) {
		w->no_memory = true;
		return;
	}
	s->items[s->count - 1].target = target;
	s->items[s->count - 1].preemptions = preemptions;
}

/* True if thread t instead of the one that had the turn, which could go on as well, is a preemption. */
static bool preempts(const struct execution_walk *w, const struct rt_search_record *choice, uint32_t t)
{
	return choice->arg < THREADS && choice->arg != t && choice->object >> choice->arg & 1 &&
	       awaits_visible(w, (uint32_t)choice->arg);
}

/* A state in which each enabled thread's next step is visible. False: it is known. */
static bool enter_state(struct execution_walk *w, const struct rt_search_record *choice)
{
	struct executions *s = w->s;
	uint64_t hash = hash_of(w);
	bool fresh;
	if (executions_visited(s, hash, w->preemptions))
		return false;
	if (!executions_visit(s, hash, w->preemptions, &fresh)) {
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

/* True if the walk goes on. advances: the step could be done; else it was tried in vain, which is invisible. */
static bool take_choice(struct execution_walk *w, const struct rt_search_record *choice, uint32_t given, bool advances)
{
	uint32_t invisible = 0; /* the first thread whose next step is invisible; THREADS: there is none */
	while (invisible < THREADS && !(choice->object >> invisible & 1 && !awaits_visible(w, invisible)))
		invisible++;
	bool visible = awaits_visible(w, choice->thread);
	if (invisible != THREADS && visible && w->length >= given) {
		/* Invisible steps come first. */
		schedule(w, invisible, 0, w->preemptions);
		return false;
	}
	if (invisible == THREADS && !enter_state(w, choice) && w->length >= given)
		return false;
	if (invisible == THREADS)
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
static void take_wake(struct execution_walk *w, const struct rt_search_record *wake, uint32_t given)
{
	for (uint32_t t = 0; t < THREADS && w->length >= given; t++)
		if (wake->object >> t & 1 && t != wake->thread)
			schedule(w, t, 0, w->preemptions);
	if (wake->arg < THREADS)
		w->threads[wake->arg].hash = executions_mix(w->threads[wake->arg].hash, wake->thread + 1);
}

static bool take_record(struct execution_walk *w, const struct rt_search_record *r, uint32_t given, bool advances)
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
	executions_forget(s);
	s->counts.states = s->counts.transitions = 0;
	s->counts.bounded = false;
	return executions_add(s, NULL, 0, false) ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory to search");
}

enum rt_status executions_take(struct executions *s, uint32_t count, const struct rt_search_record *records, size_t n,
                               uint32_t *fresh, struct rt_error *err)
{
	struct execution_walk *w = calloc(1, sizeof *w);
	*fresh = 0;
	bool *advances = calloc(n + 1, sizeof *advances);
	if (!w || !advances || !(w->path = malloc(n + 2))) {
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
	HASH_FREE(w->dependencies);
	free(advances);
	free(w->path);
	free(w);
	if (no_memory)
		return rt_error_set(err, RT_EMEMORY, "no memory to search");
	return s->sharing.grew ? begin_round(s, err) : RT_OK;
}
