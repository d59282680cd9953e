/*
 * An anomaly in the text report: a headline, then each side with its stack and locks, then what is known of the
 * variable and the threads, and why it matters.
 */
#include "lib/report/deed.h"
#include "lib/report/follows.h"
#include "lib/report/steps.h"
#include "lib/report/text/text.h"
#include "lib/report/waiting.h"

#include <inttypes.h>
#include <string.h>

/* Events */

void text_put_lock_name(const struct printer *p, uint64_t addr, const struct memory_block *block,
                        const struct description *acquire)
{
	char name[SUBJECT_NAME_MAX], written[EXPRESSION_MAX];
	if (!place_depends(p->r, acquire, name))
		subject_object_name(p->r, addr, block, name);
	bool known = (!name[0] || (block && block->alloc)) && place_locked(p->r, acquire, written);
	if (known)
		text_put_styled(p, BOLD, written);
	fputs(known ? " (" : "", p->out);
	if (name[0])
		text_put_styled(p, known ? PLAIN : BOLD, name);
	else
		fprintf(p->out, "the lock at 0x%" PRIx64, addr);
	fputs(known ? ")" : "", p->out);
}

static void put_locks(const struct printer *p, const struct description *d)
{
	for (size_t i = 0; i < d->lock_count; i++) {
		const struct held_lock *lock = &d->locks[i];
		const struct description *acquire = description_of(p->r->descriptions, lock->acquired);
		fputs("    holding ", p->out);
		text_put_lock_name(p, lock->addr, &lock->block, place_taken(p->r, lock));
		fprintf(p->out, "%s, acquired at event %" PRIu64 "\n", lock->shared ? " as a reader" : "",
		        lock->acquired);
		text_put_stack(p, acquire, 6, false);
	}
	if (!d->lock_count && rt_op_is_access(d->event.op))
		fputs("    holding no lock\n", p->out);
}

static void put_operation(const struct printer *p, const struct description *d)
{
	const char *order = rt_op_is_atomic(d->event.op) ? rt_memory_order_name(d->event.order) : NULL;
	if (!description_has_size(d)) {
		fprintf(p->out, "%s of ", deed_operation(d->event.op));
		text_put_lock_name(p, d->event.addr, subject_lock_block(d), d);
		return;
	}
	fprintf(p->out, "%s%s", d->event.flags & RT_F_VOLATILE ? "volatile " : "", deed_operation(d->event.op));
	if (order)
		fprintf(p->out, " (%s)", order);
	if (d->event.flags & RT_F_FREE)
		fputs(" by free() or munmap()", p->out);
	if (d->event.flags & RT_F_OBJECT)
		fputs(rt_op_writes(d->event.op) ? " by init or destroy" : " by a call on it", p->out);
	fprintf(p->out, " of %" PRIu64 " byte%s", d->event.arg, text_plural(d->event.arg));
	if (strcmp(p->info->format, "std") != 0)
		fprintf(p->out, " at 0x%" PRIx64, d->event.addr);
	if (d->event.flags & RT_F_VALUE)
		fprintf(p->out, ", value 0x%" PRIx64, d->event.value);
}

static void put_event(const struct printer *p, uint32_t e)
{
	const struct description *d = report_event(p->r, e);
	if (!d)
		return;
	fputs("  ", p->out);
	put_operation(p, d);
	fputs(" by thread ", p->out);
	text_put_thread(p, d->event.thread);
	fprintf(p->out, ", event %" PRIu64 "\n", d->event.number);
	text_put_stack(p, d, 4, true);
	put_locks(p, d);
}

/* A stuck thread: what it waits for and, in a ring, for which thread. */
static void put_stuck(const struct printer *p, uint32_t e, const struct description *next)
{
	char text[WAITING_TEXT_MAX];
	const struct description *d = report_event(p->r, e);
	if (!d)
		return;
	waiting_text(p->r, d, text);
	fputs("  thread ", p->out);
	text_put_thread(p, d->event.thread);
	fputc(' ', p->out);
	text_put(p, text);
	if (next && waiting_by(d)[0]) {
		fputs(", which ", p->out);
		text_put_thread(p, next->event.thread);
		fprintf(p->out, " %s", waiting_by(d));
	}
	fprintf(p->out, "; event %" PRIu64 "\n", d->event.number);
	text_put_stack(p, d, 4, true);
	put_locks(p, d);
}

/* A deadlock's acquire: the thread, the lock that it waits for, and the thread that holds it. Or its join. */
static void put_wait(const struct printer *p, const struct anomaly *anomaly, uint32_t i)
{
	const struct description *d = report_event(p->r, anomaly->events[i]);
	const struct description *next = report_event(p->r, anomaly->events[(i + 1) % anomaly->event_count]);
	if (!d)
		return;
	if (waiting_op(d)) {
		put_stuck(p, anomaly->events[i], next);
		return;
	}
	bool again = d->event.op == RT_OP_WAIT_END; /* its mutex is the second operand */
	fputs("  thread ", p->out);
	text_put_thread(p, d->event.thread);
	fputs(" waits for ", p->out);
	text_put_lock_name(p, again ? d->event.arg : d->event.addr, again ? NULL : subject_lock_block(d), d);
	fputs(again ? " at the end of a wait" : d->event.op == RT_OP_ACQUIRE_SHARED ? " as a reader" : "", p->out);
	if (next) {
		fputs(", which ", p->out);
		text_put_thread(p, next->event.thread);
		fputs(" holds", p->out);
	}
	fprintf(p->out, "; event %" PRIu64 "\n", d->event.number);
	text_put_stack(p, d, 4, true);
	put_locks(p, d);
}

static void put_stuck_threads(const struct printer *p, const struct anomaly *anomaly)
{
	bool ring = anomaly->kind == ANOMALY_DEADLOCK;
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		put_stuck(p, anomaly->events[i],
		          ring ? report_event(p->r, anomaly->events[(i + 1) % anomaly->event_count]) : NULL);
	if (ring && anomaly->wait_count)
		fputs("  and so these can never go on:\n", p->out);
	for (uint32_t i = 0; i < anomaly->wait_count; i++)
		put_stuck(p, anomaly->waits[i], NULL);
}

/* The subject */

static void put_block_event(const struct printer *p, const char *what, uint64_t event)
{
	const struct description *d = event ? description_of(p->r->descriptions, event) : NULL;
	if (!d)
		return;
	fprintf(p->out, "  %s by thread ", what);
	text_put_thread(p, d->event.thread);
	fprintf(p->out, ", event %" PRIu64 "\n", event);
	text_put_stack(p, d, 4, false);
}

/* told: how the block was allocated is printed elsewhere. */
static void put_subject(const struct printer *p, const struct subject *s, bool told)
{
	if (s->block.alloc) {
		fprintf(p->out, "  %s of %" PRIu64 " byte%s at 0x%" PRIx64 "\n",
		        s->block.mapped ? "mapping" : "heap block", s->size, text_plural(s->size), s->address);
		if (!told)
			put_block_event(p, s->block.mapped ? "mapped" : "allocated", s->block.alloc);
		put_block_event(p, s->block.mapped ? "unmapped" : "freed", s->block.freed);
	} else if (s->name[0] && !s->module && strcmp(p->info->format, "std") != 0) {
		fputs("  ", p->out);
		text_put(p, s->name);
		fprintf(p->out, ": %s, ", strcmp(s->kind, "tls") ? s->kind : "thread-local");
		if (s->size)
			fprintf(p->out, "%" PRIu64 " byte%s ", s->size, text_plural(s->size));
		fprintf(p->out, "at 0x%" PRIx64, s->address);
		if (s->file) {
			fputs(", declared at ", p->out);
			text_put(p, s->file);
			fprintf(p->out, ":%" PRIu32, s->line);
		}
		fputc('\n', p->out);
	}
}

static void put_creations(const struct printer *p, const struct anomaly *anomaly)
{
	uint64_t seen[ANOMALY_EVENTS_MAX];
	uint32_t n = 0;
	for (uint32_t i = 0; i < anomaly->event_count; i++) {
		const struct description *d = report_event(p->r, anomaly->events[i]);
		const struct description *fork = d && d->fork ? description_of(p->r->descriptions, d->fork) : NULL;
		bool known = !fork;
		for (uint32_t k = 0; k < n && !known; k++)
			known = seen[k] == d->fork;
		if (known)
			continue;
		seen[n++] = d->fork;
		fputs("  thread ", p->out);
		text_put_thread(p, d->event.thread);
		fputs(" was created by ", p->out);
		text_put_thread(p, fork->event.thread);
		fprintf(p->out, ", event %" PRIu64 "\n", d->fork);
		text_put_stack(p, fork, 4, false);
	}
}

static void put_orders(const struct printer *p, const struct anomaly *anomaly, bool unordered, const char *lead)
{
	const char *between = lead;
	for (int i = 0; i < 32 && orders[i].name; i++) {
		if (!(anomaly->orders_run >> i & 1) || (anomaly->orders_unordered >> i & 1) != unordered)
			continue;
		fprintf(p->out, "%s%s", between, orders[i].name);
		between = ", ";
	}
}

static void put_evidence(const struct printer *p, const struct report_entry *entry)
{
	const struct anomaly *anomaly = entry->anomaly;
	fprintf(p->out, "  rank %.2f: ", entry->rank.value);
	for (size_t i = 0; i < entry->rank.why_count; i++)
		fprintf(p->out, "%s%s", i ? "; " : "", entry->rank.why[i]);
	if (anomaly->orders_run) {
		uint32_t unordered = anomaly->orders_unordered & anomaly->orders_run;
		fputs("\n  evidence: ", p->out);
		put_orders(p, anomaly, true, "unordered by ");
		if (unordered != anomaly->orders_run)
			put_orders(p, anomaly, false, unordered ? "; ordered by " : "ordered by ");
	}
	if (witness_name(anomaly->witness))
		fprintf(p->out, "%s: %s", anomaly->orders_run ? "; schedule" : "\n  evidence: schedule",
		        witness_name(anomaly->witness));
	const char *between = "; the first pair of ";
	for (int i = 0; orders[i].name; i++)
		if (anomaly->first_of >> i & 1) {
			fprintf(p->out, "%s%s", between, orders[i].name);
			between = ", ";
		}
	if (entry->count > 1)
		fprintf(p->out, "\n  %" PRIu64 " %s of events share these positions", entry->count,
		        anomaly->event_count == 2 ? "pairs" : "tuples");
	fputs("\n", p->out);
}

void text_put_reasons(const struct printer *p, const struct anomaly *anomaly)
{
	char text[REASONS_TEXT_MAX];
	if (!anomaly_reasons(anomaly, text))
		return;
	fputs("  only predicted: ", p->out);
	text_put(p, text);
	fputc('\n', p->out);
}

/* The reads that would have to see another write. */
static void put_needs(const struct printer *p, const struct anomaly *anomaly)
{
	char text[SUBJECT_NEEDS_MAX];
	if (!anomaly->need_count)
		return;
	subject_needs(anomaly, text);
	fprintf(p->out, "  needs %s:\n", text);
	for (uint32_t i = 0; i < anomaly->need_count; i++) {
		const struct subject_need read = subject_need(p->r, anomaly, i);
		fputs("    by thread ", p->out);
		text_put_thread(p, read.thread);
		fprintf(p->out, ", event %" PRIu64 "\n", read.event);
		text_put_frame(p, 0, 4, &read.frame, false);
	}
	if (anomaly->need_count < anomaly->need_total)
		fprintf(p->out, "    and %" PRIu32 " more\n", anomaly->need_total - anomaly->need_count);
}

static void put_place(const struct printer *p, uint64_t pc)
{
	const struct rt_frame *f = subject_frame(p->r, pc);
	if (f && f->file) {
		text_put(p, f->file);
		fprintf(p->out, ":%" PRIu32, f->line);
	} else if (f && (f->text || f->function)) {
		text_put(p, f->text ? f->text : f->function);
	} else {
		fprintf(p->out, "0x%" PRIx64, pc);
	}
}

static void put_places(const struct printer *p, uint32_t e1, uint32_t e2)
{
	const struct model *m = p->r->analysis->model;
	put_place(p, m->sites[m->events[e1].site].pc);
	fputs(" and ", p->out);
	put_place(p, m->sites[m->events[e2].site].pc);
}

/* The causes that it follows. */
static void put_follows(const struct printer *p, const struct anomaly *anomaly)
{
	char text[FOLLOWS_TEXT_MAX];
	for (uint32_t i = 0; i < anomaly->cause_count; i++) {
		const struct cause *cause = follows_cause(p->r, anomaly, i);
		const char *id = follows_id(p->r, anomaly, i);
		if (*id)
			fprintf(p->out, "  follows %s: %s\n", id, follows_beside(anomaly->verdict));
		if (cause->anomaly != MODEL_NONE)
			continue;
		follows_text(p->r, cause, text);
		fputs("  follows: ", p->out);
		text_put(p, text);
		fputs("; ", p->out);
		put_places(p, cause->write, cause->read);
		fputc('\n', p->out);
	}
}

/* Number of followers of a race that are shown. */
enum { FOLLOWERS_SHOWN = 20 };

/* The races that follow it, in short. */
static void put_followers(const struct printer *p, const struct report_entry *entry)
{
	size_t count = 0;
	for (size_t i = 0; i < p->r->count; i++)
		count += !strcmp(follows_under(p->r, p->r->entries[i].anomaly), entry->id);
	if (!count)
		return;
	fprintf(p->out, "  %zu race%s from it alone, which is all that orders %s events:\n", count,
	        count == 1 ? " follows" : "s follow", count == 1 ? "its" : "their");
	for (size_t i = 0, shown = 0; i < p->r->count && shown < FOLLOWERS_SHOWN; i++) {
		const struct anomaly *anomaly = p->r->entries[i].anomaly;
		struct subject subject;
		if (strcmp(follows_under(p->r, anomaly), entry->id) != 0)
			continue;
		shown++;
		fprintf(p->out, "    %s (%s) ", p->r->entries[i].id, anomaly->pattern);
		if (subject_of(p->r, anomaly, &subject) && *subject.name) {
			text_put_styled(p, BOLD, subject.name);
			fputs(": ", p->out);
		}
		put_places(p, anomaly->events[0], anomaly->events[1]);
		fputc('\n', p->out);
	}
	if (count > FOLLOWERS_SHOWN)
		fprintf(p->out, "    and %zu more; 'racetrace analyze --anomaly ID' shows one\n",
		        count - FOLLOWERS_SHOWN);
}

void text_put_schedule(const struct printer *p, const struct report_entry *entry)
{
	enum { STEPS_MAX = 12 };
	const struct anomaly *anomaly = entry->anomaly;
	struct steps steps;
	if (anomaly->left_out) {
		fprintf(p->out, "  schedule: %" PRIu32 " turns of threads", anomaly->left_out);
		if (!p->r->unkept && !p->seen)
			fprintf(p->out, "; 'racetrace schedule --anomaly %s TRACE' prints them", entry->id);
		fputc('\n', p->out);
	}
	if (!anomaly->schedule || anomaly->witness == WITNESS_RECORDED)
		return;
	if (!steps_init(&steps, p->r->analysis->model, p->r->descriptions, anomaly)) {
		*p->no_memory = true;
		return;
	}
	fputs("  schedule (each thread's events): ", p->out);
	if (p->r->analysis->model->recorded)
		fprintf(p->out, "events 1-%" PRIu64 " as recorded, then ", p->r->analysis->model->recorded);
	if (steps.count > STEPS_MAX)
		fprintf(p->out, "%zu turns of threads; the JSON report has them", steps.count);
	for (size_t i = 0; i < steps.count && steps.count <= STEPS_MAX; i++) {
		fputs(i ? ", " : "", p->out);
		text_put(p, p->info->threads[steps.items[i].thread].name);
		fprintf(p->out, " %" PRIu64 "-%" PRIu64, steps.items[i].from, steps.items[i].to);
	}
	fputs(steps.count ? "\n" : "at once\n", p->out);
	bool confirmed = anomaly->verdict == VERDICT_CONFIRMED;
	if (anomaly->guess && !confirmed)
		fprintf(p->out, "  it is a guess (PECAN's) and no proof: %s\n", anomaly->guess);
	if (anomaly->need_count && !confirmed)
		fprintf(p->out, "  it is no proof: in it %" PRIu32 " %s than in the recorded run\n",
		        anomaly->need_total,
		        anomaly->need_total == 1 ? "read sees another write" : "reads see other writes");
	if (anomaly->uncertain && !confirmed)
		fprintf(p->out,
		        "  it is no proof: of %" PRIu32 " read%s, the first at event %" PRIu32
		        ", only time stamps tell which write was seen\n",
		        anomaly->uncertain, text_plural(anomaly->uncertain),
		        p->r->analysis->model->events[anomaly->first_uncertain].number);
	if (anomaly->substitutes)
		fprintf(p->out,
		        "  in it %" PRIu32 " %s another write of the value that was seen, the first at event %" PRIu32
		        "\n",
		        anomaly->substitutes, anomaly->substitutes == 1 ? "read sees" : "reads see",
		        p->r->analysis->model->events[anomaly->substitute].number);
	steps_release(&steps);
}

void text_put_outcome(const struct printer *p, const struct report_entry *entry, bool alone)
{
	if (!entry->anomaly->replay)
		return;
	fprintf(p->out, alone ? "  replay: " : "  replay of %s: ", entry->id);
	report_replay_lines(p->r, entry->anomaly, entry->anomaly->replay, "    ", p->out);
}

void text_put_anomaly(const struct printer *p, const struct report_entry *entry)
{
	static const enum style styles[VERDICTS] = {DIM, DIM, YELLOW, RED, RED, RED};
	const struct anomaly *anomaly = entry->anomaly;
	struct subject subject;
	bool about = subject_of(p->r, anomaly, &subject);
	text_style(p, BOLD);
	fprintf(p->out, "%s %s", entry->id, anomaly_kind_title(anomaly->kind));
	text_style(p, PLAIN);
	fputs(" (", p->out);
	text_put(p, anomaly->pattern);
	fputs("), ", p->out);
	text_put_styled(p, styles[anomaly->verdict], verdict_name(anomaly->verdict));
	if (about && subject.name[0]) {
		fputs(": ", p->out);
		text_put_styled(p, BOLD, subject.name);
	} else if (about) {
		fprintf(p->out, ": memory at 0x%" PRIx64, subject.address);
	}
	fputc('\n', p->out);
	bool stuck = anomaly_is_stuck(p->r->analysis->model, anomaly);
	if (stuck)
		put_stuck_threads(p, anomaly);
	for (uint32_t i = 0; i < anomaly->event_count && !stuck; i++) {
		if (anomaly->kind == ANOMALY_DEADLOCK)
			put_wait(p, anomaly, i);
		else
			put_event(p, anomaly->events[i]);
	}
	if (about)
		put_subject(p, &subject, anomaly_is_alloc_race(p->r->analysis->model, anomaly));
	put_creations(p, anomaly);
	text_put_reasons(p, anomaly);
	put_needs(p, anomaly);
	put_follows(p, anomaly);
	text_put_schedule(p, entry);
	text_put_outcome(p, entry, true);
	put_evidence(p, entry);
	if (!anomaly->follows && p->r->analysis->causes.count)
		put_followers(p, entry);
	fputc('\n', p->out);
}
