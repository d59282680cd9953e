/*
 * Plain accesses. One that this thread has made twice already (same address, size, kind and pc) since its last
 * synchronisation is left out and counted.
 */
#ifndef RECORDER_RUNTIME_PLAIN_H
#define RECORDER_RUNTIME_PLAIN_H

#include "recorder/runtime/core.h"
#include "recorder/runtime/turn.h"

/* True if this thread has seen (k0, k1) twice in this epoch. Remembers that it has seen it once more. */
static inline bool rt_repeats(struct rt_slot *s, uint64_t w0, uint64_t k1)
{
	uint64_t k0 = w0 + s->filter_epoch;
	/* Neighbours stay neighbours (in the cache); arrays of bytes spread over either size of table, and columns too.
	 */
	uint64_t hash = (w0 >> 3) ^ (w0 >> 13) ^ (w0 & 7) * (1 << 9 | 1 << 14) ^ k1;
	struct rt_filter *f = s->filter + (hash & s->filter_mask);

	if (f->k1 == k1) {
		if (f->k0 == k0 + RT_FILTER_TWICE)
			return true;
		if (f->k0 == k0) {
			f->k0 = k0 + RT_FILTER_TWICE;
			return false;
		}
	}
	f->k0 = k0;
	f->k1 = k1;
	return false;
}

/* True of an idle program's slot while nobody records: there is nothing to do. */
static inline bool rt_is_silent(const struct rt_slot *s)
{
	return RT_UNLIKELY(!s->limit) && s->ring && !atomic_load_explicit(rt_session, memory_order_relaxed);
}

/* One instruction, so that a handler comes before or after it. */
static inline void rt_count_repeat(struct rt_slot *s)
{
	__asm__("incq %0" : "+m"(s->skipped) : : "cc");
}

static inline __attribute__((always_inline)) void rt_plain_access(unsigned op, const volatile void *addr, uintptr_t pc,
                                                                  unsigned aux)
{
	if (RT_CONTROLLED && RT_UNLIKELY(--rt_thread.patience < 0 || rt_interest[RT_INTEREST_PLACE(pc)]))
		rt_turn_access(op, (uintptr_t)addr, aux & 31, pc, aux >> 8);
	struct rt_slot *s = rt_self;
	uint64_t w0 = (uintptr_t)addr | (uint64_t)op << 48;
	uint64_t w1 = pc | (uint64_t)aux << 48;

	if (rt_is_silent(s))
		return;
	if (RT_UNLIKELY(!s->limit))
		rt_append_slow(w0, w1, s);
	else if (rt_repeats(s, w0, w1))
		rt_count_repeat(s);
	else
		rt_append(w0, w1, s);
}

#endif
