/* Sentences of deadlocks and hangs; see finding_parts.h. */
#include "lib/report/finding_parts.h"
#include "lib/report/waiting.h"

#include <inttypes.h>
#include <string.h>

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

/* What event i of the cycle waits to do, if it waits for another thread and not for a lock. */
static unsigned op_of_wait(const struct report *r, const struct anomaly *a, uint32_t i)
{
	const struct description *d = report_event(r, a->events[i]);
	unsigned op = d ? waiting_op(d) : RT_OP_NONE;
	return op == RT_OP_ACQUIRE || op == RT_OP_ACQUIRE_SHARED ? RT_OP_NONE : op;
}

/* True if one of the cycle waits for another thread, and not for a lock; joins: that is joined. */
static bool has_wait(const struct report *r, const struct anomaly *a, bool joins)
{
	for (uint32_t i = 0; i < a->event_count; i++)
		if (joins ? op_of_wait(r, a, i) == RT_OP_JOIN : op_of_wait(r, a, i) != RT_OP_NONE)
			return true;
	return false;
}

/* True if two locks of the cycle have one name. */
static bool names_repeat(const struct report *r, const struct anomaly *a)
{
	char name[SUBJECT_NAME_MAX], other[SUBJECT_NAME_MAX];
	for (uint32_t i = 0; i < a->event_count; i++)
		for (uint32_t k = 0; k < i; k++)
			if (lock_of_wait(r, a, i, name) != lock_of_wait(r, a, k, other) && !strcmp(name, other))
				return true;
	return false;
}

static const char *thread_of_wait(const struct report *r, const struct anomaly *a, uint32_t i)
{
	const struct rt_trace_info *info = rt_trace_info(r->analysis->trace);
	uint32_t thread = model_thread_of(r->analysis->model, a->events[i % a->event_count]);
	return thread < info->thread_count ? info->threads[thread].name : "a thread";
}

/* One wait of the cycle. */
static void say_wait(const struct report *r, struct text *t, const struct anomaly *a, uint32_t i)
{
	char name[WAITING_TEXT_MAX];
	const struct rt_trace_info *info = rt_trace_info(r->analysis->trace);
	const struct description *d = report_event(r, a->events[i]);
	const char *thread = thread_of_wait(r, a, i);
	unsigned op = op_of_wait(r, a, i);
	if (op == RT_OP_JOIN) {
		uint32_t joined = r->analysis->model->events[a->events[i]].object;
		say(t, "%s waits for the end of %s", thread,
		    joined < info->thread_count ? info->threads[joined].name : "a thread");
		return;
	}
	if (op != RT_OP_NONE) {
		waiting_title(r, d, name);
		say(t, "%s %s, which %s %s", thread, name, thread_of_wait(r, a, i + 1), waiting_by(d));
		return;
	}
	lock_of_wait(r, a, i, name);
	say(t, "%s acquires ", thread);
	say_lock(t, name);
	say(t, ", which %s holds", thread_of_wait(r, a, i + 1));
}

/* Each thread waits for the lock that the next one holds; locks of one name are told apart by the thread that holds
 * them. */
static void say_cycle(const struct report *r, struct text *t, const struct anomaly *a)
{
	char name[SUBJECT_NAME_MAX];
	if (has_wait(r, a, false) || names_repeat(r, a)) {
		for (uint32_t i = 0; i < a->event_count; i++) {
			say(t, "%s", i ? "; " : "");
			say_wait(r, t, a, i);
		}
		return;
	}
	say(t, "%" PRIu32 " threads each hold one lock and acquire the next: ", a->event_count);
	for (uint32_t i = 0; i <= a->event_count; i++) {
		lock_of_wait(r, a, i % a->event_count, name);
		say(t, "%s", i ? " -> " : "");
		say_lock(t, name);
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

/* Threads that wait when the run ends, for ever. */
static void title_stuck(const struct report *r, const struct anomaly *a, struct text *t)
{
	const struct rt_trace_info *info = rt_trace_info(r->analysis->trace);
	char name[WAITING_TEXT_MAX];
	if (waits_for_itself(r, a)) {
		waiting_title(r, report_event(r, a->events[0]), name);
		say(t, "%s %s, which it holds itself: it cannot go on",
		    info->threads[report_event(r, a->events[0])->event.thread].name, name);
		return;
	}
	for (uint32_t i = 0; i < a->event_count && i < 3; i++) {
		const struct description *d = report_event(r, a->events[i]);
		if (!d || d->event.thread >= info->thread_count)
			continue;
		waiting_title(r, d, name);
		say(t, "%s%s %s", i ? ", " : "", info->threads[d->event.thread].name, name);
	}
	if (a->event_count > 3)
		say(t, ", and %" PRIu32 " more threads", a->event_count - 3);
	say(t, a->kind == ANOMALY_HANG ? ", which no thread can give" : ": none of them can go on");
}

void waits_title(const struct report *r, const struct finding *f, struct text *t)
{
	const struct anomaly *a = finding_first(r, f);
	if (anomaly_is_stuck(r->analysis->model, a)) {
		title_stuck(r, a, t);
	} else if (f->wanted[0] && a->event_count == 2) {
		struct finding_place p[2] = {finding_place_at(r, f, a->events[0]),
		                             finding_place_at(r, f, a->events[1])};
		say_function(t, &p[0]);
		say(t, " acquires `%s` while it holds `%s`, ", f->wanted, f->held);
		if (f->member[0])
			say(t, "both `%s`, ", f->member);
		say(t, "and ");
		say_other_function(t, &p[0], &p[1]);
		say(t, " does so the other way round");
	} else {
		say_cycle(r, t, a);
	}
}

void waits_fix(const struct report *r, const struct anomaly *a, struct text *t)
{
	say(t, "%s",
	    a->kind == ANOMALY_HANG  ? "signal or post after the thread waits, too, or let it wait only while what it "
	                               "waits for has not happened"
	    : waits_for_itself(r, a) ? "do not acquire it again before it is released, or make it recursive"
	    : has_wait(r, a, true)   ? "join without holding a lock that the other threads acquire"
	    : has_wait(r, a, false)  ? "wait for other threads without holding a lock that they acquire"
	                             : "acquire these locks in the same order everywhere");
}
