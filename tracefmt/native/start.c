/* What is known where a trace begins in the middle of a run; see start.h. */
#include "tracefmt/native/start.h"

#include "lib/base/hash.h"
#include "lib/base/vec.h"

/* Most locks, calls and so on of a thread, and annotations; FREE events without their ALLOC; stray releases. More are
 * not kept. */
enum { LEVELS_MAX = 65536, EARLY_MAX = 4096, STRAYS_MAX = 4096 };

struct rt_blocks {
	uint64_t address;
	struct rt_kept alloc;
	UT_hash_handle hh;
};

bool rt_kept_add(struct rt_kept_list *l, const struct rt_kept *events, size_t n)
{
	if (!vec_reserve(&l->items, &l->capacity, l->count + n, sizeof *l->items))
		return false;
	if (n)
		memcpy(&l->items[l->count], events, n * sizeof *events);
	l->count += n;
	return true;
}

static bool push(struct rt_kept_list *l, struct rt_kept event)
{
	return rt_kept_add(l, &event, 1);
}

static void take_out(struct rt_kept_list *l, size_t i)
{
	memmove(&l->items[i], &l->items[i + 1], (--l->count - i) * sizeof *l->items);
}

/* The oldest events of a full list are dropped, a sixteenth at once: each costs one move of what is left. */
static bool push_newest(struct rt_kept_list *l, size_t most, struct rt_kept event)
{
	size_t old = most / 16;
	if (l->count >= most) {
		l->count -= old;
		memmove(l->items, l->items + old, l->count * sizeof *l->items);
	}
	return push(l, event);
}

void rt_kept_release(struct rt_kept_list *l)
{
	free(l->items);
	*l = (struct rt_kept_list){0};
}

void rt_thread_state_release(struct rt_thread_state *s)
{
	rt_kept_release(&s->held);
	rt_kept_release(&s->calls);
	rt_kept_release(&s->others);
}

void rt_thread_state_trim(struct rt_thread_state *s)
{
	struct rt_kept_list *const lists[] = {&s->held, &s->calls, &s->others};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (!lists[i]->count)
			rt_kept_release(lists[i]);
}

void rt_shared_state_release(struct rt_shared_state *s)
{
	struct rt_blocks *b, *next;
	HASH_ITER(hh, s->blocks, b, next)
	{
		HASH_DEL(s->blocks, b);
		free(b);
	}
	rt_kept_release(&s->freed);
	rt_kept_release(&s->early);
	rt_kept_release(&s->strays);
	rt_kept_release(&s->benign);
}

static unsigned op_of(const struct rt_kept *e)
{
	return rt_record_op(e->event);
}

static uint64_t object_of(const struct rt_kept *e)
{
	return rt_record_operand(e->event);
}

bool rt_start_needs(unsigned op)
{
	switch ((enum rt_op)op) {
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
	case RT_OP_RELEASE:
	case RT_OP_WAIT_BEGIN:
	case RT_OP_WAIT_END:
	case RT_OP_BARRIER_LEAVE:
	case RT_OP_SEM_WAIT:
	case RT_OP_ONCE_BEGIN:
	case RT_OP_ONCE_SEEN:
	case RT_OP_JOIN:
	case RT_OP_BEGIN:
	case RT_OP_END:
	case RT_OP_TLS:
	case RT_OP_ALLOC:
	case RT_OP_FREE:
	case RT_OP_ENTER:
	case RT_OP_LEAVE:
	case RT_OP_SETJMP:
	case RT_OP_LONGJMP:
	case RT_OP_REGION_BEGIN:
	case RT_OP_REGION_END:
	case RT_OP_IGNORE_BEGIN:
	case RT_OP_IGNORE_END:
	case RT_OP_BENIGN:
	case RT_OP_ALIAS:
	case RT_OP_LOST:
	case RT_OP_BLOCK:
	case RT_OP_UNBLOCK:
		return true;
	RT_CASES_ACCESS:
	case RT_OP_FENCE:
	case RT_OP_SIGNAL:
	case RT_OP_BROADCAST:
	case RT_OP_BARRIER_ARRIVE:
	case RT_OP_SEM_INIT:
	case RT_OP_SEM_POST:
	case RT_OP_ONCE_END:
	case RT_OP_FORK:
	case RT_OP_DETACH:
	case RT_OP_MAP:
	case RT_OP_UNMAP:
	case RT_OP_MODULE_LOAD:
	case RT_OP_MODULE_UNLOAD:
	case RT_OP_HB_BEFORE:
	case RT_OP_HB_AFTER:
	case RT_OP_NEW_MEMORY:
	case RT_OP_FAULT:
	case RT_OP_TRY_FAILED:
	case RT_OP_SHARED:
	/* No events of their own. */
	RT_CASES_RECORD:
		return false;
	}
	return false;
}

/* ---- Locks ---- */

/* The last hold of the lock; held.count: none. */
static size_t find_hold(const struct rt_thread_state *s, uint64_t lock)
{
	size_t i = s->held.count;
	while (i > 0 && object_of(&s->held.items[i - 1]) != lock)
		i--;
	return i > 0 ? i - 1 : s->held.count;
}

/* A recursive lock's inner levels are no events, so an exclusive hold that is there was handed over to another thread.
 */
static bool hold(struct rt_thread_state *s, struct rt_shared_state *all, struct rt_kept event)
{
	size_t old = find_hold(s, object_of(&event));
	if (op_of(&event) == RT_OP_ACQUIRE && old < s->held.count)
		take_out(&s->held, old);
	all->unsure |= s->held.count >= LEVELS_MAX;
	return s->held.count >= LEVELS_MAX || push(&s->held, event);
}

/* Of the strays of one lock between two stamps from which a trace may begin, the last one is enough. */
static bool stray(struct rt_shared_state *all, struct rt_kept event)
{
	struct rt_kept_list *l = &all->strays;
	for (size_t i = l->count; i-- > 0;)
		if (object_of(&l->items[i]) == object_of(&event) && l->items[i].stamp >= all->newest &&
		    event.stamp >= all->newest) {
			if (event.stamp > l->items[i].stamp)
				l->items[i] = event;
			return true;
		}
	all->unsure |= l->count >= STRAYS_MAX;
	return l->count >= STRAYS_MAX || push(l, event);
}

static bool release(struct rt_thread_state *s, struct rt_shared_state *all, struct rt_kept event, uint64_t lock)
{
	size_t i = find_hold(s, lock);
	if (i < s->held.count) {
		take_out(&s->held, i);
		return true;
	}
	return op_of(&event) != RT_OP_RELEASE || stray(all, event);
}

/* ---- Blocks ---- */

static bool allocated(struct rt_shared_state *all, struct rt_kept event)
{
	uint64_t address = object_of(&event);
	struct rt_blocks *b;
	for (size_t i = 0; i < all->early.count; i++)
		if (object_of(&all->early.items[i]) == address && all->early.items[i].stamp > event.stamp) {
			take_out(&all->early, i);
			return true;
		}
	HASH_FIND(hh, all->blocks, &address, sizeof address, b);
	if (b) {
		if (event.stamp >= b->alloc.stamp)
			b->alloc = event;
		return true;
	}
	b = calloc(1, sizeof *b);
	if (!b)
		return false;
	b->address = address;
	b->alloc = event;
	HASH_ADD(hh, all->blocks, address, sizeof b->address, b);
	if (HASH_ADDED(b))
		return true;
	free(b);
	return false;
}

static bool freed(struct rt_shared_state *all, struct rt_kept event)
{
	uint64_t address = object_of(&event);
	struct rt_blocks *b;
	HASH_FIND(hh, all->blocks, &address, sizeof address, b);
	if (b && event.stamp < b->alloc.stamp)
		return true;
	if (!b)
		return push_newest(&all->early, EARLY_MAX, event);
	struct rt_kept alloc = b->alloc;
	HASH_DEL(all->blocks, b);
	free(b);
	alloc.place = event.stamp; /* in a list of freed blocks: the end of its life */
	return alloc.stamp >= all->newest || push(&all->freed, alloc);
}

/* ---- Events ---- */

static bool call(struct rt_thread_state *s, const struct rt_kept *event)
{
	struct rt_kept_list *l = &s->calls;
	size_t n = l->count;
	switch (op_of(event)) {
	case RT_OP_LEAVE:
		while (n > 0 && op_of(&l->items[n - 1]) == RT_OP_SETJMP)
			n--;
		l->count = n > 0 ? n - 1 : 0;
		return true;
	case RT_OP_LONGJMP:
		while (n > 0 &&
		       (op_of(&l->items[n - 1]) != RT_OP_SETJMP || object_of(&l->items[n - 1]) != object_of(event)))
			n--;
		l->count = n > 0 ? n : l->count; /* to where it is not known: a reader does not know either */
		return true;
	case RT_OP_SETJMP:
		for (size_t i = n; i > 0 && op_of(&l->items[i - 1]) == RT_OP_SETJMP; i--)
			if (object_of(&l->items[i - 1]) == object_of(event))
				return true;
		break;
	default:
		break;
	}
	return n >= LEVELS_MAX || push(l, *event);
}

/* The end of what the last such event began. */
static void close_last(struct rt_kept_list *l, unsigned op, uint64_t arg)
{
	for (size_t i = l->count; i-- > 0;)
		if (op_of(&l->items[i]) == op && (op != RT_OP_IGNORE_BEGIN || l->items[i].arg == arg)) {
			take_out(l, i);
			return;
		}
}

/* Losses of one kind are one event with the sum of their numbers. Whether a number is known is part of the kind. */
static bool lose(struct rt_kept_list *l, struct rt_kept event)
{
	for (size_t i = 0; i < l->count; i++)
		if (op_of(&l->items[i]) == RT_OP_LOST && object_of(&l->items[i]) == object_of(&event) &&
		    !l->items[i].arg == !event.arg) {
			l->items[i].arg += object_of(&event) == RT_LOST_THREAD ? 0 : event.arg;
			return true;
		}
	return push(l, event);
}

/* Operations that end a wait of the thread: by what it waited for, or without it. */
static bool ends_wait(unsigned op)
{
	return rt_op_has(op, RT_WAITS) || op == RT_OP_ONCE_BEGIN || op == RT_OP_UNBLOCK || op == RT_OP_END;
}

bool rt_start_add(struct rt_thread_state *s, struct rt_shared_state *all, struct rt_kept event)
{
	unsigned op = op_of(&event);
	event.place = s->places++;
	if (ends_wait(op))
		s->block = (struct rt_kept){0};
	switch (op) {
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
		return s->ignored || hold(s, all, event);
	case RT_OP_WAIT_END:
		event.event = rt_record_make(RT_OP_ACQUIRE, event.arg, rt_record_pc(event.event), 0, 0);
		event.arg = 0;
		return s->ignored || !object_of(&event) || hold(s, all, event);
	case RT_OP_RELEASE:
		return s->ignored || release(s, all, event, object_of(&event));
	case RT_OP_WAIT_BEGIN:
		return s->ignored || release(s, all, event, event.arg);
	case RT_OP_BEGIN:
		s->begin = event;
		return true;
	case RT_OP_TLS:
		s->tls = event;
		return true;
	case RT_OP_END:
		s->end = event;
		s->calls.count = 0;
		return true;
	case RT_OP_BLOCK:
		s->block = event;
		return true;
	case RT_OP_ALLOC:
		return allocated(all, event);
	case RT_OP_FREE:
		return freed(all, event);
	case RT_OP_ENTER:
	case RT_OP_LEAVE:
	case RT_OP_SETJMP:
	case RT_OP_LONGJMP:
		return call(s, &event);
	case RT_OP_IGNORE_BEGIN:
		s->ignored += event.arg >> 2 & 1;
		return s->others.count >= LEVELS_MAX || push(&s->others, event);
	case RT_OP_IGNORE_END:
		s->ignored -= s->ignored ? event.arg >> 2 & 1 : 0;
		close_last(&s->others, RT_OP_IGNORE_BEGIN, event.arg);
		return true;
	case RT_OP_REGION_BEGIN:
		return s->others.count >= LEVELS_MAX || push(&s->others, event);
	case RT_OP_REGION_END:
		close_last(&s->others, RT_OP_REGION_BEGIN, 0);
		return true;
	case RT_OP_LOST:
		return lose(&s->others, event);
	case RT_OP_BENIGN:
	case RT_OP_ALIAS:
		return push_newest(&all->benign, LEVELS_MAX, event);
	default:
		return true;
	}
}

/* ---- Lists ---- */

static int by_place(const void *a, const void *b)
{
	const struct rt_kept *x = a, *y = b;
	return (x->place > y->place) - (x->place < y->place);
}

static bool push_all(struct rt_kept_list *out, const struct rt_kept_list *l)
{
	return rt_kept_add(out, l->items, l->count);
}

bool rt_start_is_over(const struct rt_thread_state *s)
{
	return op_of(&s->end) == RT_OP_END && !s->held.count && !s->others.count;
}

bool rt_start_of_thread(const struct rt_thread_state *s, struct rt_kept_list *out)
{
	const struct rt_kept *single[] = {&s->begin, &s->tls, &s->block, &s->end};
	size_t first = out->count;
	/* A thread that has ended and left nothing is of no interest: a server may have had thousands. */
	if (rt_start_is_over(s))
		return true;
	bool ok = push_all(out, &s->held) && push_all(out, &s->calls) && push_all(out, &s->others);
	for (size_t i = 0; i < sizeof single / sizeof *single && ok; i++)
		if (op_of(single[i]) != RT_OP_NONE)
			ok = push(out, *single[i]);
	if (ok && out->count > first)
		qsort(out->items + first, out->count - first, sizeof *out->items, by_place);
	return ok;
}

static bool push_strays(const struct rt_shared_state *s, uint64_t stamp, struct rt_kept_list *out)
{
	const struct rt_kept_list *l = &s->strays;
	for (size_t i = 0; i < l->count; i++)
		if (l->items[i].stamp < stamp && !push(out, l->items[i]))
			return false;
	return true;
}

bool rt_start_of_all(const struct rt_shared_state *s, uint64_t stamp, struct rt_kept_list *out)
{
	bool ok = true;
	for (const struct rt_blocks *b = s->blocks; b && ok; b = b->hh.next)
		if (b->alloc.stamp < stamp)
			ok = push(out, b->alloc);
	for (size_t i = 0; i < s->freed.count && ok; i++)
		if (s->freed.items[i].stamp < stamp && s->freed.items[i].place >= stamp)
			ok = push(out, s->freed.items[i]);
	for (size_t i = 0; i < s->benign.count && ok; i++)
		if (s->benign.items[i].stamp < stamp)
			ok = push(out, s->benign.items[i]);
	return ok && push_strays(s, stamp, out);
}

static int by_object(const void *a, const void *b)
{
	uint64_t x = object_of(a), y = object_of(b);
	const struct rt_kept *p = a, *q = b;
	return x != y ? (x > y) - (x < y) : (p->stamp > q->stamp) - (p->stamp < q->stamp);
}

/* Of older strays the last one of each lock is enough. */
static void forget_strays(struct rt_kept_list *l, uint64_t stamp)
{
	size_t kept = 0;
	if (l->count)
		qsort(l->items, l->count, sizeof *l->items, by_object);
	for (size_t i = 0; i < l->count; i++)
		if (i + 1 == l->count || l->items[i + 1].stamp >= stamp ||
		    object_of(&l->items[i + 1]) != object_of(&l->items[i]))
			l->items[kept++] = l->items[i];
	l->count = kept;
}

void rt_start_forget(struct rt_shared_state *s, uint64_t stamp)
{
	size_t kept = 0;
	for (size_t i = 0; i < s->freed.count; i++)
		if (s->freed.items[i].place >= stamp)
			s->freed.items[kept++] = s->freed.items[i];
	s->freed.count = kept;
	forget_strays(&s->strays, stamp);
}
