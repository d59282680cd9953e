/* Fingerprints; see fingerprint.h. */
#include "lib/report/fingerprint.h"

#include "lib/report/digest.h"
#include "lib/report/subject.h"
#include "lib/trace/own_code.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A frame in a form that the next build keeps. An STD file has only its location text. */
static void add_frame(XXH3_state_t *state, const struct rt_frame *frame)
{
	if (!frame)
		return;
	digest_text(state, frame->function);
	digest_text(state, frame->file ? subject_basename(frame->file) : NULL);
	digest_text(state, frame->text);
	digest_number(state, frame->column);
	if (!frame->function && !frame->file)
		digest_text(state, frame->module ? subject_basename(frame->module) : NULL);
}

/*
 * The frames that an event's position consists of: the innermost, and outwards up to the first of the program's own
 * code; of an acquire up to the second, as many functions lock for their callers. Inlined calls and others are alike.
 * Returns their number.
 */
enum { SOURCE_FRAMES = 3 };
static uint32_t source_frames(const struct report *r, uint32_t e, const struct rt_frame *out[SOURCE_FRAMES])
{
	const struct model *m = r->analysis->model;
	const struct model_site *site = &m->sites[m->events[e].site];
	const uint64_t pcs[] = {site->pc, site->caller, site->outer};
	uint32_t own = 0, wanted = rt_op_has(site->op, RT_TAKES) ? 2 : 1, count = 0;
	for (uint32_t i = 0; i < SOURCE_FRAMES && own < wanted; i++) {
		size_t n = 0;
		const struct rt_frame *frames = pcs[i] ? rt_trace_frames(r->analysis->trace, pcs[i], &n) : NULL;
		for (size_t k = 0; k < n && own < wanted; k++) {
			own += frame_is_own(&frames[k]);
			if (!count || frame_is_own(&frames[k]))
				out[count++] = &frames[k];
		}
	}
	return count;
}

static uint64_t event_key(const struct report *r, uint32_t e)
{
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	const struct rt_frame *frames[SOURCE_FRAMES];
	uint32_t n = source_frames(r, e, frames);
	digest_text(&state, rt_op_name(model_op(r->analysis->model, e)));
	for (uint32_t i = 0; i < n; i++)
		add_frame(&state, frames[i]);
	return XXH3_64bits_digest(&state);
}

void fingerprint_of(const struct report *r, const struct anomaly *anomaly, char fingerprint[17])
{
	uint64_t keys[ANOMALY_EVENTS_MAX];
	char name[SUBJECT_NAME_MAX];
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
	subject_lasting_name(r, anomaly, name);
	digest_text(&state, name);
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		digest_number(&state, keys[i]);
	snprintf(fingerprint, 17, "%016" PRIx64, XXH3_64bits_digest(&state));
}

static void add_place(XXH3_state_t *state, const struct report *r, uint32_t e)
{
	const struct rt_frame *frames[SOURCE_FRAMES];
	uint32_t n = source_frames(r, e, frames);
	const struct model *m = r->analysis->model;
	if (!n || !frames[0]->file || !frames[0]->line)
		digest_number(state, m->sites[m->events[e].site].pc);
	for (uint32_t i = 0; i < n; i++) {
		digest_text(state, frames[i]->file);
		digest_number(state, frames[i]->line);
		digest_number(state, frames[i]->column);
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
	char name[SUBJECT_NAME_MAX];
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		keys[i] = position_key(r, anomaly->events[i]);
	if (anomaly->kind == ANOMALY_RACE || anomaly_is_of_waits(anomaly))
		digest_sort(keys, anomaly->event_count);
	digest_text(&state, anomaly_kind_name(anomaly->kind));
	digest_text(&state, anomaly->pattern);
	/* An optimised loop's variables are all read and written at one line of it. */
	subject_lasting_name(r, anomaly, name);
	digest_text(&state, name);
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		digest_number(&state, keys[i]);
	return XXH3_64bits_digest(&state);
}
