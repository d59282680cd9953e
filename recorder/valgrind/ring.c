/*
 * Appending to a thread's ring from outside of the program: the protocol of recorder/channel.h, in the tool.
 *
 * One thread of the program runs at a time, and none of them is in the middle of an append of the recorder's own. Its
 * code is not watched, and it delays the handlers of signals meanwhile. So the tool appends as the thread would do.
 *
 * Stamps count turns and synchronisation operations, not time: a thread whose turn begins has a new run of records,
 * which is behind all that came before. So the order of the trace is the order of execution.
 */
#include "recorder/valgrind/ring.h"

#include "recorder/runtime/filter.h"
#include "recorder/valgrind/kernel.h"

#include <linux/futex.h>

static void ring_bell(struct rt_channel *c)
{
	if (!atomic_load(&c->sleeping))
		return;
	atomic_fetch_add(&c->bell, 1);
	kernel_call(SYS_futex, (long)&c->bell, FUTEX_WAKE, 1, 0);
}

static uint64_t pending(const struct rt_slot *s)
{
	return atomic_load(&s->published) - atomic_load(&s->consumed);
}

/* Waits until there is room for a block. False: the collector is gone: its heart, which beats twice a second, is
 * silent. */
static bool wait_for_room(const struct guest *g, struct rt_slot *s, uint64_t blocks)
{
	enum { SILENT_MS = 10000 };
	uint32_t beat = atomic_load(&(*g->tree)->beat);
	for (unsigned silent = 0; pending(s) >= blocks; silent++) {
		uint32_t now = atomic_load(&(*g->tree)->beat);
		silent = now == beat ? silent : 0;
		beat = now;
		if (silent >= SILENT_MS || atomic_load(&(*g->channel)->collector_gone))
			return false;
		ring_bell(*g->channel);
		kernel_call(SYS_poll, 0, 0, 1, 0);
	}
	return true;
}

static void commit(struct rt_slot *s, unsigned n)
{
	s->cur += n;
	s->limit = s->cur; /* the recorder's own appends take the slow way, which looks at `turned` */
	s->skipped = 0;
}

static bool next_block(const struct guest *g, struct rt_slot *s)
{
	struct rt_channel *c = *g->channel;
	uint64_t blocks = c->ring_records / RT_BLOCK_RECORDS, published = atomic_load(&s->published) + 1;
	struct rt_record *end = rt_slot_block_end(s), *base = s->ring + published % blocks * RT_BLOCK_RECORDS;
	uint64_t skipped = s->skipped;
	for (struct rt_record *p = s->cur; p < end; p++)
		p->w0 = 0;
	__atomic_store_n(&s->cur, end, __ATOMIC_RELEASE);
	atomic_store(&s->published, published);
	if (pending(s) >= blocks / 2)
		ring_bell(c);
	if (pending(s) >= blocks && !wait_for_room(g, s, blocks)) {
		atomic_store(&c->collector_gone, 1);
		s->cur = s->limit = NULL;
		return false;
	}
	*base = rt_record_ext(s->last_stamp, 0);
	s->cur = base;
	commit(s, 1);
	s->skipped = skipped;
	return true;
}

static void new_stamp(struct rt_channel *c, struct rt_slot *s)
{
	s->last_stamp = atomic_fetch_add(&c->clock, 1) + 1;
}

/* Room for n records in the block, in a run of this turn. */
static bool make_room(const struct guest *g, struct rt_slot *s, unsigned n)
{
	n += (unsigned)(s->turned != 0) + (unsigned)(s->skipped > RT_RECORD_SKIP_MAX);
	if (rt_slot_block_end(s) - s->cur < (ptrdiff_t)n && !next_block(g, s))
		return false;
	if (s->skipped > RT_RECORD_SKIP_MAX) {
		*s->cur = rt_record_make(RT_OP_SKIP, s->skipped, 0, 0, 0);
		commit(s, 1);
	}
	if (s->turned) {
		uint64_t skipped = s->skipped;
		s->turned = 0;
		new_stamp(*g->channel, s);
		*s->cur = rt_record_ext(s->last_stamp, 0);
		commit(s, 1);
		s->skipped = skipped;
	}
	return true;
}

static unsigned put_event(struct rt_record *to, const struct rt_slot *s, uint64_t w0, uint64_t w1,
                          const uint64_t *value)
{
	unsigned n = 0;
	if (value) {
		to[n++] = (struct rt_record){(uint64_t)RT_OP_VALUE << 48, *value};
		w1 |= (uint64_t)RT_F_VALUE << 56;
	}
	to[n++] = (struct rt_record){w0 | s->skipped << 56, w1};
	return n;
}

void ring_plain(struct guest *g, struct rt_slot *s, uint64_t w0, uint64_t w1, const uint64_t *value)
{
	if (make_room(g, s, 2))
		commit(s, put_event(s->cur, s, w0, w1, value));
}

/* The filter that the recorder's own appends go through is small where a tool watches. */
static void new_epoch(struct rt_slot *s)
{
	s->filter_epoch += RT_FILTER_EPOCH;
	for (unsigned i = 0; !s->filter_epoch && i < RT_FILTER_SMALL; i++)
		s->filter[i].k0 = 0;
}

void ring_sync(struct guest *g, struct rt_slot *s, uint64_t w0, uint64_t w1, const uint64_t *value)
{
	new_epoch(s);
	if (!make_room(g, s, 3))
		return;
	new_stamp(*g->channel, s);
	s->cur[0] = rt_record_ext(s->last_stamp, 0);
	commit(s, 1 + put_event(s->cur + 1, s, w0, w1, value));
}

void ring_range(struct guest *g, struct rt_slot *s, unsigned op, uint64_t from, uint64_t size, uint64_t pc)
{
	if (!make_room(g, s, 2))
		return;
	s->cur[0] = rt_record_ext(s->last_stamp, size);
	s->cur[1] = rt_record_make(op, from, pc, rt_record_aux(0, 0, RT_F_PLAIN), (unsigned)s->skipped);
	commit(s, 2);
}
