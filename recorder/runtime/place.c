/*
 * Memory that is mapped at several addresses: what synchronises there is known by the first of them, see rt_place. The
 * trace says the same of what else is done there (ALIAS), so that plain accesses cost nothing.
 *
 * An entry of the table is a part of a mapping: the memory's own, or one that shows what an entry of the former kind
 * has. When that goes, the others are added again, and the first one takes its place.
 */
#include "recorder/runtime/core.h"
#include "recorder/runtime/shared.h"
#include "recorder/runtime/syscall.h"

#include <limits.h>
#include <sys/syscall.h>

struct rt_shared_table rt_shared;
bool rt_place_twice;

/* The tables are changed under it. Handlers are deferred meanwhile, so it is never held by code below. */
static _Atomic bool locked;
static struct rt_shared *entries; /* under the lock: the table that is being made */
static bool lacks;                /* under the lock: it had no room for memory that has another address */

static struct rt_shared *table_of(uint32_t version)
{
	return rt_shared.items[version % 2];
}

/* A look-up of the version before this one may still be under way: it will find that there is another version. */
static void set_entry(struct rt_shared *to, struct rt_shared entry)
{
	__atomic_store_n(&to->at, entry.at, __ATOMIC_RELAXED);
	__atomic_store_n(&to->size, entry.size, __ATOMIC_RELAXED);
	__atomic_store_n(&to->first, entry.first, __ATOMIC_RELAXED);
	to->device = entry.device;
	to->inode = entry.inode;
	to->offset = entry.offset;
}

static void lock(void)
{
	rt_busy_begin();
	while (atomic_exchange_explicit(&locked, true, memory_order_acquire))
		RT_SYSCALL(SYS_sched_yield);
	uint32_t version = atomic_load_explicit(&rt_shared.version, memory_order_relaxed);
	entries = table_of(version + 1);
	lacks = false;
	atomic_thread_fence(memory_order_release);
	for (unsigned i = 0; i < RT_SHARED_MAX; i++)
		if (table_of(version)[i].at || entries[i].at)
			set_entry(&entries[i], table_of(version)[i]);
}

/* A part of a mapping, and what it shows. */
struct part {
	uintptr_t at, size;
	uint64_t device, inode, offset;
};

static bool overlap(uintptr_t a, uintptr_t a_size, uintptr_t b, uintptr_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

static void store(struct part p, uintptr_t first)
{
	for (unsigned i = 0; i < RT_SHARED_MAX; i++)
		if (!entries[i].at) {
			set_entry(&entries[i], (struct rt_shared){p.at, p.size, first, p.device, p.inode, p.offset});
			return;
		}
	lacks |= first != p.at;
}

static struct part cut_from(struct part p, uint64_t from, uint64_t to)
{
	return (struct part){p.at + (from - p.offset), to - from, p.device, p.inode, from};
}

/* Adds the part, piece by piece: those that are there already show what is. */
static void add(struct part p)
{
	uint64_t end = p.offset + p.size;
	for (unsigned i = 0; i < RT_SHARED_MAX && p.size; i++) {
		const struct rt_shared *o = &entries[i];
		uintptr_t at = o->at;
		if (!at || o->first != at || o->device != p.device || o->inode != p.inode ||
		    !overlap(o->offset, o->size, p.offset, p.size))
			continue;
		uint64_t from = o->offset > p.offset ? o->offset : p.offset;
		uint64_t to = o->offset + o->size < end ? o->offset + o->size : end;
		store(cut_from(p, from, to), at + (from - o->offset));
		if (from > p.offset)
			add(cut_from(p, p.offset, from));
		p = cut_from(p, to, end);
	}
	if (p.size)
		store(p, p.at);
}

static struct part part_of(const struct rt_shared *s)
{
	return (struct part){s->at, s->size, s->device, s->inode, s->offset};
}

static struct part take(struct rt_shared *s)
{
	struct part p = part_of(s);
	set_entry(s, (struct rt_shared){0});
	return p;
}

/* What shows memory that was known by these addresses. */
static void add_again(uintptr_t from, uintptr_t size)
{
	for (unsigned i = 0; i < RT_SHARED_MAX; i++) {
		struct rt_shared *s = &entries[i];
		if (s->at && s->first != s->at && overlap(s->first, s->size, from, size))
			add(take(s));
	}
}

/* Takes out what is in [p, p + size), and puts back what is beside it. */
static void forget(uintptr_t p, size_t size)
{
	for (unsigned i = 0; i < RT_SHARED_MAX; i++) {
		struct rt_shared *s = &entries[i];
		uintptr_t at = s->at, first = s->first;
		if (!at || !overlap(at, s->size, p, size))
			continue;
		struct part whole = take(s);
		uint64_t end = whole.offset + whole.size;
		if (at < p)
			add(cut_from(whole, whole.offset, whole.offset + (p - at)));
		if (at + whole.size > p + size)
			add(cut_from(whole, whole.offset + (p + size - at), end));
		if (first == at)
			add_again(at, whole.size);
		i = UINT_MAX; /* from the start again: what was added may be anywhere */
	}
}

/* By what the address is known in the table; from there up to *end, which is lowered, it is so too. */
static uintptr_t known_in(const struct rt_shared *table, uintptr_t at, uintptr_t *end)
{
	const struct rt_shared *found = NULL;
	for (unsigned i = 0; i < RT_SHARED_MAX; i++) {
		const struct rt_shared *s = &table[i];
		if (!s->at)
			continue;
		if (!found && at - s->at < s->size)
			found = s;
		uintptr_t border = s == found ? s->at + s->size : s->at;
		if (border > at && border < *end)
			*end = border;
	}
	return found ? found->first + (at - found->at) : at;
}

/* Of what has another address in `table`, the old one or the new one: what is known by another one than before. */
static void tell_changes(const struct rt_shared *table, const struct rt_shared *old, uintptr_t pc)
{
	for (unsigned i = 0; i < RT_SHARED_MAX; i++) {
		uintptr_t end = table[i].at + table[i].size, next;
		if (!table[i].at || table[i].first == table[i].at)
			continue;
		for (uintptr_t at = table[i].at; at < end; at = next) {
			next = end;
			uintptr_t was = known_in(old, at, &next), is = known_in(entries, at, &next);
			if (was == is || (table == old && is != at))
				continue;
			if (is != at)
				__atomic_store_n(&rt_place_twice, true, __ATOMIC_RELEASE);
			rt_emit_alias(at, next - at, is, pc);
		}
	}
}

static void unlock(uintptr_t pc)
{
	const struct rt_shared *old = table_of(atomic_load_explicit(&rt_shared.version, memory_order_relaxed));
	tell_changes(old, old, pc);
	tell_changes(entries, old, pc);
	if (lacks)
		rt_emit_sync(RT_OP_LOST, RT_LOST_CALL, 1, pc, 0);
	atomic_fetch_add_explicit(&rt_shared.version, 1, memory_order_release);
	atomic_store_explicit(&locked, false, memory_order_release);
	rt_busy_end();
}

/* True if an entry is of these addresses, or shows what they have. twice: one that shows another one's memory. */
static bool is_there(uintptr_t p, size_t size, bool twice)
{
	bool found;
	uint32_t version;
	do {
		version = atomic_load_explicit(&rt_shared.version, memory_order_acquire);
		found = false;
		for (unsigned i = 0; i < RT_SHARED_MAX; i++) {
			const struct rt_shared s = table_of(version)[i];
			found |= s.at && (!twice || s.first != s.at) &&
			         (overlap(s.at, s.size, p, size) || overlap(s.first, s.size, p, size));
		}
		atomic_thread_fence(memory_order_acquire);
	} while (atomic_load_explicit(&rt_shared.version, memory_order_relaxed) != version);
	return found;
}

bool rt_place_elsewhere(uintptr_t p, size_t size)
{
	return is_there(p, size, true);
}

void rt_place_add(void *p, size_t size, uint64_t device, uint64_t inode, uint64_t offset, uintptr_t pc)
{
	lock();
	add((struct part){(uintptr_t)p, size, device, inode, offset});
	unlock(pc);
}

void rt_place_forget(uintptr_t p, size_t size, uintptr_t pc)
{
	if (!is_there(p, size, false))
		return;
	lock();
	forget(p, size);
	unlock(pc);
}

/* The part that has the address; its size is 0 if none has. */
static struct part part_at(uintptr_t p)
{
	for (unsigned i = 0; i < RT_SHARED_MAX; i++) {
		struct part whole = part_of(&entries[i]);
		if (whole.at && p - whole.at < whole.size)
			return cut_from(whole, whole.offset + (p - whole.at), whole.offset + whole.size);
	}
	return (struct part){0};
}

/* Shared memory without a file is known by where it was when it was first seen at two addresses. */
static void copied(uintptr_t p, size_t size, uintptr_t from)
{
	enum { NO_FILE = -2 };
	struct part known = part_at(from);
	if (!known.size) {
		known = (struct part){from, size, (uint64_t)NO_FILE, from, 0};
		add(known);
	}
	add((struct part){p, size, known.device, known.inode, known.offset});
}

void rt_place_moved(uintptr_t p, size_t size, uintptr_t from, size_t old_size, uintptr_t pc)
{
	enum { PARTS = 16 };
	struct part parts[PARTS];
	unsigned n = 0;
	lock();
	if (!old_size)
		copied(p, size, from);
	for (uintptr_t at = from; at - from < old_size && at - from < size; at += parts[n++].size) {
		if (n == PARTS) {
			lacks = true;
			break;
		}
		parts[n] = part_at(at);
		if (!parts[n].size)
			break;
	}
	if (n)
		forget(from, old_size);
	for (unsigned i = 0; i < n; i++) {
		struct part part = parts[i];
		uintptr_t done = part.at - from, left = size - done;
		part.size = i + 1 == n || part.size > left ? left : part.size;
		part.at = p + done;
		add(part);
	}
	unlock(pc);
}

uintptr_t rt_place_first(uintptr_t p)
{
	return rt_shared_first(&rt_shared, p);
}

/* The table may be replaced meanwhile: the new one is told then, too. */
void rt_place_tell(struct rt_slot *slot, uint64_t stamp)
{
	uint32_t version = atomic_load_explicit(&rt_shared.version, memory_order_acquire), now;
	for (unsigned i = 0; i < RT_SHARED_MAX; i++) {
		const struct rt_shared known = table_of(version)[i];
		atomic_thread_fence(memory_order_acquire);
		now = atomic_load_explicit(&rt_shared.version, memory_order_acquire);
		if (now != version) {
			version = now;
			i = UINT_MAX; /* from the start again */
		} else if (known.at && known.first != known.at && stamp) {
			rt_tell_alias(slot, known.at, known.size, known.first, stamp);
		} else if (known.at && known.first != known.at) {
			rt_emit_alias(known.at, known.size, known.first, 0);
		}
	}
}

static void alone(void)
{
	atomic_store(&locked, false);
}
RT_CALL_AT(RT_AT_CHILD, alone);
