/* Runs with a delay; see delay.h. */
#include "lib/explore/delay_parts.h"

#include "lib/base/free.h"
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* ---- The trace ---- */

static struct place *place_of(struct delays *d, enum kind kind, uint64_t object, bool make)
{
	enum { KINDS = 8 };
	uint64_t key = object * KINDS + kind;
	struct place *place;
	HASH_FIND(hh, d->places, &key, sizeof key, place);
	if (!place && make)
		HASH_MAKE(d->places, key, key, place);
	return place;
}

static uint32_t last_at(struct delays *d, enum kind kind, uint64_t object)
{
	const struct place *place = place_of(d, kind, object, false);
	return place ? place->event : NONE;
}

static uint32_t bytes_of(const struct rt_event *e)
{
	return !rt_op_is_access(e->op) || e->op == RT_OP_FENCE ? 0
	       : e->arg > BYTES_MAX                            ? BYTES_MAX
	       : e->arg                                        ? (uint32_t)e->arg
	                                                       : 1;
}

/* The last write of any of the bytes. */
static uint32_t last_write(struct delays *d, const struct rt_event *e)
{
	uint32_t last = NONE;
	for (uint32_t i = 0; i < bytes_of(e); i++) {
		uint32_t write = last_at(d, WRITE, e->addr + i);
		if (write != NONE && (last == NONE || write > last))
			last = write;
	}
	return last;
}

static uint32_t needs_of(struct delays *d, const struct rt_event *e)
{
	switch ((int)e->op) {
	case RT_OP_WAIT_END:
		return d->waits[e->thread].woken != NONE ? d->waits[e->thread].woken : last_at(d, WAKE, e->addr);
	case RT_OP_SEM_WAIT:
		return last_at(d, POST, e->addr);
	case RT_OP_ONCE_SEEN:
		return last_at(d, ONCE, e->addr);
	case RT_OP_HB_AFTER:
		return last_at(d, TOLD, e->addr);
	case RT_OP_BARRIER_ARRIVE:
	case RT_OP_BARRIER_LEAVE:
		return last_at(d, ARRIVAL, e->addr);
	case RT_OP_BEGIN:
		return last_at(d, FORK, e->thread);
	case RT_OP_JOIN:
		return last_at(d, END, e->addr);
	default:
		return last_write(d, e);
	}
}

/* False without memory. */
static bool note(struct delays *d, const struct rt_event *e, uint32_t index)
{
	static const int kinds[RT_OP_COUNT] = {
	    [RT_OP_SIGNAL] = WAKE + 1,   [RT_OP_BROADCAST] = WAKE + 1, [RT_OP_SEM_POST] = POST + 1,
	    [RT_OP_ONCE_END] = ONCE + 1, [RT_OP_HB_BEFORE] = TOLD + 1, [RT_OP_BARRIER_ARRIVE] = ARRIVAL + 1,
	    [RT_OP_FORK] = FORK + 1,     [RT_OP_END] = END + 1};
	int kind = rt_op_writes(e->op) ? WRITE + 1 : e->op < RT_OP_COUNT ? kinds[e->op] : 0;
	uint64_t object = e->op == RT_OP_END ? e->thread : e->addr;
	uint32_t count = !kind ? 0 : kind == WRITE + 1 ? bytes_of(e) : 1;
	for (uint32_t i = 0; i < count; i++) {
		struct place *place = place_of(d, (enum kind)(kind - 1), object + i, true);
		if (!place)
			return false;
		place->event = index;
	}
	return true;
}

/* The first broadcast during a wait ends it, or the first signal if no other thread waits: later ones are not needed.
 */
static void note_wait(struct delays *d, const struct rt_event *e, uint32_t index)
{
	uint32_t waiting = 0;
	if (e->op == RT_OP_WAIT_BEGIN || e->op == RT_OP_WAIT_END)
		d->waits[e->thread] = (struct waiting){e->op == RT_OP_WAIT_BEGIN ? e->addr : 0, NONE};
	if (e->op != RT_OP_SIGNAL && e->op != RT_OP_BROADCAST)
		return;
	for (uint32_t t = 0; t < d->thread_count; t++)
		waiting += d->waits[t].condition == e->addr && d->waits[t].woken == NONE;
	if (e->op == RT_OP_SIGNAL && waiting != 1)
		return;
	for (uint32_t t = 0; t < d->thread_count; t++)
		if (d->waits[t].condition == e->addr && d->waits[t].woken == NONE)
			d->waits[t].woken = index;
}

/* False without memory. */
static bool load(struct delays *d, const struct rt_event *e)
{
	uint32_t index = (uint32_t)d->count;
	if (e->thread >= d->thread_count)
		return true;
	if (!vec_reserve(&d->events, &d->room, (uint64_t)d->count + 1, sizeof *d->events))
		return false;
	d->events[d->count++] = (struct seen){.number = e->number,
	                                      .ordinal = e->ordinal,
	                                      .object = e->addr,
	                                      .mutex = e->arg,
	                                      .pc = e->pc,
	                                      .value = e->value,
	                                      .has_value = e->flags & RT_F_VALUE,
	                                      .thread = e->thread,
	                                      .bytes = bytes_of(e),
	                                      .next = NONE,
	                                      .needs = needs_of(d, e),
	                                      .op = e->op};
	uint32_t *last = &d->last[e->thread];
	*(*last == NONE ? &d->first[e->thread] : &d->events[*last].next) = index;
	*last = index;
	note_wait(d, e, index);
	return note(d, e, index);
}

void delays_free(struct delays *d)
{
	if (!d)
		return;
	HASH_FREE(d->places);
	HASH_FREE(d->touched);
	free_all(d->events, d->first, d->last, d->upto, d->done, d->waits, d->open);
	free(d);
}

static struct delays *create(uint32_t threads)
{
	struct delays *d = calloc(1, sizeof *d);
	if (!d)
		return NULL;
	d->thread_count = threads;
	d->first = malloc((threads + 1) * sizeof *d->first);
	d->last = malloc((threads + 1) * sizeof *d->last);
	d->upto = malloc((threads + 1) * sizeof *d->upto);
	d->done = malloc((threads + 1) * sizeof *d->done);
	d->waits = calloc(threads + 1, sizeof *d->waits);
	if (!d->first || !d->last || !d->upto || !d->done || !d->waits) {
		delays_free(d);
		return NULL;
	}
	memset(d->first, 0xff, threads * sizeof *d->first);
	memset(d->last, 0xff, threads * sizeof *d->last);
	return d;
}

enum rt_status delays_load(struct rt_trace *trace, uint64_t most, struct delays **out, struct rt_error *err)
{
	const struct rt_trace_info *info = rt_trace_info(trace);
	struct rt_pass pass;
	*out = NULL;
	if (info->events > most)
		return RT_OK;
	struct delays *d = create(info->thread_count);
	bool ok = d;
	for (struct rt_event *e = ok ? rt_pass_first(&pass, trace, err) : NULL; e && ok; e = rt_pass_next(&pass))
		ok = load(d, e);
	if (ok && !pass.status) {
		*out = d;
		return RT_OK;
	}
	delays_free(d);
	return ok ? pass.status : rt_error_set(err, RT_EMEMORY, "no memory for the turns of a trace");
}

/* ---- The events of a run ---- */

enum answer { YES, NO, NO_MEMORY };

/* Index of the event with the number; NONE: there is none. */
static uint32_t find_event(const struct delays *d, uint64_t number)
{
	size_t at = lower_bound(i, 0, d->count, d->events[i].number < number);
	return at < d->count && d->events[at].number == number ? (uint32_t)at : NONE;
}

static bool is_in(const struct delays *d, uint32_t e)
{
	uint32_t upto = d->upto[d->events[e].thread];
	return upto != NONE && e <= upto;
}

/* What has to come before an event of the run; NONE: nothing. What a write comes behind does not matter, nor what the
 * run is to change: the read that is its end, and those of writes that the thread held has not made. */
static uint32_t needed(const struct delays *d, uint32_t event, uint32_t held, uint32_t until)
{
	const struct seen *e = &d->events[event];
	bool access = rt_op_is_access(e->op);
	if (e->needs == NONE || is_in(d, e->needs) || (access && (event == until || !rt_op_reads(e->op))))
		return NONE;
	return access && e->needs >= held && d->events[e->needs].thread == d->events[held].thread ? NONE : e->needs;
}

/* All up to the event, and what these need. The thread of the event held is not to go on. */
static enum answer include(struct delays *d, uint32_t event, uint32_t held, uint32_t until)
{
	d->open_count = 0;
	for (uint32_t e = event;; e = d->open[--d->open_count]) {
		uint32_t thread = d->events[e].thread, *upto = &d->upto[thread];
		if (thread == d->events[held].thread && e >= held)
			return NO;
		while (*upto == NONE || *upto < e) {
			*upto = *upto == NONE ? d->first[thread] : d->events[*upto].next;
			uint32_t needs = needed(d, *upto, held, until);
			if (needs == NONE)
				continue;
			if (!vec_reserve(&d->open, &d->open_room, (uint64_t)d->open_count + 1, sizeof *d->open))
				return NO_MEMORY;
			d->open[d->open_count++] = needs;
		}
		if (!d->open_count)
			return YES;
	}
}

static bool takes(enum rt_op op)
{
	return op == RT_OP_ACQUIRE || op == RT_OP_ACQUIRE_SHARED || op == RT_OP_WAIT_END;
}

static bool gives(enum rt_op op)
{
	return op == RT_OP_RELEASE || op == RT_OP_WAIT_BEGIN;
}

/* The event by which the thread gives a lock that it took; NONE: it does not. */
static uint32_t release_of(const struct delays *d, const struct holder *h)
{
	uint32_t e = d->events[h->since].next;
	while (e != NONE && !(d->events[e].op == RT_OP_RELEASE && d->events[e].object == h->lock) &&
	       !(d->events[e].op == RT_OP_WAIT_BEGIN && d->events[e].mutex == h->lock))
		e = d->events[e].next;
	return e;
}

/* An event of the run that gives a lock. */
static void give(struct holder **locks, uint64_t lock, uint32_t thread)
{
	struct holder *h;
	HASH_FIND(hh, *locks, &lock, sizeof lock, h);
	if (!h || h->thread != thread)
		return;
	HASH_DELETE(hh, *locks, h);
	free(h);
}

/* One that takes a lock. NO: another thread has it; *release: the event that would give it. */
static enum answer take(struct delays *d, struct holder **locks, uint64_t lock, uint32_t event, uint32_t *release)
{
	const struct seen *e = &d->events[event];
	struct holder *h;
	HASH_FIND(hh, *locks, &lock, sizeof lock, h);
	if (h && h->thread != e->thread) {
		*release = release_of(d, h);
		return NO;
	}
	if (h || e->op == RT_OP_ACQUIRE_SHARED)
		return YES;
	HASH_MAKE(*locks, lock, lock, h);
	if (!h)
		return NO_MEMORY;
	h->thread = e->thread;
	h->since = event;
	return YES;
}

/* NO: a lock is held where it is taken; *release: the event that would give it, NONE: none does. */
static enum answer locks_are_free(struct delays *d, uint32_t *release)
{
	struct holder *locks = NULL;
	enum answer answer = YES;
	*release = NONE;
	for (uint32_t e = 0; e < d->count && answer == YES; e++) {
		const struct seen *s = &d->events[e];
		bool waits = s->op == RT_OP_WAIT_BEGIN || s->op == RT_OP_WAIT_END;
		uint64_t lock = waits ? s->mutex : s->object;
		if (!is_in(d, e))
			continue;
		if (gives(s->op))
			give(&locks, lock, s->thread);
		else if (takes(s->op))
			answer = take(d, &locks, lock, e, release);
	}
	HASH_FREE(locks);
	return answer;
}

/* The events of the run are those up to d->upto. */
static enum answer find(struct delays *d, uint32_t held, uint32_t until)
{
	enum { SECTIONS = 16 }; /* that are left before a thread is stopped */
	uint32_t release;
	memset(d->upto, 0xff, d->thread_count * sizeof *d->upto);
	for (uint32_t e = 0; e < held; e++)
		d->upto[d->events[e].thread] = e;
	enum answer answer = include(d, until, held, until);
	for (int i = 0; answer == YES && i < SECTIONS; i++) {
		answer = locks_are_free(d, &release);
		if (answer != NO)
			break;
		answer = release == NONE ? NO : include(d, release, held, until);
	}
	return answer == YES && d->upto[d->events[until].thread] != until ? NO : answer;
}

/* The event by which the thread took the first of the locks that it has at the event; the event itself: it has none. */
static uint32_t outermost(const struct delays *d, uint32_t event)
{
	uint32_t thread = d->events[event].thread, at = event, first = event;
	int depth = 0, most = 0; /* locks that were taken and not given from there on */
	while (at-- > 0) {
		if (d->events[at].thread != thread)
			continue;
		depth += takes(d->events[at].op) - gives(d->events[at].op);
		if (depth > most) {
			most = depth;
			first = at;
		}
	}
	return first;
}

/* ---- What the thread held has done by halves ---- */

enum { LOOKED_AT_MAX = 1024 }; /* events before, and such ones between */

/* An access before. False without memory. */
static bool touch(struct delays *d, uint32_t event)
{
	const struct seen *s = &d->events[event];
	for (uint32_t i = 0; i < s->bytes; i++) {
		uint64_t address = s->object + i;
		struct touched *t;
		HASH_FIND(hh, d->touched, &address, sizeof address, t);
		if (!t) {
			HASH_MAKE(d->touched, address, address, t);
			if (!t)
				return false;
			t->read = t->write = NONE;
		}
		t->read = t->read == NONE && rt_op_reads(s->op) ? event : t->read;
		t->write = t->write == NONE && rt_op_writes(s->op) ? event : t->write;
	}
	return true;
}

/* What it has accessed before, the latest first. False without memory. */
static bool touch_all(struct delays *d, uint32_t held)
{
	bool ok = true;
	for (uint32_t e = held, n = 0; ok && e-- > 0 && n < LOOKED_AT_MAX;)
		if (d->events[e].thread == d->events[held].thread) {
			ok = touch(d, e);
			n++;
		}
	return ok;
}

/* The last event of the thread held that is behind `after` and conflicts with the event. NONE: there is none. */
static uint32_t last_conflict(const struct delays *d, uint32_t event, uint32_t after)
{
	const struct seen *s = &d->events[event];
	uint32_t last = NONE;
	for (uint32_t i = 0; i < s->bytes; i++) {
		uint64_t address = s->object + i;
		const struct touched *t;
		HASH_FIND(hh, d->touched, &address, sizeof address, t);
		const uint32_t seen[] = {t ? t->write : NONE, t && rt_op_writes(s->op) ? t->read : NONE};
		for (int k = 0; k < 2; k++)
			if (seen[k] != NONE && (after == NONE || seen[k] > after) && (last == NONE || seen[k] > last))
				last = seen[k];
	}
	return last;
}

/* Number of events from the last that is so to the one held; UINT32_MAX: none is. *ok: false without memory. */
static uint32_t torn(struct delays *d, uint32_t held, uint32_t until, bool *ok)
{
	uint32_t last = NONE;
	*ok = touch_all(d, held);
	for (uint32_t e = held + 1, n = 0; *ok && e < d->count && n < LOOKED_AT_MAX; e++) {
		uint32_t thread = d->events[e].thread;
		if (thread == d->events[held].thread || !(is_in(d, e) || e == until))
			continue;
		n++;
		uint32_t made = d->first[thread] == NONE ? NONE : d->events[d->first[thread]].needs;
		uint32_t conflict = last_conflict(d, e, made);
		last = conflict != NONE && (last == NONE || conflict > last) ? conflict : last;
	}
	HASH_FREE(d->touched);
	return last == NONE ? UINT32_MAX : (uint32_t)(d->events[held].ordinal - d->events[last].ordinal);
}

/* ---- Runs ---- */

struct runs {
	struct delay_run *items;
	size_t count, room;
};

/* The thread runs up to an ordinal. */
static bool run(struct delays *d, struct runs *r, uint32_t thread, uint64_t to)
{
	uint64_t from = d->done[thread] + 1;
	if (to < from)
		return true;
	d->done[thread] = to;
	if (r->count && r->items[r->count - 1].thread == thread) {
		r->items[r->count - 1].to = to;
		return true;
	}
	if (!vec_reserve(&r->items, &r->room, (uint64_t)r->count + 1, sizeof *r->items))
		return false;
	r->items[r->count++] = (struct delay_run){thread, from, to};
	return true;
}

static bool put_runs(struct delays *d, const struct delay *delay, uint32_t held, uint32_t until, struct runs *r)
{
	const struct seen *h = &d->events[held], *u = &d->events[until];
	bool ok = true;
	memset(d->done, 0, d->thread_count * sizeof *d->done);
	for (uint32_t e = 0; ok && e < d->count; e++)
		if (e == held)
			ok = run(d, r, h->thread, h->ordinal - 1);
		else if (e != until && is_in(d, e))
			ok = run(d, r, d->events[e].thread, d->events[e].ordinal);
	return ok && run(d, r, u->thread, u->ordinal) && (!delay->returns || run(d, r, h->thread, h->ordinal));
}

enum rt_status delay_runs(struct delays *d, struct delay *delay, struct delay_run **runs, size_t *count,
                          struct rt_error *err)
{
	uint32_t held = find_event(d, delay->held), until = find_event(d, delay->until);
	struct runs r = {0};
	*runs = NULL;
	*count = 0;
	if (held == NONE || until == NONE || held >= until || d->events[held].thread == d->events[until].thread)
		return RT_OK;
	enum answer answer = find(d, held, until);
	uint32_t before = answer == NO ? outermost(d, held) : held;
	if (before != held)
		answer = find(d, held = before, until);
	delay->held = d->events[held].number;
	delay->waiting = d->events[delay->returns ? until : held].thread;
	bool ok = true;
	if (answer == YES)
		delay->torn = torn(d, held, until, &ok);
	if (answer == YES && (!ok || !put_runs(d, delay, held, until, &r)))
		answer = NO_MEMORY;
	if (answer == YES) {
		*runs = r.items;
		*count = r.count;
		return RT_OK;
	}
	free(r.items);
	return answer == NO ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for the turns of a trace");
}
