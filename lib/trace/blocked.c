/*
 * What each thread waits for when the trace ends: its last BLOCK that no event has ended. Only these BLOCK events are
 * kept: any other orders nothing, and the events after it say as much.
 *
 * A signal handler may run while its thread waits, and wait itself, so a thread's waits are a stack. A wait ends with
 * its operation, with UNBLOCK, and with any event that leaves the call: a jump or the thread's end.
 */
#include "lib/base/vec.h"
#include "lib/trace/loader.h"

/* True if the event is the operation that the wait was for. */
static bool ends(const struct blocked *b, const struct rt_event *e)
{
	unsigned op = e->op == RT_OP_UNBLOCK ? (unsigned)e->arg : e->op == RT_OP_ONCE_BEGIN ? RT_OP_ONCE_SEEN : e->op;
	return b->op == op && b->addr == e->addr;
}

static void push(struct loader *l, struct loader_thread *t, const struct rt_event *e)
{
	if (!vec_reserve(&t->blocked, &t->blocked_capacity, (uint64_t)t->blocked_count + 1, sizeof *t->blocked)) {
		l->failed = true;
		return;
	}
	t->blocked[t->blocked_count++] = (struct blocked){e->addr, e->number, e->arg < 256 ? (uint8_t)e->arg : 0};
}

/* A writer has given up: readers that waited for it may have continued without an event. */
static void writer_left(struct loader *l, uint64_t lock)
{
	for (uint32_t i = 0; i < l->thread_count; i++) {
		struct loader_thread *t = &l->threads[i];
		struct blocked *b = t->blocked_count ? &t->blocked[t->blocked_count - 1] : NULL;
		if (b && b->op == RT_OP_ACQUIRE_SHARED && b->addr == lock)
			t->blocked_count--;
	}
}

void blocked_event(struct loader *l, const struct rt_event *e)
{
	struct loader_thread *t = &l->threads[e->thread];
	switch (e->op) {
	case RT_OP_BLOCK:
		push(l, t, e);
		return;
	case RT_OP_END:
		t->ended = true;
		t->blocked_count = 0;
		return;
	case RT_OP_LONGJMP:
		t->blocked_count = 0;
		return;
	case RT_OP_LOST:
		t->lost |= e->addr != RT_LOST_THREAD && e->addr != RT_LOST_UNSEEN && e->addr != RT_LOST_START &&
		           e->addr != RT_LOST_ORDER;
		return;
	case RT_OP_UNBLOCK:
		if (e->arg == RT_OP_ACQUIRE)
			writer_left(l, e->addr);
		break;
	default:
		break;
	}
	for (uint32_t i = t->blocked_count; i-- > 0;)
		if (ends(&t->blocked[i], e)) {
			t->blocked_count = i;
			return;
		}
}

bool blocked_keep(struct loader *l)
{
	l->ends = calloc((size_t)l->thread_count + 1, sizeof *l->ends);
	if (!l->ends)
		return false;
	l->end_count = l->thread_count;
	for (uint32_t i = 0; i < l->thread_count; i++) {
		const struct loader_thread *t = &l->threads[i];
		l->ends[i] = (struct thread_end){t->blocked_count ? t->blocked[t->blocked_count - 1].number : 0,
		                                 t->ended, t->lost, t->accesses_local};
	}
	return true;
}

bool blocked_is_last(const struct loader *l, const struct rt_event *e)
{
	return e->thread < l->end_count && l->ends[e->thread].block == e->number;
}
