/* Slots: the part of the channel that a thread records into, from when its parent takes it until it has ended. */
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

static unsigned char fork_lock; /* so that numbers are in the order of FORK stamps */
static uint32_t adopted;        /* number of them; under fork_lock */

static struct rt_slot *slot_try(void)
{
	struct rt_channel *c = rt_channel;

	for (uint32_t i = 0; i < c->slot_count; i++) {
		struct rt_slot *s = rt_channel_slot(c, i);
		uint32_t expected = RT_SLOT_FREE;

		uint32_t used = atomic_load_explicit(&c->slots_used, memory_order_relaxed);

		if (atomic_load_explicit(&s->state, memory_order_relaxed) != RT_SLOT_FREE)
			continue;
		while (used <= i && !atomic_compare_exchange_weak(&c->slots_used, &used, i + 1))
			;
		if (atomic_compare_exchange_strong(&s->state, &expected, RT_SLOT_TAKEN))
			return s;
	}
	return NULL;
}

/* True if a slot is about to become free. */
static bool slot_expected(void)
{
	for (uint32_t i = 0; i < rt_channel->slot_count; i++)
		if (atomic_load_explicit(&rt_channel_slot(rt_channel, i)->state, memory_order_relaxed) != RT_SLOT_LIVE)
			return true;
	return false;
}

/* Makes the slot that was taken ready for a thread. False: there is no memory, and the slot is free again. */
static bool slot_prepare(struct rt_slot *s)
{
	if (!s->generation && !rt_private_open(s)) {
		atomic_store(&s->state, RT_SLOT_FREE);
		return false;
	}
	s->generation++;
	s->ring = rt_channel_ring(rt_channel, (uint32_t)(s - rt_channel_slot(rt_channel, 0)));
	if (rt_idle) {
		atomic_store(&s->session, 0);
		s->limit = NULL;
	} else {
		s->cur = s->limit = s->ring;
	}
	s->skipped = 0;
	s->last_stamp = 0;
	s->turned = 0;
	s->filter = rt_private_of(s)->large_open ? rt_large_filter(s) : rt_private_of(s)->filter;
	s->label[0] = 0;
	atomic_store(&s->published, 0);
	atomic_store(&s->consumed, 0);
	atomic_store(&s->waiting, 0);
	rt_private_of(s)->slot = s;
	rt_private_of(s)->children = rt_private_of(s)->tasks = 0;
	rt_private_of(s)->epoch_blocks = 0;
	rt_private_of(s)->pending.size = 0;
	s->filter_epoch = rt_private_of(s)->epoch; /* the table still holds what the slot's last thread saw */
	rt_new_epoch(s);
	return true;
}

struct rt_slot *rt_slot_take(void)
{
	struct rt_slot *s = slot_try();
	static uint32_t said;
	/* A thread may be about to end. Once that has been waited for in vain, not so long: each new thread would be.
	 */
	unsigned patience = __atomic_load_n(&said, __ATOMIC_RELAXED) ? 2 : 100;

	for (unsigned tries = 1; !s; tries++) {
		if (atomic_load(&rt_channel->collector_gone) || (tries % 100 == 0 && !rt_collector_alive()))
			return NULL;
		if ((tries > patience && !slot_expected()) || rt_is_idle(rt_channel)) {
			if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
				rt_say(rt_idle ? "racetrace: too many threads at once: some cannot be recorded"
				               : "racetrace: too many threads at once: some run unrecorded, see "
				                 "record --threads");
			return NULL;
		}
		rt_ring_bell();
		rt_pause_us(1000);
		s = slot_try();
	}
	if (!slot_prepare(s)) {
		if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
			rt_say("racetrace: no memory to record another thread; some run unrecorded");
		return NULL;
	}
	return s;
}

struct rt_slot *rt_slot_take_free(void)
{
	struct rt_slot *s = slot_try();

	return s && slot_prepare(s) ? s : NULL;
}

void rt_slot_open(struct rt_slot *s)
{
	if (RT_UNLIKELY(rt_idle)) {
		rt_idle_open(s);
		return;
	}
	*s->ring = rt_record_ext(rt_plain_stamp(s), 0);
	s->limit = s->ring + (rt_stepwise ? 1 : RT_BLOCK_RECORDS);
	__atomic_store_n(&s->cur, s->ring + 1, __ATOMIC_RELEASE);
}

void rt_slot_end(struct rt_slot *s)
{
	rt_private_of(s)->epoch = s->filter_epoch;
	if (RT_UNLIKELY(rt_idle) && !s->limit) { /* what it has recorded is not drained yet, if it has */
		atomic_store(&s->state, atomic_load(&s->session) ? RT_SLOT_ENDED : RT_SLOT_FREE);
		return;
	}
	rt_publish(s);
	s->limit = rt_idle ? NULL : s->cur;
	atomic_store(&s->state, RT_SLOT_ENDED);
	rt_ring_bell();
}

void rt_slot_label(struct rt_slot *s, const char *name)
{
	for (unsigned i = 0; i < sizeof s->label - 1 && (s->label[i] = name[i]) != 0; i++)
		;
}

uint32_t rt_slot_announce(struct rt_slot *s, uint32_t number, uintptr_t pc)
{
	rt_busy_begin();
	rt_reserve(rt_self, 2);
	while (__atomic_exchange_n(&fork_lock, 1, __ATOMIC_ACQUIRE))
		RT_PAUSE();
	s->thread = atomic_fetch_add(&rt_channel->thread_count, 1);
	s->parent = rt_self->thread;
	s->child_number = !rt_recording() ? RT_CHILD_ADOPTED + ++adopted
	                  : number        ? number
	                                  : ++rt_private_of(rt_self)->children;
	rt_vary_name(rt_private_of(s), rt_recording() ? rt_private_of(rt_self)->name : 0, s->child_number);
	atomic_store(&s->state, RT_SLOT_LIVE);
	rt_emit_sync(RT_OP_FORK, s->thread, 0, pc, 0);
	__atomic_store_n(&fork_lock, 0, __ATOMIC_RELEASE);
	rt_busy_end();
	return s->thread;
}

static void slots_forked(void)
{
	fork_lock = 0;
	adopted = 0;
}
RT_CALL_AT(RT_AT_CHILD, slots_forked);
