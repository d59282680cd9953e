/*
 * A run that is another one up to an event, before which its thread is held. Then the others do what an event of
 * another thread needs, and that event; of what conflicts in the two threads the other thread's comes first now. Where
 * threads change is exact: what the run is changed in, it has from then on, and what it leads to can be changed in
 * turn.
 */
#ifndef LIB_EXPLORE_DELAY_H
#define LIB_EXPLORE_DELAY_H

#include "tracefmt/trace.h"

struct delays;

/* Events of a thread, by ordinals. */
struct delay_run {
	uint32_t thread;
	uint64_t from, to;
};

/* One pass over the trace. *out: NULL: it has more than `most` events. Else it is the caller's. */
enum rt_status delays_load(struct rt_trace *trace, uint64_t most, struct delays **out, struct rt_error *err);
void delays_free(struct delays *d);

/*
 * The thread of the event `held`, a number, waits before it until the event `until` was executed. The last run ends
 * with that; or, if it goes on then, with the event held. *runs is the caller's; NULL: there is no such run. held and
 * waiting then say what the runs were made for: the thread may have to wait before it takes a lock.
 */
struct delay {
	uint64_t held, until; /* numbers of events */
	bool returns;
	uint32_t waiting; /* delay_runs: the thread that waits when the runs are done */
	/*
	 * The same: what comes first now changes what the thread has read since that was made, or reads what it has
	 * written: this many events of it ago. With what it does next, which comes behind, no order of the two as
	 * wholes is like that. UINT32_MAX: it is not so.
	 */
	uint32_t torn;
};
enum rt_status delay_runs(struct delays *d, struct delay *delay, struct delay_run **runs, size_t *count,
                          struct rt_error *err);

#endif
