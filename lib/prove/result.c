/* Results as bytes; see result.h. */
#include "lib/prove/result.h"

#include "lib/base/output.h"
#include "lib/judge/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool receive_all(int fd, void *data, size_t size)
{
	char *at = data;
	while (size) {
		ssize_t n = read(fd, at, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

#define X(name, text) +1
enum { FAULTS = 0 VERIFY_FAULTS(X) };
#undef X

/* The fault of which a guess's text is; the texts are constants. */
static uint32_t fault_of(const char *text)
{
	for (uint32_t i = 1; text && i < FAULTS; i++)
		if (!strcmp(verify_fault_text((enum verify_fault)i), text))
			return i;
	return 0;
}

uint64_t result_size(const struct anomaly *a)
{
	uint64_t steps = a->schedule ? a->schedule->count : 0;
	return sizeof(struct result) + steps * sizeof *a->schedule->steps + a->need_count * sizeof *a->needs;
}

void *result_pack(const struct anomaly *a, const struct prove_counts *before, const struct prove_counts *after)
{
	struct result r;
	memset(&r, 0, sizeof r); /* what is between the members is written too */
	r.before = *before;
	r.after = *after;
	r.verdict = a->verdict;
	r.witness = a->witness;
	memcpy(r.events, a->events, sizeof r.events);
	r.uncertain = a->uncertain;
	r.first_uncertain = a->first_uncertain;
	r.substitutes = a->substitutes;
	r.substitute = a->substitute;
	r.left_out = a->left_out;
	r.guess = fault_of(a->guess);
	r.reasons = a->reasons.set;
	r.looked = a->reasons.looked;
	r.instances = a->reasons.instances;
	if (a->schedule) {
		r.scheduled = true;
		r.steps = a->schedule->count;
		r.schedule_events = a->schedule->events;
	}
	r.needs = a->need_count;
	r.need_total = a->need_total;
	char *bytes = malloc(result_size(a)), *at = bytes;
	if (!bytes)
		return NULL;
	memcpy(at, &r, sizeof r);
	at += sizeof r;
	if (r.steps)
		memcpy(at, a->schedule->steps, r.steps * sizeof *a->schedule->steps);
	at += r.steps * sizeof *a->schedule->steps;
	if (r.needs)
		memcpy(at, a->needs, r.needs * sizeof *a->needs);
	return bytes;
}

bool result_write(int fd, const struct anomaly *a, const struct prove_counts *before, const struct prove_counts *after)
{
	void *bytes = result_pack(a, before, after);
	bool written = bytes && rt_write_all(fd, bytes, result_size(a));
	free(bytes);
	return written;
}

static bool is_event(const struct model *m, uint32_t e)
{
	return e < m->event_count;
}

/* True if all that is an index is one. */
static bool fits(const struct model *m, const struct result *r)
{
	bool fits = r->verdict < VERDICTS && r->witness < WITNESS_KINDS && r->needs <= ANOMALY_NEEDS_MAX &&
	            r->steps <= m->event_count + ANOMALY_EVENTS_MAX && r->guess < FAULTS;
	for (int i = 0; i < ANOMALY_EVENTS_MAX; i++)
		fits &= is_event(m, r->events[i]) || !r->events[i] || r->events[i] == MODEL_NONE;
	fits &= !r->uncertain || is_event(m, r->first_uncertain);
	return fits && (!r->substitutes || is_event(m, r->substitute));
}

static bool read_schedule(int fd, const struct model *m, struct result *r)
{
	struct schedule *s = r->schedule = calloc(1, sizeof *s);
	if (s)
		s->steps = malloc(((size_t)r->steps + 1) * sizeof *s->steps);
	if (!s || !s->steps || !receive_all(fd, s->steps, r->steps * sizeof *s->steps))
		return false;
	s->count = r->steps;
	s->events = r->schedule_events;
	for (uint32_t i = 0; i < s->count; i++)
		if (s->steps[i].thread >= m->thread_count || s->steps[i].from > s->steps[i].to ||
		    s->steps[i].to >= m->threads[s->steps[i].thread].count)
			return false;
	return true;
}

static bool read_needs(int fd, const struct model *m, struct result *r)
{
	if (!r->needs)
		return true;
	r->need_events = malloc(r->needs * sizeof *r->need_events);
	if (!r->need_events || !receive_all(fd, r->need_events, r->needs * sizeof *r->need_events))
		return false;
	for (uint32_t i = 0; i < r->needs; i++)
		if (!is_event(m, r->need_events[i]))
			return false;
	return true;
}

bool result_read(int fd, const struct model *m, struct result *r)
{
	if (!receive_all(fd, r, sizeof *r))
		return false;
	r->schedule = NULL;
	r->need_events = NULL;
	if (fits(m, r) && (!r->scheduled || read_schedule(fd, m, r)) && read_needs(fd, m, r))
		return true;
	result_release(r);
	return false;
}

void result_apply(struct result *r, struct anomaly *a)
{
	a->verdict = r->verdict;
	a->witness = r->witness;
	memcpy(a->events, r->events, sizeof a->events);
	a->uncertain = r->uncertain;
	a->first_uncertain = r->first_uncertain;
	a->substitutes = r->substitutes;
	a->substitute = r->substitute;
	a->left_out = r->left_out;
	a->guess = r->guess ? verify_fault_text((enum verify_fault)r->guess) : NULL;
	a->reasons.set = r->reasons;
	a->reasons.looked = r->looked;
	a->reasons.instances = r->instances;
	a->schedule = r->schedule;
	a->needs = r->need_events;
	a->need_count = r->needs;
	a->need_total = r->need_total;
	r->schedule = NULL;
	r->need_events = NULL;
}

void result_release(struct result *r)
{
	if (r->schedule)
		schedule_release(r->schedule);
	free(r->schedule);
	free(r->need_events);
	r->schedule = NULL;
	r->need_events = NULL;
}
