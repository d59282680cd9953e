/*
 * Conditions, barriers and semaphores; see sync.h.
 *
 * A trace does not say which signal woke which waiter, or which post ended which wait. Both are matched first come,
 * first served, as long as that can be true: a waiter that ends before "its" signal takes the signal of a waiter that
 * still waits. A timed wait may end without a signal and is never ordered by one.
 *
 * Where the trace begins in the middle of the run, some of the partners are not in it, so neither rule holds. There a
 * wait of any kind comes after all that could have ended it and has its stamp before.
 */
#include "lib/relation/sync.h"

#include "lib/base/free.h"
#include "lib/base/vec.h"

static uint32_t *all_none(uint32_t n)
{
	uint32_t *array = malloc(((size_t)n + 1) * sizeof *array);
	if (array)
		memset(array, 0xff, ((size_t)n + 1) * sizeof *array);
	return array;
}

bool sync_may_exceed(const struct model *m)
{
	const uint64_t waits =
	    UINT64_C(1) << RT_OP_WAIT_END | UINT64_C(1) << RT_OP_BARRIER_LEAVE | UINT64_C(1) << RT_OP_SEM_WAIT;
	return m->losses.start && m->ops & waits;
}

bool sync_init(struct sync *s, const struct model *m, struct clocks *clocks)
{
	memset(s, 0, sizeof *s);
	s->m = m;
	s->clocks = clocks;
	s->index = all_none(m->object_count);
	s->arrived_in = all_none(m->thread_count);
	s->all = m->losses.start ? calloc((size_t)m->object_count + 1, sizeof *s->all) : NULL;
	return s->index && s->arrived_in && (s->all || !m->losses.start);
}

void sync_release(struct sync *s)
{
	for (uint32_t i = 0; i < s->condition_count; i++)
		free(s->conditions[i].waiters);
	for (uint32_t i = 0; i < s->semaphore_count; i++)
		free(s->semaphores[i].posts);
	free_all(s->conditions, s->semaphores, s->rounds, s->index, s->arrived_in, s->all);
}

static struct sync_condition *condition_of(struct sync *s, uint32_t e)
{
	uint32_t *index = &s->index[s->m->events[e].object];
	if (*index == MODEL_NONE) {
		s->failed |= !vec_extend(&s->conditions, &s->condition_capacity, (uint64_t)s->condition_count + 1,
		                         sizeof *s->conditions);
		if (s->failed)
			return NULL;
		*index = s->condition_count++;
	}
	return &s->conditions[*index];
}

/* Everything that threads have sent by the object so far. */
static uint32_t *all_of(struct sync *s, uint32_t e)
{
	return &s->all[s->m->events[e].object];
}

static void send_to_all(struct sync *s, uint32_t e, struct stamp by)
{
	uint32_t *all = all_of(s, e);
	*all = clock_raise(s->clocks, clock_join(s->clocks, *all, by.clock), by.thread, by.count);
}

void sync_wait_begin(struct sync *s, uint32_t e, bool timed)
{
	if (s->all)
		return;
	struct sync_condition *c = condition_of(s, e);
	if (!c || !vec_reserve(&c->waiters, &c->capacity, (uint64_t)c->count + 1, sizeof *c->waiters)) {
		s->failed = true;
		return;
	}
	c->waiters[c->count++] =
	    (struct sync_waiter){.thread = model_thread_of(s->m, e), .begin = e, .signal = MODEL_NONE, .timed = timed};
}

void sync_signal(struct sync *s, uint32_t e, struct stamp by, bool all)
{
	if (s->all) {
		send_to_all(s, e, by);
		return;
	}
	struct sync_condition *c = condition_of(s, e);
	for (uint32_t i = 0; c && i < c->count; i++) {
		struct sync_waiter *w = &c->waiters[i];
		if (w->timed || w->signal != MODEL_NONE)
			continue;
		w->signal = e;
		w->by = by;
		if (!all)
			return;
	}
}

/* This waiter ends without a signal: it takes the one that was matched with another waiter, which still waits. */
static void take_signal(struct sync_condition *c, struct sync_waiter *w)
{
	for (uint32_t i = 0; i < c->count; i++) {
		struct sync_waiter *other = &c->waiters[i];
		if (other->signal == MODEL_NONE || other->signal < w->begin)
			continue;
		w->signal = other->signal;
		w->by = other->by;
		other->signal = MODEL_NONE;
		return;
	}
}

uint32_t sync_wait_end(struct sync *s, uint32_t e, uint32_t now)
{
	if (s->all)
		return clock_join(s->clocks, now, *all_of(s, e));
	struct sync_condition *c = condition_of(s, e);
	uint32_t thread = model_thread_of(s->m, e), i = 0;
	while (c && i < c->count && c->waiters[i].thread != thread)
		i++;
	if (!c || i == c->count)
		return now;
	struct sync_waiter *w = &c->waiters[i];
	if (!w->timed && w->signal == MODEL_NONE)
		take_signal(c, w);
	if (w->signal != MODEL_NONE)
		now = clock_receive(s->clocks, now, w->by, thread);
	c->count--;
	memmove(w, w + 1, (c->count - i) * sizeof *w);
	return now;
}

void sync_arrive(struct sync *s, uint32_t e, struct stamp by)
{
	if (s->all) {
		send_to_all(s, e, by);
		return;
	}
	uint32_t *current = &s->index[s->m->events[e].object], parties = model_arg(s->m, e);
	if (*current == MODEL_NONE || s->rounds[*current].full) {
		if (!vec_reserve(&s->rounds, &s->round_capacity, (uint64_t)s->round_count + 1, sizeof *s->rounds)) {
			s->failed = true;
			return;
		}
		*current = s->round_count++;
		s->rounds[*current] = (struct sync_round){0};
	}
	struct sync_round *r = &s->rounds[*current];
	r->clock = clock_join(s->clocks, r->clock, by.clock);
	r->clock = clock_raise(s->clocks, r->clock, by.thread, by.count);
	r->arrived++;
	r->full = parties && parties != MODEL_NONE && r->arrived >= parties;
	s->arrived_in[by.thread] = *current;
}

uint32_t sync_leave(struct sync *s, uint32_t e, uint32_t now)
{
	if (s->all)
		return clock_join(s->clocks, now, *all_of(s, e));
	uint32_t round = s->arrived_in[model_thread_of(s->m, e)];
	if (round == MODEL_NONE)
		return now;
	/* A thread that leaves shows that all have arrived, whatever the recorded number of parties is. */
	s->rounds[round].full = true;
	return clock_join(s->clocks, now, s->rounds[round].clock);
}

static struct sync_semaphore *semaphore_of(struct sync *s, uint32_t e)
{
	uint32_t *index = &s->index[s->m->events[e].object];
	if (*index == MODEL_NONE) {
		s->failed |= !vec_extend(&s->semaphores, &s->semaphore_capacity, (uint64_t)s->semaphore_count + 1,
		                         sizeof *s->semaphores);
		if (s->failed)
			return NULL;
		*index = s->semaphore_count++;
	}
	return &s->semaphores[*index];
}

void sync_make_semaphore(struct sync *s, uint32_t e, struct stamp by)
{
	if (s->all)
		send_to_all(s, e, by);
	struct sync_semaphore *p = semaphore_of(s, e);
	if (!p)
		return;
	p->init = by;
	p->count = 0;
	p->waits = 0;
	p->initial = model_arg(s->m, e);
}

void sync_post(struct sync *s, uint32_t e, struct stamp by)
{
	if (s->all) {
		send_to_all(s, e, by);
		return;
	}
	struct sync_semaphore *p = semaphore_of(s, e);
	if (!p || !vec_reserve(&p->posts, &p->capacity, (uint64_t)p->count + 1, sizeof *p->posts)) {
		s->failed = true;
		return;
	}
	p->posts[p->count++] = by;
}

uint32_t sync_semaphore(struct sync *s, uint32_t e, uint32_t now)
{
	struct sync_semaphore *p = semaphore_of(s, e);
	if (!p)
		return now;
	/* An object is used only after its initialisation. */
	if (p->init.count)
		now = clock_receive(s->clocks, now, p->init, model_thread_of(s->m, e));
	if (model_op(s->m, e) == RT_OP_SEM_POST || s->m->objects[s->m->events[e].object].lock)
		return now;
	if (s->all)
		return clock_join(s->clocks, now, *all_of(s, e));
	p->waits++;
	if (p->waits <= p->initial)
		return now;
	uint64_t need = p->waits - p->initial;
	if (need > p->count) {
		/* The wait ended without a post: the initial value was higher (its init was not seen). */
		p->initial += need - p->count;
		return now;
	}
	return clock_receive(s->clocks, now, p->posts[need - 1], model_thread_of(s->m, e));
}
