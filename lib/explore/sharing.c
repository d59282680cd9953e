/* What executions share; see sharing.h. */
#include "lib/explore/sharing.h"

#include "lib/base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { POSITIONS_MAX = 32 };

/* Memory of GRANULE bytes: by which threads, at which positions, under which locks it was accessed in any execution. */
struct granule {
	uint64_t key;
	uint64_t threads; /* bit i: thread i */
	bool written;
	uint64_t positions[POSITIONS_MAX];
	uint32_t position_count;
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

/* The position is one of what is shared; and of what no lock protects, if none protects the granule. */
static bool add_shared(struct sharing *s, const struct granule *g, uint64_t pc)
{
	return add_position(s, &s->shared, pc) && (g->locks.count || add_position(s, &s->exposed, pc));
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

static bool note_granule(struct sharing *s, uint32_t thread, const struct locks_held *held,
                         const struct rt_search_record *r, uint64_t key)
{
	struct granule *g;
	HASH_FIND(hh, s->granules, &key, sizeof key, g);
	if (!g)
		HASH_MAKE(s->granules, key, key, g);
	if (!g)
		return false;
	bool was_shared = (g->threads & (g->threads - 1)) != 0;
	g->threads |= UINT64_C(1) << thread;
	bool shared = (g->threads & (g->threads - 1)) != 0;
	g->written |= rt_op_writes(r->op);
	uint32_t i = 0;
	while (i < g->position_count && g->positions[i] != r->pc)
		i++;
	if (i == g->position_count && i < POSITIONS_MAX)
		g->positions[g->position_count++] = r->pc;
	if (shared && !was_shared) {
		g->locks = *held;
	} else if (shared) {
		keep_common(&g->locks, held);
	}
	if (!shared || !g->written)
		return true;
	bool ok = add_shared(s, g, r->pc);
	for (i = 0; ok && i < g->position_count; i++)
		ok = add_shared(s, g, g->positions[i]);
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
	uint64_t first = r->object / GRANULE, last = (r->object + search_bytes(r) - 1) / GRANULE;
	*overflow |= last - first >= GRANULES_MAX && !(r->flags & RT_SEARCH_OWN);
	for (uint64_t at = first; ok && at <= last && at - first < GRANULES_MAX; at++)
		ok = note_granule(s, thread, held, r, at);
	return ok;
}

bool sharing_has(const struct sharing *s, bool exposed, uint64_t pc)
{
	return set_has(exposed ? &s->exposed : &s->shared, pc ? pc : 1);
}

void sharing_release(struct sharing *s)
{
	HASH_FREE(s->granules);
	set_release(&s->shared);
	set_release(&s->exposed);
	*s = (struct sharing){0};
}
