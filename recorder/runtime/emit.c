/*
 * Emitting events: the interface of recorder.h, and the slow ways of append.S: the end of a block, waiting for room,
 * and dropping what cannot be recorded.
 */
#include "recorder/runtime/plain.h"
#include "recorder/runtime/turn.h"

_Static_assert(offsetof(struct rt_slot, cur) == 0 && offsetof(struct rt_slot, limit) == 8 &&
                   offsetof(struct rt_slot, skipped) == 16 && offsetof(struct rt_slot, last_stamp) == 48,
               "append.S knows these");

static struct rt_filter dead_filter[RT_FILTER_SMALL];
struct rt_slot rt_dead = {.filter = dead_filter, .filter_mask = RT_FILTER_SMALL - 1};
__thread struct rt_slot *rt_self = &rt_dead;
__thread struct rt_thread rt_thread;

bool rt_recording(void)
{
	return rt_self->limit != NULL || (RT_UNLIKELY(rt_idle) && rt_self != &rt_dead);
}

bool rt_appending(void)
{
	return rt_self->limit != NULL || (RT_UNLIKELY(rt_idle) && rt_idle_join(rt_self));
}

void rt_stop_recording(void)
{
	rt_self = &rt_dead;
	rt_thread.own = NULL;
	rt_thread.aside = NULL;
}

void rt_filter_clear(struct rt_slot *slot)
{
	for (unsigned i = 0; i < RT_FILTER_SMALL; i++)
		*(volatile uint64_t *)&slot->filter[i].k0 = 0;
	if (slot->limit && rt_private_of(slot)->large_used) {
		rt_private_of(slot)->large_used = false;
		for (unsigned i = RT_FILTER_SMALL; i < RT_FILTER_LARGE; i++)
			*(volatile uint64_t *)&slot->filter[i].k0 = 0;
	}
}

/* Called once for each block. A function of the thread's own history only. */
static void grow_filter(struct rt_slot *s)
{
	struct rt_private *b = rt_private_of(s);

	if (rt_values) {
		rt_value_grow(b);
	} else if (rt_watched) {
		return;
	} else if (b->epoch != s->filter_epoch) {
		b->epoch = s->filter_epoch;
		b->epoch_blocks = 0;
	} else if (++b->epoch_blocks == RT_FILTER_PATIENCE) {
		struct rt_filter *large = b->large_open ? s->filter : rt_large_filter(s);

		if (!large)
			return;
		s->filter = large;
		b->large_open = true;
		s->filter_mask = RT_FILTER_LARGE - 1;
		b->large_used = true;
	}
}

static void collector_gone(struct rt_slot *s)
{
	if (rt_idle) {
		rt_idle_left(s);
		return;
	}
	s->cur = s->limit = NULL; /* marks the slot dead for holders of the pointer */
	if (!atomic_exchange(&rt_channel->collector_gone, 1))
		rt_say("racetrace: the collector is gone; the program goes on unrecorded");
	rt_stop_recording();
}

static uint64_t blocks_pending(const struct rt_slot *s)
{
	return atomic_load_explicit(&s->published, memory_order_relaxed) -
	       atomic_load_explicit(&s->consumed, memory_order_acquire);
}

/* Waits until the ring has room for one more block. False: the collector is gone. */
static bool wait_for_room(struct rt_slot *s, uint64_t blocks)
{
	for (unsigned spin = 0; blocks_pending(s) >= blocks; spin++) {
		if (atomic_load_explicit(&rt_channel->collector_gone, memory_order_relaxed) ||
		    (rt_idle && !rt_in_session(s)))
			return false;
		if (spin == 0)
			rt_ring_bell();
		atomic_store(&s->waiting, 1);
		if (blocks_pending(s) >= blocks)
			rt_futex_wait(&s->waiting, 1, 100);
		if (blocks_pending(s) >= blocks && !rt_collector_alive())
			return false;
	}
	return true;
}

uint64_t rt_publish(struct rt_slot *s)
{
	uint64_t published = atomic_load_explicit(&s->published, memory_order_relaxed) + 1;

	struct rt_record *end = rt_block_end(s);

	for (struct rt_record *p = s->cur; p < end; p++)
		*(volatile uint64_t *)&p->w0 = 0;
	__atomic_store_n(&s->cur, end, __ATOMIC_RELEASE);
	atomic_store(&s->published, published);
	return published;
}

/*
 * Publishes the block, pads it if need be, and opens the next one. The collector finds the end of what was written from
 * cur and published alone, so whenever the process is killed in here, nothing is read twice and nothing is missed.
 */
static bool next_block(struct rt_slot *s)
{
	uint64_t blocks = rt_channel->ring_records / RT_BLOCK_RECORDS;
	uint64_t published = rt_publish(s);
	struct rt_record *base;

	if (blocks_pending(s) >= blocks / 2)
		rt_ring_bell();
	if (RT_UNLIKELY(blocks_pending(s) >= blocks) && !wait_for_room(s, blocks)) {
		collector_gone(s);
		return false;
	}
	grow_filter(s);
	base = s->ring + published % blocks * RT_BLOCK_RECORDS;
	*base = rt_record_ext(rt_plain_stamp(s), 0);
	if (RT_UNLIKELY(rt_idle)) {
		__atomic_store_n(&s->cur, base + 1, __ATOMIC_RELEASE);
		rt_idle_room(s, base + RT_BLOCK_RECORDS);
		return s->limit != NULL;
	}
	s->limit = base + (rt_stepwise ? 1 : RT_BLOCK_RECORDS);
	__atomic_store_n(&s->cur, base + 1, __ATOMIC_RELEASE);
	return true;
}

static void commit(struct rt_slot *s, unsigned n)
{
	__atomic_store_n(&s->cur, s->cur + n, __ATOMIC_RELEASE);
	if (rt_stepwise)
		s->limit = s->cur;
	s->skipped = 0;
}

static uint64_t exact_stamp(_Atomic uint64_t *clock, uint64_t last, uint64_t now);

/* Other threads ran since the last record: what follows is a run of its own, behind what they have done. */
static void begin_turn(struct rt_slot *s)
{
	uint64_t skipped = s->skipped;

	s->turned = 0;
	s->last_stamp = exact_stamp(&rt_channel->clock, s->last_stamp, 0);
	*s->cur = rt_record_ext(s->last_stamp, 0);
	commit(s, 1);
	s->skipped = skipped;
}

/* Room for n records, with the count of left-out repeats already small. False: the event is to be dropped. */
static bool make_room(struct rt_slot *s, unsigned n)
{
	if (s->limit == NULL)
		return false;
	n += (unsigned)(s->skipped > RT_RECORD_SKIP_MAX) + (unsigned)(s->turned != 0);
	if (rt_block_end(s) - s->cur < (ptrdiff_t)n && !next_block(s))
		return false;
	if (s->skipped > RT_RECORD_SKIP_MAX) {
		*s->cur = rt_record_make(RT_OP_SKIP, s->skipped, 0, 0, 0);
		commit(s, 1);
	}
	if (RT_UNLIKELY(s->turned))
		begin_turn(s);
	return true;
}

void rt_reserve(struct rt_slot *s, unsigned n)
{
	if (s->limit - s->cur >= (ptrdiff_t)n && s->skipped <= RT_RECORD_SKIP_MAX)
		return;
	rt_busy_begin();
	rt_settle(s, RT_OP_NONE);
	if (s->limit)
		make_room(s, n);
	rt_busy_end();
}

struct rt_record *rt_put(struct rt_slot *s, uint64_t w0, uint64_t w1, enum rt_put how, uint64_t value)
{
	unsigned n = how == RT_PUT_PLAIN ? 1 : 2;
	struct rt_record *r;

	if (!make_room(s, n))
		return NULL;
	r = s->cur;
	if (n == 2) {
		r->w0 = how == RT_PUT_VALUE ? (uint64_t)RT_OP_VALUE << 48 : 0;
		r->w1 = value;
	}
	r[n - 1].w0 = w0 | s->skipped << 56;
	r[n - 1].w1 = how == RT_PUT_VALUE ? w1 | RT_VALUE_AUX : w1;
	commit(s, n);
	return r;
}

/* Records nothing. Does not touch `busy`, which two threads may share then (clone.c). */
static bool is_dropped(struct rt_slot *s)
{
	if (s->limit || (RT_UNLIKELY(rt_idle) && rt_idle_join(s)))
		return false;
	if (rt_thread.aside)
		rt_thread.lost++;
	return true;
}

/* An access that compiled code calls a hook for, or that stands for a function's: no atomic operation is in doubt. */
static uint64_t mark_plain(uint64_t w0, uint64_t w1)
{
	unsigned op = rt_record_op((struct rt_record){w0, w1});

	return op == RT_OP_READ || op == RT_OP_WRITE ? w1 | (uint64_t)RT_F_PLAIN << 56 : w1;
}

void rt_append_slow(uint64_t w0, uint64_t w1, struct rt_slot *s)
{
	if (is_dropped(s))
		return;
	rt_busy_begin();
	if (rt_watched)
		w1 = mark_plain(w0, w1);
	if (!rt_values || !rt_value_append(s, w0, w1))
		rt_put(s, w0, w1, RT_PUT_PLAIN, 0);
	rt_busy_end();
}

void rt_append2_slow(uint64_t w0, uint64_t w1, struct rt_slot *s, uint64_t x0, uint64_t x1)
{
	if (is_dropped(s))
		return;
	rt_busy_begin();
	if (rt_watched)
		w1 = mark_plain(w0, w1);
	if (rt_values)
		rt_value_begin(s, RT_OP_NONE);
	if (make_room(s, 2)) {
		s->cur[0].w0 = x0;
		s->cur[0].w1 = x1;
		s->cur[1].w0 = w0 | s->skipped << 56;
		s->cur[1].w1 = w1;
		commit(s, 2);
	}
	rt_busy_end();
}

/*
 * Not below the slot's last stamp, which may be later than `now`: a handler ran or the thread waited for room since, or
 * it moved to a processor whose counter is behind. Readers would take a lower stamp for the last one, whereas the
 * clock, and so what is stamped after this in other threads, would be behind it.
 */
static uint64_t exact_stamp(_Atomic uint64_t *clock, uint64_t last, uint64_t now)
{
	uint64_t seen = atomic_load_explicit(clock, memory_order_relaxed), stamp;

	if (now < last)
		now = last;
	do
		stamp = now > seen + 1 ? now : seen + 1;
	while (!atomic_compare_exchange_weak(clock, &seen, stamp));
	return stamp;
}

/* True if the event has the value in rt_thread: where a mapping is known, and an atomic operation's, which those that
 * hold a stripe have left there. */
static bool is_valued(uint64_t w0, uint64_t w1)
{
	struct rt_record r = {w0, w1};

	if (rt_record_op(r) == RT_OP_ALIAS)
		return true;
	return rt_values && rt_thread.stripe && rt_op_is_atomic(rt_record_op(r)) && (rt_record_aux_of(r) & 31) <= 8;
}

void rt_append_sync_slow(uint64_t w0, uint64_t w1, struct rt_slot *s, uint64_t x0, uint64_t now, void *clock)
{
	unsigned n;

	if (is_dropped(s))
		return;
	rt_busy_begin();
	if (rt_values)
		rt_value_begin(s, RT_OP_NONE);
	n = 1 + is_valued(w0, w1);
	if (make_room(s, n + 1)) {
		s->last_stamp = exact_stamp(clock, s->last_stamp, now);
		s->cur[0].w0 = x0;
		s->cur[0].w1 = s->last_stamp;
		if (n == 2)
			s->cur[1] = (struct rt_record){(uint64_t)RT_OP_VALUE << 48, rt_thread.value};
		s->cur[n].w0 = w0 | s->skipped << 56;
		s->cur[n].w1 = n == 2 ? w1 | RT_VALUE_AUX : w1;
		commit(s, n + 1);
	}
	rt_busy_end();
}

void rt_sync(struct rt_slot *s, unsigned op, uint64_t operand, uint64_t arg, uintptr_t pc, unsigned aux)
{
	struct rt_record event = rt_record_make(op, operand, pc, aux, 0);
	struct rt_record ext = rt_record_ext(0, arg);

	if (RT_UNLIKELY(is_dropped(s)))
		return;
	rt_new_epoch(s);
	rt_append_sync(event.w0, event.w1, s, ext.w0, rt_now(), &rt_channel->clock);
}

void rt_emit(unsigned op, uint64_t operand, uintptr_t pc, unsigned aux)
{
	struct rt_record event = rt_record_make(op, operand, pc, aux, 0);

	rt_append(event.w0, event.w1, rt_self);
}

void rt_emit_alias(uintptr_t at, size_t size, uintptr_t known, uintptr_t pc)
{
	struct rt_record event = rt_record_make(RT_OP_ALIAS, at, pc, 0, 0), ext = rt_record_ext(0, size);
	uint64_t value = rt_thread.value;

	if (RT_UNLIKELY(is_dropped(rt_self)))
		return;
	rt_new_epoch(rt_self);
	rt_thread.value = known;
	rt_append_sync_slow(event.w0, event.w1, rt_self, ext.w0, rt_now(), &rt_channel->clock);
	rt_thread.value = value;
}

void rt_tell_alias(struct rt_slot *s, uintptr_t at, size_t size, uintptr_t known, uint64_t stamp)
{
	struct rt_record event = rt_record_make(RT_OP_ALIAS, at, 0, 0, 0);

	rt_busy_begin();
	if (make_room(s, 3)) {
		s->cur[0] = rt_record_ext(stamp, size);
		s->cur[1] = (struct rt_record){(uint64_t)RT_OP_VALUE << 48, known};
		s->cur[2].w0 = event.w0 | s->skipped << 56;
		s->cur[2].w1 = event.w1 | RT_VALUE_AUX;
		commit(s, 3);
	}
	rt_busy_end();
}

struct rt_code rt_inner[RT_INNERS];

static inline void range_step(unsigned op, const void *addr, size_t size, uintptr_t pc)
{
	if (RT_CONTROLLED && RT_UNLIKELY(--rt_thread.patience < 0 || rt_interest[RT_INTEREST_PLACE(pc)]))
		rt_turn_access(op, (uintptr_t)addr, size, pc, 0);
}

static inline __attribute__((always_inline)) void put_range(unsigned op, const void *addr, size_t size, uintptr_t pc)
{
	struct rt_slot *s = rt_self;
	struct rt_record event, ext;

	if (size <= 16) {
		rt_plain_access(op, addr, pc, (unsigned)size);
		return;
	}
	range_step(op, addr, size, pc);
	if (is_dropped(s))
		return;
	event = rt_record_make(op, (uintptr_t)addr, pc, 0, 0);
	if (size < 1u << 15 && rt_repeats(s, event.w0, event.w1 | UINT64_C(1) << 63 | (uint64_t)size << 48)) {
		rt_count_repeat(s);
		return;
	}
	ext = rt_record_ext(rt_plain_stamp(s), size);
	rt_append2(event.w0, event.w1, s, ext.w0, ext.w1);
}

void rt_emit_range(unsigned op, const void *addr, size_t size, uintptr_t pc)
{
	if (size == 0 || RT_UNLIKELY(rt_not_plain) || RT_UNLIKELY(rt_is_inner(pc))) {
		if (!size || rt_sync_only || rt_is_inner(pc))
			return;
		if (rt_watched) {
			put_range(op, addr, size, pc);
			return;
		}
		range_step(op, addr, size, pc);
		rt_value_range(op, (uintptr_t)addr, size, pc);
		return;
	}
	put_range(op, addr, size, pc);
}

static void hold(uintptr_t lock, uintptr_t pc, bool shared)
{
	if (rt_recording() && rt_thread.held_count < RT_HELD_MAX)
		rt_thread.held[rt_thread.held_count++] = (struct rt_held){lock, pc, shared};
	else if (rt_thread.held_count == RT_HELD_MAX)
		rt_thread.held_unsure = true;
}

static void unhold(uintptr_t lock)
{
	for (unsigned i = rt_thread.held_count; i-- > 0;)
		if (rt_thread.held[i].lock == lock) {
			rt_thread.held[i] = rt_thread.held[--rt_thread.held_count];
			return;
		}
}

/* Of an idle program. The thread joins no session meanwhile, as that would begin with what the event does. */
static void sync_or_drop(unsigned op, uint64_t operand, uint64_t arg, uintptr_t pc, unsigned flags, bool muted)
{
	bool joining = rt_thread.joining;

	rt_idle_note(op, operand, arg, pc, !muted);
	if (muted)
		return;
	rt_busy_begin();
	rt_thread.joining = true;
	rt_sync(rt_self, op, operand, arg, pc, rt_record_aux(0, 0, flags));
	rt_thread.joining = joining;
	rt_busy_end();
}

void rt_emit_sync(unsigned op, uint64_t operand, uint64_t arg, uintptr_t pc, unsigned flags)
{
	if (!rt_op_is_range(op)) {
		operand = rt_place(operand);
		arg = op == RT_OP_WAIT_BEGIN || op == RT_OP_WAIT_END ? rt_place(arg) : arg;
	}
	/* Decided once, before what is held changes: it is what the session begins with. */
	bool muted = RT_UNLIKELY(rt_idle) && rt_self != &rt_dead && !rt_self->limit && !rt_idle_join(rt_self);
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_emits(op, operand, arg, pc, flags);
	if (RT_CONTROLLED && RT_UNLIKELY(rt_turn_told) && op == RT_OP_ALLOC)
		rt_turn_allocates(operand, arg, pc);
	if (op == RT_OP_ACQUIRE || op == RT_OP_ACQUIRE_SHARED)
		hold(operand, pc, op == RT_OP_ACQUIRE_SHARED);
	else if (op == RT_OP_WAIT_END)
		hold(arg, pc, false);
	else if (op == RT_OP_RELEASE || op == RT_OP_WAIT_BEGIN)
		unhold(op == RT_OP_RELEASE ? operand : arg);
	if (RT_UNLIKELY(rt_idle) && rt_self != &rt_dead)
		sync_or_drop(op, operand, arg, pc, flags, muted);
	else
		rt_sync(rt_self, op, operand, arg, pc, rt_record_aux(0, 0, flags));
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_emitted(op, operand);
}

/* A write that stands for a call (free, destroy): a strategy may stop the thread before it. */
static void write_step(uintptr_t p, size_t size, uintptr_t pc, unsigned flags)
{
	if (RT_CONTROLLED && RT_UNLIKELY(rt_interest[RT_INTEREST_PLACE(pc)]) && !rt_thread.busy)
		rt_turn_access(RT_OP_WRITE, p, size, pc, flags);
}

void rt_emit_write(uintptr_t p, size_t size, uintptr_t pc, unsigned flags)
{
	write_step(p, size, pc, flags);
	if (!rt_sync_only)
		rt_sync(rt_self, RT_OP_WRITE, p, size, pc, rt_record_aux(0, 0, flags));
}

void rt_emit_object(const volatile void *object, uintptr_t pc)
{
	if (RT_CONTROLLED && RT_UNLIKELY(rt_turn_told))
		rt_turn_initializes((uintptr_t)object, pc);
	rt_emit_write((uintptr_t)object, 1, pc, RT_F_OBJECT);
}

void rt_emit_object_read(const volatile void *object, uintptr_t pc)
{
	if (RT_CONTROLLED && RT_UNLIKELY(rt_interest[RT_INTEREST_PLACE(pc)]) && !rt_thread.busy)
		rt_turn_access(RT_OP_READ, (uintptr_t)object, 1, pc, RT_F_OBJECT);
	if (!rt_sync_only)
		rt_emit(RT_OP_READ, (uintptr_t)object, pc, rt_record_aux(1, 0, RT_F_OBJECT));
}

/*
 * FREE says the whole size, with what malloc had rounded up: ALLOC has only what was asked for, so nothing else ends
 * what is known of the bytes behind it, which may have been another block's.
 *
 * More of a freed block than RT_FREED_MAX is not written: big blocks would cost more than the uses found at their ends.
 */

void rt_emit_free(uint64_t block, size_t size, uintptr_t pc)
{
	struct rt_slot *s = rt_self;
	struct rt_record event = rt_record_make(RT_OP_FREE, block, pc, 0, 0);

	if (RT_CONTROLLED && RT_UNLIKELY(rt_turn_told))
		rt_turn_frees(block);
	if (size == 0 || rt_sync_only || rt_is_inner(pc)) {
		rt_emit_sync(RT_OP_FREE, block, size, pc, 0);
		return;
	}
	write_step(block, size < RT_FREED_MAX ? size : RT_FREED_MAX, pc, RT_F_FREE);
	rt_busy_begin(); /* no handler's events come between the two */
	rt_reserve(s, 4);
	rt_emit_write(block, size < RT_FREED_MAX ? size : RT_FREED_MAX, pc, RT_F_FREE);
	if (s->limit) {
		struct rt_record ext = rt_record_ext(s->last_stamp, size);
		rt_append2(event.w0, event.w1, s, ext.w0, ext.w1);
	}
	rt_busy_end();
}

void rt_emit_time(void)
{
	struct rt_slot *s = rt_self;
	struct rt_record ext;

	if (s->limit == NULL && !(RT_UNLIKELY(rt_idle) && rt_idle_join(s)))
		return;
	rt_new_epoch(s);
	ext = rt_record_ext(rt_plain_stamp(s), 0);
	rt_append(ext.w0, ext.w1, s);
}

/* Records the number of events of a handler that could not be recorded. */
void rt_emit_lost(void)
{
	uint64_t lost = rt_thread.lost;

	rt_thread.lost = 0;
	if (lost)
		rt_emit_sync(RT_OP_LOST, RT_LOST_SIGNAL, lost, 0, 0);
}
