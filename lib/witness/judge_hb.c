/*
 * Happens-before of a schedule, by C11 and POSIX: vector clocks of the events in the schedule's order. Where the exact
 * rule would need a memory of its own, more is ordered, never less: each signal comes before each later end of a wait
 * for the condition, each post before each later wait for the semaphore, each arrival before each later departure, and
 * a release sequence that several threads head goes on through every store.
 */
#include "lib/witness/judge.h"

#include <stdlib.h>

struct hb {
	const struct model *m;
	uint32_t *now;      /* by thread, as many numbers as threads: its events so far, and those that come before */
	uint32_t **objects; /* by object, two: exclusive releases, what is made or told; readers' releases, posts */
	uint32_t **cells;   /* by cell: what an acquiring read of it comes after */
	uint32_t *heads;    /* by cell: the thread that heads its sequence, MODEL_NONE: several */
	uint32_t **pending; /* by thread: what an acquire fence would come after */
	uint32_t **fence;   /* by thread: its clock at its last release fence */
	bool failed;        /* no memory */
};

static uint32_t *now(const struct hb *h, uint32_t thread)
{
	return h->now + (size_t)thread * h->m->thread_count;
}

static void raise_to(const struct hb *h, uint32_t *to, const uint32_t *from)
{
	for (uint32_t t = 0; from && t < h->m->thread_count; t++)
		to[t] = from[t] > to[t] ? from[t] : to[t];
}

static void join(struct hb *h, uint32_t **to, const uint32_t *from)
{
	if (from && !*to && !(*to = calloc((size_t)h->m->thread_count + 1, sizeof **to))) {
		h->failed = true;
		return;
	}
	raise_to(h, *to, from);
}

static bool acquires(unsigned order)
{
	return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}

static bool releases(unsigned order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static void receive_atomic(struct hb *h, uint32_t e, uint32_t thread)
{
	const struct model_site *site = &h->m->sites[h->m->events[e].site];
	uint32_t first = h->m->events[e].object;
	if (site->op == RT_OP_FENCE && acquires(site->order))
		raise_to(h, now(h, thread), h->pending[thread]);
	for (uint32_t cell = first; rt_op_reads(site->op) && cell < first + site->cells; cell++) {
		if (acquires(site->order))
			raise_to(h, now(h, thread), h->cells[cell]);
		else
			join(h, &h->pending[thread], h->cells[cell]);
	}
}

static void send_atomic(struct hb *h, uint32_t e, uint32_t thread)
{
	const struct model_site *site = &h->m->sites[h->m->events[e].site];
	uint32_t first = h->m->events[e].object;
	const uint32_t *hands_on = releases(site->order) ? now(h, thread) : h->fence[thread];
	if (site->op == RT_OP_FENCE && releases(site->order))
		join(h, &h->fence[thread], now(h, thread));
	for (uint32_t cell = first; rt_op_writes(site->op) && cell < first + site->cells; cell++) {
		/* A store ends the sequence that another thread heads; an update goes on with it. */
		if (!rt_op_reads(site->op) && h->cells[cell] && h->heads[cell] != thread &&
		    h->heads[cell] != MODEL_NONE) {
			free(h->cells[cell]);
			h->cells[cell] = NULL;
		}
		if (!hands_on)
			continue;
		h->heads[cell] = !h->cells[cell] || h->heads[cell] == thread ? thread : MODEL_NONE;
		join(h, &h->cells[cell], hands_on);
	}
}

static void receive(struct hb *h, uint32_t e, uint32_t thread)
{
	const struct model *m = h->m;
	uint32_t object = m->events[e].object, mutex, *mine = now(h, thread);
	switch (model_op(m, e)) {
	case RT_OP_ACQUIRE:
	case RT_OP_SEM_WAIT:
		raise_to(h, mine, h->objects[2 * object]);
		raise_to(h, mine, h->objects[2 * object + 1]);
		break;
	case RT_OP_ACQUIRE_SHARED:
	case RT_OP_SEM_POST:
	case RT_OP_BARRIER_LEAVE:
	case RT_OP_ONCE_SEEN:
	case RT_OP_HB_AFTER:
		raise_to(h, mine, h->objects[2 * object]);
		break;
	case RT_OP_WAIT_END:
		raise_to(h, mine, h->objects[2 * object]);
		mutex = model_arg(m, e);
		if (mutex != MODEL_NONE) {
			raise_to(h, mine, h->objects[2 * mutex]);
			raise_to(h, mine, h->objects[2 * mutex + 1]);
		}
		break;
	case RT_OP_JOIN:
		raise_to(h, mine, now(h, object));
		break;
	default:
		if (rt_op_group(model_op(m, e)) == RT_GROUP_ATOMIC)
			receive_atomic(h, e, thread);
	}
}

static void send(struct hb *h, uint32_t e, uint32_t thread)
{
	const struct model *m = h->m;
	const struct model_site *site = &m->sites[m->events[e].site];
	uint32_t object = m->events[e].object, mutex;
	const uint32_t *mine = now(h, thread);
	switch (site->op) {
	case RT_OP_RELEASE:
		join(h, &h->objects[2 * object + (site->flags & MODEL_F_SHARED ? 1 : 0)], mine);
		break;
	case RT_OP_WAIT_BEGIN:
		mutex = model_arg(m, e);
		if (mutex != MODEL_NONE)
			join(h, &h->objects[2 * mutex], mine);
		break;
	case RT_OP_SIGNAL:
	case RT_OP_BROADCAST:
	case RT_OP_BARRIER_ARRIVE:
	case RT_OP_SEM_INIT:
	case RT_OP_ONCE_END:
	case RT_OP_HB_BEFORE:
		join(h, &h->objects[2 * object], mine);
		break;
	case RT_OP_SEM_POST:
		join(h, &h->objects[2 * object + 1], mine);
		break;
	case RT_OP_FORK:
		raise_to(h, now(h, object), mine);
		break;
	default:
		if (rt_op_group(site->op) == RT_GROUP_ATOMIC)
			send_atomic(h, e, thread);
	}
}

/* Goes on by the schedule's next event. */
static void execute(struct hb *h, uint32_t e)
{
	uint32_t thread = model_thread_of(h->m, e);
	receive(h, e, thread);
	now(h, thread)[thread] = h->m->events[e].pos + 1;
	send(h, e, thread);
}

static bool init(struct hb *h, const struct model *m)
{
	size_t threads = (size_t)m->thread_count + 1;
	*h = (struct hb){.m = m,
	                 .now = calloc(threads * threads, sizeof *h->now),
	                 .objects = calloc((size_t)m->object_count * 2 + 1, sizeof *h->objects),
	                 .cells = calloc((size_t)m->cell_count + 1, sizeof *h->cells),
	                 .heads = calloc((size_t)m->cell_count + 1, sizeof *h->heads),
	                 .pending = calloc(threads, sizeof *h->pending),
	                 .fence = calloc(threads, sizeof *h->fence)};
	return h->now && h->objects && h->cells && h->heads && h->pending && h->fence;
}

static void release_all(uint32_t **clocks, size_t count)
{
	for (size_t i = 0; clocks && i < count; i++)
		free(clocks[i]);
	free(clocks);
}

static void release(struct hb *h)
{
	release_all(h->objects, (size_t)h->m->object_count * 2);
	release_all(h->cells, h->m->cell_count);
	release_all(h->pending, h->m->thread_count);
	release_all(h->fence, h->m->thread_count);
	free(h->now);
	free(h->heads);
}

bool judge_leaves_unordered(const struct model *m, const struct schedule *s, const uint32_t *pair, bool *no_memory)
{
	struct hb h;
	bool unordered = init(&h, m), first = true;
	h.failed = !unordered;
	for (uint32_t i = 0; unordered && i < s->count; i++) {
		const struct schedule_step *step = &s->steps[i];
		for (uint32_t pos = step->from; pos <= step->to; pos++) {
			uint32_t e = m->threads[step->thread].events[pos];
			execute(&h, e);
			if (e != pair[0] && e != pair[1])
				continue;
			uint32_t other = pair[e == pair[0]];
			if (!first && now(&h, step->thread)[model_thread_of(m, other)] > m->events[other].pos)
				unordered = false;
			first = false;
		}
	}
	*no_memory = h.failed;
	release(&h);
	return unordered && !*no_memory;
}
