/*
 * Atomic operations in headers of the C++ library that order more, or less, than their memory order says.
 *
 * More: std::atomic of a std::shared_ptr is a lock by the lowest bit of a word, and libstdc++ of GCC 12 releases it by
 * a relaxed operation after it has only read. The library vouches for its own accesses, as for a mutex: the operation
 * is taken for one that acquires and releases.
 *
 * Less: threads that wait for an atomic are counted, in one of a few counters that all atomics share, and a
 * notification looks at that; of other types than int a version beside the counter is what they sleep at. The language
 * says of no notification that it orders anything: only what is read from the atomic does ([atomics.wait]). So what the
 * library does to counter and version is taken for relaxed.
 */
#include "lib/trace/contract.h"

#include "lib/trace/loader.h"

#include <string.h>

enum { INSIDE = 1, OF_CALLER = 2, NEITHER = 3 };

/* Functions of libstdc++, of GCC 11 and later, whose own atomic operations are of counter and version. */
static const struct {
	const char *class, *member;
} of_waiters[] = {{"std::__detail::__waiter_pool_base::", "_M_enter_wait"},
                  {"std::__detail::__waiter_pool_base::", "_M_leave_wait"},
                  {"std::__detail::__waiter_pool_base::", "_M_waiting"},
                  {"std::__detail::__waiter_base<", "::_M_notify"},
                  {"std::__detail::__waiter_base<", "::_S_do_spin_v<"}};

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

bool contract_counts_waiters(const struct rt_trace *trace, uint64_t pc)
{
	size_t n = 0;
	const struct rt_frame *frames = rt_trace_frames(trace, pc, &n);
	for (size_t i = 0; n && i < sizeof of_waiters / sizeof *of_waiters; i++)
		if (begins(frames[0].function, of_waiters[i].class) && strstr(frames[0].function, of_waiters[i].member))
			return true;
	return false;
}

/* The same, with a memory. */
static bool counts_waiters(struct loader *l, uint64_t pc)
{
	bool added;
	if (set_has(&l->contract.elsewhere, pc))
		return false;
	if (set_has(&l->contract.waiters, pc))
		return true;
	bool is = contract_counts_waiters(l->trace, pc);
	l->failed |= !set_add(is ? &l->contract.waiters : &l->contract.elsewhere, pc, &added);
	return is;
}

void loader_contract(struct loader *l, struct rt_event *e)
{
	struct loader_thread *t = &l->threads[e->thread];
	if (e->op == RT_OP_ENTER || e->op == RT_OP_LEAVE)
		t->called_from = e->op == RT_OP_ENTER ? e->pc : 0;
	if (rt_op_is_atomic(e->op) && e->order != __ATOMIC_RELAXED && e->pc && l->m->program &&
	    counts_waiters(l, e->pc)) {
		e->order = __ATOMIC_RELAXED;
		return;
	}
	if (e->op != RT_OP_ATOMIC_RMW || e->order != __ATOMIC_RELAXED || !l->m->program)
		return;
	int where = look(l, e->pc);
	l->contract.of_caller |= where == OF_CALLER;
	if (where == INSIDE || (where == OF_CALLER && look(l, t->called_from) == INSIDE))
		e->order = __ATOMIC_ACQ_REL;
}

void loader_contract_release(struct loader *l)
{
	set_release(&l->contract.waiters);
	set_release(&l->contract.elsewhere);
	set_release(&l->contract.inside);
	set_release(&l->contract.neither);
}
