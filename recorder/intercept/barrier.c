/* Barriers. The number of parties is read from where glibc (2.25 and later) keeps it; it does not change after init. */
#include "recorder/intercept/sync.h"
#include "recorder/runtime/blocking.h"

struct glibc_barrier {
	unsigned in, round, count;
	int shared;
	unsigned out;
};
_Static_assert(sizeof(struct glibc_barrier) <= sizeof(pthread_barrier_t), "layout of glibc's barrier");

static int real_wait(pthread_barrier_t *barrier);

/* The last that arrives wakes the others; the C library's barrier is not used. */
static int wait_by_turns(pthread_barrier_t *barrier, unsigned parties, uintptr_t pc)
{
	struct rt_blocking b __attribute__((cleanup(rt_blocking_left))) = {
	    .op = RT_OP_BARRIER_LEAVE, .object = (uintptr_t)barrier, .pc = pc};
	if (rt_turn_waiters(RT_OP_BARRIER_LEAVE, rt_place((uintptr_t)barrier)) + 1 >= parties) {
		rt_turn_wakes(RT_OP_BARRIER_LEAVE, rt_place((uintptr_t)barrier), UINT32_MAX);
		return PTHREAD_BARRIER_SERIAL_THREAD;
	}
	rt_blocking_begin(&b);
	b.given = true;
	if (rt_turn_block(RT_OP_BARRIER_LEAVE, rt_place((uintptr_t)barrier), RT_FOREVER, false) != RT_TURN_FREE)
		return 0;
	return real_wait(barrier);
}

RT_INTERPOSE(int, pthread_barrier_wait, (pthread_barrier_t * barrier))
{
	/* Another party may destroy the barrier as soon as it has left the real call, so it is read before. */
	const struct glibc_barrier *glibc = (const struct glibc_barrier *)(const void *)barrier;
	unsigned parties = glibc->count, flags = glibc->shared ? RT_F_TIMED : 0;
	int result = 0;
	rt_emit_use(RT_OP_BARRIER_ARRIVE, barrier, parties, RT_PC, 0);
	if (flags)
		rt_children_told(RT_PC);
	if (RT_UNLIKELY(rt_controlled) && rt_turn_mine() && parties && !flags)
		result = wait_by_turns(barrier, parties, RT_PC);
	else
		RT_BLOCKING(RT_OP_BARRIER_LEAVE, barrier, flags, RT_PC,
		            (result = RT_REAL(pthread_barrier_wait)(barrier), 0));
	rt_emit_sync(RT_OP_BARRIER_LEAVE, (uintptr_t)barrier, parties, RT_PC, 0);
	if (flags)
		rt_children_heard(RT_PC);
	return result;
}

RT_INIT(pthread_barrier_init,
        (pthread_barrier_t *restrict barrier, const pthread_barrierattr_t *restrict attr, unsigned count),
        (barrier, attr, count), barrier)
RT_DESTROY(int, pthread_barrier_destroy, (pthread_barrier_t * barrier), barrier)

static int real_wait(pthread_barrier_t *barrier)
{
	return RT_REAL(pthread_barrier_wait)(barrier);
}
