/* A finding in the text report: what is wrong, the places side by side, the guard, how to fix it and how to see more.
 */
#include "lib/report/follows.h"
#include "lib/report/merge.h"
#include "lib/report/text/text.h"

#include <inttypes.h>
#include <string.h>

enum { TELLING = 4 }; /* accesses from which on their number tells something */
enum { PLACES_SHOWN = 6, IDS_SHOWN = 8, FOLLOWERS_SHOWN = 12 };

/* Events of the first anomaly at a place that shows what another thread does there. */
static void put_others(const struct printer *p, const struct finding *f)
{
	const struct anomaly *a = p->r->entries[f->entries[0]].anomaly;
	struct finding_place place;
	for (uint32_t i = 0; i < a->event_count; i++) {
		if (!finding_other_at_place(p->r, f, i, &place))
			continue;
		fputs("  ", p->out);
		text_put_position(p, &place.place);
		fputs(", the same line: ", p->out);
		text_put_deed(p, &place);
		fputc('\n', p->out);
	}
}

static void put_places(const struct printer *p, const struct finding *f)
{
	text_put_places(p, f->places, f->place_count < PLACES_SHOWN ? f->place_count : PLACES_SHOWN);
	if (f->place_total > PLACES_SHOWN)
		fprintf(p->out, "  and %zu more places\n", f->place_total - PLACES_SHOWN);
	put_others(p, f);
}

/* Each thread of a deadlock or hang, though they may wait at one line. */
static void put_waits(const struct printer *p, const struct anomaly *a)
{
	struct finding_place places[2];
	size_t n = 0;
	for (uint32_t i = 0; i < a->event_count; i++) {
		uint32_t e = a->events[i];
		places[n++] = (struct finding_place){
		    .place = place_of(p->r, e), .op = model_op(p->r->analysis->model, e), .e = e};
		if (n == 2 || i + 1 == a->event_count) {
			text_put_places(p, places, n);
			n = 0;
		}
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
		struct place place = place_of_allocation(p->r, alloc);
		fprintf(p->out, "  %s of %" PRIu64 " byte%s, allocated at ", s.block.mapped ? "mapping" : "heap block",
		        s.size, text_plural(s.size));
		text_put_position(p, &place);
		fputs(" by ", p->out);
		text_put_thread(p, alloc->event.thread);
		fputc('\n', p->out);
	} else if (s.name[0] && s.file) {
		fputs("  ", p->out);
		text_put_styled(p, BOLD, s.name);
		fputs(": declared at ", p->out);
		text_put(p, report_path(p->r, s.file));
		fprintf(p->out, ":%" PRIu32 "\n", s.line);
	}
}

static void put_guard(const struct printer *p, const struct finding *f)
{
	char text[FINDING_TEXT_MAX];
	if (!finding_guard_text(f, text))
		return;
	fputs("  guard: ", p->out);
	text_put(p, text);
	fputc('\n', p->out);
}

/* Findings that are there only because this one orders nothing: a line each. */
static void put_followers(const struct printer *p, const struct finding *f)
{
	char text[FINDING_TEXT_MAX];
	size_t count = 0;
	for (size_t i = 0; i < p->r->findings->count; i++) {
		const struct finding *other = &p->r->findings->items[i];
		if (other->follows != f || !finding_is_under(other) || other->known || other->level == LEVEL_NOTE)
			continue;
		if (!count++)
			fputs("  these follow from it, as nothing else orders their accesses:\n", p->out);
		if (count > FOLLOWERS_SHOWN)
			continue;
		bool predicted = other->verdict == VERDICT_PREDICTED;
		fprintf(p->out, "    %s%s: ", other->id, predicted ? " (in this run locks order it, too)" : "");
		finding_title(p->r, other, text);
		text_put(p, text);
		fputc('\n', p->out);
	}
	if (count > FOLLOWERS_SHOWN)
		fprintf(p->out, "    and %zu more\n", count - FOLLOWERS_SHOWN);
}

static void put_uses(const struct printer *p, const struct finding *f)
{
	enum { PART_MAX = 120, REACHED_MAX = 12 };
	const struct uses *u = &f->uses;
	const struct anomaly *first = p->r->entries[f->entries[0]].anomaly;
	bool is_pair = first->kind == ANOMALY_RACE && first->event_count == 2;
	char accesses[PART_MAX] = "", places[PART_MAX] = "", text[3 * PART_MAX];
	if (!u->accesses)
		return;
	if (u->accesses >= TELLING && !u->writes)
		snprintf(accesses, sizeof accesses, ": written before it is shared, then read %" PRIu64 " times",
		         u->accesses);
	else if (u->accesses >= TELLING)
		snprintf(accesses, sizeof accesses, ": %" PRIu64 " accesses while shared, %" PRIu64 " of them write%s",
		         u->accesses, u->writes, u->writes == 1 ? "s" : "");
	struct place place[2] = {place_of(p->r, first->events[0]), place_of(p->r, first->events[1])};
	char reached[2][REACHED_MAX];
	for (int i = 0; i < 2; i++)
		snprintf(reached[i], sizeof reached[i], u->reached[i] == 1 ? "one" : "%" PRIu32, u->reached[i]);
	const char *s = u->reached[0] == 1 ? "es" : "";
	if (is_pair && place_key(&place[0]) == place_key(&place[1]))
		snprintf(places, sizeof places, "; %s of them reach%s the place", reached[0], s);
	else if (is_pair && u->reached[0] == 1 && u->reached[1] == 1)
		snprintf(places, sizeof places, "; one of them reaches each of the two places");
	else if (is_pair)
		snprintf(places, sizeof places, "; %s of them reach%s the first place, %s the second", reached[0], s,
		         reached[1]);
	snprintf(text, sizeof text, "used by %" PRIu32 " threads%s%s", u->threads, accesses, places);
	fputs("  ", p->out);
	text_put(p, text);
	fputc('\n', p->out);
}

static void put_replay(const struct printer *p, const struct finding *f)
{
	char text[FINDING_TEXT_MAX];
	finding_replay(p->r, f, text);
	if (!text[0] || p->seen)
		return;
	p->wrap->whole = true;
	fputs("  replay: ", p->out);
	text_put(p, text);
	fputc('\n', p->out);
	p->wrap->whole = false;
}

static void put_anomalies(const struct printer *p, const struct finding *f)
{
	const char *first = p->r->entries[f->entries[0]].id;
	size_t count = merge_entry_count(f, p->merged);
	fprintf(p->out, "  %zu %s: ", count, count == 1 ? "anomaly" : "anomalies");
	for (size_t i = 0; i < count && i < IDS_SHOWN; i++) {
		struct merge_entry e = merge_entry_at(p->r, f, p->merged, i);
		fprintf(p->out, "%s%s", i ? ", " : "", e.report->entries[e.entry].id);
	}
	if (count > IDS_SHOWN)
		fprintf(p->out, " and %zu more", count - IDS_SHOWN);
	if (p->seen) {
		fputs("\n  ", p->out);
		text_put(p, p->seen);
		fputc('\n', p->out);
	} else if (p->r->unkept) {
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
	fprintf(p->out, ", %s: ", verdict_name(f->verdict));
	finding_title(p->r, f, text);
	text_put_styled(p, BOLD, text);
	fputc('\n', p->out);
	if (anomaly_is_of_waits(first->anomaly))
		put_waits(p, first->anomaly);
	else
		put_places(p, f);
	put_variable(p, first->anomaly);
	put_guard(p, f);
	put_uses(p, f);
	if (f->follows)
		fprintf(p->out, "  follows %s: %s\n", f->follows->id, follows_beside(f->verdict));
	put_followers(p, f);
	text_put_reasons(p, first->anomaly);
	text_put_schedule(p, first);
	for (size_t i = 0; i < f->entry_count; i++)
		text_put_outcome(p, &p->r->entries[f->entries[i]], f->entry_count == 1);
	finding_fix(p->r, f, text);
	if (text[0]) {
		fputs("  fix: ", p->out);
		text_put(p, text);
		fputc('\n', p->out);
	}
	put_replay(p, f);
	put_anomalies(p, f);
	fputc('\n', p->out);
}
