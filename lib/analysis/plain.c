/* Races with what uninstrumented modules do; see plain.h. */
#include "lib/analysis/plain.h"

#include "lib/trace/modules.h"

/* The module of the event, if it is uninstrumented and not part of the system. */
static const struct rt_module *plain_module(const struct model *m, uint32_t e)
{
	const struct rt_module *module = module_at(m->trace, m->sites[m->events[e].site].pc);
	return module && module->plain && !module_is_system(module->path) ? module : NULL;
}

/* Programs are mapped below their libraries. */
static bool is_host(const struct rt_trace *trace)
{
	size_t n;
	const struct rt_module *modules = rt_trace_modules(trace, &n);
	return n && modules[0].plain && !rt_trace_info(trace)->sync_only;
}

void plain_cap(const struct model *m, struct anomaly_list *list)
{
	bool host = is_host(m->trace);
	if (rt_trace_info(m->trace)->binary) /* what is not instrumented was seen nevertheless */
		return;
	for (size_t i = 0; i < list->count; i++) {
		struct anomaly *a = &list->items[i];
		for (uint32_t k = 0; a->kind == ANOMALY_RACE && k < a->event_count; k++) {
			const struct model_site *site = &m->sites[m->events[a->events[k]].site];
			if (!host && !(site->flags & RT_F_FREE))
				continue;
			const struct rt_module *module = plain_module(m, a->events[k]);
			if (module)
				anomaly_cap(a, REASON_PLAIN_MODULE, module_name(module->path));
		}
	}
}
