/*
 * What an event needs to have happened: the partial order relation and, for each read, the write that it saw (thread
 * order and reads-from: "TRF" of the SyncP paper, POPL 2021). Every correct reordering that contains an event contains
 * all of these.
 */
#ifndef LIB_ORDER_TRF_H
#define LIB_ORDER_TRF_H

#include "lib/order/por.h"

/* From its thread's event `pos` on, this clock. */
struct trf_change {
	uint32_t pos, clock;
};

struct trf {
	const struct model *m; /* borrowed */
	struct clocks clocks;
	struct trf_change *changes; /* thread by thread, rising pos */
	uint32_t *first;            /* by thread: its first change; one more at the end */
};

enum rt_status trf_compute(const struct model *m, struct trf *out, struct rt_error *err);
void trf_release(struct trf *t);

/*
 * Clock of what e needs, itself excluded: own thread's component is not in it (it needs all its thread's earlier
 * events). without_read: what e needs before it can be next, so that what an access itself reads does not count.
 */
uint32_t trf_clock(const struct trf *t, uint32_t e, bool without_read);

#endif
