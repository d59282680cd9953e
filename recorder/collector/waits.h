/*
 * Waits in calls of the kernel. A thread announces such a call in its slot (struct rt_call), which costs it nothing to
 * speak of. Now and then the collector looks which threads are in one, and asks the kernel whether they sleep. Of those
 * that are still there when the run ends it records a BLOCK, at the time at which it last saw the thread asleep: what
 * came before that has not ended the wait. So with a wait for a condition, which has a BLOCK from its begin on, too. By
 * turns the scheduler says that none could go on. A thread that tries again and again counts as asleep at a time after
 * which a try has failed.
 */
#ifndef RECORDER_COLLECTOR_WAITS_H
#define RECORDER_COLLECTOR_WAITS_H

#include "recorder/channel.h"

#include <stdbool.h>
#include <sys/types.h>

/* What was seen of one slot. */
struct wait_view {
	uint32_t kind; /* of the call; 0: none */
	const struct rt_record *at;
	uint64_t repeats;
	uint64_t asleep; /* a stamp; 0: it was not seen asleep in this call */
	uint64_t looked; /* the stamp of the last look at one that tries; 0: none in this call */
	uint32_t tries;  /* that had failed then */
};

/* One round: looks at the slot of a thread of the process. looks: number of threads that the kernel was asked about. */
void waits_look(struct rt_channel *c, pid_t pid, struct rt_slot *slot, struct wait_view *v, unsigned *looks);
/* The process is dead: the records that say what the slot's thread waited for; returns their number, 0 or 3. */
unsigned waits_records(struct rt_channel *c, const struct rt_slot *slot, const struct wait_view *v,
                       struct rt_record records[3]);

#endif
