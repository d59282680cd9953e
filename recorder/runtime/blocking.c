/* Calls that may block; see blocking.h. */
#include "recorder/runtime/blocking.h"

#include "recorder/runtime/core.h"

void rt_blocking_begin(struct rt_blocking *b)
{
	b->begun = true;
	rt_emit_sync(RT_OP_BLOCK, b->object, b->op, b->pc, b->flags);
}

void rt_blocking_end(struct rt_blocking *b)
{
	int saved = errno;
	if (!b->given || (b->op == RT_OP_JOIN && b->object == RT_BLOCKING_UNKNOWN)) /* then there is no JOIN */
		rt_emit_sync(RT_OP_UNBLOCK, b->object, b->op, b->pc, b->timeout ? RT_F_TIMEOUT : 0u);
	if (!b->given && !b->returned)
		rt_cancel_seen(b->pc);
	errno = saved;
}

#if RT_CONTROLLED
bool rt_blocking_turns(struct rt_blocking *b, struct rt_until until)
{
	enum { SECOND_NS = 1000000000 };
	int saved = errno;
	bool again = false;
	if (until.time && (until.time->tv_nsec < 0 || until.time->tv_nsec >= SECOND_NS)) /* the call fails */
		return false;
	if (!b->begun)
		rt_blocking_begin(b);
	/* Of these, the C library's semaphores and joins are cancellation points. */
	bool cancelable = b->op == RT_OP_SEM_WAIT || b->op == RT_OP_JOIN;
	if (b->shared)
		rt_turn_shares();
	switch (rt_turn_block(b->op, rt_place(b->object), until, cancelable)) {
	case RT_TURN_AGAIN:
		again = true;
		break;
	case RT_TURN_CANCELED:
		rt_testcancel(b->pc);
		again = true;
		break;
	case RT_TURN_TIMEOUT:
		b->timeout = true;
		break;
	case RT_TURN_FREE:
		break;
	}
	errno = saved;
	return again;
}

void rt_blocking_left(struct rt_blocking *b)
{
	if (b->begun)
		rt_blocking_end(b);
}
#endif

/* The last one of this thread, and where its record ends. */
static __thread struct {
	uintptr_t object, pc;
	const struct rt_record *end;
	uint32_t session; /* of the slot */
} last_try;

void rt_try_failed(unsigned op, const volatile void *object, uintptr_t pc)
{
	struct rt_slot *s = rt_self;
	if (!s->limit)
		return;
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_saw((uintptr_t)object, op, pc);
	if (last_try.object == (uintptr_t)object && last_try.pc == pc && last_try.end == s->cur &&
	    last_try.session == atomic_load(&s->session)) {
		__atomic_fetch_add(&s->skipped, 1, __ATOMIC_RELAXED);
		return;
	}
	struct rt_record event = rt_record_make(RT_OP_TRY_FAILED, (uintptr_t)object, pc, 0, 0);
	/* No later time comes in between: neither a handler's events nor the begin of a block. */
	rt_busy_begin();
	rt_reserve(s, 2);
	struct rt_record ext = rt_record_ext(rt_plain_stamp(s), op);
	rt_append2(event.w0, event.w1, s, ext.w0, ext.w1);
	last_try.object = (uintptr_t)object;
	last_try.pc = pc;
	last_try.end = s->cur;
	last_try.session = atomic_load(&s->session);
	rt_busy_end();
}
