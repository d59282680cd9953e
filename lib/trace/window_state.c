/* The state of a run at a place of its trace; see window_state.h. Signals are matched with waits as in
 * lib/relation/sync.c: first come, first served, as long as that can be true. */
#include "lib/trace/window_state.h"

#include "lib/base/hash.h"
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

struct wait {
	struct rt_event begin, signal; /* signal.op RT_OP_NONE: none */
	bool timed;
};

struct state_object {
	uint64_t addr;
	struct wait *waits;        /* of a condition; the oldest first */
	struct rt_event *arrivals; /* of a barrier's round that is not full */
	uint32_t wait_count, wait_capacity, arrival_count, arrival_capacity;
	struct rt_event semaphore; /* its last event; op RT_OP_NONE: it is none */
	uint64_t value;
	UT_hash_handle hh;
};

static struct state_object *object_of(struct state *s, uint64_t addr)
{
	struct state_object *o;
	HASH_FIND(hh, s->objects, &addr, sizeof addr, o);
	if (!o)
		HASH_MAKE(s->objects, addr, addr, o);
	s->failed |= !o;
	return o;
}

/* --- Locks --- */

static struct state_hold *hold_of(const struct state_thread *t, uint64_t lock)
{
	for (uint32_t i = 0; i < t->hold_count; i++)
		if (t->holds[i].acquire.addr == lock)
			return &t->holds[i];
	return NULL;
}

bool state_holds(const struct state *s, uint32_t thread, uint64_t lock)
{
	return thread < s->thread_capacity && hold_of(&s->threads[thread], lock);
}

static void acquire(struct state *s, struct state_thread *t, const struct rt_event *e, uint64_t lock, enum rt_op op)
{
	struct state_hold *hold = hold_of(t, lock);
	if (hold) {
		hold->depth++;
		return;
	}
	if (!vec_reserve(&t->holds, &t->hold_capacity, (uint64_t)t->hold_count + 1, sizeof *t->holds)) {
		s->failed = true;
		return;
	}
	hold = &t->holds[t->hold_count++];
	*hold = (struct state_hold){*e, 1};
	hold->acquire.addr = lock;
	hold->acquire.op = op;
	hold->acquire.arg = e->op == RT_OP_ACQUIRE ? e->arg : 0;
	hold->acquire.flags = 0;
}

static void end_hold(struct state_thread *t, struct state_hold *hold)
{
	t->hold_count--;
	memmove(hold, hold + 1, (size_t)(t->holds + t->hold_count - hold) * sizeof *hold);
}

static void release(struct state_thread *t, uint64_t lock)
{
	struct state_hold *hold = hold_of(t, lock);
	if (hold && !--hold->depth)
		end_hold(t, hold);
}

/* --- Conditions --- */

static bool is_timed(const struct window_survey *v, uint64_t number)
{
	uint32_t at = lower_bound(i, 0, v->timed_count, v->timed[i].begin < number);
	return at < v->timed_count && v->timed[at].begin == number;
}

static void wait_begin(struct state *s, struct state_thread *t, const struct rt_event *e)
{
	struct state_object *o = object_of(s, e->addr);
	struct state_hold *hold = e->arg ? hold_of(t, e->arg) : NULL;
	t->deep = hold && hold->depth > 1;
	if (hold)
		end_hold(t, hold);
	if (!o || !vec_reserve(&o->waits, &o->wait_capacity, (uint64_t)o->wait_count + 1, sizeof *o->waits)) {
		s->failed = true;
		return;
	}
	o->waits[o->wait_count++] =
	    (struct wait){.begin = *e, .signal = {.op = RT_OP_NONE}, .timed = is_timed(s->survey, e->number)};
}

/* waits: as they were before the signal. */
static void match(struct wait *waits, uint32_t count, const struct rt_event *signal)
{
	for (uint32_t i = 0; i < count; i++) {
		if (waits[i].timed || waits[i].signal.op != RT_OP_NONE)
			continue;
		waits[i].signal = *signal;
		if (signal->op == RT_OP_SIGNAL)
			return;
	}
}

static void wait_end(struct state *s, struct state_thread *t, const struct rt_event *e)
{
	struct state_object *o = object_of(s, e->addr);
	uint32_t i = 0;
	if (e->arg)
		acquire(s, t, e, e->arg, RT_OP_ACQUIRE);
	t->deep = false;
	while (o && i < o->wait_count && o->waits[i].begin.thread != e->thread)
		i++;
	if (!o || i == o->wait_count)
		return;
	struct wait *w = &o->waits[i];
	for (uint32_t k = 0; !w->timed && w->signal.op == RT_OP_NONE && k < o->wait_count; k++)
		if (o->waits[k].signal.op != RT_OP_NONE && o->waits[k].signal.number >= w->begin.number) {
			w->signal = o->waits[k].signal;
			o->waits[k].signal = (struct rt_event){.op = RT_OP_NONE};
		}
	o->wait_count--;
	memmove(w, w + 1, (o->wait_count - i) * sizeof *w);
}

/* --- Barriers and semaphores --- */

static void arrive(struct state *s, const struct rt_event *e)
{
	struct state_object *o = object_of(s, e->addr);
	if (!o ||
	    !vec_reserve(&o->arrivals, &o->arrival_capacity, (uint64_t)o->arrival_count + 1, sizeof *o->arrivals)) {
		s->failed = true;
		return;
	}
	o->arrivals[o->arrival_count++] = *e;
	if (e->arg && o->arrival_count >= e->arg)
		o->arrival_count = 0;
}

/* A thread that leaves shows that all of its round have arrived. */
static void leave(struct state *s, const struct rt_event *e)
{
	struct state_object *o = object_of(s, e->addr);
	for (uint32_t i = 0; o && i < o->arrival_count; i++)
		if (o->arrivals[i].thread == e->thread)
			o->arrival_count = 0;
}

static void semaphore(struct state *s, const struct rt_event *e)
{
	struct state_object *o = object_of(s, e->addr);
	if (!o)
		return;
	o->semaphore = *e;
	if (e->op == RT_OP_SEM_INIT)
		o->value = e->arg;
	else if (e->op == RT_OP_SEM_POST)
		o->value++;
	else if (o->value)
		o->value--; /* otherwise its initial value was higher than is known */
}

/* --- Code --- */

static void enter(struct state *s, struct state_thread *t, uint64_t pc)
{
	if (vec_reserve(&t->frames, &t->frame_capacity, (uint64_t)t->frame_count + 1, sizeof *t->frames))
		t->frames[t->frame_count++] = pc;
	else
		s->failed = true;
}

static void annotation(struct state_thread *t, const struct rt_event *e)
{
	t->annotation = *e;
	if (e->op == RT_OP_REGION_BEGIN)
		t->annotated++;
	else if (e->op == RT_OP_REGION_END)
		t->annotated -= t->annotated > 0;
	for (int i = 0; i < 3; i++)
		if (e->op == RT_OP_IGNORE_BEGIN)
			t->ignored[i] += (uint32_t)(e->arg >> i & 1);
		else if (e->op == RT_OP_IGNORE_END)
			t->ignored[i] -= t->ignored[i] && e->arg >> i & 1;
}

void state_step(struct state *s, const struct rt_event *e)
{
	if (!vec_extend(&s->threads, &s->thread_capacity, (uint64_t)e->thread + 1, sizeof *s->threads)) {
		s->failed = true;
		return;
	}
	struct state_thread *t = &s->threads[e->thread];
	t->block.op = RT_OP_NONE;
	switch (e->op) {
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
		acquire(s, t, e, e->addr, e->op);
		break;
	case RT_OP_RELEASE:
		release(t, e->addr);
		break;
	case RT_OP_WAIT_BEGIN:
		wait_begin(s, t, e);
		break;
	case RT_OP_WAIT_END:
		wait_end(s, t, e);
		break;
	case RT_OP_SIGNAL:
	case RT_OP_BROADCAST: {
		struct state_object *o = object_of(s, e->addr);
		if (o)
			match(o->waits, o->wait_count, e);
		break;
	}
	case RT_OP_BARRIER_ARRIVE:
		arrive(s, e);
		break;
	case RT_OP_BARRIER_LEAVE:
		leave(s, e);
		break;
	case RT_OP_SEM_INIT:
	case RT_OP_SEM_POST:
	case RT_OP_SEM_WAIT:
		semaphore(s, e);
		break;
	case RT_OP_ENTER:
		enter(s, t, e->pc);
		break;
	case RT_OP_LEAVE:
		t->frame_count -= t->frame_count > 0;
		break;
	case RT_OP_SETJMP:
		s->failed |= !jumps_set(&t->jumps, e->addr, t->frame_count);
		break;
	case RT_OP_LONGJMP:
		t->frame_count = (uint32_t)jumps_target(&t->jumps, e->addr, t->frame_count);
		break;
	case RT_OP_REGION_BEGIN:
	case RT_OP_REGION_END:
	case RT_OP_IGNORE_BEGIN:
	case RT_OP_IGNORE_END:
		annotation(t, e);
		break;
	case RT_OP_BLOCK:
		t->block = *e;
		break;
	/* Nothing later depends on these. */
	RT_CASES_RECORD:
	RT_CASES_ACCESS:
	case RT_OP_FENCE:
	case RT_OP_ONCE_BEGIN:
	case RT_OP_ONCE_END:
	case RT_OP_ONCE_SEEN:
	case RT_OP_FORK:
	case RT_OP_JOIN:
	case RT_OP_BEGIN:
	case RT_OP_END:
	case RT_OP_DETACH:
	case RT_OP_ALLOC:
	case RT_OP_FREE:
	case RT_OP_MAP:
	case RT_OP_UNMAP:
	case RT_OP_MODULE_LOAD:
	case RT_OP_MODULE_UNLOAD:
	case RT_OP_HB_BEFORE:
	case RT_OP_HB_AFTER:
	case RT_OP_BENIGN:
	case RT_OP_NEW_MEMORY:
	case RT_OP_LOST:
	case RT_OP_TLS:
	case RT_OP_FAULT:
	case RT_OP_UNBLOCK:
	case RT_OP_TRY_FAILED:
	case RT_OP_ALIAS:
	case RT_OP_SHARED:
		break;
	}
}

void state_release(struct state *s)
{
	struct state_object *o, *next;
	HASH_ITER(hh, s->objects, o, next)
	{
		HASH_DELETE(hh, s->objects, o);
		free(o->waits);
		free(o->arrivals);
		free(o);
	}
	for (uint32_t i = 0; i < s->thread_capacity; i++) {
		free(s->threads[i].holds);
		free(s->threads[i].frames);
		jumps_release(&s->threads[i].jumps);
	}
	free(s->threads);
}

/* --- The events that establish it --- */

static void put(struct opening *o, bool after, const struct rt_event *e)
{
	struct rt_event **list = after ? &o->after : &o->before;
	uint32_t *count = after ? &o->after_count : &o->before_count;
	if (vec_reserve(list, after ? &o->after_capacity : &o->before_capacity, (uint64_t)*count + 1, sizeof **list))
		(*list)[(*count)++] = *e;
	else
		o->failed = true;
	/* The call's access to the memory of its object is not in the window. */
	if (!o->failed)
		(*list)[*count - 1].flags &= (uint8_t)~RT_F_OBJECT;
}

static int by_number(const void *a, const void *b)
{
	const struct rt_event *x = a, *y = b;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return 0;
}

static void open_calls(struct opening *out, const struct state_thread *t, uint32_t thread)
{
	uint32_t jump = 0;
	struct rt_event e = {.thread = thread, .op = RT_OP_SETJMP};
	for (uint32_t depth = 0; depth <= t->frame_count; depth++) {
		for (; jump < t->jumps.count && t->jumps.items[jump].depth <= depth; jump++) {
			e.op = RT_OP_SETJMP;
			e.addr = t->jumps.items[jump].buffer;
			put(out, false, &e);
		}
		if (depth == t->frame_count)
			break;
		put(out, false, &(struct rt_event){.thread = thread, .op = RT_OP_ENTER, .pc = t->frames[depth]});
	}
}

static void open_thread(struct opening *out, const struct state_thread *t, uint32_t thread)
{
	open_calls(out, t, thread);
	struct rt_event begin = t->annotation;
	begin.op = RT_OP_REGION_BEGIN;
	for (uint32_t i = 0; i < t->annotated; i++)
		put(out, false, &begin);
	for (uint32_t i = 0; i < t->hold_count; i++)
		for (uint32_t depth = 0; depth < t->holds[i].depth; depth++)
			put(out, false, &t->holds[i].acquire);
	out->doubtful |= t->deep;
}

/* After all else: from then on some events of the thread are no events. */
static void open_ignored(struct opening *out, const struct state_thread *t)
{
	for (int i = 0; i < 3; i++)
		for (uint32_t depth = 0; depth < t->ignored[i]; depth++) {
			struct rt_event begin = t->annotation;
			begin.op = RT_OP_IGNORE_BEGIN;
			begin.arg = UINT64_C(1) << i;
			put(out, true, &begin);
		}
}

/*
 * The waits of a condition and the signals that end some of them. If matching these gives another result than the run
 * had, the opening is doubtful. A timed wait is left out: no signal orders its end.
 */
static void open_waits(struct opening *out, const struct state_object *o)
{
	struct opening own = {0};
	for (uint32_t i = 0; i < o->wait_count; i++) {
		if (!o->waits[i].timed)
			put(&own, true, &o->waits[i].begin);
		if (o->waits[i].signal.op != RT_OP_NONE)
			put(&own, true, &o->waits[i].signal);
	}
	if (own.after_count)
		qsort(own.after, own.after_count, sizeof *own.after, by_number);
	struct wait *again = calloc((size_t)o->wait_count + 1, sizeof *again);
	uint32_t count = 0;
	out->failed |= own.failed || !again;
	for (uint32_t i = 0; again && i < own.after_count; i++) {
		const struct rt_event *e = &own.after[i];
		if (i && e->number == own.after[i - 1].number)
			continue; /* a broadcast that ends several waits */
		put(out, true, e);
		if (e->op == RT_OP_WAIT_BEGIN)
			again[count++].begin = *e;
		else
			match(again, count, e);
	}
	for (uint32_t i = 0, k = 0; again && i < o->wait_count; i++)
		if (!o->waits[i].timed)
			out->doubtful |= again[k++].signal.number != o->waits[i].signal.number;
	free(again);
	free(own.after);
}

static void open_object(struct opening *out, const struct state_object *o)
{
	for (uint32_t i = 0; i < o->arrival_count; i++)
		put(out, false, &o->arrivals[i]);
	if (o->semaphore.op != RT_OP_NONE) {
		struct rt_event init = o->semaphore;
		init.op = RT_OP_SEM_INIT;
		init.arg = o->value;
		init.flags = 0;
		put(out, false, &init);
	}
	open_waits(out, o);
}

void state_open(const struct state *s, bool blocks, struct opening *out)
{
	for (uint32_t i = 0; i < s->thread_capacity; i++)
		open_thread(out, &s->threads[i], i);
	for (const struct state_object *o = s->objects; o; o = o->hh.next)
		open_object(out, o);
	/* Signals after the waits that they end, in their order; what threads do is in their order, too. */
	if (out->after_count)
		qsort(out->after, out->after_count, sizeof *out->after, by_number);
	for (uint32_t i = 0; i < s->thread_capacity; i++)
		open_ignored(out, &s->threads[i]);
	for (uint32_t i = 0; blocks && i < s->thread_capacity; i++)
		if (s->threads[i].block.op != RT_OP_NONE)
			put(out, true, &s->threads[i].block);
}
