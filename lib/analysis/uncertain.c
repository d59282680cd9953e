/* Uncertain values by event number; see uncertain.h. */
#include "lib/analysis/uncertain.h"

#include "lib/relation/raced.h"

#include <stdlib.h>

static enum rt_status by_number(const struct model *m, struct rt_numbers *out, struct rt_error *err)
{
	out->end = m->event_count ? m->events[m->event_count - 1].number + UINT64_C(1) : 0;
	out->bits = calloc((size_t)out->end / 8 + 1, 1);
	if (!out->bits)
		return rt_error_set(err, RT_EMEMORY, "no memory for the values of the trace");
	for (uint32_t i = 0; i < model_entries(m); i++) {
		uint32_t number = m->events[m->cell_events[i]].number;
		if (model_raced(m, i))
			out->bits[number / 8] |= (uint8_t)(1 << number % 8);
	}
	return RT_OK;
}

enum rt_status uncertain_values(struct rt_trace *trace, struct rt_numbers *out, struct rt_error *err)
{
	const struct rt_trace_info *info = rt_trace_info(trace);
	struct model_options options = {.regions = REGIONS_LOCKS};
	struct model *m = NULL;
	*out = (struct rt_numbers){NULL, 0};
	if (info->exact || !info->values)
		return RT_OK;
	enum rt_status status = model_load(trace, &options, &m, err);
	struct facts facts = {.m = m};
	if (!status)
		status = raced_find(m, &facts, err);
	if (!status)
		status = by_number(m, out, err);
	facts_release(&facts);
	model_free(m);
	return status;
}
