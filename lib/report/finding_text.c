/* Findings in words; see findings.h. Races, and threads that wait, have files of their own: finding_parts.h. */
#include "lib/report/finding_parts.h"

#include <inttypes.h>
#include <string.h>

bool finding_guard_text(const struct finding *f, char text[FINDING_TEXT_MAX])
{
	enum { TELLING = 2 };
	struct text t = {text, FINDING_TEXT_MAX};
	text[0] = '\0';
	bool all = f->guard.held == f->guard.of;
	if (f->guard.lock == MODEL_NONE || f->guard.of < TELLING || (all && f->lacking < 2))
		return false;
	say_lock(&t, f->guard_words);
	say(&t, " is held at %" PRIu64 " of %" PRIu64 " accesses", f->guard.held, f->guard.of);
	return true;
}

size_t finding_main_place(const struct report *r, const struct finding *f)
{
	const struct anomaly *a = finding_first(r, f);
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
	*place = finding_place_at(r, f, finding_first(r, f)->events[i]);
	for (size_t k = 0; k < f->place_count; k++)
		if (place_key(&f->places[k].place) == place_key(&place->place))
			return model_thread_of(m, f->places[k].e) != model_thread_of(m, place->e);
	return false;
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

/* What is not one step, though it should be. */
static void title_atomicity(const struct report *r, const struct finding *f, struct text *t,
                            const struct finding_place *local, const struct finding_place *remote)
{
	const struct anomaly *a = finding_first(r, f);
	bool lookup = anomaly_is_lookup(a), check = anomaly_is_check(a);
	say_caller(r, t, a, local);
	if (lookup) {
		say(t, " changes what it has found in an earlier critical section");
	} else if (check) {
		say(t, " acts on what it read of ");
		say_variable(r, t, f);
		say(t, " in an earlier critical section");
	} else {
		say(t, " accesses ");
		say_variable(r, t, f);
		say(t, " twice in what is meant to be one step");
	}
	if ((lookup || check) && f->guard_words[0])
		say(t, " of `%s`", f->guard_words);
	say(t, ", and ");
	if (lookup)
		say_function(t, remote);
	else
		say_other_function(t, local, remote);
	say(t, lookup                     ? " may replace it in between"
	       : rt_op_writes(remote->op) ? " may write it in between"
	                                  : " may read it in between");
}

static void title_sequence(const struct report *r, const struct finding *f, struct text *t)
{
	const struct anomaly *a = finding_first(r, f);
	const struct model *m = r->analysis->model;
	uint32_t other = 1;
	while (other + 1 < a->event_count && model_thread_of(m, a->events[other]) == model_thread_of(m, a->events[0]))
		other++;
	struct finding_place local = finding_place_at(r, f, a->events[0]),
	                     remote = finding_place_at(r, f, a->events[other]);
	if (a->kind == ANOMALY_PATTERN) {
		say(t, "pattern %s: ", a->pattern);
		say_function(t, &local);
		say(t, " and ");
		say_function(t, &remote);
		say(t, " access ");
		say_variable(r, t, f);
	} else if (a->kind == ANOMALY_ASV) {
		say_caller(r, t, a, &local);
		say(t, " accesses ");
		say_variable(r, t, f);
		say(t, " and ");
		say_second(r, t, a);
		say(t, " in what is meant to be one step, and ");
		say_other_function(t, &local, &remote);
		say(t, " may come in between");
	} else {
		title_atomicity(r, f, t, &local, &remote);
	}
}

void finding_title(const struct report *r, const struct finding *f, char text[FINDING_TEXT_MAX])
{
	struct text t = {text, FINDING_TEXT_MAX};
	const struct anomaly *a = finding_first(r, f);
	text[0] = '\0';
	if (anomaly_is_of_waits(a))
		waits_title(r, f, &t);
	else if (a->kind == ANOMALY_RACE && a->event_count == 2)
		race_title(r, f, &t);
	else
		title_sequence(r, f, &t);
}

/*
 * Under Valgrind the uninstrumented module is recorded, too, and so is a memset that is called: what these order or
 * leave is no finding then.
 */
static void fix_unseen(const struct report *r, const struct anomaly *a, struct text *t)
{
	if (a->verdict != VERDICT_PREDICTED || rt_trace_info(r->analysis->trace)->binary)
		return;
	const char *module = a->reasons.details[REASON_PLAIN_MODULE];
	if (reasons_has(&a->reasons, REASON_PLAIN_MODULE))
		say(t,
		    "record it with `racetrace record --recorder=valgrind`, which sees inside %.200s; if it is still "
		    "found, ",
		    module ? module : "uninstrumented modules");
	else if (reasons_has(&a->reasons, REASON_BARE_ACCESS))
		say(t, "build it with -fno-builtin, so that it is recorded; if it is still found, ");
}

static void fix(const struct report *r, const struct finding *f, const struct anomaly *a, struct text *t)
{
	switch (a->kind) {
	case ANOMALY_RACE:
		if (a->event_count == 2)
			race_fix(r, f, t);
		break;
	case ANOMALY_ATOMICITY:
		if (anomaly_is_lookup(a))
			say(t, "look it up again in the critical section that changes it, or do both in one");
		else if (f->guard_words[0])
			say(t, "keep both accesses of the one thread in one critical section of `%s`", f->guard_words);
		else
			say(t, "keep both accesses of the one thread in one critical section of a lock that the other "
			       "holds, too");
		break;
	case ANOMALY_ASV:
		say(t, "access the variables together under one lock everywhere");
		break;
	case ANOMALY_DEADLOCK:
	case ANOMALY_HANG:
		waits_fix(r, a, t);
		break;
	case ANOMALY_PATTERN:
	case ANOMALY_KINDS:
		break;
	}
}

void finding_fix(const struct report *r, const struct finding *f, char text[FINDING_TEXT_MAX])
{
	struct text t = {text, FINDING_TEXT_MAX};
	const struct anomaly *a = finding_first(r, f);
	text[0] = '\0';
	fix_unseen(r, a, &t);
	size_t condition = strlen(text);
	fix(r, f, a, &t);
	if (!text[condition])
		text[0] = '\0';
}

void finding_replay(const struct report *r, const struct finding *f, char text[FINDING_TEXT_MAX])
{
	struct text t = {text, FINDING_TEXT_MAX};
	const struct anomaly *a = finding_first(r, f);
	const struct rt_trace_info *info = rt_trace_info(r->analysis->trace);
	/* Runs of an observed race are searched for. */
	bool searched =
	    a->kind == ANOMALY_RACE && a->verdict >= VERDICT_OBSERVED && !anomaly_is_of_blocks(r->analysis->model, a);
	bool stuck = anomaly_is_stuck(r->analysis->model, a);
	text[0] = '\0';
	if ((!a->schedule && !searched && !stuck) || !info->command || !info->command[0] || r->unkept)
		return;
	say(&t, "racetrace replay %s --finding %s", info->path, f->id);
	if (anomaly_may_be_atomic(a))
		say(&t, " -- PROGRAM, which is a build of it with gcc -fsanitize=thread");
}
