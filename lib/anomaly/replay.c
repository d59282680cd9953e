/* Outcomes; see outcome.h. */
#include "lib/anomaly/replay.h"

#include "lib/base/free.h"
#include "lib/base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void replay_run_release(struct replay_run *run)
{
	for (size_t i = 0; i < run->wait_count; i++) {
		free(run->waits[i].thread);
		free(run->waits[i].text);
	}
	free_all(run->waits, run->output, run->why, run->thread, run->expected, run->actual);
	*run = (struct replay_run){0};
}

void replay_free(struct replay_result *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->count; i++)
		replay_run_release(&o->items[i]);
	free(o->items);
	free(o);
}

static bool is_same(const struct replay_run *a, const struct replay_run *b)
{
	return a->kind == b->kind && a->end == b->end && a->value == b->value &&
	       a->output_differs == b->output_differs && a->printed == b->printed;
}

bool replay_add(struct replay_result *o, struct replay_run *run)
{
	struct replay_run *same = NULL;
	uint32_t runs = 1;
	o->runs++;
	o->confirmed += run->kind == OUTCOME_CONFIRMED;
	if (!o->count || run->kind == OUTCOME_CONFIRMED)
		o->kind = run->kind;
	for (size_t i = 0; i < o->count; i++) {
		if (o->items[i].order != run->order || o->items[i].way != run->way)
			continue;
		runs = ++o->items[i].runs;
		if (is_same(&o->items[i], run))
			same = &o->items[i];
	}
	if (same) {
		same->same++;
		replay_run_release(run);
		return true;
	}
	if (!vec_reserve(&o->items, &o->capacity, o->count + 1, sizeof *o->items))
		return false;
	run->runs = runs;
	run->same = 1;
	o->items[o->count++] = *run;
	*run = (struct replay_run){0};
	return true;
}

void replay_compare(struct replay_result *o, bool known, uint64_t printed)
{
	size_t count = 0;
	for (size_t i = 0; i < o->count; i++) {
		struct replay_run *run = &o->items[i];
		size_t k = 0;
		run->output_differs = known && run->kind == OUTCOME_CONFIRMED && run->printed != printed;
		run->printed = 0;
		while (k < count &&
		       (o->items[k].order != run->order || o->items[k].way != run->way || !is_same(&o->items[k], run)))
			k++;
		if (k == count) {
			o->items[count] = *run;
			if (count++ != i)
				*run = (struct replay_run){0};
			continue;
		}
		o->items[k].same += run->same;
		o->items[k].runs = o->items[k].runs > run->runs ? o->items[k].runs : run->runs;
		replay_run_release(run);
	}
	o->count = count;
}

const char *outcome_name(enum outcome_kind kind)
{
	static const char *const names[OUTCOMES] = {"confirmed", "diverged", "stuck", "timeout", "failed"};
	return kind < OUTCOMES ? names[kind] : "unknown";
}

const char *outcome_way_name(enum outcome_way way)
{
	static const char *const names[] = {"schedule", "rerun", "search"};
	return names[way];
}

const char *outcome_order_name(enum outcome_order order)
{
	return order == OUTCOME_FIRST ? "first" : order == OUTCOME_SECOND ? "second" : NULL;
}

void replay_end_text(const struct replay_run *run, char *text, size_t size)
{
	switch (run->end) {
	case OUTCOME_STATUS:
		snprintf(text, size, "exit status %d", run->value);
		break;
	case OUTCOME_SIGNAL:
		snprintf(text, size, "killed by signal %d (%s)", run->value, strsignal(run->value));
		break;
	case OUTCOME_DEADLOCK:
		snprintf(text, size, "deadlock");
		break;
	case OUTCOME_HANG:
		snprintf(text, size, "it did not end in time");
		break;
	case OUTCOME_END_UNKNOWN:
		snprintf(text, size, "its end is not known");
		break;
	}
}
