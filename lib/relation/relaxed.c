/* Atomic reads that synchronise with nothing; see relaxed.h. */
#include "lib/relation/relaxed.h"

#include <stdbool.h>
#include <stdlib.h>

static bool acquires(const struct model_site *site)
{
	return site->order != __ATOMIC_RELAXED && site->order != __ATOMIC_RELEASE;
}

static bool releases(const struct model_site *site)
{
	return site->order == __ATOMIC_RELEASE || site->order == __ATOMIC_ACQ_REL || site->order == __ATOMIC_SEQ_CST;
}

uint8_t *relaxed_reads(const struct model *m)
{
	uint8_t *reads = calloc((size_t)m->event_count / 8 + 1, 1);
	/* By cell: its last atomic write, event index + 1. */
	uint32_t *writers = calloc((size_t)m->cell_count + 1, sizeof *writers);
	for (uint32_t e = 0; reads && writers && e < m->event_count; e++) {
		const struct model_site *site = &m->sites[m->events[e].site];
		/* A call's read of its lock is no read of a value: before init there is none. */
		if (!rt_op_is_atomic(site->op) || !site->cells || site->flags & RT_F_OBJECT)
			continue;
		uint32_t *writer = &writers[m->events[e].object];
		bool released = *writer && releases(&m->sites[m->events[*writer - 1].site]);
		if (rt_op_reads(site->op) && (!acquires(site) || (*writer && !released)))
			reads[e / 8] |= (uint8_t)(1 << e % 8);
		if (rt_op_writes(site->op))
			*writer = e + 1;
	}
	if (!writers) {
		free(reads);
		reads = NULL;
	}
	free(writers);
	return reads;
}
