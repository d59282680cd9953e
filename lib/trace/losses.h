/*
 * What a trace lacks, as its LOST events say: threads that were not recorded, or parts of them. What is missing may
 * have synchronised with whatever is recorded. So of two events that happens-before leaves unordered, this tells
 * whether something that is missing may have ordered them. The earlier one's thread has then synchronised after it, and
 * later the other one's thread before its event. What is missing was there in time. A load passes nothing on, so that
 * of loads in a row each is ordered before the same events.
 */
#ifndef LIB_TRACE_LOSSES_H
#define LIB_TRACE_LOSSES_H

#include "tracefmt/event.h"

#include <stdbool.h>

struct loss {
	uint32_t number, thread; /* of the LOST event */
	bool lasts;              /* a thread is missing from here on; else some events of this one are, here */
	bool of_all;             /* all that other threads did before is ordered before it */
};
struct losses_mark {
	uint32_t thread, number; /* of an event by which the thread may have synchronised */
	uint32_t sends; /* number of the thread's first one from here on by which it may have passed something on;
	                   UINT32_MAX: none */
};

/* All zero: nothing is missing. */
struct losses {
	struct loss *items; /* in the trace's order */
	uint32_t count, capacity;
	struct losses_mark *marks; /* by thread, then number */
	uint32_t mark_count, mark_capacity;
	bool calls, threads; /* any item is a call that is not understood; any is a thread, or of one */
	bool start;          /* the trace begins in the middle of the run */
	bool orders;         /* any item is of_all */
};

/* True if events of this operation are to be told to losses_add. */
bool losses_need(unsigned op);
/* The next event of the trace. False without memory. */
bool losses_add(struct losses *l, const struct rt_event *e);
/* All have been added. */
void losses_sort(struct losses *l);
void losses_release(struct losses *l);

/* True if what is missing may order two events, by thread and number, number1 < number2. */
bool losses_may_order(const struct losses *l, uint32_t thread1, uint32_t number1, uint32_t thread2, uint32_t number2);
/* True if anything is missing before the event with this number. */
static inline bool losses_before(const struct losses *l, uint32_t number)
{
	return l->count && l->items[0].number < number;
}

#endif
