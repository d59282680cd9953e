/*
 * Where the recorder left accesses out that repeat others: a thread's of one epoch, which ends as it synchronises. What
 * they read and leave may differ from what their recorded twins did, and the judge asks when they happen.
 */
#include "lib/base/vec.h"
#include "lib/trace/loader.h"

void loader_gap(struct loader *l, const struct rt_event *e)
{
	struct model *m = l->m;
	struct loader_thread *t = &l->threads[e->thread];
	if (e->gap && !t->gap) {
		if (!vec_reserve(&m->gaps, &m->gap_capacity, (uint64_t)m->gap_count + 1, sizeof *m->gaps)) {
			l->failed = true;
			return;
		}
		m->gaps[m->gap_count++] = (struct model_gap){.thread = e->thread, .first = (uint32_t)e->number};
		t->gap = m->gap_count;
	}
	if (e->gap)
		m->gaps[t->gap - 1].last = (uint32_t)e->number;
	/* Code events are no synchronisation either. */
	bool in_epoch = e->op == RT_OP_READ || e->op == RT_OP_WRITE || e->op == RT_OP_ENTER || e->op == RT_OP_LEAVE ||
	                e->op == RT_OP_SETJMP || e->op == RT_OP_LONGJMP;
	if (!in_epoch)
		t->gap = 0;
}
