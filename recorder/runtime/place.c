/*
 * Memory that is mapped at several addresses: what synchronises there is known by the first of them, see rt_place. The
 * trace says the same of what else is done there (ALIAS), so that plain accesses cost nothing.
 *
 * An entry of the table is a part of a mapping, and the address by which it is known: where it was first, also when it
 * is no longer there. What comes to that address then is known by a spare name, beyond the addresses of programs. Spare
 * entries keep these names, as not all that is mapped is seen here.
 */
#include "recorder/objects.h"
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
static bool alone_now;            /* under the lock: no other address shows a part of what has been added */
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
	__atomic_store_n(&to->known, entry.known, __ATOMIC_RELAXED);
	to->device = entry.device;
	to->inode = entry.inode;
	to->offset = entry.offset;
	to->twice = entry.twice;
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

/* Devices of what is not a file: shared memory that mremap has copied, and names that are spare. */
static const uint64_t NO_FILE = (uint64_t)-2, SPARE = (uint64_t)-3;

static bool overlap(uintptr_t a, uintptr_t a_size, uintptr_t b, uintptr_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

/* What the entry has of the addresses from `from` up to `to`. */
static struct rt_shared cut(struct rt_shared s, uintptr_t from, uintptr_t to)
{
	uintptr_t by = from - s.at;
	return (struct rt_shared){from, to - from, s.known + by, s.device, s.inode, s.offset + by, s.twice};
}

static void put(struct rt_shared entry)
{
	for (unsigned i = 0; i < RT_SHARED_MAX; i++)
		if (!entries[i].at) {
			set_entry(&entries[i], entry);
			return;
		}
	lacks |= entry.known != entry.at;
}

/* Takes out what is in [p, p + size), or only the spare names there, and puts back what is beside it. */
static void take_out(uintptr_t p, size_t size, bool spare)
{
	for (unsigned i = 0; i < RT_SHARED_MAX; i++) {
		struct rt_shared s = entries[i];
		if (!s.at || (spare && s.device != SPARE) || !overlap(s.at, s.size, p, size))
			continue;
		set_entry(&entries[i], (struct rt_shared){0});
		if (s.at < p)
			put(cut(s, s.at, p));
		if (s.at + s.size > p + size)
			put(cut(s, p + size, s.at + s.size));
		i = UINT_MAX; /* from the start again: what was put back may be anywhere */
	}
}

static void store(struct rt_shared s)
{
	take_out(s.at, s.size, true);
	put(s);
}

/* The entry that the address is in, or NULL; up to *end, which is lowered, the answer is the same. */
static const struct rt_shared *entry_at(const struct rt_shared *table, uintptr_t at, uintptr_t *end)
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
	return found;
}

/* By what the address is known in the table; from there up to *end, which is lowered, it is so too. */
static uintptr_t known_in(const struct rt_shared *table, uintptr_t at, uintptr_t *end)
{
	const struct rt_shared *found = entry_at(table, at, end);
	return found ? found->known + (at - found->at) : at;
}

/* Memory that no other address shows: known by its own, or by the spare name there. */
static void add_own(struct rt_shared s)
{
	for (uintptr_t end = s.at + s.size, at = s.at, next; at < end; at = next) {
		struct rt_shared part;
		alone_now = true;
		next = end;
		uintptr_t known = known_in(entries, at, &next);
		part = cut(s, at, next);
		part.known = known;
		store(part);
	}
}

/* Adds what is mapped, piece by piece: it is known as what shows the same already. */
static void add(struct rt_shared s)
{
	for (unsigned i = 0; i < RT_SHARED_MAX && s.size; i++) {
		const struct rt_shared o = entries[i];
		if (!o.at || o.device != s.device || o.inode != s.inode || !overlap(o.offset, o.size, s.offset, s.size))
			continue;
		uintptr_t end = s.at + s.size, from = s.at, to = end;
		if (o.offset > s.offset)
			from += o.offset - s.offset;
		if (o.offset + o.size < s.offset + s.size)
			to -= s.offset + s.size - (o.offset + o.size);
		struct rt_shared same = cut(s, from, to);
		same.known = o.known + (same.offset - o.offset);
		same.twice = entries[i].twice = true;
		store(same);
		if (from > s.at)
			add(cut(s, s.at, from));
		s = cut(s, to, end);
	}
	add_own(s);
}

static uintptr_t spare_name(uintptr_t size)
{
	enum { PAGE = 4096 };
	static uintptr_t next = RT_OBJECT_RENAMED; /* under the lock */
	uintptr_t name = next, room = (size + PAGE - 1) / PAGE * PAGE;
	if (room < size || room > RT_OBJECT_RENAMED_END - next) {
		lacks = true;
		return name;
	}
	next += room;
	return name;
}

/* What comes to these addresses needs names, as far as other memory is known by them. */
static void keep_names(uintptr_t p, size_t size)
{
	for (unsigned i = 0; i < RT_SHARED_MAX; i++) {
		struct rt_shared s = entries[i];
		if (!s.at || !overlap(s.known, s.size, p, size))
			continue;
		uintptr_t at = s.known > p ? s.known : p, end = s.known + s.size, next;
		end = end < p + size ? end : p + size;
		for (; at < end; at = next) {
			next = end;
			if (!entry_at(entries, at, &next))
				put((struct rt_shared){at, next - at, spare_name(next - at), SPARE, 0, 0, false});
		}
	}
}

static void forget(uintptr_t p, size_t size)
{
	take_out(p, size, false);
	keep_names(p, size);
}

/* Of what has another address in `table`, the old one or the new one: what is known by another one than before. */
static void tell_changes(const struct rt_shared *table, const struct rt_shared *old, uintptr_t pc)
{
	for (unsigned i = 0; i < RT_SHARED_MAX; i++) {
		uintptr_t end = table[i].at + table[i].size, next;
		if (!table[i].at || table[i].known == table[i].at || table[i].at >= RT_PLACE_MOVING)
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

/* True if the table has an entry of these addresses, or of what is known by them. */
static bool has(const struct rt_shared *table, uintptr_t p, size_t size)
{
	for (unsigned i = 0; i < RT_SHARED_MAX; i++)
		if (table[i].at &&
		    (overlap(table[i].at, table[i].size, p, size) || overlap(table[i].known, table[i].size, p, size)))
			return true;
	return false;
}

/* True if other addresses show a part of this memory, or have. */
static bool twice(const struct rt_shared *table, uintptr_t p, size_t size)
{
	for (unsigned i = 0; i < RT_SHARED_MAX; i++)
		if (table[i].at && table[i].twice && overlap(table[i].at, table[i].size, p, size))
			return true;
	return false;
}

/* What a look-up says of the table that is valid. */
static bool look(bool (*says)(const struct rt_shared *, uintptr_t, size_t), uintptr_t p, size_t size)
{
	bool is;
	uint32_t version;
	do {
		version = atomic_load_explicit(&rt_shared.version, memory_order_acquire);
		is = says(table_of(version), p, size);
		atomic_thread_fence(memory_order_acquire);
	} while (atomic_load_explicit(&rt_shared.version, memory_order_relaxed) != version);
	return is;
}

bool rt_place_elsewhere(uintptr_t p, size_t size)
{
	return look(twice, p, size);
}

/*
 * A file, when no address shows it. A thread that maps it then comes after those that have unmapped it: locks in it may
 * have another name from then on.
 */
static uint64_t file_object(uint64_t device, uint64_t inode)
{
	return rt_object_hashed(RT_OBJECT_NAMED, rt_object_mix(rt_object_mix(device) + inode));
}

void rt_place_add(void *p, size_t size, uint64_t device, uint64_t inode, uint64_t offset, uintptr_t pc)
{
	lock();
	alone_now = false;
	add((struct rt_shared){(uintptr_t)p, size, 0, device, inode, offset, false});
	bool first = alone_now;
	unlock(pc);
	if (first)
		rt_emit_sync(RT_OP_HB_AFTER, file_object(device, inode), 0, pc, 0);
}

/* What is unmapped here is published on its files. */
static void leave_files(uintptr_t p, size_t size, uintptr_t pc)
{
	uint64_t last = 0;
	for (unsigned i = 0; i < RT_SHARED_MAX; i++) {
		struct rt_shared s;
		uint32_t version;
		do {
			version = atomic_load_explicit(&rt_shared.version, memory_order_acquire);
			s = table_of(version)[i];
			atomic_thread_fence(memory_order_acquire);
		} while (atomic_load_explicit(&rt_shared.version, memory_order_relaxed) != version);
		uint64_t object = file_object(s.device, s.inode);
		if (s.at && s.device != SPARE && s.device != NO_FILE && overlap(s.at, s.size, p, size) &&
		    object != last)
			rt_emit_sync(RT_OP_HB_BEFORE, last = object, 0, pc, 0);
	}
}

void rt_place_forget(uintptr_t p, size_t size, uintptr_t pc)
{
	if (!look(has, p, size))
		return;
	leave_files(p, size, pc);
	lock();
	forget(p, size);
	unlock(pc);
}

/* What a part of a mapping shows, from the address on; its size is 0 if that is not known. */
static struct rt_shared part_at(uintptr_t p)
{
	uintptr_t end = UINTPTR_MAX;
	const struct rt_shared *s = entry_at(entries, p, &end);
	return s && s->device != SPARE ? cut(*s, p, s->at + s->size) : (struct rt_shared){0};
}

/* Shared memory without a file is known by a number when it is first seen at two addresses. */
static void copied(uintptr_t p, size_t size, uintptr_t from)
{
	static uint64_t copies; /* under the lock */
	struct rt_shared known = part_at(from);
	if (!known.size) {
		known = (struct rt_shared){from, size, 0, NO_FILE, ++copies, 0, false};
		add(known);
	}
	add((struct rt_shared){p, size, 0, known.device, known.inode, known.offset, false});
}

/* The part is at p now, where there is room for `room` bytes. */
static void moved(struct rt_shared part, uintptr_t p, size_t room)
{
	uintptr_t size = part.size;
	part.at = p;
	part.size = size < room ? size : room;
	store(part);
	part.size = room;
	if (room > size)
		add(cut(part, p + size, p + room));
}

void rt_place_moved(uintptr_t p, size_t size, uintptr_t from, size_t old_size, uintptr_t pc)
{
	enum { PARTS = 16 };
	struct rt_shared parts[PARTS];
	unsigned n = 0;
	if (old_size && !look(has, from, old_size))
		return;
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
		take_out(from, old_size, false);
	for (unsigned i = 0; i < n; i++) {
		uintptr_t done = parts[i].at - from, room = i + 1 == n ? size - done : parts[i].size;
		moved(parts[i], p + done, room);
	}
	if (n)
		keep_names(from, old_size);
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
		} else if (known.at && known.known != known.at && stamp) {
			rt_tell_alias(slot, known.at, known.size, known.known, stamp);
		} else if (known.at && known.known != known.at) {
			rt_emit_alias(known.at, known.size, known.known, 0);
		}
	}
}

static void alone(void)
{
	atomic_store(&locked, false);
}
RT_CALL_AT(RT_AT_CHILD, alone);
