/* A finding in the text report: what is wrong, the places side by side, the guard, how to fix it and how to see more.
 */
#include "lib/report/text.h"
#include "lib/report/waiting.h"

#include <inttypes.h>
#include <string.h>

enum { INDENT = 5 }; /* of lines that continue another */
enum { PLACES_SHOWN = 6, CALLERS_SHOWN = 3, IDS_SHOWN = 8, FOLLOWERS_SHOWN = 12 };

static void put_position(const struct printer *p, const struct place *place)
{
	const struct rt_frame *f = place->frame;
	char function[PLACE_FUNCTION_MAX];
	if (f && f->file) {
		text_put_path(p, f->file);
		fprintf(p->out, ":%" PRIu32, f->line);
	} else if (f && f->text) {
		fputs("location ", p->out);
		text_put(p, f->text);
	} else if (!f || !f->function) {
		fprintf(p->out, "0x%" PRIx64, place->pc);
	}
	if (f && f->function) {
		place_function(place, function);
		fputs(f->file ? " in " : "", p->out);
		text_put_styled(p, BOLD, function);
	}
}

static void put_locks(const struct printer *p, const struct description *d)
{
	fputs(d->lock_count ? ", holding " : ", holding no lock", p->out);
	for (size_t i = 0; i < d->lock_count; i++) {
		fputs(i ? ", " : "", p->out);
		text_put_lock_name(p, d->locks[i].addr, &d->locks[i].block);
		fputs(d->locks[i].shared ? " as a reader" : "", p->out);
	}
}

/* What its thread does there: "reads by std::map::find, holding m". */
static void put_deed(const struct printer *p, const struct finding_place *place, const struct description *d)
{
	struct place callee = {.frame = place->place.callee};
	char text[WAITING_TEXT_MAX], function[PLACE_FUNCTION_MAX];
	fputs(": ", p->out);
	text_put_thread(p, d->event.thread);
	fputc(' ', p->out);
	if (place->op == RT_OP_BLOCK) {
		waiting_text(p->r, d, text);
		text_put(p, text);
	} else if (rt_op_is_access(place->op) || place->op == RT_OP_ALLOC) {
		fputs(finding_does(p->r, place), p->out);
	} else {
		bool again = d->event.op == RT_OP_WAIT_END; /* its mutex is the second operand */
		fputs("acquires ", p->out);
		text_put_lock_name(p, again ? d->event.arg : d->event.addr, again ? NULL : subject_lock_block(d));
	}
	if (callee.frame && rt_op_is_access(place->op)) {
		place_function(&callee, function);
		fputs(" in ", p->out);
		text_put(p, function);
	}
	if (place->op != RT_OP_ALLOC)
		put_locks(p, d);
}

/* The user's calls around the place, the innermost first. */
static void put_callers(const struct printer *p, const struct finding_place *place, const struct description *d)
{
	bool past = false;
	int shown = 0;
	for (size_t i = 0; i < d->stack_count && shown < CALLERS_SHOWN; i++) {
		size_t n = 0;
		const struct rt_frame *frames = rt_trace_frames(p->r->analysis->trace, d->stack[i], &n);
		for (size_t k = 0; k < n && shown < CALLERS_SHOWN; k++) {
			if (past && frames[k].function && !place_is_library(&frames[k])) {
				struct place caller = {.frame = &frames[k]};
				fputs(shown++ ? ", " : "     called from ", p->out);
				put_position(p, &caller);
			}
			past |= &frames[k] == place->place.frame;
		}
	}
	if (shown)
		fputc('\n', p->out);
}

static void put_place(const struct printer *p, const struct finding_place *place)
{
	const struct description *d = report_event(p->r, place->e);
	if (!d)
		return;
	fputs("  ", p->out);
	put_position(p, &place->place);
	put_deed(p, place, d);
	fputc('\n', p->out);
	if (place->place.frame)
		text_put_snippet(p, 2, place->place.frame);
	if (p->r->verbose)
		text_put_stack(p, d, INDENT, false);
	else
		put_callers(p, place, d);
}

static void put_places(const struct printer *p, const struct finding *f)
{
	for (size_t i = 0; i < f->place_count && i < PLACES_SHOWN; i++)
		put_place(p, &f->places[i]);
	if (f->place_total > PLACES_SHOWN)
		fprintf(p->out, "  and %zu more places\n", f->place_total - PLACES_SHOWN);
}

/* Each thread of a deadlock or hang, though they may wait at one line. */
static void put_waits(const struct printer *p, const struct anomaly *a)
{
	for (uint32_t i = 0; i < a->event_count; i++) {
		uint32_t e = a->events[i];
		put_place(p, &(struct finding_place){
		                 .place = place_of(p->r, e), .op = model_op(p->r->analysis->model, e), .e = e});
	}
}

/* Where the variable is. */
static void put_variable(const struct printer *p, const struct anomaly *a)
{
	struct subject s;
	if (!subject_of(p->r, a, &s) || !strcmp(p->info->format, "std"))
		return;
	const struct description *alloc = s.block.alloc ? description_of(p->r->descriptions, s.block.alloc) : NULL;
	if (alloc) {
		struct place place = place_of_stack(p->r, alloc->stack, alloc->stack_count);
		fprintf(p->out, "  %s of %" PRIu64 " byte%s, allocated at ", s.block.mapped ? "mapping" : "heap block",
		        s.size, text_plural(s.size));
		put_position(p, &place);
		fputs(" by ", p->out);
		text_put_thread(p, alloc->event.thread);
		fputc('\n', p->out);
	} else if (s.name[0] && s.file) {
		fputs("  ", p->out);
		text_put_styled(p, BOLD, s.name);
		fputs(": declared at ", p->out);
		text_put_path(p, s.file);
		fprintf(p->out, ":%" PRIu32 "\n", s.line);
	}
}

static void put_guard(const struct printer *p, const struct finding *f)
{
	if (f->guard.lock == MODEL_NONE)
		return;
	fputs("  guard: ", p->out);
	text_put_styled(p, BOLD, f->guard_name[0] ? f->guard_name : "a lock");
	fprintf(p->out, " is held at %" PRIu64 " of %" PRIu64 " accesses\n", f->guard.held, f->guard.of);
}

bool text_is_under(const struct finding *f)
{
	return f->follows && f->follows->level > LEVEL_NOTE && !f->follows->known && !f->follows->follows;
}

/* Findings that are there only because this one orders nothing: a line each. */
static void put_followers(const struct printer *p, const struct finding *f)
{
	char text[FINDING_TEXT_MAX];
	size_t count = 0;
	for (size_t i = 0; i < p->r->findings->count; i++) {
		const struct finding *other = &p->r->findings->items[i];
		if (other->follows != f || !text_is_under(other) || other->known || other->level == LEVEL_NOTE)
			continue;
		if (!count++)
			fputs("  from it follow, as nothing else orders them:\n", p->out);
		if (count > FOLLOWERS_SHOWN)
			continue;
		int used = fprintf(p->out, "    %s: ", other->id);
		finding_title(p->r, other, text);
		text_put_words(p, PLAIN, text, used > 0 ? (uint32_t)used : 0, 8);
		fputc('\n', p->out);
	}
	if (count > FOLLOWERS_SHOWN)
		fprintf(p->out, "    and %zu more\n", count - FOLLOWERS_SHOWN);
}

static void put_uses(const struct printer *p, const struct finding *f)
{
	const struct uses *u = &f->uses;
	if (!u->accesses)
		return;
	fprintf(p->out, "  used by %" PRIu32 " threads: %" PRIu64 " access%s while shared, %" PRIu64 " of them write%s",
	        u->threads, u->accesses, u->accesses == 1 ? "" : "es", u->writes, u->writes == 1 ? "s" : "");
	fprintf(p->out, "; the two places are reached by %" PRIu32 " and %" PRIu32 "\n", u->reached[0], u->reached[1]);
}

/* How to make it happen. */
static void put_replay(const struct printer *p, const struct finding *f)
{
	if (!p->r->entries[f->entries[0]].anomaly->schedule || !strcmp(p->info->format, "std") || p->seen)
		return;
	fputs("  replay: racetrace replay ", p->out);
	text_put(p, p->info->path);
	fprintf(p->out, " --finding %s\n", f->id);
}

static void put_anomalies(const struct printer *p, const struct finding *f)
{
	const char *first = p->r->entries[f->entries[0]].id;
	fprintf(p->out, "  %zu %s: ", f->entry_count, f->entry_count == 1 ? "anomaly" : "anomalies");
	for (size_t i = 0; i < f->entry_count && i < IDS_SHOWN; i++)
		fprintf(p->out, "%s%s", i ? ", " : "", p->r->entries[f->entries[i]].id);
	if (f->entry_count > IDS_SHOWN)
		fprintf(p->out, " and %zu more", f->entry_count - IDS_SHOWN);
	if (p->seen) {
		fputs("\n  ", p->out);
		text_put(p, p->seen);
		fputc('\n', p->out);
	} else {
		fprintf(p->out, "; '--anomaly %s' shows stacks and evidence\n", first);
	}
}

void text_put_finding(const struct printer *p, const struct finding *f)
{
	static const enum style styles[LEVELS] = {DIM, YELLOW, RED};
	const struct report_entry *first = &p->r->entries[f->entries[0]];
	char text[FINDING_TEXT_MAX];
	text_style(p, BOLD);
	fprintf(p->out, "%s ", f->id);
	text_put_styled(p, styles[f->level], finding_level_name(f->level));
	int more = fprintf(p->out, ", %s: ", verdict_name(f->verdict));
	uint32_t columns =
	    (uint32_t)(strlen(f->id) + 1 + strlen(finding_level_name(f->level)) + (more > 0 ? (size_t)more : 0));
	finding_title(p->r, f, text);
	text_put_words(p, BOLD, text, columns, INDENT);
	fputc('\n', p->out);
	if (anomaly_is_of_waits(first->anomaly))
		put_waits(p, first->anomaly);
	else
		put_places(p, f);
	put_variable(p, first->anomaly);
	put_guard(p, f);
	put_uses(p, f);
	if (f->follows)
		fprintf(p->out, "  follows %s: nothing else orders its events\n", f->follows->id);
	put_followers(p, f);
	text_put_reasons(p, first->anomaly);
	text_put_schedule(p, first);
	for (size_t i = 0; i < f->entry_count; i++)
		text_put_outcome(p, p->r->entries[f->entries[i]].anomaly);
	finding_fix(p->r, f, text);
	if (text[0]) {
		fputs("  fix: ", p->out);
		text_put_words(p, PLAIN, text, sizeof "  fix: " - 1, INDENT);
		fputc('\n', p->out);
	}
	put_replay(p, f);
	put_anomalies(p, f);
	fputc('\n', p->out);
}
