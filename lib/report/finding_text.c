/* Findings in words; see findings.h. */
#include "lib/report/deed.h"
#include "lib/report/findings.h"
#include "lib/report/follows.h"
#include "lib/report/waiting.h"
#include "lib/trace/own_code.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct text {
	char *at;
	size_t room;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int n = vsnprintf(t->at, t->room, format, arguments);
	va_end(arguments);
	size_t used = n < 0 ? 0 : (size_t)n < t->room ? (size_t)n : t->room - 1;
	t->at += used;
	t->room -= used;
}

static const struct anomaly *first_of(const struct report *r, const struct finding *f)
{
	return r->entries[f->entries[0]].anomaly;
}

/* The finding's place of an event: of two on one line it may be the other's. */
static struct finding_place at_event(const struct report *r, const struct finding *f, uint32_t e)
{
	return (struct finding_place){.place = place_of(r, e),
	                              .op = model_op(r->analysis->model, e),
	                              .e = e,
	                              .guarded = f->guard.lock != MODEL_NONE &&
	                                         guard_is_held(r->analysis->model, e, f->guard.lock)};
}

static void say_function(struct text *t, const struct finding_place *place)
{
	char name[PLACE_FUNCTION_MAX];
	place_function(&place->place, name);
	if (place->place.frame && place->place.frame->function)
		say(t, "`%s`", name);
	else if (place->place.frame && place->place.frame->text)
		say(t, "%s", place->place.frame->text);
	else
		say(t, "a thread");
}

/* The same; a function that a signal's handler is, or calls, is said to be that. */
static void say_actor(const struct report *r, struct text *t, const struct finding_place *place)
{
	char signal[DESCRIPTION_SIGNAL_MAX];
	say_function(t, place);
	description_signal(report_event(r, place->e), signal);
	if (signal[0])
		say(t, " (in a handler of %s)", signal);
}

/* What begins with __ or _M is no member of the program's: of `std::locale` it is the locale. */
static void say_global(struct text *t, const char *name)
{
	char known[SUBJECT_NAME_MAX];
	snprintf(known, sizeof known, "%s", name);
	subject_cut_reserved(known);
	say(t, "`%s`", known);
}

static void say_variable(const struct report *r, struct text *t, const struct finding *f, const struct anomaly *a)
{
	struct subject s;
	const char *of;
	int descriptor = deed_descriptor(r, a->events[0]);
	if (descriptor >= 0)
		say(t, "descriptor %d", descriptor);
	else if (f->written[0])
		say(t, f->pointed ? "the memory at `%s`" : "`%s`", f->written);
	else if (f->called[0])
		say(t, "what `%s` returns", f->called);
	else if (!subject_of(r, a, &s) || !s.name[0])
		say(t, "memory");
	else if (!strcmp(s.kind, "global") || !strcmp(s.kind, "unknown"))
		say_global(t, s.name);
	else if (!strcmp(s.kind, "tls") && s.address && (of = strstr(s.name, " of thread ")) && s.size)
		say(t, "`%.*s`%s", (int)(of - s.name), s.name, of);
	else
		say(t, "the %s", s.name);
}

/* "calls `std::map<>::find`" or "reads `x`". */
static void say_deed(const struct report *r, struct text *t, const struct finding *f, const struct finding_place *p,
                     const struct anomaly *a)
{
	struct place callee = {.frame = p->place.callee};
	char name[PLACE_FUNCTION_MAX];
	if (callee.frame) {
		place_function(&callee, name);
		say(t, "calls `%s`", name);
		return;
	}
	char names[2][EXPRESSION_MAX];
	say(t, "%s ", finding_does(r, p));
	if (deed_names_members(r, a, names))
		say(t, "`%s`", names[p->e == a->events[1]]);
	else
		say_variable(r, t, f, a);
}

static void say_lock(struct text *t, const char *name)
{
	if (name[0])
		say(t, "`%s`", name);
	else
		say(t, "the lock");
}

static void say_place(struct text *t, const struct place *place)
{
	if (place->frame && place->frame->file)
		say(t, " at %s:%" PRIu32, subject_basename(place->frame->file), place->frame->line);
}

/* True if both sides hold one lock: as readers, which exclude no other reader. *name: the lock's. */
static bool are_readers(const struct report *r, const struct anomaly *a, char name[SUBJECT_NAME_MAX])
{
	const struct description *d[2] = {report_event(r, a->events[0]), report_event(r, a->events[1])};
	for (size_t i = 0; d[0] && d[1] && i < d[0]->lock_count; i++)
		for (size_t k = 0; k < d[1]->lock_count; k++)
			if (d[0]->locks[i].addr == d[1]->locks[k].addr) {
				place_held_name(r, &d[0]->locks[i], name);
				return true;
			}
	return false;
}

static bool both_hold_locks(const struct report *r, const struct anomaly *a)
{
	const struct description *d[2] = {report_event(r, a->events[0]), report_event(r, a->events[1])};
	return d[0] && d[1] && d[0]->lock_count && d[1]->lock_count;
}

/* What should keep the two sides of a race apart, and does not. */
static void say_no_guard(const struct report *r, struct text *t, const struct anomaly *a)
{
	char lock[SUBJECT_NAME_MAX];
	if (are_readers(r, a, lock)) {
		say(t, ", and both hold ");
		say_lock(t, lock);
		say(t, " only as readers");
	} else {
		say(t, both_hold_locks(r, a) ? ", under different locks"
		       : report_is_hidden(a) ? ", and no lock guards both"
		                             : ", and nothing orders them");
	}
}

size_t finding_main_place(const struct report *r, const struct finding *f)
{
	const struct anomaly *a = first_of(r, f);
	if (f->lacking == 2)
		return 0;
	struct place wanted = place_of(r, a->events[f->lacking]);
	size_t i = 0;
	while (i < f->place_count && place_key(&f->places[i].place) != place_key(&wanted))
		i++;
	return i < f->place_count ? i : 0;
}

bool finding_other_at_place(const struct report *r, const struct finding *f, uint32_t i, struct finding_place *place)
{
	const struct model *m = r->analysis->model;
	*place = at_event(r, f, first_of(r, f)->events[i]);
	for (size_t k = 0; k < f->place_count; k++)
		if (place_key(&f->places[k].place) == place_key(&place->place))
			return model_thread_of(m, f->places[k].e) != model_thread_of(m, place->e);
	return false;
}

static bool is_same_function(const struct finding_place *a, const struct finding_place *b)
{
	return place_function_key(&a->place) == place_function_key(&b->place);
}

/* A container frees its own memory: what is wrong is the call that lacks the lock. side: what lacking says. */
static bool is_of_a_container(const struct finding_place p[2], uint32_t side)
{
	return side < 2 && p[0].place.callee && p[1].place.callee;
}

/* One side makes, destroys, closes or frees what the other may use, or both do. last: index of that side. */
static void title_life(const struct report *r, const struct finding *f, struct text *t, const struct finding_place p[2],
                       bool both, uint32_t last)
{
	const struct anomaly *a = first_of(r, f);
	if (both && is_same_function(&p[0], &p[1])) {
		say_actor(r, t, &p[0]);
		say(t, " %s ", finding_does(r, &p[0]));
		say_variable(r, t, f, a);
		say(t, ", and another thread in it %s it, too", finding_does(r, &p[1]));
		return;
	}
	say_actor(r, t, &p[last]);
	say(t, " %s ", finding_does(r, &p[last]));
	say_variable(r, t, f, a);
	if (both) {
		say(t, ", and ");
		say_actor(r, t, &p[!last]);
		say(t, " %s it, too", finding_does(r, &p[!last]));
		return;
	}
	say(t, " while ");
	if (is_same_function(&p[0], &p[1]))
		say(t, "another thread in it");
	else
		say_actor(r, t, &p[!last]);
	say(t,
	    deed_is_of_life(r, p[last].e) && deed_begins(r, p[last].e) ? " may already use it" : " may still use it");
}

/* True if the event is the end or the beginning of what it is on. */
static bool is_of_life(const struct report *r, const struct finding_place *p)
{
	const struct description *d = report_event(r, p->e);
	return (d && d->event.flags & RT_F_FREE) || deed_is_of_life(r, p->e);
}

/* "writes it", or what else is in the same bytes. */
static void say_other(const struct report *r, struct text *t, const struct anomaly *a, const struct finding_place *p)
{
	char names[2][EXPRESSION_MAX];
	if (deed_names_members(r, a, names))
		say(t, "%s `%s` in the same bytes", finding_does(r, p), names[p->e == a->events[1]]);
	else
		say(t, "%s it", finding_does(r, p));
}

static void title_race(const struct report *r, const struct finding *f, struct text *t)
{
	const struct anomaly *a = first_of(r, f);
	struct finding_place p[2] = {at_event(r, f, a->events[0]), at_event(r, f, a->events[1])};
	char readers[SUBJECT_NAME_MAX];
	const char *lock = f->lacked;
	uint32_t side = f->lacking;
	bool of_life[2] = {is_of_life(r, &p[0]), is_of_life(r, &p[1])};
	if (r->entries[f->entries[0]].rank.double_checked)
		say(t, "double-checked initialisation: ");
	if (p[0].op == RT_OP_ALLOC) {
		say_actor(r, t, &p[1]);
		say(t, " uses ");
		say_variable(r, t, f, a);
		say(t, ", and nothing orders its allocation by ");
		say_actor(r, t, &p[0]);
		say(t, " before that");
	} else if ((of_life[0] || of_life[1]) && !is_of_a_container(p, side)) {
		title_life(r, f, t, p, of_life[0] && of_life[1], of_life[1] && !of_life[0]);
	} else if (side < 2 && !are_readers(r, a, readers)) {
		say_actor(r, t, &p[side]);
		say(t, " ");
		say_deed(r, t, f, &p[side], a);
		say(t, " without ");
		say_lock(t, lock);
		say(t, lock[0] ? ", which " : " that ");
		if (is_same_function(&p[0], &p[1])) {
			say(t, "it holds");
			say_place(t, &p[!side].place);
		} else {
			say_actor(r, t, &p[!side]);
			say(t, " holds");
		}
		say(t, " while it ");
		if (p[!side].place.callee)
			say_deed(r, t, f, &p[!side], a);
		else
			say_other(r, t, a, &p[!side]);
	} else {
		uint32_t writer = !rt_op_writes(p[0].op);
		say_actor(r, t, &p[writer]);
		say(t, " ");
		say_deed(r, t, f, &p[writer], a);
		say(t, " while ");
		if (is_same_function(&p[0], &p[1]))
			say(t, "another thread in it");
		else
			say_actor(r, t, &p[!writer]);
		if (p[!writer].place.callee) {
			say(t, " ");
			say_deed(r, t, f, &p[!writer], a);
		} else {
			say(t, " ");
			say_other(r, t, a, &p[!writer]);
		}
		say_no_guard(r, t, a);
	}
}

/*
 * The function whose work is cut: the innermost one that has all of the local thread's events, which callees may
 * execute; where there is none, that of the first event.
 */
static void say_caller(const struct report *r, struct text *t, const struct anomaly *a,
                       const struct finding_place *local)
{
	const struct model *m = r->analysis->model;
	uint32_t thread = level_region_thread(m, a), first = MODEL_NONE, last = MODEL_NONE;
	for (uint32_t i = 0; i < a->event_count; i++)
		if (model_thread_of(m, a->events[i]) == thread) {
			first = first == MODEL_NONE ? a->events[i] : first;
			last = a->events[i];
		}
	struct finding_place caller = {.place = place_of_both(r, first, last)};
	say_function(t, caller.place.frame && caller.place.frame->function ? &caller : local);
}

/* The other variable of an ASV. */
static void say_second(const struct report *r, struct text *t, const struct anomaly *a)
{
	const struct model *m = r->analysis->model;
	struct subject first;
	struct rt_variable variable;
	bool known = subject_of(r, a, &first);
	for (uint32_t i = 0; i < a->event_count; i++) {
		uint32_t cell = m->events[a->events[i]].object;
		if (!rt_op_is_access(model_op(m, a->events[i])) || cell >= m->cell_count ||
		    !rt_trace_variable(r->analysis->trace, m->cells[cell].addr, &variable) ||
		    (known && !strcmp(variable.name, first.name)))
			continue;
		say(t, "`%s`", variable.name);
		return;
	}
	say(t, "another variable");
}

static bool is_lookup(const struct anomaly *a)
{
	return !strncmp(a->pattern, "lookup", 6);
}

static void title_sequence(const struct report *r, const struct finding *f, struct text *t)
{
	const struct anomaly *a = first_of(r, f);
	const struct model *m = r->analysis->model;
	uint32_t other = 1;
	while (other + 1 < a->event_count && model_thread_of(m, a->events[other]) == model_thread_of(m, a->events[0]))
		other++;
	struct finding_place local = at_event(r, f, a->events[0]), remote = at_event(r, f, a->events[other]);
	if (a->kind == ANOMALY_PATTERN) {
		say(t, "pattern %s: ", a->pattern);
		say_function(t, &local);
		say(t, " and ");
		say_function(t, &remote);
		say(t, " access ");
		say_variable(r, t, f, a);
	} else if (a->kind == ANOMALY_ASV) {
		say_caller(r, t, a, &local);
		say(t, " accesses ");
		say_variable(r, t, f, a);
		say(t, " and ");
		say_second(r, t, a);
		say(t, " as one step, and ");
		if (is_same_function(&local, &remote))
			say(t, "another thread in it");
		else
			say_function(t, &remote);
		say(t, " may come in between");
	} else {
		say_caller(r, t, a, &local);
		if (is_lookup(a)) {
			say(t, " changes what it has found in an earlier critical section");
			if (f->guard_words[0])
				say(t, " of `%s`", f->guard_words);
			say(t, ", and ");
			say_function(t, &remote);
			say(t, " may replace it in between");
			return;
		}
		if (!strncmp(a->pattern, "check", 5)) {
			say(t, " acts on what it read of ");
			say_variable(r, t, f, a);
			say(t, " in an earlier critical section");
			if (f->guard_words[0])
				say(t, " of `%s`", f->guard_words);
			say(t, ", and ");
		} else {
			say(t, " accesses ");
			say_variable(r, t, f, a);
			say(t, " twice as one step, and ");
		}
		if (is_same_function(&local, &remote))
			say(t, "another thread in it");
		else
			say_function(t, &remote);
		say(t, " may %s it in between", rt_op_writes(remote.op) ? "write" : "read");
	}
}

/* The lock that a thread of a cycle waits for: its address, and its name. */
static uint64_t lock_of_wait(const struct report *r, const struct anomaly *a, uint32_t i, char name[SUBJECT_NAME_MAX])
{
	const struct description *d = report_event(r, a->events[i]);
	bool again = d && d->event.op == RT_OP_WAIT_END; /* of the mutex, which is the second operand */
	name[0] = '\0';
	if (!d)
		return 0;
	place_lock_name(r, again ? d->event.arg : d->event.addr, again ? NULL : subject_lock_block(d), d, name);
	return again ? d->event.arg : d->event.addr;
}

/* Number of a lock among those of the cycle that have its name, from 1; 0: no other one has it. */
static uint32_t number_among_names(const struct report *r, const struct anomaly *a, uint32_t i)
{
	char name[SUBJECT_NAME_MAX], other[SUBJECT_NAME_MAX];
	uint64_t addr = lock_of_wait(r, a, i, name);
	uint32_t number = 1, others = 0;
	for (uint32_t k = 0; k < a->event_count; k++)
		if (lock_of_wait(r, a, k, other) != addr && !strcmp(name, other)) {
			number += k < i;
			others++;
		}
	return others ? number : 0;
}

/* Each thread waits for the lock that the next one holds. */
static void say_cycle(const struct report *r, struct text *t, const struct anomaly *a)
{
	char name[SUBJECT_NAME_MAX];
	say(t, "%" PRIu32 " threads each hold one lock and acquire the next: ", a->event_count);
	for (uint32_t i = 0; i <= a->event_count; i++) {
		lock_of_wait(r, a, i % a->event_count, name);
		uint32_t number = number_among_names(r, a, i % a->event_count);
		say(t, "%s", i ? " -> " : "");
		say_lock(t, name);
		if (number)
			say(t, " (%" PRIu32 ")", number);
	}
}

/* True if a thread alone waits for a lock that it holds. */
static bool waits_for_itself(const struct report *r, const struct anomaly *a)
{
	const struct description *d =
	    a->kind == ANOMALY_DEADLOCK && a->event_count == 1 ? report_event(r, a->events[0]) : NULL;
	for (size_t i = 0; d && i < d->lock_count; i++)
		if (d->locks[i].addr == d->event.addr)
			return d->event.thread < rt_trace_info(r->analysis->trace)->thread_count;
	return false;
}

static void title_waits(const struct report *r, const struct finding *f, struct text *t)
{
	const struct anomaly *a = first_of(r, f);
	const struct rt_trace_info *info = rt_trace_info(r->analysis->trace);
	bool stuck = anomaly_is_stuck(r->analysis->model, a);
	char name[WAITING_TEXT_MAX];
	if (stuck && waits_for_itself(r, a)) {
		waiting_text(r, report_event(r, a->events[0]), name);
		say(t, "%s %s, which it holds itself: it cannot go on",
		    info->threads[report_event(r, a->events[0])->event.thread].name, name);
		return;
	}
	if (stuck) {
		for (uint32_t i = 0; i < a->event_count && i < 3; i++) {
			const struct description *d = report_event(r, a->events[i]);
			if (!d || d->event.thread >= info->thread_count)
				continue;
			waiting_text(r, d, name);
			say(t, "%s%s %s", i ? ", " : "", info->threads[d->event.thread].name, name);
		}
		if (a->event_count > 3)
			say(t, ", and %" PRIu32 " more threads", a->event_count - 3);
		say(t, a->kind == ANOMALY_HANG ? ", which no thread can give" : ": none of them can go on");
		return;
	}
	if (f->wanted[0] && a->event_count == 2) {
		struct finding_place p[2] = {at_event(r, f, a->events[0]), at_event(r, f, a->events[1])};
		say_function(t, &p[0]);
		say(t, " acquires `%s` while it holds `%s`, and ", f->wanted, f->held);
		if (is_same_function(&p[0], &p[1]))
			say(t, "another thread in it");
		else
			say_function(t, &p[1]);
		say(t, " does so the other way round");
		return;
	}
	say_cycle(r, t, a);
}

void finding_title(const struct report *r, const struct finding *f, char text[FINDING_TEXT_MAX])
{
	struct text t = {text, FINDING_TEXT_MAX};
	const struct anomaly *a = first_of(r, f);
	text[0] = '\0';
	if (anomaly_is_of_waits(a))
		title_waits(r, f, &t);
	else if (a->kind == ANOMALY_RACE && a->event_count == 2)
		title_race(r, f, &t);
	else
		title_sequence(r, f, &t);
}

/* The relaxed atomic of the program's own that alone orders the race's events; NULL: none does. */
static const struct cause *relaxed_cause(const struct report *r, const struct anomaly *a)
{
	for (uint32_t i = 0; i < a->cause_count; i++) {
		const struct cause *cause = follows_cause(r, a, i);
		const struct rt_frame *f =
		    subject_frame(r, r->analysis->model->sites[r->analysis->model->events[cause->write].site].pc);
		if (cause->anomaly == MODEL_NONE && f && !frame_is_library(f))
			return cause;
	}
	return NULL;
}

static bool is_in_handler(const struct report *r, const struct anomaly *a)
{
	const struct description *d[2] = {report_event(r, a->events[0]), report_event(r, a->events[1])};
	return (d[0] && d[0]->signal) || (d[1] && d[1]->signal);
}

static void fix_life(const struct report *r, struct text *t, const struct finding_place p[2])
{
	uint32_t last = is_of_life(r, &p[1]) && !is_of_life(r, &p[0]);
	bool frees = !deed_is_of_life(r, p[last].e), closes = deed_descriptor(r, p[last].e) >= 0;
	const char *verb = frees ? "free" : closes ? "close" : "destroy";
	if (is_of_life(r, &p[0]) && is_of_life(r, &p[1]))
		say(t,
		    frees || closes
		        ? "%s it in one place only, after the last use happened before"
		        : "initialise it once before other threads can use it, and %s it once after all have",
		    verb);
	else if (!frees && !closes && deed_begins(r, p[last].e))
		say(t, "initialise it before another thread can use it: before that thread is created, or statically");
	else
		say(t, "%s it only after the last use happened before: join the thread, or count references", verb);
}

static void fix_race(const struct report *r, const struct finding *f, struct text *t)
{
	const struct anomaly *a = first_of(r, f);
	struct finding_place p[2] = {at_event(r, f, a->events[0]), at_event(r, f, a->events[1])};
	char readers[SUBJECT_NAME_MAX], names[2][EXPRESSION_MAX];
	uint32_t side = f->lacking;
	const struct cause *relaxed = relaxed_cause(r, a);
	if (p[0].op == RT_OP_ALLOC) {
		say(t, "hand the pointer over by release and acquire, or under a lock");
	} else if (!is_of_a_container(p, side) && (is_of_life(r, &p[0]) || is_of_life(r, &p[1]))) {
		fix_life(r, t, p);
	} else if (r->entries[f->entries[0]].rank.double_checked) {
		say(t,
		    "make it atomic: load it with acquire for the check without the lock, store it with release when "
		    "all is made; or initialise it once (pthread_once, a static variable of C++)");
	} else if (deed_names_members(r, a, names)) {
		say(t, "guard both by one lock, or give each bytes of its own (`: 0` between bit-fields)");
	} else if (is_in_handler(r, a)) {
		say(t, "make it atomic and free of locks (a handler may not wait for one), or block the signal where "
		       "others "
		       "use it");
	} else if (f->called[0]) {
		say(t,
		    "call the variant of `%s` that is given the memory of its result (such as `localtime_r` of "
		    "`localtime`), or "
		    "hold one lock until the result is no longer used",
		    f->called);
	} else if (relaxed) {
		char text[FOLLOWS_TEXT_MAX];
		follows_text(r, relaxed, text);
		say(t, "%s", text);
	} else if (deed_waits(r, f, a->events[0]) || deed_waits(r, f, a->events[1])) {
		say(t, "make it atomic: store it with release, load it with acquire; or wait by a condition variable");
	} else if (are_readers(r, a, readers)) {
		say(t, "hold ");
		say_lock(t, readers);
		say(t, " as a writer");
		for (uint32_t s = 0, n = 0; s < 2; s++)
			if (rt_op_writes(p[s].op) && !(n && place_key(&p[0].place) == place_key(&p[1].place))) {
				say(t, n++ ? " and" : "");
				say_place(t, &p[s].place);
			}
	} else if (side < 2 && f->lacked[0]) {
		say(t, "hold `%s`", f->lacked);
		say_place(t, &p[side].place);
	} else if (side < 2) {
		say(t, "hold");
		say_place(t, &p[side].place);
		say(t, " the lock that is held");
		say_place(t, &p[!side].place);
	} else if (rt_op_is_atomic(p[0].op) != rt_op_is_atomic(p[1].op)) {
		say(t, "make the access");
		say_place(t, &p[rt_op_is_atomic(p[0].op) != 0].place);
		say(t, " atomic, too");
	} else {
		say(t, both_hold_locks(r, a) ? "hold one common lock at both places"
		                             : "guard it by one lock at both places, or make both accesses atomic");
	}
}

void finding_fix(const struct report *r, const struct finding *f, char text[FINDING_TEXT_MAX])
{
	struct text t = {text, FINDING_TEXT_MAX};
	const struct anomaly *a = first_of(r, f);
	text[0] = '\0';
	switch (a->kind) {
	case ANOMALY_RACE:
		if (a->event_count == 2)
			fix_race(r, f, &t);
		break;
	case ANOMALY_ATOMICITY:
		if (is_lookup(a))
			say(&t, "look it up again in the critical section that changes it, or do both in one");
		else if (f->guard_words[0])
			say(&t, "keep both accesses of the one thread in one critical section of `%s`", f->guard_words);
		else
			say(&t, "keep both accesses of the one thread in one critical section of a lock that the other "
			        "holds, too");
		break;
	case ANOMALY_ASV:
		say(&t, "access the variables together under one lock everywhere");
		break;
	case ANOMALY_DEADLOCK:
		say(&t, waits_for_itself(r, a) ? "do not acquire it again before it is released, or make it recursive"
		                               : "acquire these locks in the same order everywhere");
		break;
	case ANOMALY_HANG:
		say(&t, "give it after the thread waits, too, or wait only while a condition says so");
		break;
	case ANOMALY_PATTERN:
	case ANOMALY_KINDS:
		break;
	}
}

void finding_replay(const struct report *r, const struct finding *f, char text[FINDING_TEXT_MAX])
{
	struct text t = {text, FINDING_TEXT_MAX};
	const struct anomaly *a = first_of(r, f);
	const struct rt_trace_info *info = rt_trace_info(r->analysis->trace);
	/* Runs of an observed race are searched for. */
	bool searched =
	    a->kind == ANOMALY_RACE && a->verdict >= VERDICT_OBSERVED && !anomaly_is_of_blocks(r->analysis->model, a);
	text[0] = '\0';
	if ((!a->schedule && !searched) || !info->command || !info->command[0] || r->unkept)
		return;
	say(&t, "racetrace replay %s --finding %s", info->path, f->id);
	if (anomaly_may_be_atomic(a))
		say(&t, " -- PROGRAM, which is a build of it with gcc -fsanitize=thread");
}
