/*
 * Stacks in JSON. Reports of many anomalies are mostly stacks, and these are mostly the same: in a long report only the
 * first anomaly of an error or warning has its stacks in place. Those of others are numbered, and said once at the end.
 */
#include "lib/report/json/parts.h"

#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "lib/report/digest.h"
#include "lib/report/findings.h"

#include <stdio.h>

struct json_stack {
	uint64_t key;
	uint32_t number;
	UT_hash_handle hh;
};

/* One that is said at the end. */
struct json_later {
	const struct report *r;
	const struct description *d;
};

/* --- frames --- */

static void put_frame(struct json_writer *w, const struct rt_frame *f, bool with_pc)
{
	jw_object(w, NULL);
	jw_text(w, "function", f->function);
	jw_text(w, "file", f->file);
	jw_number_or_null(w, "line", f->line);
	jw_number_or_null(w, "column", f->column);
	if (f->text)
		jw_text(w, "text", f->text);
	if (f->module)
		jw_text(w, "module", f->module);
	if (with_pc)
		jw_hex(w, "pc", f->pc);
	jw_object_end(w);
}

/* The frames of a program counter, inlined ones included, as elements of a stack. */
static void make_frames(FILE *out, uint64_t pc, const void *trace)
{
	struct json_writer w = {.out = out};
	size_t n = 0;
	const struct rt_frame *frames = rt_trace_frames(trace, pc, &n);
	for (size_t k = 0; k < n; k++)
		put_frame(&w, &frames[k], !frames[k].text);
	if (!n)
		put_frame(&w, &(struct rt_frame){.pc = pc}, true);
}

/* --- in place, or later --- */

/* Of one report: a program counter is another place in another trace. */
static uint64_t stack_key(const struct report *r, const struct description *d)
{
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	digest_number(&state, (uintptr_t)r);
	for (size_t i = 0; i < d->stack_count; i++)
		digest_number(&state, d->stack[i]);
	return XXH3_64bits_digest(&state);
}

/* The stack's number in the report, from 1; 0 without memory. */
static uint32_t number_of(struct json_report *j, const struct description *d)
{
	struct json_stacks *s = &j->stacks;
	struct json_stack *known;
	uint64_t key = stack_key(j->r, d);
	HASH_FIND(hh, s->all, &key, sizeof key, known);
	if (known)
		return known->number;
	if (!vec_reserve(&s->later, &s->room, (uint64_t)s->count + 1, sizeof *s->later))
		return 0;
	HASH_MAKE(s->all, key, key, known);
	if (!known)
		return 0;
	s->later[s->count++] = (struct json_later){j->r, d};
	known->number = s->count;
	return known->number;
}

static void put_in_place(struct json_report *j, const char *key, const struct description *d)
{
	jw_array(&j->w, key);
	for (size_t i = 0; d && i < d->stack_count; i++) {
		jw_value(&j->w, NULL);
		if (!pieces_write(&j->frames, d->stack[i], make_frames, j->r->analysis->trace, j->w.out))
			j->w.failed = true;
	}
	jw_array_end(&j->w);
}

void json_put_stack(struct json_report *j, const char *key, const struct description *d)
{
	char name[32];
	if (!j->stacks.apart || !d || !d->stack_count) {
		put_in_place(j, key, d);
		return;
	}
	uint32_t number = number_of(j, d);
	j->w.failed |= !number;
	jw_array(&j->w, key);
	jw_array_end(&j->w);
	snprintf(name, sizeof name, "%s_id", key);
	jw_number(&j->w, name, number);
}

/* --- of a report --- */

static uint64_t calls_of(const struct report *r, const struct description *d)
{
	uint64_t calls = d ? d->stack_count : 0;
	for (size_t i = 0; d && i < d->lock_count; i++) {
		const struct description *acquired = description_of(r->descriptions, d->locks[i].acquired);
		calls += acquired ? acquired->stack_count : 0;
	}
	return calls;
}

static bool is_long(const struct report *r)
{
	uint64_t calls = 0, most = r->analysis->limits.of[LIMIT_LISTED_CALLS];
	for (size_t i = 0; i < r->count && calls <= most; i++)
		for (uint32_t k = 0; k < r->entries[i].anomaly->event_count; k++)
			calls += calls_of(r, report_event(r, r->entries[i].anomaly->events[k]));
	return calls > most;
}

void json_report_turn(struct json_report *j, const struct report *r)
{
	struct json_stacks *s = &j->stacks;
	pieces_release(&j->frames);
	j->r = r;
	j->info = rt_trace_info(r->analysis->trace);
	free(s->leads);
	s->leads = NULL;
	s->is_long = !r->alone && is_long(r);
	s->apart = false;
	if (!s->is_long)
		return;
	s->leads = calloc(r->count + 1, sizeof *s->leads);
	j->w.failed |= !s->leads;
	for (size_t i = 0; s->leads && i < r->findings->count; i++)
		s->leads[r->findings->items[i].entries[0]] = r->findings->items[i].level > LEVEL_NOTE;
}

void json_stacks_place(struct json_report *j, const struct report_entry *entry)
{
	j->stacks.apart = j->stacks.leads && !j->stacks.leads[entry - j->r->entries];
}

void json_put_stacks(struct json_report *j)
{
	struct json_stacks *s = &j->stacks;
	char number[16];
	s->apart = false;
	if (!s->count)
		return;
	fputs(",\n\"stacks\": {", j->w.out);
	for (uint32_t i = 0; i < s->count && !ferror(j->w.out); i++) {
		if (s->later[i].r != j->r) {
			pieces_release(&j->frames); /* they are of the other trace */
			j->r = s->later[i].r;
		}
		fputs(i ? ",\n" : "\n", j->w.out);
		j->w.more = false;
		snprintf(number, sizeof number, "%u", i + 1);
		put_in_place(j, number, s->later[i].d);
	}
	fputs("\n}", j->w.out);
}

void json_report_release(struct json_report *j)
{
	struct json_stacks *s = &j->stacks;
	HASH_FREE(s->all);
	free(s->leads);
	free(s->later);
	pieces_release(&j->frames);
}
