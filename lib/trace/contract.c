/*
 * Atomic operations in headers of the C++ library that order more than their memory order says: std::atomic of a
 * std::shared_ptr is a lock by the lowest bit of a word, and libstdc++ of GCC 12 releases it by a relaxed operation
 * after it has only read. The library vouches for its own accesses, as for a mutex: the operation is taken for one that
 * acquires and releases.
 */
#include "lib/trace/loader.h"

#include <string.h>

enum { INSIDE = 1, OF_CALLER = 2, NEITHER = 3 };

static bool begins(const char *function, const char *with)
{
	return function && !strncmp(function, with, strlen(with));
}

/* Where the position is. Without optimisation only the caller of std::atomic's function tells. */
static int look(struct loader *l, uint64_t pc)
{
	bool added;
	size_t n = 0;
	if (!pc || set_has(&l->contract.neither, pc))
		return NEITHER;
	if (set_has(&l->contract.inside, pc))
		return INSIDE;
	const struct rt_frame *frames = rt_trace_frames(l->trace, pc, &n);
	for (size_t i = 0; i < n; i++)
		if (begins(frames[i].function, "std::_Sp_atomic<")) {
			l->failed |= !set_add(&l->contract.inside, pc, &added);
			return INSIDE;
		}
	if (n == 1 && begins(frames[0].function, "std::__atomic_base<"))
		return OF_CALLER;
	l->failed |= !set_add(&l->contract.neither, pc, &added);
	return NEITHER;
}

void loader_contract(struct loader *l, struct rt_event *e)
{
	struct loader_thread *t = &l->threads[e->thread];
	if (e->op == RT_OP_ENTER || e->op == RT_OP_LEAVE)
		t->called_from = e->op == RT_OP_ENTER ? e->pc : 0;
	if (e->op != RT_OP_ATOMIC_RMW || e->order != __ATOMIC_RELAXED || !l->m->program)
		return;
	int where = look(l, e->pc);
	l->contract.of_caller |= where == OF_CALLER;
	if (where == INSIDE || (where == OF_CALLER && look(l, t->called_from) == INSIDE))
		e->order = __ATOMIC_ACQ_REL;
}

void loader_contract_release(struct loader *l)
{
	set_release(&l->contract.inside);
	set_release(&l->contract.neither);
}
