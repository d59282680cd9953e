/* Makes a judge: the facts of the trace, and room for replays. What its faults are called. */
#include "lib/base/free.h"
#include "lib/judge/judge.h"

#include <stdlib.h>
#include <string.h>

void judge_free(struct judge *j)
{
	if (!j)
		return;
	free_all(j->before, j->partner, j->round_size, j->by_object, j->by_object_first, j->initial, j->gives);
	judge_state_release(j);
	free(j->accepted);
	judge_values_release(j);
	judge_tries_release(&j->tries);
	judge_repeats_release(&j->repeats);
	free(j);
}

struct judge *judge_create(const struct model *m)
{
	struct judge *j = calloc(1, sizeof *j);
	if (!j)
		return NULL;
	size_t objects = m->object_count + 1;
	j->m = m;
	j->without_rule = MODEL_NONE;
	j->partner = malloc((m->event_count + 1) * sizeof *j->partner);
	j->round_size = calloc(m->sync_count + 1, sizeof *j->round_size);
	j->by_object_first = calloc(objects + 1, sizeof *j->by_object_first);
	j->initial = calloc(objects, sizeof *j->initial);
	j->gives = calloc((size_t)m->thread_count + 1, sizeof *j->gives);
	if (!j->partner || !j->round_size || !j->by_object_first || !j->initial || !j->gives) {
		judge_free(j);
		return NULL;
	}
	memset(j->partner, 0xff, (m->event_count + 1) * sizeof *j->partner);
	if (!judge_scan(j) || !judge_scan_tries(j) || !judge_scan_repeats(j) || !judge_state_init(j)) {
		judge_free(j);
		return NULL;
	}
	return j;
}

uint32_t judge_without_rule(const struct judge *j)
{
	return j->without_rule;
}

enum rt_status judge_error(const struct model *m, uint32_t e, struct rt_error *err)
{
	return rt_error_set(err, RT_EINTERNAL,
	                    "an error in racetrace: it has no rule for '%s' (event %u) in a schedule",
	                    rt_op_name(model_op(m, e)), m->events[e].number);
}

const char *verify_fault_text(enum verify_fault fault)
{
	static const char *const texts[] = {
#define X(name, text) text,
	    VERIFY_FAULTS(X)
#undef X
	};
	return texts[fault];
}
