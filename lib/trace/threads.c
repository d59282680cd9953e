/*
 * The state of each thread while loading: locks held, the open atomic region, ignored operations.
 *
 * Atomic regions are outermost critical sections, cut at fork, join, wait and notify (PECAN, section 4.1): a cut ends
 * the region there, and another begins inside the same lock. An annotated region is never cut.
 */
#include "lib/base/vec.h"
#include "lib/trace/loader.h"
#include "lib/trace/own_code.h"

struct loader_thread *loader_thread(struct loader *l, uint32_t index)
{
	if (index < l->thread_count)
		return &l->threads[index];
	if (index > SHADOW_THREADS_MAX)
		return NULL;
	if (!vec_reserve(&l->threads, &l->thread_capacity, (uint64_t)index + 1, sizeof *l->threads)) {
		l->failed = true;
		return NULL;
	}
	for (; l->thread_count <= index; l->thread_count++)
		l->threads[l->thread_count] =
		    (struct loader_thread){.stale = true, .fork = MODEL_NONE, .join = MODEL_NONE, .region = MODEL_NONE};
	return &l->threads[index];
}

void loader_release_threads(struct loader *l)
{
	for (uint32_t i = 0; i < l->thread_count; i++) {
		free(l->threads[i].held);
		free(l->threads[i].frames);
		free(l->threads[i].blocked);
		jumps_release(&l->threads[i].jumps);
	}
	free(l->threads);
	l->threads = NULL;
	l->thread_count = l->thread_capacity = 0;
}

void loader_ignore(struct loader_thread *t, const struct rt_event *e)
{
	for (int i = 0; i < 3; i++)
		if (e->arg & UINT64_C(1) << i) {
			if (e->op == RT_OP_IGNORE_BEGIN)
				t->ignored[i]++;
			else if (t->ignored[i])
				t->ignored[i]--;
		}
}

static struct held_lock *held_find(const struct loader_thread *t, uint32_t object)
{
	for (uint32_t i = 0; i < t->held_count; i++)
		if (t->held[i].object == object)
			return &t->held[i];
	return NULL;
}

static void held_changed(struct loader *l, struct loader_thread *t)
{
	struct model_lock few[16], *locks = few;
	if (!t->held_count) {
		t->lockset = 0;
		return;
	}
	if (t->held_count > 16 && !(locks = malloc(t->held_count * sizeof *locks))) {
		l->failed = true;
		return;
	}
	for (uint32_t i = 0; i < t->held_count; i++)
		locks[i] = (struct model_lock){t->held[i].object, t->held[i].shared};
	t->lockset = intern_lockset(&l->intern, locks, t->held_count);
	if (locks != few)
		free(locks);
}

/* Adds a lock, keeping them sorted by object. */
static void held_add(struct loader *l, struct loader_thread *t, struct held_lock lock)
{
	if (!vec_reserve(&t->held, &t->held_capacity, (uint64_t)t->held_count + 1, sizeof *t->held)) {
		l->failed = true;
		return;
	}
	uint32_t i = t->held_count++;
	for (; i && t->held[i - 1].object > lock.object; i--)
		t->held[i] = t->held[i - 1];
	t->held[i] = lock;
	held_changed(l, t);
}

static void held_remove(struct loader *l, struct loader_thread *t, struct held_lock *lock)
{
	t->held_count--;
	l->strays -= lock->stray != 0;
	memmove(lock, lock + 1, (size_t)(t->held + t->held_count - lock) * sizeof *lock);
	held_changed(l, t);
}

/* Opens a region at the next event. While loading, a region's ends are event indices (see cells.c). */
static uint32_t region_open(struct loader *l, uint32_t thread)
{
	struct model *m = l->m;
	if (!vec_reserve(&m->regions, &l->region_capacity, (uint64_t)m->region_count + 1, sizeof *m->regions)) {
		l->failed = true;
		return MODEL_NONE;
	}
	m->regions[m->region_count] = (struct model_region){thread, m->event_count, MODEL_NONE};
	return m->region_count++;
}

/* True if the thread's state calls for an open region. */
static bool in_region(const struct loader *l, const struct loader_thread *t)
{
	return l->regions != REGIONS_FUNCTIONS && (t->annotated || (l->regions == REGIONS_LOCKS && t->held_count));
}

/* Opens or closes a region at the next event. */
static void region_follow(struct loader *l, uint32_t thread, struct loader_thread *t)
{
	if (in_region(l, t) && t->region == MODEL_NONE) {
		t->region = region_open(l, thread);
		t->stale = true;
	} else if (!in_region(l, t) && t->region != MODEL_NONE) {
		l->m->regions[t->region].last = l->m->event_count;
		t->region = MODEL_NONE;
		t->stale = true;
	}
}

/* Cuts the region at the next event, which is the last of the old one and the first of another. */
static void region_cut(struct loader *l, uint32_t thread, struct loader_thread *t)
{
	if (t->region == MODEL_NONE || t->annotated)
		return;
	l->m->regions[t->region].last = l->m->event_count;
	t->region = MODEL_NONE;
	region_follow(l, thread, t);
}

/*
 * What main or a thread's own routine calls is a unit of work, and what its callees do is part of it. What main or the
 * routine does itself is a region of its own.
 */
uint32_t loader_region(struct loader *l, uint32_t thread)
{
	struct loader_thread *t = &l->threads[thread];
	if (!t->frame_count)
		return MODEL_NONE;
	struct activation *frame = &t->frames[(t->unit ? t->unit : t->frame_count) - 1];
	if (frame->region == MODEL_NONE)
		frame->region = region_open(l, thread);
	return frame->region;
}

/* True if the program's own source makes the call at this position; where nothing is known of it, unless it is the
 * first of its thread. */
static bool is_own_call(const struct loader *l, const struct loader_thread *t, uint64_t pc)
{
	size_t n;
	const struct rt_frame *f = rt_trace_frames(l->m->trace, pc, &n);
	if (!n || !f->file)
		return t->frame_count && !(n && f->module && strstr(f->module, ".so"));
	return !frame_is_library(f);
}

static void function_enter(struct loader *l, struct loader_thread *t, uint64_t pc)
{
	if (!vec_reserve(&t->frames, &t->frame_capacity, (uint64_t)t->frame_count + 1, sizeof *t->frames)) {
		l->failed = true;
		return;
	}
	if (!t->unit && l->regions == REGIONS_FUNCTIONS && is_own_call(l, t, pc))
		t->unit = t->frame_count + 1;
	struct activation frame = {.region = MODEL_NONE}, below = {0};
	if (l->callers) {
		bool own = own_code_has(&l->own, pc);
		below = t->frame_count ? t->frames[t->frame_count - 1] : below;
		frame.caller = own ? pc : below.caller;
		frame.outer = own ? below.caller : below.outer;
	}
	t->frames[t->frame_count++] = frame;
	t->stale |= l->regions == REGIONS_FUNCTIONS;
}

static void function_leave(struct loader *l, struct loader_thread *t)
{
	if (!t->frame_count)
		return;
	uint32_t region = t->frames[--t->frame_count].region;
	if (region != MODEL_NONE)
		l->m->regions[region].last = t->last;
	if (t->frame_count < t->unit)
		t->unit = 0;
	t->stale |= l->regions == REGIONS_FUNCTIONS;
}

/*
 * Locks with holds that were handed over. Two annotations keep such a hold's place: GIVEN, from the releases that hand
 * over to all later acquires; KEPT, from the other releases to the acquires whose hold is handed over.
 */
enum handed_order { ORDER_GIVEN, ORDER_KEPT };

static void handed_push(struct loader *l, const struct rt_event *e, uint64_t lock, enum handed_order order, bool after)
{
	/* Beyond all addresses and the objects of later forks. */
	uint64_t addr = (UINT64_C(1) << 56) + 2 * lock + order;
	struct rt_event annotation = *e;
	annotation.op = after ? RT_OP_HB_AFTER : RT_OP_HB_BEFORE;
	annotation.flags = 0;
	loader_push(l, &annotation, loader_object(l, e, addr, OBJECT_ANNOTATION), 0, 0, true);
}

static bool is_handed_over(const struct loader *l, const struct rt_event *e)
{
	return loader_is_handed(l, HANDED_ACQUIRE, e->number);
}

/*
 * After the lock is taken: a thread that waits for it need not wait for what comes before by these orders. A hold that
 * is handed over ends at once, since it protects nothing.
 */
static void handed_acquired(struct loader *l, const struct rt_event *e, uint64_t lock, uint32_t object, bool shared)
{
	struct rt_event release = *e;
	if (!loader_is_handed(l, HANDED_LOCK, lock))
		return;
	handed_push(l, e, lock, ORDER_GIVEN, true);
	if (!is_handed_over(l, e))
		return;
	handed_push(l, e, lock, ORDER_KEPT, true);
	release.op = RT_OP_RELEASE;
	release.flags = 0;
	loader_push(l, &release, object, 0, shared ? MODEL_F_SHARED : 0, true);
}

/* Called after the thread has released its own hold. */
static void handed_released(struct loader *l, const struct rt_event *e, uint64_t lock)
{
	if (loader_is_handed(l, HANDED_LOCK, lock))
		handed_push(l, e, lock, ORDER_KEPT, false);
}

/* The thread releases a lock that it does not hold. If another thread holds it, the next acquire decides whether that
 * hold is over. */
static void stray_release(struct loader *l, uint64_t number, uint32_t object)
{
	for (uint32_t i = 0; i < l->thread_count; i++) {
		struct held_lock *held = held_find(&l->threads[i], object);
		if (!held || held->stray)
			continue;
		held->stray = number;
		l->strays++;
		return;
	}
}

/* The lock is taken. Holds of it that would exclude this one are over if another thread has released them. */
static void end_strays(struct loader *l, uint64_t lock, uint32_t object, bool shared)
{
	for (uint32_t i = 0; l->strays && i < l->thread_count; i++) {
		struct loader_thread *t = &l->threads[i];
		struct held_lock *held = held_find(t, object);
		if (!held || !held->stray || (held->shared && shared))
			continue;
		loader_hand_over(l, lock, held->number, held->stray);
		held_remove(l, t, held);
		region_follow(l, i, t);
	}
}

static void lock_acquire(struct loader *l, struct loader_thread *t, const struct rt_event *e)
{
	uint32_t object = loader_object(l, e, e->addr, OBJECT_LOCK);
	bool shared = e->op == RT_OP_ACQUIRE_SHARED;
	end_strays(l, e->addr, object, shared);
	struct held_lock *held = held_find(t, object);
	if (held) {
		/* An inner level of a recursive lock is not an event. */
		held->depth++;
		return;
	}
	if (!is_handed_over(l, e)) {
		held_add(l, t, (struct held_lock){object, shared, 1, e->number, 0});
		region_follow(l, e->thread, t);
	}
	loader_push(l, e, object, 0, 0, true);
	handed_acquired(l, e, e->addr, object, shared);
}

static void lock_release(struct loader *l, struct loader_thread *t, const struct rt_event *e)
{
	uint32_t object = loader_object(l, e, e->addr, OBJECT_LOCK);
	struct held_lock *held = held_find(t, object);
	if (!held && loader_is_handed(l, HANDED_RELEASE, e->number))
		handed_push(l, e, e->addr, ORDER_GIVEN, false);
	else if (!held)
		stray_release(l, e->number, object);
	if (!held || --held->depth)
		return;
	uint8_t flags = held->shared ? MODEL_F_SHARED : 0;
	held_remove(l, t, held);
	region_follow(l, e->thread, t);
	loader_push(l, e, object, 0, flags, true);
	handed_released(l, e, e->addr);
}

static void wait_begin(struct loader *l, struct loader_thread *t, const struct rt_event *e)
{
	uint32_t condition = loader_object(l, e, e->addr, OBJECT_CONDITION);
	uint32_t mutex = e->arg ? loader_object(l, e, e->arg, OBJECT_LOCK) : MODEL_NONE;
	struct held_lock *held = held_find(t, mutex);
	t->wait_depth = held ? held->depth : 1;
	if (held)
		held_remove(l, t, held);
	else
		mutex = MODEL_NONE; /* a release of what the thread does not hold is none */
	region_cut(l, e->thread, t);
	region_follow(l, e->thread, t);
	loader_arg(l, loader_push(l, e, condition, 0, 0, true), mutex);
	if (held)
		handed_released(l, e, e->arg);
}

static void wait_end(struct loader *l, struct loader_thread *t, const struct rt_event *e)
{
	uint32_t condition = loader_object(l, e, e->addr, OBJECT_CONDITION);
	uint32_t mutex = e->arg ? loader_object(l, e, e->arg, OBJECT_LOCK) : MODEL_NONE;
	if (mutex != MODEL_NONE)
		end_strays(l, e->arg, mutex, false);
	if (mutex != MODEL_NONE && !is_handed_over(l, e) && !held_find(t, mutex))
		held_add(l, t, (struct held_lock){mutex, 0, t->wait_depth ? t->wait_depth : 1, e->number, 0});
	t->wait_depth = 0;
	region_cut(l, e->thread, t);
	region_follow(l, e->thread, t);
	loader_arg(l, loader_push(l, e, condition, 0, 0, true), mutex);
	if (mutex != MODEL_NONE)
		handed_acquired(l, e, e->arg, mutex, false);
}

/* The annotation object for the later forks of a thread. No event's object has such an address. */
static uint32_t later_forks(struct loader *l, const struct rt_event *e, uint32_t thread)
{
	return loader_object(l, e, RT_TLS_END + 1 + thread, OBJECT_ANNOTATION);
}

/* A thread is created once. A later FORK of it in the trace still comes before the thread's next event. */
static void fork_again(struct loader *l, const struct rt_event *e, uint32_t thread)
{
	struct rt_event before = *e;
	before.op = RT_OP_HB_BEFORE;
	l->threads[thread].forked_again = true;
	loader_push(l, &before, later_forks(l, e, thread), 0, 0, true);
}

void loader_forked_again(struct loader *l, const struct rt_event *e)
{
	struct rt_event after = *e;
	after.op = RT_OP_HB_AFTER;
	after.flags = 0;
	after.order = 0;
	l->threads[e->thread].forked_again = false;
	loader_push(l, &after, later_forks(l, e, e->thread), 0, 0, true);
}

static void fork_or_join(struct loader *l, struct loader_thread *t, const struct rt_event *e)
{
	if (e->addr > SHADOW_THREADS_MAX || e->addr == e->thread)
		return;
	uint32_t other = (uint32_t)e->addr;
	if (!loader_thread(l, other))
		return;
	t = &l->threads[e->thread]; /* the table may have been moved */
	region_cut(l, e->thread, t);
	struct loader_thread *o = &l->threads[other];
	if (e->op == RT_OP_FORK && (o->fork != MODEL_NONE || o->pos)) {
		fork_again(l, e, other);
		return;
	}
	uint32_t event = loader_push(l, e, other, 0, 0, true);
	if (e->op == RT_OP_FORK)
		o->fork = event;
	if (e->op == RT_OP_JOIN && o->join == MODEL_NONE)
		o->join = event;
}

/* The object that an operation of a synchronisation group is about. */
static uint32_t object_of(struct loader *l, const struct rt_event *e, unsigned op)
{
	static const enum model_object_kind kinds[RT_GROUP_COUNT] = {
	    [RT_GROUP_LOCK] = OBJECT_LOCK,       [RT_GROUP_CONDITION] = OBJECT_CONDITION,
	    [RT_GROUP_BARRIER] = OBJECT_BARRIER, [RT_GROUP_SEMAPHORE] = OBJECT_SEMAPHORE,
	    [RT_GROUP_ONCE] = OBJECT_ONCE,       [RT_GROUP_ANNOTATION] = OBJECT_ANNOTATION,
	};
	return loader_object(l, e, e->addr, kinds[rt_op_group(op)]);
}

static void object_event(struct loader *l, const struct rt_event *e)
{
	uint32_t event = loader_push(l, e, object_of(l, e, e->op), 0, 0, true);
	if (e->op == RT_OP_SEM_INIT || e->op == RT_OP_BARRIER_ARRIVE)
		loader_arg(l, event, e->arg < MODEL_NONE ? (uint32_t)e->arg : MODEL_NONE - 1);
}

/* A semaphore that is used as a lock is held between wait and post. */
static void semaphore_event(struct loader *l, struct loader_thread *t, const struct rt_event *e)
{
	uint32_t object = loader_object(l, e, e->addr, OBJECT_SEMAPHORE);
	if (semaphores_is_lock(l, e->addr)) {
		struct held_lock *held = held_find(t, object);
		if (e->op == RT_OP_SEM_WAIT && !held)
			held_add(l, t, (struct held_lock){object, 0, 1, e->number, 0});
		else if (e->op == RT_OP_SEM_POST && held)
			held_remove(l, t, held);
		region_follow(l, e->thread, t);
		l->m->objects[object].lock = true;
	}
	loader_push(l, e, object, 0, 0, true);
}

/* The wait that the thread is in when the trace ends; arg is its operation. */
static void block(struct loader *l, const struct rt_event *e)
{
	unsigned op = e->arg < RT_OP_COUNT ? (unsigned)e->arg : RT_OP_NONE;
	uint32_t object = e->addr < MODEL_NONE ? (uint32_t)e->addr : MODEL_NONE;
	/* Any thread may release a lock whose holds are handed over. */
	if ((!rt_op_has(op, RT_WAITS) && op != RT_OP_HB_AFTER) ||
	    (rt_op_group(op) == RT_GROUP_LOCK && loader_is_handed(l, HANDED_LOCK, e->addr)))
		return;
	if (!rt_op_has(op, RT_OF_THREAD))
		object = object_of(l, e, op);
	loader_arg(l, loader_push(l, e, object, 0, 0, true), op);
	if (op == RT_OP_HB_AFTER || op == RT_OP_WAIT_END)
		l->threads[e->thread].call = e->value;
}

/* It is no event of the model: the judge alone asks whether it could fail. That of a join always can. */
void loader_try(struct loader *l, const struct rt_event *e)
{
	struct model *m = l->m;
	bool semaphore = e->arg == RT_OP_SEM_WAIT, lock = e->arg == RT_OP_ACQUIRE || e->arg == RT_OP_ACQUIRE_SHARED;
	if ((!lock && !semaphore) || l->threads[e->thread].ignored[2])
		return;
	uint32_t object = loader_object(l, e, e->addr, semaphore ? OBJECT_SEMAPHORE : OBJECT_LOCK);
	if (vec_reserve(&m->tries, &m->try_capacity, (uint64_t)m->try_count + 1, sizeof *m->tries))
		m->tries[m->try_count++] = (struct model_try){e->thread, (uint32_t)e->number, object, (uint8_t)e->arg};
	else
		l->failed = true;
}

/* A code or region event: these are kept whatever the thread ignores. False if it is neither. */
static bool code_event(struct loader *l, struct loader_thread *t, const struct rt_event *e)
{
	if (e->op == RT_OP_REGION_BEGIN || e->op == RT_OP_REGION_END) {
		if (e->op == RT_OP_REGION_BEGIN)
			t->annotated++;
		else if (t->annotated)
			t->annotated--;
		region_follow(l, e->thread, t);
		loader_push(l, e, MODEL_NONE, 0, 0, true);
	} else if (e->op == RT_OP_ENTER) {
		function_enter(l, t, e->pc);
	} else if (e->op == RT_OP_LEAVE) {
		function_leave(l, t);
	} else if (e->op == RT_OP_SETJMP) {
		l->failed |= !jumps_set(&t->jumps, e->addr, t->frame_count);
	} else if (e->op == RT_OP_LONGJMP) {
		for (uint64_t target = jumps_target(&t->jumps, e->addr, t->frame_count); t->frame_count > target;)
			function_leave(l, t);
	} else {
		return false;
	}
	return true;
}

void loader_sync(struct loader *l, const struct rt_event *e)
{
	struct loader_thread *t = &l->threads[e->thread];
	if (code_event(l, t, e) || t->ignored[2])
		return;
	switch (e->op) {
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
		lock_acquire(l, t, e);
		break;
	case RT_OP_RELEASE:
		lock_release(l, t, e);
		break;
	case RT_OP_WAIT_BEGIN:
		wait_begin(l, t, e);
		break;
	case RT_OP_WAIT_END:
		wait_end(l, t, e);
		break;
	case RT_OP_SIGNAL:
	case RT_OP_BROADCAST:
		region_cut(l, e->thread, t);
		object_event(l, e);
		break;
	case RT_OP_BARRIER_ARRIVE:
	case RT_OP_BARRIER_LEAVE:
	case RT_OP_SEM_INIT:
	case RT_OP_ONCE_BEGIN:
	case RT_OP_ONCE_END:
	case RT_OP_ONCE_SEEN:
	case RT_OP_HB_BEFORE:
	case RT_OP_HB_AFTER:
		object_event(l, e);
		break;
	case RT_OP_SEM_POST:
	case RT_OP_SEM_WAIT:
		semaphore_event(l, t, e);
		break;
	case RT_OP_FORK:
	case RT_OP_JOIN:
		fork_or_join(l, t, e);
		break;
	case RT_OP_BLOCK:
		if (blocked_is_last(l, e))
			block(l, e);
		break;
	case RT_OP_FENCE:
		loader_push(l, e, MODEL_NONE, 0, 0, true);
		break;
	/* Seen to by others. */
	case RT_OP_REGION_BEGIN:
	case RT_OP_REGION_END:
	case RT_OP_ALLOC:
	RT_CASES_ACCESS:
	MODEL_CASES_NEVER_KEPT:
		break;
	}
}
