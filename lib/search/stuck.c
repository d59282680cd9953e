/* Threads that can never continue; see stuck.h. */
#include "lib/search/stuck.h"

#include "lib/base/free.h"
#include "lib/base/vec.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* The threads when the trace ends. */
struct final {
	const struct model *m;
	uint32_t threads;
	bool *goes; /* by thread: it may continue, by itself or through another thread */
	bool any;   /* some thread may continue, or something outside of the recorded threads may act */
	/* The threads that each stuck thread waits for: needs[first[t] .. first[t + 1]). */
	uint32_t *needs, *first;
	uint32_t *length; /* by thread: length of the shortest ring that it is in, 0: none */
	uint32_t *group;  /* by thread: its group's index + 1; 0: none yet */
	uint32_t *queue, *from;
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
	bool had = false;
	for (uint32_t t = 0; t < f->threads && before != MODEL_NONE; t++) {
		had |= holds(f, t, lock) == 1 && last_with(f, t, RT_OP_ACQUIRE_SHARED, lock) <= before;
		/* A writer that may give up lets readers in. */
		if (f->goes[t] && waits_to(f, t) == RT_OP_ACQUIRE && object_of(f, t) == lock)
			return false;
	}
	return had;
}

/* True if the thread waits until the other releases the lock, or gets it first. */
static bool lock_needs(const struct final *f, uint32_t thread, uint32_t lock, bool shared, uint32_t other)
{
	int held = holds(f, other, lock);
	if (held == 2 || (held == 1 && !shared))
		return true;
	return shared && other != thread && waits_to(f, other) == RT_OP_ACQUIRE && object_of(f, other) == lock &&
	       is_behind_writers(f, thread, lock);
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

/*
 * True if the thread waits for the lock of a file that the other one has taken. Any thread may release such a lock, so
 * this says for which thread it waits, and not that it waits for that one alone.
 */
static bool needs_file(const struct final *f, uint32_t thread, uint32_t other)
{
	uint64_t call = f->m->threads[thread].call;
	return waits_to(f, thread) == RT_OP_HB_AFTER && rt_call_kind(call) == RT_CALL_FILE_LOCK &&
	       rt_call_holder(call) == other;
}

/* True if the thread certainly needs the other one in order to continue. */
static bool needs(const struct final *f, uint32_t thread, uint32_t other)
{
	uint32_t lock = lock_of(f, thread);
	unsigned op = waits_to(f, thread);
	if (lock != MODEL_NONE)
		return lock_needs(f, thread, lock, op == RT_OP_ACQUIRE_SHARED, other);
	if (op == RT_OP_JOIN)
		return object_of(f, thread) == other;
	return op == RT_OP_ONCE_SEEN && runs_once(f, other, object_of(f, thread));
}

/* True if a signal for the waiting thread may be under way. One that was sent before the wait may reach it still, if
 * the sender has executed nothing since that shows that the call is over. */
static bool may_be_signalled(const struct final *f, uint32_t thread)
{
	const struct model *m = f->m;
	uint32_t condition = object_of(f, thread), begin = wait_begin(f, thread);
	for (uint32_t i = m->sync_count; i-- > 0;) {
		uint32_t e = m->sync[i], sender = model_thread_of(m, e), next = m->events[e].pos + 1;
		unsigned op = model_op(m, e);
		if ((op != RT_OP_SIGNAL && op != RT_OP_BROADCAST) || m->events[e].object != condition)
			continue;
		if (e > begin)
			return true;
		/* The call reads the condition before it acts. */
		while (next < m->threads[sender].count &&
		       m->sites[m->events[m->threads[sender].events[next]].site].flags & RT_F_OBJECT &&
		       rt_op_is_access(model_op(m, m->threads[sender].events[next])))
			next++;
		if (!has_ended(f, sender) &&
		    (next >= m->threads[sender].count || m->threads[sender].events[next] > begin))
			return true;
	}
	return false;
}

/* True if all parties of the barrier's round may have come; their number may be unknown. */
static bool is_full(const struct model *m, uint32_t barrier)
{
	uint64_t arrived = 0;
	uint32_t parties = 0;
	for (uint32_t i = 0; i < m->sync_count; i++)
		if (model_op(m, m->sync[i]) == RT_OP_BARRIER_ARRIVE && m->events[m->sync[i]].object == barrier) {
			parties = model_arg(m, m->sync[i]);
			arrived++;
		}
	return !parties || parties == MODEL_NONE || arrived % parties == 0;
}

/* True if the semaphore may have a token. One without a recorded initialisation may. */
static bool has_token(const struct model *m, uint32_t semaphore)
{
	bool made = false;
	int64_t tokens = 0;
	for (uint32_t i = 0; i < m->sync_count; i++) {
		uint32_t e = m->sync[i];
		if (m->events[e].object != semaphore)
			continue;
		switch (model_op(m, e)) {
		case RT_OP_SEM_INIT:
			made = true;
			tokens = model_arg(m, e);
			break;
		case RT_OP_SEM_POST:
			tokens++;
			break;
		case RT_OP_SEM_WAIT:
			tokens--;
			break;
		default:
			break;
		}
	}
	return !made || tokens > 0;
}

/* True if the object is one of those by which a thread's wait in the kernel may end. */
static bool is_awaited(const struct final *f, uint32_t thread, uint32_t object)
{
	const struct model *m = f->m;
	uint64_t addr = m->objects[object].addr, wanted = m->objects[object_of(f, thread)].addr;
	if (m->objects[object].kind != OBJECT_ANNOTATION)
		return false;
	return wanted == RT_SEVERAL_OBJECTS ? rt_is_one_of_several(addr) : addr == wanted;
}

/*
 * True if a wait in the kernel may be over. The thread was asleep at its BLOCK, so only what other threads have done
 * since, or may have been doing then, can have ended it. Which thread has the lock of a file was looked up right behind
 * the thread's event before the BLOCK.
 */
static bool may_be_woken(const struct final *f, uint32_t thread)
{
	const struct model *m = f->m;
	uint32_t since = block_of(f, thread);
	if (rt_call_kind(m->threads[thread].call) == RT_CALL_FILE_LOCK && model_pred(m, since) != MODEL_NONE)
		since = model_pred(m, since);
	for (uint32_t i = m->sync_count; i-- > 0;) {
		uint32_t e = m->sync[i], other = model_thread_of(m, e), next = m->events[e].pos + 1;
		unsigned op = model_op(m, e);
		if ((op != RT_OP_HB_BEFORE && op != RT_OP_HB_AFTER) || other == thread ||
		    !is_awaited(f, thread, m->events[e].object))
			continue;
		if (e > since)
			return true;
		if (op == RT_OP_HB_BEFORE && !has_ended(f, other) &&
		    (next >= m->threads[other].count || m->threads[other].events[next] > since))
			return true;
	}
	return false;
}

/* True if what a waiting thread waits for has come, or may come from outside or from any thread that continues. */
static bool may_be_given(const struct final *f, uint32_t thread)
{
	switch (waits_to(f, thread)) {
	case RT_OP_WAIT_END:
		return f->any || mutex_of(f, thread) == MODEL_NONE || may_be_signalled(f, thread);
	case RT_OP_BARRIER_LEAVE:
		return f->any || is_full(f->m, object_of(f, thread));
	case RT_OP_SEM_WAIT:
		return f->any || has_token(f->m, object_of(f, thread));
	case RT_OP_HB_AFTER:
		return f->any || may_be_woken(f, thread);
	default:
		return true; /* needs() has the threads that it waits for */
	}
}

/* True if the waiting thread can continue once the threads that can do so do. */
static bool may_go(const struct final *f, uint32_t thread)
{
	unsigned op = waits_to(f, thread);
	bool known = op == RT_OP_WAIT_END || op == RT_OP_BARRIER_LEAVE || op == RT_OP_SEM_WAIT || op == RT_OP_HB_AFTER;
	uint32_t lock = lock_of(f, thread);
	if (f->m->sites[f->m->events[block_of(f, thread)].site].flags & RT_F_TIMED ||
	    (lock != MODEL_NONE && f->m->objects[lock].stray))
		return true;
	for (uint32_t other = 0; other < f->threads; other++) {
		if (!needs(f, thread, other))
			continue;
		known = true;
		if (op == RT_OP_JOIN ? !has_ended(f, other) && !f->goes[other] : !f->goes[other])
			return false;
	}
	return !known || may_be_given(f, thread);
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

/* Determines which threads may continue: the rest is the greatest set that cannot. */
static void find_goes(struct final *f)
{
	f->any = others_may_act(f->m);
	for (uint32_t t = 0; t < f->threads; t++) {
		f->goes[t] = f->m->threads[t].lost || (!has_ended(f, t) && block_of(f, t) == MODEL_NONE);
		f->any |= f->goes[t];
	}
	for (bool more = true; more;) {
		more = false;
		for (uint32_t t = 0; t < f->threads; t++)
			if (!f->goes[t] && block_of(f, t) != MODEL_NONE && !has_ended(f, t) && may_go(f, t))
				f->goes[t] = f->any = more = true;
	}
}

static bool is_stuck(const struct final *f, uint32_t thread)
{
	return !f->goes[thread] && !has_ended(f, thread) && block_of(f, thread) != MODEL_NONE;
}

/* The threads that each stuck thread waits for, without those that continue: they are not the cause. */
static bool find_needs(struct final *f)
{
	uint32_t count = 0, room = 0;
	for (uint32_t t = 0; t < f->threads; t++) {
		f->first[t] = count;
		for (uint32_t other = 0; other < f->threads && is_stuck(f, t); other++) {
			if (!is_stuck(f, other) || (!needs(f, t, other) && !needs_file(f, t, other)))
				continue;
			if (!vec_reserve(&f->needs, &room, (uint64_t)count + 1, sizeof *f->needs))
				return false;
			f->needs[count++] = other;
		}
	}
	f->first[f->threads] = count;
	return true;
}

/* Breadth-first search from a thread. from[]: the thread that led to each, + 1; the start itself only if it is in a
 * ring. Returns the number of threads in queue. */
static uint32_t walk(struct final *f, uint32_t thread)
{
	uint32_t count = 0;
	memset(f->from, 0, f->threads * sizeof *f->from);
	for (uint32_t next = 0, t = thread;; t = f->queue[next++]) {
		for (uint32_t i = f->first[t]; i < f->first[t + 1]; i++)
			if (!f->from[f->needs[i]]) {
				f->from[f->needs[i]] = t + 1;
				f->queue[count++] = f->needs[i];
			}
		if (next == count)
			return count;
	}
}

static uint32_t ring_length(struct final *f, uint32_t thread)
{
	uint32_t length = 1;
	walk(f, thread);
	if (!f->from[thread])
		return 0;
	for (uint32_t t = f->from[thread] - 1; t != thread; t = f->from[t] - 1)
		length++;
	return length;
}

/* A group with room for all threads that are in none yet. */
static struct stuck_group *add_group(struct final *f, struct stuck *out)
{
	if (!vec_reserve(&out->groups, &out->capacity, (uint64_t)out->count + 1, sizeof *out->groups))
		return NULL;
	struct stuck_group *g = &out->groups[out->count];
	*g = (struct stuck_group){.waits = malloc(((size_t)f->threads + 1) * sizeof *g->waits)};
	if (!g->waits)
		return NULL;
	out->count++;
	return g;
}

static void join_group(struct final *f, struct stuck *out, uint32_t index, uint32_t thread)
{
	struct stuck_group *g = &out->groups[index];
	g->waits[g->count++] = block_of(f, thread);
	f->group[thread] = index + 1;
}

/* The ring through the thread, its earliest event first. */
static bool add_ring(struct final *f, struct stuck *out, uint32_t thread)
{
	struct stuck_group *g = add_group(f, out);
	if (!g)
		return false;
	uint32_t length = f->length[thread];
	walk(f, thread);
	for (uint32_t i = length, t = thread; i-- > 0; t = f->from[t] - 1)
		f->queue[(i + 1) % length] = t;
	g->cycle = length;
	for (uint32_t i = 0; i < length; i++)
		join_group(f, out, out->count - 1, f->queue[i]);
	return true;
}

/* The group that the thread waits for, directly or indirectly; 0: none. */
static uint32_t group_ahead(struct final *f, uint32_t thread)
{
	uint32_t count = walk(f, thread);
	for (uint32_t i = 0; i < count; i++)
		if (f->group[f->queue[i]])
			return f->group[f->queue[i]];
	return 0;
}

/* The shortest, then earliest ring with no thread in a group, and no path to one; returns the thread that begins it. */
static uint32_t next_ring(struct final *f)
{
	uint32_t best = MODEL_NONE;
	for (uint32_t t = 0; t < f->threads; t++) {
		if (!f->length[t] || f->group[t] || group_ahead(f, t))
			continue;
		if (best == MODEL_NONE || f->length[t] < f->length[best] ||
		    (f->length[t] == f->length[best] && block_of(f, t) < block_of(f, best)))
			best = t;
	}
	return best;
}

static bool is_empty(const struct final *f)
{
	for (uint32_t t = 0; t < f->threads; t++)
		if (is_stuck(f, t))
			return false;
	return true;
}

static bool group_all(struct final *f, struct stuck *out)
{
	if (is_empty(f))
		return true;
	if (!find_needs(f))
		return false;
	for (uint32_t t = 0; t < f->threads; t++)
		f->length[t] = ring_length(f, t);
	for (uint32_t t; (t = next_ring(f)) != MODEL_NONE;)
		if (!add_ring(f, out, t))
			return false;
	uint32_t rings = out->count;
	for (uint32_t t = 0; t < f->threads; t++) {
		uint32_t ahead = f->group[t] || !is_stuck(f, t) ? 0 : group_ahead(f, t);
		if (ahead && ahead <= rings)
			join_group(f, out, ahead - 1, t);
	}
	/* The remaining threads wait for what no thread can provide: first those that wait for no thread, then those
	 * that wait for these. */
	for (int behind = 0; behind < 2; behind++)
		for (uint32_t t = 0; t < f->threads; t++) {
			if (f->group[t] || !is_stuck(f, t) || (!behind && f->first[t] != f->first[t + 1]))
				continue;
			if (out->count == rings && !add_group(f, out))
				return false;
			join_group(f, out, rings, t);
		}
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
	                  .length = calloc(room, sizeof *f.length),
	                  .group = calloc(room, sizeof *f.group),
	                  .queue = calloc(room, sizeof *f.queue),
	                  .from = calloc(room, sizeof *f.from)};
	bool ok = f.goes && f.first && f.length && f.group && f.queue && f.from;
	if (ok) {
		find_goes(&f);
		ok = group_all(&f, out);
	}
	free_all(f.goes, f.needs, f.first, f.length, f.group, f.queue, f.from);
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
