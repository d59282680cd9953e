/* Fingerprints; see fingerprint.h. */
#define XXH_STATIC_LINKING_ONLY /* the state on the stack */
#include "lib/report/fingerprint.h"

#include "lib/report/subject.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void add_text(XXH3_state_t *state, const char *text)
{
	XXH3_64bits_update(state, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void add_number(XXH3_state_t *state, uint64_t number)
{
	unsigned char bytes[8];
	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(number >> (8 * i));
	XXH3_64bits_update(state, bytes, sizeof bytes);
}

/* A position in a form that the next build keeps. An STD file has only its location text. */
static uint64_t event_key(const struct report *r, uint32_t e)
{
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	const struct description *d = report_event(r, e);
	const struct rt_frame *frame = d ? subject_frame(r, d->event.pc) : NULL;
	add_text(&state, rt_op_name(d ? d->event.op : RT_OP_NONE));
	if (frame) {
		add_text(&state, frame->function);
		add_text(&state, frame->file ? subject_basename(frame->file) : NULL);
		add_text(&state, frame->text);
		add_number(&state, frame->column);
		if (!frame->function && !frame->file)
			add_text(&state, frame->module ? subject_basename(frame->module) : NULL);
	}
	return XXH3_64bits_digest(&state);
}

static int compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

void fingerprint_of(const struct report *r, const struct anomaly *anomaly, char fingerprint[17])
{
	uint64_t keys[ANOMALY_EVENTS_MAX];
	char name[SUBJECT_NAME_MAX] = "";
	struct subject subject;
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	add_text(&state, anomaly_kind_name(anomaly->kind));
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		keys[i] = event_key(r, anomaly->events[i]);
	if (anomaly->kind == ANOMALY_RACE || anomaly_is_of_waits(anomaly))
		qsort(keys, anomaly->event_count, sizeof *keys, compare_keys);
	else
		add_text(&state, anomaly->pattern);
	/* Blocks and stacks have no name themselves: their places of creation may differ for the same two accesses. */
	if (subject_of(r, anomaly, &subject) && !strcmp(subject.kind, "global"))
		subject_stable_name(subject.name, name);
	add_text(&state, name);
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		add_number(&state, keys[i]);
	snprintf(fingerprint, 17, "%016" PRIx64, XXH3_64bits_digest(&state));
}

static void add_place(XXH3_state_t *state, const struct report *r, uint32_t e)
{
	const struct model *m = r->analysis->model;
	uint64_t pc = m->sites[m->events[e].site].pc;
	const struct rt_frame *frame = subject_frame(r, pc);
	if (frame && frame->file && frame->line) {
		add_text(state, frame->file);
		add_number(state, frame->line);
		add_number(state, frame->column);
	} else {
		add_number(state, pc);
	}
}

/* One source position may have several pcs: loops are unrolled, functions cloned and inlined. */
static uint64_t position_key(const struct report *r, uint32_t e)
{
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	add_text(&state, rt_op_name(model_op(r->analysis->model, e)));
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
	qsort(keys, 2, sizeof *keys, compare_keys);
	add_number(&state, keys[0]);
	add_number(&state, keys[1]);
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
		qsort(keys, anomaly->event_count, sizeof *keys, compare_keys);
	add_text(&state, anomaly_kind_name(anomaly->kind));
	add_text(&state, anomaly->pattern);
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		add_number(&state, keys[i]);
	return XXH3_64bits_digest(&state);
}
