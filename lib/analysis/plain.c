/* Races with what uninstrumented modules do; see plain.h. */
#include "lib/analysis/plain.h"

#include "lib/trace/modules.h"

#include <stdlib.h>
#include <string.h>

/* The module of the event, if it is uninstrumented and not part of the system. */
static const struct rt_module *plain_module(const struct model *m, uint32_t e)
{
	const struct rt_module *module = module_at(m->trace, m->sites[m->events[e].site].pc);
	return module && module->plain && !module_is_system(module->path) ? module : NULL;
}

/* True if an event may be of such a module. */
static bool has_plain(const struct rt_trace *trace)
{
	size_t n;
	const struct rt_module *modules = rt_trace_modules(trace, &n);
	for (size_t i = 0; i < n; i++)
		if (modules[i].plain && !module_is_system(modules[i].path))
			return true;
	return false;
}

/* Programs are mapped below their libraries. */
static bool is_host(const struct rt_trace *trace)
{
	size_t n;
	const struct rt_module *modules = rt_trace_modules(trace, &n);
	return n && modules[0].plain && !rt_trace_info(trace)->sync_only;
}

/* ---- Critical sections of uninstrumented modules ---- */

struct sections {
	const struct model *m;
	uint32_t *turn; /* by event: of one that takes or posts something in such a module, the number of those that do
	                   the same with it before; else MODEL_NONE */
	uint32_t *next; /* by what is done: the same, while a schedule is read */
	bool any;
};

/*
 * What the event does if it begins or ends something like a critical section in such a module: the lock that it
 * acquires or the semaphore that it waits for, times two, or one more if it posts the semaphore; else MODEL_NONE.
 */
static uint32_t deed_of(const struct model *m, uint32_t e)
{
	uint32_t object = m->events[e].object;
	bool posts = false;
	switch (model_op(m, e)) {
	case RT_OP_SEM_POST:
		posts = true;
		break;
	case RT_OP_WAIT_END:
		object = model_arg(m, e);
		break;
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
	case RT_OP_SEM_WAIT:
		break;
	default:
		return MODEL_NONE;
	}
	return object != MODEL_NONE && plain_module(m, e) ? 2 * object + posts : MODEL_NONE;
}

static void sections_free(struct sections *s)
{
	free(s->turn);
	free(s->next);
}

/* False without memory. */
static bool sections_find(struct sections *s, const struct model *m)
{
	*s = (struct sections){.m = m,
	                       .turn = malloc(((size_t)m->event_count + 1) * sizeof *s->turn),
	                       .next = calloc(2 * ((size_t)m->object_count + 1), sizeof *s->next)};
	if (!s->turn || !s->next)
		return false;
	memset(s->turn, 0xff, ((size_t)m->event_count + 1) * sizeof *s->turn);
	for (uint32_t i = 0; i < m->sync_count; i++) {
		uint32_t deed = deed_of(m, m->sync[i]);
		if (deed == MODEL_NONE)
			continue;
		s->turn[m->sync[i]] = s->next[deed]++;
		s->any = true;
	}
	return true;
}

/* The first of those events that the schedule has in another turn than the trace, or MODEL_NONE. */
static uint32_t out_of_turn(struct sections *s, const struct schedule *schedule)
{
	const struct model *m = s->m;
	memset(s->next, 0, 2 * ((size_t)m->object_count + 1) * sizeof *s->next);
	for (uint32_t i = 0; i < schedule->count; i++) {
		const struct schedule_step *step = &schedule->steps[i];
		for (uint32_t pos = step->from; pos <= step->to; pos++) {
			uint32_t e = m->threads[step->thread].events[pos];
			if (s->turn[e] != MODEL_NONE && s->turn[e] != s->next[deed_of(m, e)]++)
				return e;
		}
	}
	return MODEL_NONE;
}

/* What such a module reads in a critical section is not known, so it may have waited for what the one before wrote. */
static void cap_proved(struct sections *s, struct anomaly *a)
{
	if (!s->any || a->verdict != VERDICT_PROVED)
		return;
	uint32_t e = a->schedule ? out_of_turn(s, a->schedule) : MODEL_NONE;
	if (a->left_out)
		anomaly_cap(a, REASON_PLAIN_MODULE, NULL);
	else if (e != MODEL_NONE)
		anomaly_cap(a, REASON_PLAIN_MODULE, module_name(plain_module(s->m, e)->path));
}

static void cap_race(const struct model *m, bool host, struct anomaly *a)
{
	for (uint32_t k = 0; a->kind == ANOMALY_RACE && k < a->event_count; k++) {
		const struct model_site *site = &m->sites[m->events[a->events[k]].site];
		if (!host && !(site->flags & RT_F_FREE))
			continue;
		const struct rt_module *module = plain_module(m, a->events[k]);
		if (module)
			anomaly_cap(a, REASON_PLAIN_MODULE, module_name(module->path));
	}
}

bool plain_cap(const struct model *m, struct anomaly_list *list)
{
	bool host = is_host(m->trace);
	const struct rt_trace_info *info = rt_trace_info(m->trace);
	struct sections sections = {0};
	if (info->binary) /* what is not instrumented was seen nevertheless */
		return true;
	bool ok = info->sync_only || !has_plain(m->trace) || sections_find(&sections, m);
	for (size_t i = 0; ok && i < list->count; i++) {
		cap_race(m, host, &list->items[i]);
		cap_proved(&sections, &list->items[i]);
	}
	sections_free(&sections);
	return ok;
}
