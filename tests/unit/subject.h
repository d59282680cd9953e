/* A trace with what searches it and judges what was found, for tests; and what two events of it have to do with each
 * other. */
#ifndef TESTS_UNIT_SUBJECT_H
#define TESTS_UNIT_SUBJECT_H

#include "lib/judge/verify.h"
#include "lib/prove/search.h"

#include <check.h>

struct subject {
	struct rt_trace *own; /* the trace, if it is to go with the rest, else NULL */
	struct model *m;
	struct facts facts;
	struct judge *judge;
	struct search *search;
};

static inline void subject_init(struct subject *s, struct rt_trace *trace)
{
	struct rt_error err = {0};
	struct model_options options = {.regions = REGIONS_LOCKS};
	s->own = NULL;
	ck_assert_msg(model_load(trace, &options, &s->m, &err) == RT_OK, "%s", err.message);
	s->facts = (struct facts){.m = s->m};
	s->judge = judge_create(s->m);
	s->search = search_create(&s->facts, facts_trf(&s->facts), false, NULL);
	ck_assert(s->judge && s->search);
}

static inline void subject_release(struct subject *s)
{
	search_free(s->search);
	judge_free(s->judge);
	facts_release(&s->facts);
	model_free(s->m);
	rt_trace_free(s->own);
}

/* Accesses that share a cell and conflict. */
static inline bool subject_conflict(const struct model *m, uint32_t a, uint32_t b)
{
	uint32_t a_end = m->events[a].object + m->sites[m->events[a].site].cells,
	         b_end = m->events[b].object + m->sites[m->events[b].site].cells;
	return rt_op_is_access(model_op(m, a)) && rt_op_is_access(model_op(m, b)) && m->events[a].object < b_end &&
	       m->events[b].object < a_end && model_conflict(m, a, b);
}

static inline uint32_t subject_region(const struct model *m, uint32_t e)
{
	return m->segments[m->events[e].segment].region;
}

/* Two accesses of one region, in program order, to different cells. */
static inline bool subject_unit(const struct model *m, uint32_t a, uint32_t b)
{
	return a < b && rt_op_is_access(model_op(m, a)) && rt_op_is_access(model_op(m, b)) &&
	       subject_region(m, a) != MODEL_NONE && subject_region(m, a) == subject_region(m, b) &&
	       m->events[a].object != m->events[b].object;
}

static inline bool subject_holds(const struct model *m, uint32_t before, uint32_t lock)
{
	uint32_t pred = model_pred(m, before);
	const struct model_lockset *set = &m->locksets[pred == MODEL_NONE ? 0 : model_lockset_of(m, pred)];
	for (uint32_t i = 0; i < set->count; i++)
		if (set->locks[i].object == lock)
			return true;
	return false;
}

/* Acquires by two threads, each of what the other one holds. */
static inline bool subject_deadlock(const struct model *m, uint32_t a, uint32_t b)
{
	return model_op(m, a) == RT_OP_ACQUIRE && model_op(m, b) == RT_OP_ACQUIRE &&
	       model_thread_of(m, a) != model_thread_of(m, b) && subject_holds(m, a, m->events[b].object) &&
	       subject_holds(m, b, m->events[a].object);
}

#endif
