/* The partial order relation, event by event, with or without lock edges; see por.h. */
#include "lib/relation/por.h"

#include "lib/base/assert.h"
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"
#include "lib/relation/sync.h"

/* The events of an object that its next user comes after: a lock's last holders, a once's end, an annotation's
 * HB_BEFOREs. */
struct object_clock {
	struct stamp last; /* locks: last exclusive release */
	uint32_t all;      /* locks: reader releases since; others: all earlier events of the object */
};

struct por {
	const struct model *m;
	struct clocks *clocks;
	bool locks, failed;
	uint32_t *now; /* by thread */
	struct object_clock *objects;
	uint8_t *timed; /* by place in model.sync: a WAIT_BEGIN whose wait may end without a signal */
	uint32_t step;  /* place in model.sync of the next event */
	struct sync sync;
	struct atomics atomics;
};

/* Marks timed waits. A wait's end says whether it was timed, but signals before it need to know. */
static bool find_timed(struct por *p)
{
	const struct model *m = p->m;
	if (!(m->ops >> RT_OP_WAIT_BEGIN & 1))
		return true;
	uint32_t *begins = malloc(((size_t)m->thread_count + 1) * sizeof *begins);
	p->timed = calloc((size_t)m->sync_count + 1, sizeof *p->timed);
	if (!begins || !p->timed) {
		free(begins);
		return false;
	}
	memset(begins, 0xff, ((size_t)m->thread_count + 1) * sizeof *begins);
	for (uint32_t i = 0; i < m->sync_count; i++) {
		const struct model_site *site = &m->sites[m->events[m->sync[i]].site];
		uint32_t thread = model_thread_of(m, m->sync[i]);
		if (site->op == RT_OP_WAIT_BEGIN)
			begins[thread] = i;
		else if (site->op == RT_OP_WAIT_END && site->flags & (RT_F_TIMED | RT_F_TIMEOUT) &&
		         begins[thread] != MODEL_NONE)
			p->timed[begins[thread]] = 1;
	}
	free(begins);
	return true;
}

struct por *por_create(const struct model *m, struct clocks *clocks, bool locks)
{
	struct por *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->m = m;
	p->clocks = clocks;
	p->locks = locks;
	p->now = calloc((size_t)m->thread_count + 1, sizeof *p->now);
	p->objects = calloc((size_t)m->object_count + 1, sizeof *p->objects);
	bool ok = sync_init(&p->sync, m, clocks);
	ok &= atomics_init(&p->atomics, m, clocks);
	if (ok && p->now && p->objects && find_timed(p))
		return p;
	por_free(p);
	return NULL;
}

void por_free(struct por *p)
{
	if (!p)
		return;
	sync_release(&p->sync);
	atomics_release(&p->atomics);
	free(p->now);
	free(p->objects);
	free(p->timed);
	free(p);
}

uint32_t por_now(const struct por *p, uint32_t thread)
{
	return p->now[thread];
}

void por_set_now(struct por *p, uint32_t thread, uint32_t clock)
{
	p->now[thread] = clock;
}

bool por_ok(const struct por *p)
{
	return !p->failed && !p->clocks->failed && !p->sync.failed && !p->atomics.failed;
}

static uint32_t after_acquire(struct por *p, uint32_t lock, bool shared, uint32_t thread, uint32_t now)
{
	const struct object_clock *o = &p->objects[lock];
	if (!p->locks)
		return now;
	now = clock_receive(p->clocks, now, o->last, thread);
	return shared ? now : clock_join(p->clocks, now, o->all);
}

/* Joins an event into the clock that the object's next user comes after. */
static void add(struct por *p, uint32_t object, struct stamp by)
{
	uint32_t *all = &p->objects[object].all;
	*all = clock_raise(p->clocks, clock_join(p->clocks, *all, by.clock), by.thread, by.count);
}

static void at_release(struct por *p, uint32_t lock, bool shared, struct stamp by)
{
	if (!p->locks)
		return;
	if (shared) {
		add(p, lock, by);
	} else {
		/* A writer's acquire came after all holders before it, readers and writers. */
		p->objects[lock].last = by;
		p->objects[lock].all = 0;
	}
}

static void at_fork(struct por *p, uint32_t e, struct stamp by)
{
	uint32_t child = p->m->events[e].object;
	if (p->m->threads[child].fork == e)
		p->now[child] = clock_raise(p->clocks, by.clock, by.thread, by.count);
}

/* The join of a child without events still comes after its fork. */
static uint32_t after_join(struct por *p, uint32_t e, uint32_t now)
{
	uint32_t child = p->m->events[e].object;
	const struct model_thread *t = &p->m->threads[child];
	/* The child's events before the join; in a consistent trace, all of them. */
	uint32_t count = lower_bound(i, 0, t->count, t->events[i] < e);
	return clock_raise(p->clocks, clock_join(p->clocks, now, p->now[child]), child, count);
}

static uint32_t receive_wait_end(struct por *p, uint32_t e, uint32_t now)
{
	uint32_t mutex = model_arg(p->m, e);
	if (mutex != MODEL_NONE)
		now = after_acquire(p, mutex, false, model_thread_of(p->m, e), now);
	return sync_wait_end(&p->sync, e, now);
}

uint32_t por_receive(struct por *p, uint32_t e, uint32_t now)
{
	const struct model_event *event = &p->m->events[e];
	enum rt_op op = p->m->sites[event->site].op;
	switch (op) {
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
		return after_acquire(p, event->object, op == RT_OP_ACQUIRE_SHARED, model_thread_of(p->m, e), now);
	case RT_OP_JOIN:
		return after_join(p, e, now);
	case RT_OP_WAIT_END:
		return receive_wait_end(p, e, now);
	case RT_OP_BARRIER_LEAVE:
		return sync_leave(&p->sync, e, now);
	case RT_OP_SEM_POST:
	case RT_OP_SEM_WAIT:
		now = sync_semaphore(&p->sync, e, now);
		return op == RT_OP_SEM_WAIT && p->m->objects[event->object].lock
		           ? after_acquire(p, event->object, false, model_thread_of(p->m, e), now)
		           : now;
	case RT_OP_ONCE_SEEN:
	case RT_OP_HB_AFTER:
		return clock_join(p->clocks, now, p->objects[event->object].all);
	case RT_OP_ATOMIC_LOAD:
	case RT_OP_ATOMIC_STORE:
	case RT_OP_ATOMIC_RMW:
	case RT_OP_ATOMIC_CAS:
	case RT_OP_ATOMIC_CAS_FAIL:
	case RT_OP_FENCE:
		return atomics_receive(&p->atomics, e, now);
	case RT_OP_READ:
	case RT_OP_WRITE:
	case RT_OP_RELEASE:
	case RT_OP_WAIT_BEGIN:
	case RT_OP_SIGNAL:
	case RT_OP_BROADCAST:
	case RT_OP_BARRIER_ARRIVE:
	case RT_OP_SEM_INIT:
	case RT_OP_ONCE_BEGIN:
	case RT_OP_ONCE_END:
	case RT_OP_FORK:
	case RT_OP_REGION_BEGIN:
	case RT_OP_REGION_END:
	case RT_OP_HB_BEFORE:
	case RT_OP_ALLOC:
	case RT_OP_BLOCK:
	MODEL_CASES_NEVER_KEPT:
		break;
	}
	return now;
}

static void send_wait_begin(struct por *p, uint32_t e, struct stamp by)
{
	uint32_t mutex = model_arg(p->m, e);
	if (mutex != MODEL_NONE)
		at_release(p, mutex, false, by);
	sync_wait_begin(&p->sync, e, p->timed[p->step]);
}

void por_send(struct por *p, uint32_t e, uint32_t now)
{
	const struct model_event *event = &p->m->events[e];
	const struct model_site *site = &p->m->sites[event->site];
	struct stamp by = {now, model_thread_of(p->m, e), event->pos + 1};
	rt_assert(p->step < p->m->sync_count && p->m->sync[p->step] == e);
	switch (site->op) {
	case RT_OP_RELEASE:
		at_release(p, event->object, site->flags & MODEL_F_SHARED, by);
		break;
	case RT_OP_FORK:
		at_fork(p, e, by);
		break;
	case RT_OP_WAIT_BEGIN:
		send_wait_begin(p, e, by);
		break;
	case RT_OP_SIGNAL:
	case RT_OP_BROADCAST:
		sync_signal(&p->sync, e, by, site->op == RT_OP_BROADCAST);
		break;
	case RT_OP_BARRIER_ARRIVE:
		sync_arrive(&p->sync, e, by);
		break;
	case RT_OP_SEM_INIT:
		sync_make_semaphore(&p->sync, e, by);
		break;
	case RT_OP_SEM_POST:
		if (p->m->objects[event->object].lock)
			at_release(p, event->object, false, by);
		else
			sync_post(&p->sync, e, by);
		break;
	case RT_OP_ONCE_END:
	case RT_OP_HB_BEFORE:
		add(p, event->object, by);
		break;
	case RT_OP_ATOMIC_LOAD:
	case RT_OP_ATOMIC_STORE:
	case RT_OP_ATOMIC_RMW:
	case RT_OP_ATOMIC_CAS:
	case RT_OP_ATOMIC_CAS_FAIL:
	case RT_OP_FENCE:
		atomics_send(&p->atomics, e, now);
		break;
	case RT_OP_READ:
	case RT_OP_WRITE:
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
	case RT_OP_WAIT_END:
	case RT_OP_BARRIER_LEAVE:
	case RT_OP_SEM_WAIT:
	case RT_OP_ONCE_BEGIN:
	case RT_OP_ONCE_SEEN:
	case RT_OP_JOIN:
	case RT_OP_REGION_BEGIN:
	case RT_OP_REGION_END:
	case RT_OP_HB_AFTER:
	case RT_OP_ALLOC:
	case RT_OP_BLOCK:
	MODEL_CASES_NEVER_KEPT:
		break;
	}
	p->step++;
}

uint32_t por_step(struct por *p, uint32_t e)
{
	uint32_t thread = model_thread_of(p->m, e);
	p->now[thread] = por_receive(p, e, p->now[thread]);
	por_send(p, e, p->now[thread]);
	return p->now[thread];
}

/* Segments that begin at a plain access keep the clock of their thread's previous segment. */
bool segment_order_fill(const struct model *m, uint32_t *segments, const uint32_t *begin)
{
	uint32_t *last = malloc(((size_t)m->thread_count + 1) * sizeof *last);
	if (!last)
		return false;
	memcpy(last, begin, m->thread_count * sizeof *last);
	for (uint32_t i = 0; i < m->segment_count; i++) {
		uint32_t thread = m->segments[i].thread;
		if (segments[i] == MODEL_NONE)
			segments[i] = last[thread];
		last[thread] = segments[i];
	}
	free(last);
	return true;
}

enum rt_status segment_order_compute(const struct model *m, bool locks, struct segment_order *out, struct rt_error *err)
{
	*out = (struct segment_order){.m = m};
	bool ok = clocks_init(&out->clocks, m->thread_count);
	struct por *p = ok ? por_create(m, &out->clocks, locks) : NULL;
	uint32_t *begin = out->begin = calloc((size_t)m->thread_count + 1, sizeof *begin);
	uint32_t capacity = 0;
	ok = p && begin && vec_open(&out->segments, &capacity, (uint64_t)m->segment_count + 1, sizeof *out->segments);
	if (ok) {
		memset(out->segments, 0xff, ((size_t)m->segment_count + 1) * sizeof *out->segments);
		for (uint32_t i = 0; i < m->sync_count; i++) {
			uint32_t e = m->sync[i];
			out->segments[m->events[e].segment] = por_step(p, e);
			if (model_op(m, e) == RT_OP_FORK && m->threads[m->events[e].object].fork == e)
				begin[m->events[e].object] = por_now(p, m->events[e].object);
		}
		ok = por_ok(p) && segment_order_fill(m, out->segments, begin);
	}
	por_free(p);
	if (ok)
		return RT_OK;
	segment_order_release(out);
	return rt_error_set(err, RT_EMEMORY, "no memory to order the trace's events");
}

void segment_order_release(struct segment_order *o)
{
	clocks_release(&o->clocks);
	free(o->segments);
	free(o->begin);
	*o = (struct segment_order){0};
}
