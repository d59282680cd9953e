/* Barriers. The number of parties is read from where glibc (2.25 and later) keeps it; it does not change after init. */
#include "recorder/intercept/sync.h"
#include "recorder/runtime/blocking.h"

struct glibc_barrier {
	unsigned in, round, count;
	int shared;
	unsigned out;
};
_Static_assert(sizeof(struct glibc_barrier) <= sizeof(pthread_barrier_t), "layout of glibc's barrier");

RT_INTERPOSE(int, pthread_barrier_wait, (pthread_barrier_t * barrier))
{
	/* The barrier may be destroyed by another party as soon as the real call lets one go, so it is read before. */
	const struct glibc_barrier *glibc = (const struct glibc_barrier *)(const void *)barrier;
	unsigned parties = glibc->count, flags = glibc->shared ? RT_F_TIMED : 0;
	int result = 0;
	rt_emit_use(RT_OP_BARRIER_ARRIVE, barrier, parties, RT_PC, 0);
	RT_BLOCKING(RT_OP_BARRIER_LEAVE, barrier, flags, RT_PC, (result = RT_REAL(pthread_barrier_wait)(barrier), 0));
	rt_emit_sync(RT_OP_BARRIER_LEAVE, (uintptr_t)barrier, parties, RT_PC, 0);
	return result;
}

RT_INIT(pthread_barrier_init,
        (pthread_barrier_t *restrict barrier, const pthread_barrierattr_t *restrict attr, unsigned count),
        (barrier, attr, count), barrier)
RT_DESTROY(int, pthread_barrier_destroy, (pthread_barrier_t * barrier), barrier)
