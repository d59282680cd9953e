/* Threads that can never continue, and for which others each waits; see stuck.h. Their groups: stuck_groups.c. */
#include "lib/search/stuck_groups.h"

#include "lib/base/free.h"
#include "lib/base/lower_bound.h"
#include "lib/base/sort.h"
#include "lib/base/vec.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Threads by object: sorted pairs, object << 32 | thread. */
struct by_object {
	uint64_t *items;
	uint32_t count, capacity;
};

/* Waits in the kernel that begin before an event may be over: the latest such event, and that of other threads than the
 * one that caused it. 0: none. */
struct wakes {
	uint32_t until, thread, of_others;
};

/* What a barrier, a semaphore, a condition or an annotation's object has come to. */
struct tally {
	int64_t count;      /* arrivals, or tokens */
	uint32_t parties;   /* of the barrier; 0, MODEL_NONE: unknown */
	bool made;          /* the semaphore's initialisation was recorded */
	uint32_t signalled; /* the condition: waits that begin before this event may be over */
	struct wakes wakes;
};

/* The threads when the trace ends. */
struct final {
	const struct model *m;
	uint32_t threads;
	bool *goes;               /* by thread: it may continue, by itself or through another thread */
	bool any;                 /* some thread may continue, or something outside of the recorded threads may act */
	struct by_object holders; /* threads that hold the lock, or have begun the routine of the once flag */
	struct by_object writers; /* threads that wait for the lock, not as readers */
	struct by_object waiters; /* threads that wait for the lock or once flag in any way */
	struct by_object held;    /* by thread instead: locks and once flags in holders */
	struct by_object joiners; /* by thread instead: threads that join it */
	struct tally *tallies;    /* by object */
	struct wakes several;     /* of all objects that rt_is_one_of_several names */
	/* The threads that each stuck thread waits for: needs[first[t] .. first[t + 1]). */
	uint32_t *needs, *first;
	bool *stuck;     /* by thread */
	uint32_t *found; /* room for what a thread needs */
	/* Threads that may be found to go: a stack, in which each is once. */
	uint32_t *queue, queued;
	bool *is_queued;
};

static uint32_t block_of(const struct final *f, uint32_t thread)
{
	return f->m->threads[thread].block;
}

static bool has_ended(const struct final *f, uint32_t thread)
{
	return f->m->threads[thread].ended || f->m->threads[thread].join != MODEL_NONE;
}

/* The operation that the thread waits for; RT_OP_NONE: it does not wait. */
static unsigned waits_to(const struct final *f, uint32_t thread)
{
	return block_of(f, thread) == MODEL_NONE ? RT_OP_NONE : model_arg(f->m, block_of(f, thread));
}

static uint32_t object_of(const struct final *f, uint32_t thread)
{
	return f->m->events[block_of(f, thread)].object;
}

static bool add_of(struct by_object *l, uint32_t object, uint32_t thread)
{
	if (!vec_reserve(&l->items, &l->capacity, (uint64_t)l->count + 1, sizeof *l->items))
		return false;
	l->items[l->count++] = (uint64_t)object << 32 | thread;
	return true;
}

static void sort_by_object(struct by_object *l)
{
	if (l->count)
		qsort(l->items, l->count, sizeof *l->items, compare_u64);
}

/* Where the object's threads begin; those of the next object begin where they end. */
static uint32_t begin_of(const struct by_object *l, uint32_t object)
{
	return lower_bound(i, 0, l->count, l->items[i] >> 32 < object);
}

/* What the thread holds and waits for. */
static bool list_thread(struct final *f, uint32_t thread)
{
	const struct model_thread *t = &f->m->threads[thread];
	uint32_t lockset = t->count ? model_lockset_of(f->m, t->events[t->count - 1]) : 0;
	const struct model_lockset *held = &f->m->locksets[lockset];
	for (uint32_t i = 0; i < held->count; i++)
		if (!add_of(&f->holders, held->locks[i].object, thread))
			return false;
	return waits_to(f, thread) != RT_OP_ACQUIRE || add_of(&f->writers, object_of(f, thread), thread);
}

/* The event before which a wait must begin for the signal to reach it; MODEL_NONE: any. It may come late, if the sender
 * has executed nothing since that shows that the call is over. */
static uint32_t reach_of(const struct final *f, uint32_t signal)
{
	const struct model *m = f->m;
	const struct model_thread *sender = &m->threads[model_thread_of(m, signal)];
	uint32_t next = m->events[signal].pos + 1;
	if (has_ended(f, model_thread_of(m, signal)))
		return signal;
	/* The call reads the condition before it acts. */
	while (next < sender->count && m->sites[m->events[sender->events[next]].site].flags & RT_F_OBJECT &&
	       rt_op_is_access(model_op(m, sender->events[next])))
		next++;
	return next < sender->count ? sender->events[next] : MODEL_NONE;
}

/* The event before which a wait in the kernel must begin to be ended by e, or by what its thread may have been doing
 * since: an announcement comes before the call that ends the wait. */
static uint32_t wake_of(const struct final *f, uint32_t e)
{
	const struct model *m = f->m;
	const struct model_thread *t = &m->threads[model_thread_of(m, e)];
	uint32_t next = m->events[e].pos + 1;
	if (model_op(m, e) == RT_OP_HB_AFTER || has_ended(f, model_thread_of(m, e)))
		return e;
	return next < t->count ? t->events[next] : MODEL_NONE;
}

static void add_wake(struct wakes *w, uint32_t until, uint32_t thread)
{
	uint32_t *of = thread == w->thread || until > w->until ? &w->until : &w->of_others;
	if (of == &w->until && thread != w->thread) {
		w->of_others = w->until;
		w->thread = thread;
	}
	if (*of < until)
		*of = until;
}

static void list_wake(struct final *f, uint32_t e)
{
	uint32_t object = f->m->events[e].object, thread = model_thread_of(f->m, e), until = wake_of(f, e);
	add_wake(&f->tallies[object].wakes, until, thread);
	if (rt_is_one_of_several(f->m->objects[object].addr))
		add_wake(&f->several, until, thread);
}

static bool list_event(struct final *f, uint32_t e)
{
	const struct model *m = f->m;
	uint32_t object = m->events[e].object, reach; /* of some events no object */
	switch (model_op(m, e)) {
	case RT_OP_ONCE_BEGIN:
		return add_of(&f->holders, object, model_thread_of(m, e));
	case RT_OP_SIGNAL:
	case RT_OP_BROADCAST:
		reach = reach_of(f, e);
		if (f->tallies[object].signalled < reach)
			f->tallies[object].signalled = reach;
		return true;
	case RT_OP_BARRIER_ARRIVE:
		f->tallies[object].count++;
		f->tallies[object].parties = model_arg(m, e);
		return true;
	case RT_OP_SEM_INIT:
		f->tallies[object] = (struct tally){.count = model_arg(m, e), .made = true};
		return true;
	case RT_OP_SEM_POST:
		f->tallies[object].count++;
		return true;
	case RT_OP_SEM_WAIT:
		f->tallies[object].count--;
		return true;
	case RT_OP_HB_BEFORE:
	case RT_OP_HB_AFTER:
		list_wake(f, e);
		return true;
	default:
		return true;
	}
}

static bool list_all(struct final *f)
{
	for (uint32_t t = 0; t < f->threads; t++)
		if (!list_thread(f, t))
			return false;
	for (uint32_t i = 0; i < f->m->sync_count; i++)
		if (!list_event(f, f->m->sync[i]))
			return false;
	sort_by_object(&f->holders);
	sort_by_object(&f->writers);
	return true;
}

/* How the thread holds the lock: 0, not; 1, as a reader; 2, alone. */
static int holds(const struct final *f, uint32_t thread, uint32_t lock)
{
	const struct model_thread *t = &f->m->threads[thread];
	if (!t->count)
		return 0;
	const struct model_lock *held = model_lockset_lock(f->m, model_lockset_of(f->m, t->events[t->count - 1]), lock);
	return !held ? 0 : held->shared ? 1 : 2;
}

/* The thread's last event with the operation on the object; MODEL_NONE if there is none. */
static uint32_t last_with(const struct final *f, uint32_t thread, unsigned op, uint32_t object)
{
	const struct model *m = f->m;
	for (uint32_t pos = m->threads[thread].count; pos-- > 0;) {
		uint32_t e = m->threads[thread].events[pos];
		if (model_op(m, e) == op && m->events[e].object == object)
			return e;
	}
	return MODEL_NONE;
}

/* The WAIT_BEGIN of the thread's wait for a condition, which is right before its BLOCK; MODEL_NONE: it has none. */
static uint32_t wait_begin(const struct final *f, uint32_t thread)
{
	uint32_t begin = model_pred(f->m, block_of(f, thread));
	return begin != MODEL_NONE && model_op(f->m, begin) == RT_OP_WAIT_BEGIN &&
	               f->m->events[begin].object == object_of(f, thread)
	           ? begin
	           : MODEL_NONE;
}

/* The mutex that a wait for a condition takes again; MODEL_NONE: unknown. */
static uint32_t mutex_of(const struct final *f, uint32_t thread)
{
	uint32_t begin = wait_begin(f, thread);
	return begin == MODEL_NONE ? MODEL_NONE : model_arg(f->m, begin);
}

/*
 * True if waiting writers keep out this reader although readers hold the lock. Only if a reader certainly held it when
 * this one came: otherwise a writer that has left since may have. A hold by the time of the thread's event before its
 * BLOCK is certain.
 */
static bool is_behind_writers(const struct final *f, uint32_t thread, uint32_t lock)
{
	const struct model *m = f->m;
	uint32_t before = model_pred(m, block_of(f, thread));
	if (before == MODEL_NONE)
		return false;
	/* A writer that may give up lets readers in. */
	for (uint32_t i = begin_of(&f->writers, lock); i < begin_of(&f->writers, lock + 1); i++)
		if (f->goes[(uint32_t)f->writers.items[i]])
			return false;
	for (uint32_t i = begin_of(&f->holders, lock); i < begin_of(&f->holders, lock + 1); i++) {
		uint32_t t = (uint32_t)f->holders.items[i];
		if (holds(f, t, lock) == 1 && last_with(f, t, RT_OP_ACQUIRE_SHARED, lock) <= before)
			return true;
	}
	return false;
}

/* The lock that the thread needs in any case; MODEL_NONE: none. */
static uint32_t lock_of(const struct final *f, uint32_t thread)
{
	switch (waits_to(f, thread)) {
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
		return object_of(f, thread);
	case RT_OP_WAIT_END:
		return mutex_of(f, thread);
	default:
		return MODEL_NONE;
	}
}

/* True if the thread has begun the routine of the once flag and not left it. */
static bool runs_once(const struct final *f, uint32_t thread, uint32_t once)
{
	const struct model *m = f->m;
	uint32_t begin = last_with(f, thread, RT_OP_ONCE_BEGIN, once), end = last_with(f, thread, RT_OP_ONCE_END, once);
	if (begin == MODEL_NONE || (end != MODEL_NONE && end > begin))
		return false;
	/* An exception or a cancellation left it: HB_BEFORE of the same address. */
	for (uint32_t pos = m->events[begin].pos + 1; pos < m->threads[thread].count; pos++) {
		uint32_t e = m->threads[thread].events[pos];
		if (model_op(m, e) == RT_OP_HB_BEFORE && m->objects[m->events[e].object].addr == m->objects[once].addr)
			return false;
	}
	return true;
}

/* Those of the lock or once flag that keep the thread waiting: they hold it, or it is theirs first. */
static uint32_t needed_of(const struct final *f, uint32_t thread, uint32_t object, uint32_t *out)
{
	unsigned op = waits_to(f, thread);
	bool reader = op == RT_OP_ACQUIRE_SHARED;
	uint32_t count = 0;
	for (uint32_t i = begin_of(&f->holders, object); i < begin_of(&f->holders, object + 1); i++) {
		uint32_t other = (uint32_t)f->holders.items[i];
		bool again = count && out[count - 1] == other; /* a thread may begin a routine more than once */
		if (!again &&
		    (op == RT_OP_ONCE_SEEN ? runs_once(f, other, object) : holds(f, other, object) > (reader ? 1 : 0)))
			out[count++] = other;
	}
	if (!reader || begin_of(&f->writers, object) == begin_of(&f->writers, object + 1) ||
	    !is_behind_writers(f, thread, object))
		return count;
	for (uint32_t i = begin_of(&f->writers, object); i < begin_of(&f->writers, object + 1); i++)
		if (holds(f, (uint32_t)f->writers.items[i], object) < 2)
			out[count++] = (uint32_t)f->writers.items[i];
	return count;
}

/* The threads that the thread certainly needs in order to continue, each once: their number. out: room for all. */
static uint32_t needed(const struct final *f, uint32_t thread, uint32_t *out)
{
	unsigned op = waits_to(f, thread);
	uint32_t object = op == RT_OP_ONCE_SEEN ? object_of(f, thread) : lock_of(f, thread);
	if (object != MODEL_NONE)
		return needed_of(f, thread, object, out);
	if (op != RT_OP_JOIN || object_of(f, thread) >= f->threads)
		return 0;
	*out = object_of(f, thread);
	return 1;
}

/*
 * The thread that has taken the lock of a file that the thread waits for; MODEL_NONE: it waits for none. Any thread may
 * release such a lock, so this says for which thread it waits, and not that it waits for that one alone.
 */
static uint32_t file_holder(const struct final *f, uint32_t thread)
{
	uint64_t call = f->m->threads[thread].call;
	bool waits = waits_to(f, thread) == RT_OP_HB_AFTER && rt_call_kind(call) == RT_CALL_FILE_LOCK;
	return waits && rt_call_holder(call) < f->threads ? rt_call_holder(call) : MODEL_NONE;
}

/* True if all parties of the barrier's round may have come; their number may be unknown. */
static bool is_full(const struct tally *barrier)
{
	return !barrier->parties || barrier->parties == MODEL_NONE || barrier->count % barrier->parties == 0;
}

/* True if the semaphore may have a token. One without a recorded initialisation may. */
static bool has_token(const struct tally *semaphore)
{
	return !semaphore->made || semaphore->count > 0;
}

/*
 * True if a wait in the kernel may be over. The thread was asleep at its BLOCK, so only what other threads have done
 * since, or may have been doing then, can have ended it. Which thread has the lock of a file was looked up right behind
 * the thread's event before the BLOCK.
 */
static bool may_be_woken(const struct final *f, uint32_t thread)
{
	const struct model *m = f->m;
	uint32_t since = block_of(f, thread), object = object_of(f, thread);
	const struct wakes *w = m->objects[object].addr == RT_SEVERAL_OBJECTS ? &f->several : &f->tallies[object].wakes;
	if (rt_call_kind(m->threads[thread].call) == RT_CALL_FILE_LOCK && model_pred(m, since) != MODEL_NONE)
		since = model_pred(m, since);
	return (w->thread == thread ? w->of_others : w->until) > since;
}

/* True if a signal may have reached the thread. None has that came before a BLOCK at which it was seen asleep. */
static bool may_be_signalled(const struct final *f, uint32_t thread)
{
	bool asleep = rt_call_kind(f->m->threads[thread].call) == RT_CALL_FUTEX;
	uint32_t since = asleep ? block_of(f, thread) : wait_begin(f, thread);
	return f->tallies[object_of(f, thread)].signalled > since;
}

/* True if what a waiting thread waits for has come, or may come from outside or from any thread that continues. */
static bool may_be_given(const struct final *f, uint32_t thread)
{
	switch (waits_to(f, thread)) {
	case RT_OP_WAIT_END:
		return f->any || mutex_of(f, thread) == MODEL_NONE || may_be_signalled(f, thread);
	case RT_OP_BARRIER_LEAVE:
		return f->any || is_full(&f->tallies[object_of(f, thread)]);
	case RT_OP_SEM_WAIT:
		return f->any || has_token(&f->tallies[object_of(f, thread)]);
	case RT_OP_HB_AFTER:
		return f->any || may_be_woken(f, thread);
	default:
		return true; /* needed() has the threads that it waits for */
	}
}

/* True if the waiting thread can continue once the threads that can do so do. */
static bool may_go(const struct final *f, uint32_t thread)
{
	unsigned op = waits_to(f, thread);
	uint32_t lock = lock_of(f, thread);
	if (f->m->sites[f->m->events[block_of(f, thread)].site].flags & RT_F_TIMED ||
	    (lock != MODEL_NONE && f->m->objects[lock].stray))
		return true;
	uint32_t count = needed(f, thread, f->found);
	for (uint32_t i = 0; i < count; i++)
		if (!f->goes[f->found[i]] && !(op == RT_OP_JOIN && has_ended(f, f->found[i])))
			return false;
	return (!stuck_awaits_any(op) && !count) || may_be_given(f, thread);
}

/*
 * True if something outside of the recorded threads may act. Signal handlers and functions that the C library calls
 * itself may provide what a thread waits for. Handlers of faults run only where some thread runs.
 *
 * A handler that ended the program by its first call does nothing more.
 */
static bool others_may_act(const struct model *m)
{
	const struct rt_trace_info *info = rt_trace_info(m->trace);
	const uint64_t faults = UINT64_C(1) << SIGSEGV | UINT64_C(1) << SIGBUS | UINT64_C(1) << SIGFPE |
	                        UINT64_C(1) << SIGILL | UINT64_C(1) << SIGTRAP | UINT64_C(1) << SIGSYS |
	                        UINT64_C(1) << SIGABRT;
	uint32_t handlers = 0, taken = 0;
	if (m->losses.count)
		return true;
	for (uint32_t o = 0; o < m->object_count; o++) {
		uint64_t number = m->objects[o].addr - RT_SIGNAL_OBJECT;
		if (m->objects[o].kind != OBJECT_ANNOTATION || m->objects[o].addr < RT_SIGNAL_OBJECT ||
		    number >= RT_SIGNAL_OBJECTS || (number < 64 && faults >> number & 1))
			continue;
		handlers++;
		for (uint32_t i = 0; i < m->sync_count; i++)
			if (m->events[m->sync[i]].object == o && model_op(m, m->sync[i]) == RT_OP_HB_AFTER) {
				uint32_t block = m->threads[model_thread_of(m, m->sync[i])].block;
				taken += block != MODEL_NONE && block < m->sync[i] ? 1 : 2;
			}
	}
	/* A process that ended with a status was ended by a handler, or by an unrecorded thread. */
	bool ended_it = handlers == 1 && taken == 1;
	if (info->exit_kind == RT_EXIT_STATUS)
		return !ended_it;
	return handlers && !(ended_it && info->exit_kind == RT_EXIT_SIGNAL && info->exit_value == SIGABRT);
}

/* Who waits for what: the threads to look at again when one is found to go. */
static bool list_waiters(struct final *f)
{
	bool ok = true;
	for (uint32_t t = 0; t < f->threads && ok; t++) {
		unsigned op = waits_to(f, t);
		uint32_t object = op == RT_OP_ONCE_SEEN ? object_of(f, t)
		                  : op == RT_OP_NONE    ? MODEL_NONE
		                                        : lock_of(f, t);
		ok = object == MODEL_NONE || add_of(&f->waiters, object, t);
		if (op == RT_OP_JOIN && object_of(f, t) < f->threads)
			ok = add_of(&f->joiners, object_of(f, t), t);
	}
	for (uint32_t i = 0; i < f->holders.count && ok; i++)
		ok = add_of(&f->held, (uint32_t)f->holders.items[i], (uint32_t)(f->holders.items[i] >> 32));
	sort_by_object(&f->waiters);
	sort_by_object(&f->joiners);
	sort_by_object(&f->held);
	return ok;
}

static void enqueue(struct final *f, uint32_t thread)
{
	if (f->goes[thread] || f->is_queued[thread] || block_of(f, thread) == MODEL_NONE || has_ended(f, thread))
		return;
	f->is_queued[thread] = true;
	f->queue[f->queued++] = thread;
}

static void enqueue_of(struct final *f, const struct by_object *l, uint32_t key)
{
	for (uint32_t i = begin_of(l, key); i < begin_of(l, key + 1); i++)
		enqueue(f, (uint32_t)l->items[i]);
}

/* The thread goes: so may those that wait for it, and if it is the first one all that something outside may help. */
static void let_go(struct final *f, uint32_t thread)
{
	f->goes[thread] = true;
	for (uint32_t t = 0; t < f->threads && !f->any; t++)
		enqueue(f, t);
	f->any = true;
	enqueue_of(f, &f->joiners, thread);
	for (uint32_t i = begin_of(&f->held, thread); i < begin_of(&f->held, thread + 1); i++)
		enqueue_of(f, &f->waiters, (uint32_t)f->held.items[i]);
	if (waits_to(f, thread) == RT_OP_ACQUIRE)
		enqueue_of(f, &f->waiters, object_of(f, thread));
}

/* Determines which threads may continue: the rest is the greatest set that cannot. */
static bool find_goes(struct final *f)
{
	if (!list_waiters(f))
		return false;
	f->any = others_may_act(f->m);
	for (uint32_t t = 0; t < f->threads; t++) {
		f->goes[t] = f->m->threads[t].lost || (!has_ended(f, t) && block_of(f, t) == MODEL_NONE);
		f->any |= f->goes[t];
	}
	for (uint32_t t = 0; t < f->threads; t++)
		enqueue(f, t);
	while (f->queued) {
		uint32_t t = f->queue[--f->queued];
		f->is_queued[t] = false;
		if (may_go(f, t))
			let_go(f, t);
	}
	return true;
}

/* The threads that each stuck thread waits for, without those that continue: they are not the cause. */
static bool find_needs(struct final *f)
{
	uint32_t count = 0, room = 0;
	for (uint32_t t = 0; t < f->threads; t++)
		f->stuck[t] = !f->goes[t] && !has_ended(f, t) && block_of(f, t) != MODEL_NONE;
	for (uint32_t t = 0; t < f->threads; t++) {
		f->first[t] = count;
		if (!f->stuck[t])
			continue;
		uint32_t n = needed(f, t, f->found);
		if (file_holder(f, t) != MODEL_NONE)
			f->found[n++] = file_holder(f, t);
		if (!vec_reserve(&f->needs, &room, (uint64_t)count + n, sizeof *f->needs))
			return false;
		for (uint32_t i = 0; i < n; i++)
			if (f->stuck[f->found[i]])
				f->needs[count++] = f->found[i];
	}
	f->first[f->threads] = count;
	return true;
}

bool stuck_find(const struct model *m, struct stuck *out)
{
	size_t room = (size_t)m->thread_count + 2;
	*out = (struct stuck){0};
	/* An incomplete trace may have continued. Unrecorded threads release no lock of another thread. */
	const struct rt_trace_info *info = rt_trace_info(m->trace);
	if (!(m->ops >> RT_OP_BLOCK & 1) || (!info->complete && strcmp(info->incomplete_why, RT_LOST_WHY) != 0))
		return true;
	struct final f = {.m = m,
	                  .threads = m->thread_count,
	                  .goes = calloc(room, sizeof *f.goes),
	                  .first = calloc(room, sizeof *f.first),
	                  .stuck = calloc(room, sizeof *f.stuck),
	                  .found = calloc(room, sizeof *f.found),
	                  .queue = calloc(room, sizeof *f.queue),
	                  .is_queued = calloc(room, sizeof *f.is_queued),
	                  .tallies = calloc((size_t)m->object_count + 1, sizeof *f.tallies)};
	bool ok = f.goes && f.first && f.stuck && f.found && f.queue && f.is_queued && f.tallies && list_all(&f) &&
	          find_goes(&f) && find_needs(&f) &&
	          stuck_group_all(&(struct stuck_needs){m, f.threads, f.stuck, f.needs, f.first}, out);
	free_all(f.goes, f.needs, f.first, f.stuck, f.found, f.queue, f.is_queued, f.tallies);
	free_all(f.holders.items, f.writers.items, f.waiters.items, f.joiners.items, f.held.items);
	if (!ok)
		stuck_release(out);
	return ok;
}

void stuck_release(struct stuck *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		free(s->groups[i].waits);
	free(s->groups);
	*s = (struct stuck){0};
}
