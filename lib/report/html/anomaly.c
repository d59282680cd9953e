/* An anomaly on the HTML page: its events with their stacks and locks, its schedule, its evidence. */
#include "lib/report/deed.h"
#include "lib/report/follows.h"
#include "lib/report/html/html.h"
#include "lib/report/waiting.h"

#include <inttypes.h>

/* Events */

static void put_operation(const struct page *p, const struct description *d)
{
	fputs(deed_operation(d->event.op), p->out);
	if (description_has_size(d)) {
		fprintf(p->out, " of %" PRIu64 " bytes", d->event.arg);
		return;
	}
	fputs(" of ", p->out);
	html_put_lock(p, d->event.addr, subject_lock_block(d), d);
}

static void put_locks(const struct page *p, const struct description *d)
{
	if (!d->lock_count)
		fputs("<p>holding no lock</p>\n", p->out);
	for (size_t i = 0; i < d->lock_count; i++) {
		fputs("<p>holding <b>", p->out);
		html_put_lock(p, d->locks[i].addr, &d->locks[i].block, place_taken(p->r, &d->locks[i]));
		fprintf(p->out, "</b>%s, acquired at event %" PRIu64 ":</p>\n",
		        d->locks[i].shared ? " as a reader" : "", d->locks[i].acquired);
		html_put_stack(p, description_of(p->r->descriptions, d->locks[i].acquired), false);
	}
}

static void put_event(const struct page *p, uint32_t e)
{
	const struct description *d = report_event(p->r, e);
	if (!d)
		return;
	fprintf(p->out, "<h%d>", p->heading + 1);
	if (waiting_op(d)) {
		char text[WAITING_TEXT_MAX];
		waiting_text(p->r, d, text);
		fputs("thread ", p->out);
		html_put_thread(p, d->event.thread);
		putc(' ', p->out);
		html_put(p, text);
	} else {
		put_operation(p, d);
		fputs(" by thread ", p->out);
		html_put_thread(p, d->event.thread);
	}
	fprintf(p->out, ", event %" PRIu64 "</h%d>\n", d->event.number, p->heading + 1);
	html_put_stack(p, d, true);
	put_locks(p, d);
	const struct description *fork = d->fork ? description_of(p->r->descriptions, d->fork) : NULL;
	if (!fork)
		return;
	fputs("<p>the thread was created by ", p->out);
	html_put_thread(p, fork->event.thread);
	fprintf(p->out, ", event %" PRIu64 "</p>\n", d->fork);
	html_put_stack(p, fork, false);
}

static void put_subject(const struct page *p, const struct subject *s)
{
	fprintf(p->out, "<p>%s, ", s->kind);
	if (s->size)
		fprintf(p->out, "%" PRIu64 " bytes ", s->size);
	fprintf(p->out, "at 0x%" PRIx64, s->address);
	if (s->file) {
		fputs(", declared at ", p->out);
		html_put(p, report_path(p->r, s->file));
		fprintf(p->out, ":%" PRIu32, s->line);
	}
	fputs("</p>\n", p->out);
	if (s->block.alloc) {
		fprintf(p->out, "<p>allocated at event %" PRIu64 "</p>\n", s->block.alloc);
		html_put_stack(p, description_of(p->r->descriptions, s->block.alloc), false);
	}
	if (s->block.freed) {
		fprintf(p->out, "<p>freed at event %" PRIu64 "</p>\n", s->block.freed);
		html_put_stack(p, description_of(p->r->descriptions, s->block.freed), false);
	}
}

/* Evidence */

/* Why it is only predicted. */
static void put_reasons(const struct page *p, const struct anomaly *anomaly)
{
	char text[REASONS_TEXT_MAX];
	if (!anomaly_reasons(anomaly, text))
		return;
	fputs("<p>Only predicted: ", p->out);
	html_put(p, text);
	fputs(".</p>\n", p->out);
}

/* The reads that would have to see another write. */
static void put_needs(const struct page *p, const struct anomaly *anomaly)
{
	char text[SUBJECT_NEEDS_MAX];
	if (!anomaly->need_count)
		return;
	subject_needs(anomaly, text);
	fprintf(p->out, "<p>Needs %s.</p>\n<ul>\n", text);
	for (uint32_t i = 0; i < anomaly->need_count; i++) {
		const struct subject_need read = subject_need(p->r, anomaly, i);
		fputs("<li>", p->out);
		html_put_position(p, &read.frame);
		fputs(", thread ", p->out);
		html_put_thread(p, read.thread);
		fprintf(p->out, ", event %" PRIu64 "</li>\n", read.event);
	}
	if (anomaly->need_count < anomaly->need_total)
		fprintf(p->out, "<li>and %" PRIu32 " more</li>\n", anomaly->need_total - anomaly->need_count);
	fputs("</ul>\n", p->out);
}

/* The causes that it follows. */
static void put_follows(const struct page *p, const struct anomaly *anomaly)
{
	const char *beside = follows_beside(anomaly->verdict);
	char text[FOLLOWS_TEXT_MAX];
	for (uint32_t i = 0; i < anomaly->cause_count; i++) {
		const struct cause *cause = follows_cause(p->r, anomaly, i);
		const char *id = follows_id(p->r, anomaly, i);
		if (*id && p->r->by_anomaly)
			fprintf(p->out, "<p>Follows <a href=\"#%s\">%s</a>: %s.</p>\n", id, id, beside);
		else if (*id)
			fprintf(p->out, "<p>Follows %s: %s.</p>\n", id, beside);
		if (cause->anomaly != MODEL_NONE)
			continue;
		follows_text(p->r, cause, text);
		fputs("<p>Follows: ", p->out);
		html_put(p, text);
		fputs(".</p>\n", p->out);
	}
}

/* Which orders leave its events unordered. */
static void put_evidence(const struct page *p, const struct report_entry *entry)
{
	const struct anomaly *anomaly = entry->anomaly;
	fprintf(p->out, "<p class=\"dim\">rank %.2f:", entry->rank.value);
	for (size_t i = 0; i < entry->rank.why_count; i++)
		fprintf(p->out, "%s %s", i ? ";" : "", entry->rank.why[i]);
	if (anomaly->orders_run)
		fputs(anomaly->orders_unordered & anomaly->orders_run ? "; unordered by" : "; ordered by all", p->out);
	for (int i = 0; i < 32 && orders[i].name; i++)
		if (anomaly->orders_run >> i & anomaly->orders_unordered >> i & 1)
			fprintf(p->out, " %s", orders[i].name);
	fprintf(p->out, "; fingerprint %s</p>\n", entry->fingerprint);
}

bool html_put_anomaly(const struct page *p, const struct report_entry *entry)
{
	struct subject subject;
	const struct anomaly *anomaly = entry->anomaly;
	const char *verdict = verdict_name(anomaly->verdict);
	fputs("<section", p->out);
	if (p->heading == 2)
		html_put_choice(p, verdict, UINT32_C(1) << anomaly->kind);
	fprintf(p->out, " id=\"%s\">\n<h%d>%s %s (", entry->id, p->heading, entry->id,
	        anomaly_kind_title(anomaly->kind));
	html_put(p, anomaly->pattern);
	fprintf(p->out, "), <span class=\"%s\">%s</span>: ", verdict, verdict);
	html_put_subject_name(p, anomaly);
	fprintf(p->out, "</h%d>\n", p->heading);
	if (subject_of(p->r, anomaly, &subject))
		put_subject(p, &subject);
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		put_event(p, anomaly->events[i]);
	for (uint32_t i = 0; i < anomaly->wait_count; i++)
		put_event(p, anomaly->waits[i]);
	put_reasons(p, anomaly);
	put_follows(p, anomaly);
	put_needs(p, anomaly);
	/* That of a finding is shown with it. */
	bool ok = p->heading > 2 || html_put_schedule(p, entry);
	put_evidence(p, entry);
	fputs("</section>\n", p->out);
	return ok;
}
