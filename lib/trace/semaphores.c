/*
 * Semaphores that are used as locks: their first value is 1, and a post comes from the thread whose wait took the
 * semaphore last, once for each wait. Such waits and posts exclude one another as acquires and releases do, and another
 * run may have them in another order. Any other semaphore orders its waits after its posts (lib/relation/sync.c).
 *
 * Decided by address: one wrong use of it and none of the semaphores there is a lock.
 */
#include "lib/base/hash.h"
#include "lib/trace/loader.h"

struct semaphore {
	uint64_t addr;
	uint32_t holder; /* thread + 1; 0: it is free */
	bool made, misused;
	UT_hash_handle hh;
};

static struct semaphore *find(const struct loader *l, uint64_t addr)
{
	struct semaphore *s = NULL;
	if (l->semaphores)
		HASH_FIND(hh, l->semaphores, &addr, sizeof addr, s);
	return s;
}

void semaphores_event(struct loader *l, const struct rt_event *e)
{
	struct semaphore *s = find(l, e->addr);
	if (!s)
		HASH_MAKE(l->semaphores, addr, e->addr, s);
	if (!s) {
		l->failed = true;
		return;
	}
	if (e->op == RT_OP_SEM_INIT) {
		s->misused |= s->holder || e->arg != 1;
		s->made = true;
		return;
	}
	bool wait = e->op == RT_OP_SEM_WAIT;
	s->misused |= !s->made || s->holder != (wait ? 0 : e->thread + 1);
	s->holder = wait ? e->thread + 1 : 0;
}

bool semaphores_is_lock(const struct loader *l, uint64_t addr)
{
	const struct semaphore *s = find(l, addr);
	/* Where events are missing, posts by other threads may be among them. */
	return s && !s->misused && !l->lossy && !l->m->part;
}

void semaphores_release(struct loader *l)
{
	HASH_FREE(l->semaphores);
}
