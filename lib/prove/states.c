/* Exploration of every state; see states.h. */
#include "lib/prove/states.h"

#include "lib/base/free.h"
#include "lib/prove/state/base.h"
#include "lib/prove/state/choices.h"
#include "lib/prove/state/space.h"

#include <stdlib.h>

/* One of the goals that contain an event. */
struct link {
	uint32_t goal, next; /* next: index + 1, 0: the end */
};

struct states_visit {
	const struct model *m;
	struct reads reads;
	struct space space;
	struct base base;     /* for its sections */
	uint32_t *all, *none; /* by thread: all its events; 0 */
	struct goal no_goal;
	struct states_goal *goals;
	uint32_t *links;  /* by event: the first goal that contains it, index + 1 in link_list */
	uint32_t *passed; /* by goal: number of its events that were executed; open goals only */
	struct link *link_list;
	uint32_t open,
	    alive; /* goals that are not met; those of them that can still be met from here, as far as known */
	struct choices choices;
	struct states_limits limits;
};

static void visit_release(struct states_visit *v)
{
	space_release(&v->space);
	free_all(v->all, v->none, v->links, v->passed, v->link_list);
	choices_release(&v->choices);
}

static bool visit_init(struct states_visit *v, struct facts *f, const struct trf *trf, uint32_t count)
{
	const struct model *m = f->m;
	size_t threads = (size_t)m->thread_count + 1;
	v->m = m;
	v->base = (struct base){.m = m, .trf = trf, .sections = facts_sections(f)};
	v->no_goal.kind = GOAL_RACE;
	v->all = calloc(threads, sizeof *v->all);
	v->none = calloc(threads, sizeof *v->none);
	v->links = calloc((size_t)m->event_count + 1, sizeof *v->links);
	v->passed = calloc((size_t)count + 1, sizeof *v->passed);
	v->link_list = calloc((size_t)count * ANOMALY_EVENTS_MAX + 1, sizeof *v->link_list);
	if (!v->all || !v->none || !v->links || !v->passed || !v->link_list || !space_init(&v->space, &v->reads, trf) ||
	    !v->base.sections)
		return false;
	for (uint32_t t = 0; t < m->thread_count; t++)
		v->all[t] = m->threads[t].count;
	return true;
}

/* Goals by their events. */
static void open_goals(struct states_visit *v, uint32_t count)
{
	uint32_t links = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct goal *g = &v->goals[i].goal;
		v->open += !v->goals[i].met;
		for (uint32_t k = 0; k < g->count && !v->goals[i].met; k++) {
			v->link_list[links] = (struct link){i, v->links[g->events[k]]};
			v->links[g->events[k]] = ++links;
		}
	}
	v->alive = v->open;
}

/* Removes met goals from the event's list. True if the event is in an open goal. */
static bool visible(struct states_visit *v, uint32_t e)
{
	while (v->links[e] && v->goals[v->link_list[v->links[e] - 1].goal].met)
		v->links[e] = v->link_list[v->links[e] - 1].next;
	return v->links[e];
}

static void execute(struct states_visit *v, uint32_t e)
{
	for (uint32_t i = v->links[e]; i; i = v->link_list[i - 1].next) {
		uint32_t g = v->link_list[i - 1].goal;
		if (!v->goals[g].met && !v->passed[g]++)
			v->alive--;
	}
	space_execute(&v->space, e);
}

/* No event of a goal that was met in the meantime was executed on this path. */
static void take_back(struct states_visit *v)
{
	uint32_t e = v->space.done[v->space.done_count - 1].event;
	for (uint32_t i = v->links[e]; i; i = v->link_list[i - 1].next) {
		uint32_t g = v->link_list[i - 1].goal;
		if (!v->goals[g].met && !--v->passed[g])
			v->alive++;
	}
	space_take_back(&v->space);
}

/* True if no other thread takes the lock any more. */
static bool takes_alone(const struct states_visit *v, uint32_t thread, uint32_t lock)
{
	const struct sections *s = v->base.sections;
	for (uint32_t i = s->lock_first[lock]; i < s->lock_first[lock + 1]; i++) {
		const struct section_group *g = &s->groups[i];
		if (g->thread != thread && base_count(&v->base, g, v->space.pos[g->thread]) < g->count)
			return false;
	}
	return true;
}

/* True if all waits that the signal ends have begun. */
static bool is_heard(const struct states_visit *v, uint32_t signal)
{
	const struct waits *w = &v->space.waits;
	for (uint32_t i = waits_of(w, signal); i < w->count && w->items[i].signal == signal; i++)
		if (!space_occurred(&v->space, w->items[i].begin))
			return false;
	return true;
}

/* True if e, which is enabled, is independent of all other events. */
static bool harmless(const struct states_visit *v, uint32_t e)
{
	unsigned op = model_op(v->m, e);
	uint32_t lock = model_lock_taken(v->m, e);
	if (rt_op_writes(op))
		return space_writes_alone(&v->space, e);
	if (lock != MODEL_NONE)
		return takes_alone(v, model_thread_of(v->m, e), lock);
	if (rt_op_has(op, RT_WAKES))
		return is_heard(v, e);
	return op != RT_OP_SEM_INIT;
}

/* Executes invisible, independent events while there are any; false if a limit was reached. */
static bool run_harmless(struct states_visit *v)
{
	uint32_t threads = v->m->thread_count;
	for (uint32_t t = 0, idle = 0; idle < threads; t = t + 1 < threads ? t + 1 : 0, idle++)
		for (;;) {
			uint32_t e = space_next(&v->space, t);
			if (e == MODEL_NONE || visible(v, e) || !space_enabled(&v->space, e) || !harmless(v, e))
				break;
			execute(v, e);
			idle = 0;
			if (v->space.failed || v->space.spent > v->limits.events)
				return false;
		}
	return true;
}

/* Records the open goals that this state meets. */
static void note(struct states_visit *v)
{
	for (uint32_t t = 0; t < v->m->thread_count; t++) {
		uint32_t e = space_next(&v->space, t);
		for (uint32_t i = e != MODEL_NONE && visible(v, e) ? v->links[e] : 0; i; i = v->link_list[i - 1].next) {
			struct states_goal *g = &v->goals[v->link_list[i - 1].goal];
			if (g->met || !space_meets(&v->space, &g->goal))
				continue;
			g->met = true;
			v->open--;
			v->alive--;
			v->space.failed |= !space_schedule(&v->space, &g->schedule);
		}
	}
}

/* Makes a choice of the enabled events. */
static bool push_choice(struct states_visit *v)
{
	bool ok = choices_push(&v->choices, v->space.done_count);
	for (uint32_t t = 0; ok && t < v->m->thread_count; t++) {
		uint32_t e = space_next(&v->space, t);
		if (e != MODEL_NONE && space_enabled(&v->space, e))
			ok = choices_add(&v->choices, e);
	}
	return ok;
}

/* Continues with the newest choice that has an event left; false if none has. */
static bool next_way(struct states_visit *v)
{
	uint32_t depth, e;
	if (!choices_next(&v->choices, &depth, &e))
		return false;
	while (v->space.done_count > depth)
		take_back(v);
	execute(v, e);
	return true;
}

static enum search_answer explore(struct states_visit *v)
{
	while (v->open) {
		if (!run_harmless(v))
			return v->space.failed ? SEARCH_NO_MEMORY : SEARCH_GAVE_UP;
		if (v->alive && v->space.seen.count == v->limits.states)
			return SEARCH_GAVE_UP;
		if (v->alive && space_see(&v->space)) {
			note(v);
			v->space.failed |= !push_choice(v);
		}
		if (v->space.failed)
			return SEARCH_NO_MEMORY;
		if (!next_way(v))
			return SEARCH_NONE;
		if (v->space.failed)
			return SEARCH_NO_MEMORY;
	}
	return SEARCH_FOUND;
}

enum search_answer states_visit(struct facts *f, const struct trf *trf, const struct values *values,
                                const struct states_limits *limits, struct states_goal *goals, uint32_t count,
                                struct states_count *counts)
{
	struct states_visit v = {.goals = goals, .limits = *limits};
	enum search_answer answer = SEARCH_NO_MEMORY;
	if (v.limits.states > STATES_MAX)
		v.limits.states = STATES_MAX;
	if (reads_init(&v.reads, f, false, values) && visit_init(&v, f, trf, count)) {
		open_goals(&v, count);
		space_begin(&v.space, &v.no_goal, v.none, v.all, v.none);
		v.space.spent = 0;
		answer = explore(&v);
	}
	*counts = (struct states_count){v.space.spent, v.space.seen.count};
	visit_release(&v);
	return answer;
}
