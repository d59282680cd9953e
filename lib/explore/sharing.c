/* What executions share; see sharing.h. */
#include "lib/explore/sharing.h"

#include "lib/base/hash.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { POSITIONS_MAX = 32 };

/*
 * A byte of memory: by which threads, at which positions, under which locks it was accessed in any execution. It is not
 * a word: a lock does not protect the one variable less because none protects the one beside it.
 */
struct shared_byte {
	uint64_t address;
	uint64_t threads; /* bit i: thread i */
	bool written;
	uint64_t *positions; /* POSITIONS_MAX at most */
	uint32_t position_count, position_room;
	struct locks_held locks; /* at all accesses since a second thread came */
	UT_hash_handle hh;
};

static bool add_position(struct sharing *s, struct set *set, uint64_t pc)
{
	bool added;
	if (!set_add(set, pc ? pc : 1, &added))
		return false;
	s->grew |= added;
	return true;
}

/* The position is one of what is shared; and of what no lock protects, if none protects the byte. */
static bool add_shared(struct sharing *s, const struct shared_byte *b, uint64_t pc)
{
	return add_position(s, &s->shared, pc) && (b->locks.count || add_position(s, &s->exposed, pc));
}

static void keep_common(struct locks_held *kept, const struct locks_held *held)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < kept->count; i++)
		for (uint32_t k = 0; k < held->count; k++)
			if (kept->locks[i] == held->locks[k]) {
				kept->locks[n++] = kept->locks[i];
				break;
			}
	kept->count = n;
}

/* False without memory. */
static bool note_position(struct shared_byte *b, uint64_t pc)
{
	uint32_t i = 0;
	while (i < b->position_count && b->positions[i] != pc)
		i++;
	if (i < b->position_count || i == POSITIONS_MAX)
		return true;
	if (!vec_reserve(&b->positions, &b->position_room, (uint64_t)i + 1, sizeof *b->positions))
		return false;
	b->positions[b->position_count++] = pc;
	return true;
}

static bool note_byte(struct sharing *s, uint32_t thread, const struct locks_held *held,
                      const struct rt_search_record *r, uint64_t address)
{
	struct shared_byte *b;
	HASH_FIND(hh, s->bytes, &address, sizeof address, b);
	if (!b)
		HASH_MAKE(s->bytes, address, address, b);
	if (!b || !note_position(b, r->pc))
		return false;
	bool was_shared = (b->threads & (b->threads - 1)) != 0;
	b->threads |= UINT64_C(1) << thread;
	bool shared = (b->threads & (b->threads - 1)) != 0;
	b->written |= rt_op_writes(r->op);
	if (shared && !was_shared) {
		b->locks = *held;
	} else if (shared) {
		keep_common(&b->locks, held);
	}
	if (!shared || !b->written)
		return true;
	bool ok = add_shared(s, b, r->pc);
	for (uint32_t i = 0; ok && i < b->position_count; i++)
		ok = add_shared(s, b, b->positions[i]);
	return ok;
}

static void take_lock(struct locks_held *held, uint64_t lock)
{
	if (held->count < LOCKS_MAX)
		held->locks[held->count++] = lock;
}

static void drop_lock(struct locks_held *held, uint64_t lock)
{
	for (uint32_t i = held->count; i-- > 0;)
		if (held->locks[i] == lock) {
			held->locks[i] = held->locks[--held->count];
			return;
		}
}

bool sharing_note(struct sharing *s, uint32_t thread, struct locks_held *held, const struct rt_search_record *r,
                  bool *overflow)
{
	bool ok = true;
	switch (r->op) {
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
		s->grew |= r->flags & RT_F_TIMED && !s->tries;
		s->tries |= (r->flags & RT_F_TIMED) != 0;
		take_lock(held, r->object);
		return true;
	case RT_OP_RELEASE:
		drop_lock(held, r->object);
		return true;
	case RT_OP_WAIT_BEGIN:
		drop_lock(held, r->arg);
		return true;
	case RT_OP_WAIT_END:
		take_lock(held, r->arg);
		return true;
	default:
		break;
	}
	if (!search_is_plain(r))
		return true;
	uint64_t bytes = search_bytes(r);
	*overflow |= bytes > ACCESS_MAX && !(r->flags & RT_SEARCH_OWN);
	for (uint64_t i = 0; ok && i < bytes && i < ACCESS_MAX; i++)
		ok = note_byte(s, thread, held, r, r->object + i);
	return ok;
}

bool sharing_has(const struct sharing *s, bool exposed, uint64_t pc)
{
	return set_has(exposed ? &s->exposed : &s->shared, pc ? pc : 1);
}

void sharing_release(struct sharing *s)
{
	for (struct shared_byte *b = s->bytes; b; b = b->hh.next)
		free(b->positions);
	HASH_FREE(s->bytes);
	set_release(&s->shared);
	set_release(&s->exposed);
	*s = (struct sharing){0};
}
