/* Fingerprints; see fingerprint.h. */
#include "lib/report/fingerprint.h"

#include "lib/report/digest.h"
#include "lib/report/subject.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A position in a form that the next build keeps. An STD file has only its location text. */
static uint64_t event_key(const struct report *r, uint32_t e)
{
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	const struct description *d = report_event(r, e);
	const struct rt_frame *frame = d ? subject_frame(r, d->event.pc) : NULL;
	digest_text(&state, rt_op_name(d ? d->event.op : RT_OP_NONE));
	if (frame) {
		digest_text(&state, frame->function);
		digest_text(&state, frame->file ? subject_basename(frame->file) : NULL);
		digest_text(&state, frame->text);
		digest_number(&state, frame->column);
		if (!frame->function && !frame->file)
			digest_text(&state, frame->module ? subject_basename(frame->module) : NULL);
	}
	return XXH3_64bits_digest(&state);
}

void fingerprint_of(const struct report *r, const struct anomaly *anomaly, char fingerprint[17])
{
	uint64_t keys[ANOMALY_EVENTS_MAX];
	char name[SUBJECT_NAME_MAX] = "";
	struct subject subject;
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	digest_text(&state, anomaly_kind_name(anomaly->kind));
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		keys[i] = event_key(r, anomaly->events[i]);
	if (anomaly->kind == ANOMALY_RACE || anomaly_is_of_waits(anomaly))
		digest_sort(keys, anomaly->event_count);
	else
		digest_text(&state, anomaly->pattern);
	/* Blocks and stacks have no name themselves: their places of creation may differ for the same two accesses. */
	if (subject_of(r, anomaly, &subject) && !strcmp(subject.kind, "global"))
		subject_stable_name(subject.name, name);
	digest_text(&state, name);
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		digest_number(&state, keys[i]);
	snprintf(fingerprint, 17, "%016" PRIx64, XXH3_64bits_digest(&state));
}

static void add_place(XXH3_state_t *state, const struct report *r, uint32_t e)
{
	const struct model *m = r->analysis->model;
	uint64_t pc = m->sites[m->events[e].site].pc;
	const struct rt_frame *frame = subject_frame(r, pc);
	if (frame && frame->file && frame->line) {
		digest_text(state, frame->file);
		digest_number(state, frame->line);
		digest_number(state, frame->column);
	} else {
		digest_number(state, pc);
	}
}

/* One source position may have several pcs: loops are unrolled, functions cloned and inlined. */
static uint64_t position_key(const struct report *r, uint32_t e)
{
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	digest_text(&state, rt_op_name(model_op(r->analysis->model, e)));
	add_place(&state, r, e);
	return XXH3_64bits_digest(&state);
}

/* The same, for any operation. */
static uint64_t place_key(const struct report *r, uint32_t e)
{
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	add_place(&state, r, e);
	return XXH3_64bits_digest(&state);
}

uint64_t fingerprint_places(const struct report *r, const struct anomaly *race)
{
	uint64_t keys[2];
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	for (uint32_t i = 0; i < 2; i++)
		keys[i] = place_key(r, race->events[i]);
	digest_sort(keys, 2);
	digest_number(&state, keys[0]);
	digest_number(&state, keys[1]);
	return XXH3_64bits_digest(&state);
}

uint64_t fingerprint_positions(const struct report *r, const struct anomaly *anomaly)
{
	uint64_t keys[ANOMALY_EVENTS_MAX];
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		keys[i] = position_key(r, anomaly->events[i]);
	if (anomaly->kind == ANOMALY_RACE || anomaly_is_of_waits(anomaly))
		digest_sort(keys, anomaly->event_count);
	digest_text(&state, anomaly_kind_name(anomaly->kind));
	digest_text(&state, anomaly->pattern);
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		digest_number(&state, keys[i]);
	return XXH3_64bits_digest(&state);
}
