/*
 * Values (`record --values`): what each plain access of 1, 2, 4 or 8 bytes read or wrote.
 *
 * A slot's `limit` is kept at `cur`, so that each record takes the slow ways of emit.c, which call this file; where no
 * values are recorded nothing here runs, and the fast ways test nothing.
 *
 * A read's value is read in its hook. A hook of a write runs before the store, so the write is pending: its value is
 * read before the thread's next record, and before the thread lets another one come after it (rt_settle). But for a
 * read right behind it: of `*p = *q` GCC calls first the hook of the write and then that of the read. Whether another
 * thread's access came in between is for the analysis to say, by happens-before.
 *
 * Calls of the C library have no values: their events may come before the call or after it. Nor has an access between
 * whose hook and which a signal's handler runs.
 *
 * The repeat filter compares values too: a read is left out if it sees what its last kept twin saw, a write if it
 * leaves what was there before it. What has no value is not left out, as it may see or leave something new. The filter
 * of plain.h is kept from matching by a new epoch with each record.
 *
 * Memory may be gone by the time a pending write is looked at (a library that unmaps it without hooks), and a hook may
 * stand for an access that faults on purpose. So a fault while reading is caught: signal.c moves the thread to
 * rt_peek_failed. Where that cannot be, as the thread blocks SIGSEGV or the program ignores it, the kernel is asked for
 * the bytes, if a sandbox lets it be.
 */
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

#include <sys/uio.h>

bool rt_values;
bool rt_values_caught; /* SIGSEGV and SIGBUS come to signal.c */

enum { PEEK_ASK, PEEK_DIRECT, PEEK_CALL };

#define SEEN_SMALL 4096u /* entries; as of the other filter: filter.h */
#define SEEN_LARGE 262144u
/* An entry of the other filter, with the value that is kept. An entry that is not of this epoch is none. */
struct rt_seen {
	struct rt_filter of;
	uint64_t value;
};
_Static_assert(SEEN_LARGE * sizeof(struct rt_seen) <= RT_FILTER_BYTES, "a large filter has room");

/* What is kept of a slot that records; its small filter is the one in use there. */
static inline struct rt_private *private_of(struct rt_slot *s)
{
	return (struct rt_private *)(void *)((char *)s->filter - offsetof(struct rt_private, filter));
}

/* ---- Reading memory ---- */

/* Whether a fault can be caught depends on the thread's signal mask, which is asked for when it may have changed. */
static unsigned char how_to_peek(void)
{
	const uint64_t faults = RT_SIGNAL_BIT(SIGSEGV) | RT_SIGNAL_BIT(SIGBUS);
	uint64_t mask = ~UINT64_C(0);

	if (RT_SYSCALL(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask) != 0)
		return PEEK_CALL;
	return mask & faults ? PEEK_CALL : PEEK_DIRECT;
}

static bool peek_by_call(uintptr_t at, unsigned size, uint64_t *value)
{
	struct iovec to = {value, size}, from = {(void *)at, size};

	return RT_SYSCALL(SYS_process_vm_readv, RT_SYSCALL(SYS_getpid), &to, 1, &from, 1, 0) == (long)size;
}

/* The bytes, as a number. False: they cannot be read. */
static inline bool peek(uintptr_t at, unsigned size, uint64_t *value)
{
	struct rt_thread *t = &rt_thread;

	*value = 0;
	if (rt_values_caught) {
		if (t->peek == PEEK_ASK)
			t->peek = how_to_peek();
		if (t->peek == PEEK_DIRECT)
			return rt_peek(at, size, value);
	}
	return peek_by_call(at, size, value);
}

/* ---- Pending writes ---- */

/* look: the store has taken place; else the write has no value. */
static inline void settle(struct rt_slot *s, bool look)
{
	struct rt_pending *p = &private_of(s)->pending;
	unsigned size = p->size;
	uint64_t value = 0;
	bool known;

	p->size = 0;
	if (!size)
		return;
	known = look && peek(p->w0 & RT_OPERAND_MAX, size, &value);
	if (p->record && known) {
		p->record[0].w1 = value;
		__atomic_store_n(&p->record[0].w0, (uint64_t)RT_OP_VALUE << 48, __ATOMIC_RELEASE);
		__atomic_store_n(&p->record[1].w1, p->w1 | RT_VALUE_AUX, __ATOMIC_RELEASE);
	} else if (!p->record && (!known || value != p->before)) {
		/* It is not a repeat. */
		s->skipped -= s->skipped > 0;
		rt_put(s, p->w0, p->w1, known ? RT_PUT_VALUE : RT_PUT_PLAIN, value);
	}
}

void rt_settle(struct rt_slot *s, unsigned op)
{
	if (!rt_values || !s->limit)
		return;
	rt_busy_begin();
	settle(s, op != RT_OP_READ || private_of(s)->pending.read);
	rt_busy_end();
}

uintptr_t rt_pending_write(struct rt_slot *s)
{
	const struct rt_pending *p = rt_values && s->limit ? &private_of(s)->pending : NULL;

	return p && p->size && !p->read ? p->w1 & RT_OPERAND_MAX : 0;
}

void rt_value_discard(struct rt_slot *s)
{
	struct rt_record *r;

	if (!s->limit)
		return;
	rt_busy_begin();
	r = s->cur - 1;
	if (r > rt_block_end(s) - RT_BLOCK_RECORDS && rt_record_op(*r) == RT_OP_READ && r->w1 & RT_VALUE_AUX) {
		r[0].w1 &= ~RT_VALUE_AUX;
		r[-1].w0 = 0;
	}
	settle(s, false);
	rt_busy_end();
}

/* Entries of earlier rounds of epochs are no entries. */
static void new_epoch(struct rt_private *b)
{
	unsigned used = b->seen_grew ? SEEN_LARGE : SEEN_SMALL;

	b->value_epoch += RT_FILTER_EPOCH;
	if (b->value_epoch != 0 || !b->seen)
		return;
	for (unsigned i = 0; i < used; i++)
		*(volatile uint64_t *)&b->seen[i].of.k1 = UINT64_MAX;
	b->seen_grew = false;
}

static inline void begin(struct rt_slot *s, unsigned op)
{
	struct rt_private *b = private_of(s);

	if (op == RT_OP_READ && b->pending.size && !b->pending.read)
		b->pending.read = true;
	else
		settle(s, true);
	if (s->filter_epoch != b->value_filter) { /* a new one was begun */
		new_epoch(b);
		b->epoch_blocks = 0;
		b->seen_mask = SEEN_SMALL - 1;
	}
	rt_new_epoch(s);
	b->value_filter = s->filter_epoch;
}

void rt_value_begin(struct rt_slot *s, unsigned op)
{
	begin(s, op);
}

/* ---- Accesses ---- */

void rt_value_grow(struct rt_private *b)
{
	if (++b->epoch_blocks == RT_FILTER_PATIENCE) {
		b->seen_mask = SEEN_LARGE - 1;
		b->seen_grew = true;
	}
}

/* How often it was seen in this epoch: 0, 1, or 2 for more. *entry: NULL without memory. */
static inline unsigned find(struct rt_slot *s, uint64_t w0, uint64_t w1, struct rt_seen **entry)
{
	struct rt_private *b = private_of(s);
	uint64_t k0 = w0 + b->value_epoch;
	struct rt_seen *f;

	*entry = NULL;
	if (RT_UNLIKELY(!b->seen) && !(b->seen = (struct rt_seen *)(void *)rt_large_filter(s)))
		return 0;
	*entry = f = b->seen + (rt_filter_hash(w0, w1) & b->seen_mask);
	if (f->of.k1 != w1)
		return 0;
	return f->of.k0 == k0 + RT_FILTER_TWICE ? 2 : f->of.k0 == k0;
}

/* It is seen once more; `same` as before. */
static inline void note(struct rt_slot *s, struct rt_seen *f, uint64_t w0, uint64_t w1, unsigned count, bool same)
{
	uint64_t k0 = w0 + private_of(s)->value_epoch;

	if (!f || count == 2)
		return;
	f->of.k0 = count == 1 && same ? k0 + RT_FILTER_TWICE : k0;
	f->of.k1 = w1;
}

static inline void read_value(struct rt_slot *s, uint64_t w0, uint64_t w1, unsigned size)
{
	uint64_t value;
	struct rt_seen *f;
	bool known = peek(w0 & RT_OPERAND_MAX, size, &value);
	unsigned count = find(s, w0, w1, &f);

	if (known && count == 2 && f->value == value) {
		s->skipped++;
		return;
	}
	if (f && known) {
		note(s, f, w0, w1, count, f->value == value);
		f->value = value;
	}
	rt_put(s, w0, w1, known ? RT_PUT_VALUE : RT_PUT_PLAIN, value);
}

static void write_value(struct rt_slot *s, uint64_t w0, uint64_t w1, unsigned size)
{
	struct rt_pending *p = &private_of(s)->pending;
	uint64_t before = 0;
	struct rt_seen *f;
	unsigned count = find(s, w0, w1, &f);
	struct rt_record *record = NULL;

	if (count == 2 && peek(w0 & RT_OPERAND_MAX, size, &before)) {
		s->skipped++;
	} else {
		note(s, f, w0, w1, count, true);
		rt_reserve(s, 4); /* a read that comes before it is settled is in the same block */
		record = rt_put(s, w0, w1, RT_PUT_PENDING, 0);
		if (!record)
			return;
	}
	*p = (struct rt_pending){record, w0, w1, before, size, false};
}

bool rt_value_append(struct rt_slot *s, uint64_t w0, uint64_t w1)
{
	struct rt_record r = {w0, w1};
	unsigned op = rt_record_op(r), aux = rt_record_aux_of(r), size = aux & 31;

	struct rt_private *b = private_of(s);

	/* The table is large; what comes before its turn does not wait for it. */
	if (b->seen)
		__builtin_prefetch(b->seen + (rt_filter_hash(w0, w1) & b->seen_mask), 1);
	begin(s, op);
	if (op == RT_OP_LONGJMP) /* it may restore the signal mask */
		rt_thread.peek = PEEK_ASK;
	if ((op != RT_OP_READ && op != RT_OP_WRITE) || size > 8 || !size || size & (size - 1) ||
	    aux >> 8 & (RT_F_OBJECT | RT_F_FREE))
		return false;
	if (op == RT_OP_READ)
		read_value(s, w0, w1, size);
	else
		write_value(s, w0, w1, size);
	return true;
}

void rt_value_range(unsigned op, uintptr_t from, size_t size, uintptr_t pc)
{
	struct rt_slot *s = rt_self;
	struct rt_record event = rt_record_make(op, from, pc, size <= 16 ? rt_record_aux((unsigned)size, 0, 0) : 0, 0);

	if (!s->limit) {
		rt_append_slow(event.w0, event.w1, s);
		return;
	}
	rt_busy_begin();
	rt_value_begin(s, RT_OP_NONE);
	if (size <= 16) {
		rt_put(s, event.w0, event.w1, RT_PUT_PLAIN, 0);
	} else {
		struct rt_record ext = rt_record_ext(rt_plain_stamp(s), size);
		rt_append2(event.w0, event.w1, s, ext.w0, ext.w1);
	}
	rt_busy_end();
}
