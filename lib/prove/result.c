/* Results as bytes; see result.h. */
#include "lib/prove/result.h"

#include "lib/base/bytes.h"
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

/*
 * Steps are varints. The first is twice the thread, or one more if the step is not the thread's next one and where it
 * begins follows. Then comes how many events it has. Most steps take two bytes.
 */
enum { STEP_BYTES_MAX = 15 };

/* The steps, behind `head` bytes. NULL without memory. */
static uint8_t *pack_steps(const struct schedule *s, size_t head, size_t tail, uint64_t *size)
{
	const uint32_t count = s ? s->count : 0;
	uint32_t threads = 0;
	for (uint32_t i = 0; i < count; i++)
		threads = s->steps[i].thread >= threads ? s->steps[i].thread + 1 : threads;
	uint32_t *next = calloc((size_t)threads + 1, sizeof *next);
	uint8_t *bytes = malloc(head + (size_t)count * STEP_BYTES_MAX + tail);
	if (!next || !bytes) {
		free(next);
		free(bytes);
		return NULL;
	}
	uint8_t *at = bytes + head;
	for (uint32_t i = 0; i < count; i++) {
		const struct schedule_step *step = &s->steps[i];
		bool apart = step->from != next[step->thread];
		at = rt_varint_put(at, (uint64_t)step->thread * 2 + apart);
		if (apart)
			at = rt_varint_put(at, step->from);
		at = rt_varint_put(at, step->to - step->from + (uint64_t)1);
		next[step->thread] = step->to + 1;
	}
	*size = (uint64_t)(at - bytes) - head;
	free(next);
	return bytes;
}

static bool unpack_steps(struct rt_cursor *c, const struct model *m, struct schedule *s)
{
	uint32_t *next = calloc((size_t)m->thread_count + 1, sizeof *next);
	bool ok = next != NULL;
	for (uint32_t i = 0; ok && i < s->count; i++) {
		uint64_t thread = rt_cursor_varint(c);
		if (thread / 2 >= m->thread_count) {
			ok = false;
			break;
		}
		uint64_t from = thread & 1 ? rt_cursor_varint(c) : next[thread / 2], count = rt_cursor_varint(c),
		         most = m->threads[thread / 2].count;
		ok = count && count <= most && from <= most - count;
		if (!ok)
			break;
		s->steps[i] =
		    (struct schedule_step){(uint32_t)(thread / 2), (uint32_t)from, (uint32_t)(from + count - 1)};
		next[thread / 2] = (uint32_t)(from + count);
	}
	free(next);
	return ok && !c->bad && !rt_cursor_left(c);
}

void *result_pack(const struct anomaly *a, const struct prove_counts *before, const struct prove_counts *after,
                  uint64_t *size)
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
	size_t needs = a->need_count * sizeof *a->needs;
	uint8_t *bytes = pack_steps(a->schedule, sizeof r, needs, &r.step_bytes);
	if (!bytes)
		return NULL;
	memcpy(bytes, &r, sizeof r);
	if (needs)
		memcpy(bytes + sizeof r + r.step_bytes, a->needs, needs);
	*size = sizeof r + r.step_bytes + needs;
	return bytes;
}

bool result_write(int fd, const struct anomaly *a, const struct prove_counts *before, const struct prove_counts *after)
{
	uint64_t size;
	void *bytes = result_pack(a, before, after, &size);
	bool written = bytes && rt_write_all(fd, bytes, size);
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
	            r->steps <= m->event_count + ANOMALY_EVENTS_MAX &&
	            r->step_bytes <= (uint64_t)r->steps * STEP_BYTES_MAX && r->guess < FAULTS;
	for (int i = 0; i < ANOMALY_EVENTS_MAX; i++)
		fits &= is_event(m, r->events[i]) || !r->events[i] || r->events[i] == MODEL_NONE;
	fits &= !r->uncertain || is_event(m, r->first_uncertain);
	return fits && (!r->substitutes || is_event(m, r->substitute));
}

static bool read_schedule(int fd, const struct model *m, struct result *r)
{
	struct schedule *s = r->schedule = calloc(1, sizeof *s);
	uint8_t *bytes = malloc(r->step_bytes + 1);
	if (s)
		s->steps = malloc(((size_t)r->steps + 1) * sizeof *s->steps);
	bool ok = s && s->steps && bytes && receive_all(fd, bytes, r->step_bytes);
	if (ok) {
		s->count = r->steps;
		s->events = r->schedule_events;
		struct rt_cursor c = rt_cursor_make(bytes, r->step_bytes);
		ok = unpack_steps(&c, m, s);
	}
	free(bytes);
	return ok;
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
