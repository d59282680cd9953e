/*
 * Check-then-act over two critical sections: one call of a function reads a cell in one critical section and writes it
 * in the next one of the same lock, and another thread's section of that lock writes it in between. Each access is
 * guarded, so there is no race, and each section is atomic; the call is not.
 *
 * Locks are released to let other threads in, so most such pairs are intended. Only what looks like a check and its act
 * is reported. The lock guards the cell: all accesses hold it while several threads have it. The first section writes
 * nothing. The second writes the cell without reading it again first (an update, x -= n, reads it for itself:
 * update.c; and so does what replaces an element of a map, whether there is one or not). No other section of the lock
 * is in between, and no wait. Both are in one call that the program's own source makes, or the second is further down
 * in main, in a thread's own routine or in what a library calls.
 */
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"
#include "lib/search/check_act_parts.h"
#include "lib/search/classes.h"
#include "lib/search/found.h"
#include "lib/search/lookup.h"
#include "lib/search/update.h"

#include <stdlib.h>
#include <string.h>

/* Limits: cells that a check reads; instances of two positions; of all; other threads' writes of each. */
enum { READS_MAX = 32, ALIKE_MAX = 64, CANDIDATES_MAX = 4096, WRITES_MAX = 32 };
/* Of a look-up: writes of the link behind the act that are offered, and that are looked at. */
enum { NEXT = 2, LOOKED_AT = 256 };

struct check_act_seen {
	uint32_t cell, read, again; /* again: read once more in the next section; MODEL_NONE: not read */
	bool often;                 /* read there more than once */
	bool done;                  /* the next section has written it */
};
struct check_act_hold {
	bool exists, writes, many;
	bool changes;           /* it writes what is no count */
	bool acted;             /* an act on what the section before has found is known */
	uint32_t counted, last; /* the cell that it counts in, the last that it read; MODEL_NONE: none */
	uint32_t epoch, count, capacity;
	struct check_act_seen *seen; /* up to READS_MAX; little room, as there may be a track for each of many locks */
};
/* A thread's sections of a lock: the last one, and the one before. */
struct track {
	struct check_act_hold before, now;
};

struct check_act_finder {
	const struct search_context *context;
	const struct model *m;
	struct found_list found;
	struct snippets source;
	struct classes keys; /* thread, lock: number of the track */
	struct track *tracks;
	uint32_t track_count, track_capacity;
	uint32_t *epochs; /* by thread: number of its events so far at which it may wait */
	struct check_act_candidate *candidates;
	uint32_t count, capacity;
	struct classes alike;   /* sites: number of candidates */
	struct classes guarded; /* cell, lock: 1 + the answer */
	bool failed;
};

/* True if the event is in a header of a library. */
static bool is_by_library(const struct model *m, uint32_t e)
{
	size_t n;
	const struct rt_frame *f = rt_trace_frames(m->trace, m->sites[m->events[e].site].pc, &n);
	return n && f->file && !check_act_is_own(f);
}

/* --- candidates --- */

static struct track *track_of(struct check_act_finder *s, uint32_t thread, uint32_t lock)
{
	uint32_t before = s->keys.count, i = classes_index(&s->keys, (uint32_t[CLASS_KEY]){thread, lock});
	if (s->keys.failed || !vec_reserve(&s->tracks, &s->track_capacity, (uint64_t)i + 1, sizeof *s->tracks)) {
		s->failed = true;
		return NULL;
	}
	if (i == before) {
		memset(&s->tracks[i], 0, sizeof s->tracks[i]);
		s->track_count = i + 1;
	}
	return &s->tracks[i];
}

/* True if what other threads access of a cell all comes before its k-th access by the partial order: the memory is one
 * thread's again, as that of an object which main destroys behind the joins. */
static bool is_alone_again(const struct check_act_finder *s, const struct model_cell *cell, uint32_t k)
{
	const struct model *m = s->m;
	const uint32_t *events = &m->cell_events[cell->first];
	for (uint32_t i = 0; i < cell->count; i++) {
		uint32_t other = model_thread_of(m, events[i]);
		if (other != model_thread_of(m, events[k]) &&
		    (i > k ||
		     m->events[events[i]].pos >= segment_order_race_horizon(s->context->por, events[k], other)))
			return false;
	}
	return true;
}

/* True if every access of the cell holds the lock once a second thread has come, until one thread alone is left. */
static bool is_guarded(struct check_act_finder *s, uint32_t cell, uint32_t lock)
{
	const struct model *m = s->m;
	uint32_t i = classes_index(&s->guarded, (uint32_t[CLASS_KEY]){cell, lock});
	if (s->guarded.failed) {
		s->failed = true;
		return false;
	}
	uint32_t *answer = &s->guarded.items[i].count;
	if (*answer)
		return *answer - 1;
	const uint32_t *events = &m->cell_events[m->cells[cell].first];
	bool shared = false, all = true, alone = false;
	for (uint32_t k = 0; k < m->cells[cell].count && all && !alone; k++) {
		shared |= model_thread_of(m, events[k]) != model_thread_of(m, events[0]);
		all = !shared || model_lockset_lock(m, model_lockset_of(m, events[k]), lock);
		alone = !all && is_alone_again(s, &m->cells[cell], k);
		all |= alone;
	}
	*answer = all && shared ? 2 : 1;
	return all && shared;
}

static void push_candidate(struct check_act_finder *s, struct check_act_candidate c)
{
	if (!vec_reserve(&s->candidates, &s->capacity, (uint64_t)s->count + 1, sizeof *s->candidates))
		s->failed = true;
	else
		s->candidates[s->count++] = c;
}

/* counted: of a look-up, else MODEL_NONE; again: see the candidate. */
static void add_candidate(struct check_act_finder *s, uint32_t e1, uint32_t e3, uint32_t cell, uint32_t lock,
                          uint32_t counted, uint32_t again)
{
	const struct model *m = s->m;
	if (s->count >= CANDIDATES_MAX || !is_guarded(s, cell, lock))
		return;
	uint32_t like = classes_index(&s->alike, (uint32_t[CLASS_KEY]){m->events[e1].site, m->events[e3].site});
	s->failed |= s->alike.failed;
	if (s->failed || s->alike.items[like].count++ >= ALIKE_MAX)
		return;
	struct check_act_candidate c = {.e1 = e1,
	                                .e3 = e3,
	                                .cell = cell,
	                                .thread = model_thread_of(m, e1),
	                                .lock = lock,
	                                .counted = counted,
	                                .again = again};
	push_candidate(s, c);
	c.e1 = again;
	c.inner = true;
	if (again != MODEL_NONE)
		push_candidate(s, c);
}

static struct check_act_seen *seen_find(struct check_act_hold *section, uint32_t cell)
{
	for (uint32_t i = 0; i < section->count; i++)
		if (section->seen[i].cell == cell)
			return &section->seen[i];
	return NULL;
}

static bool make_room(struct check_act_hold *section)
{
	if (section->count < section->capacity)
		return true;
	uint32_t more = section->capacity ? 2 * section->capacity : 1;
	struct check_act_seen *seen = reallocarray(section->seen, more, sizeof *seen);
	if (!seen)
		return false;
	section->seen = seen;
	section->capacity = more;
	return true;
}

static void at_read(struct check_act_finder *s, struct track *t, uint32_t e, uint32_t cell)
{
	struct check_act_seen *before = seen_find(&t->before, cell), *now = seen_find(&t->now, cell);
	t->now.last = cell;
	if (before && before->again == MODEL_NONE)
		before->again = e;
	else if (before)
		before->often = true;
	if (now)
		now->read = e;
	else if (t->now.count == READS_MAX)
		t->now.many = true;
	else if (make_room(&t->now))
		t->now.seen[t->now.count++] = (struct check_act_seen){cell, e, MODEL_NONE, false, false};
	else
		s->failed = true;
}

/* True if the cell is of the object that the section has found. */
static bool is_of_found(const struct model *m, const struct check_act_hold *section, uint32_t cell)
{
	uint64_t first = UINT64_MAX, last = 0;
	for (uint32_t i = 0; i < section->count; i++) {
		uint64_t addr = m->cells[section->seen[i].cell].addr;
		if (!lookup_is_near(m, section->seen[i].cell, section->counted))
			continue;
		first = addr < first ? addr : first;
		last = addr > last ? addr : last;
	}
	return lookup_is_next(m, cell, section->counted, first, last);
}

/* The section before has counted a reference, and this one changes the object: what was read before the count led
 * there, and is not read again. */
static void at_act(struct check_act_finder *s, struct track *t, uint32_t e, uint32_t cell, uint32_t lock)
{
	struct check_act_hold *before = &t->before;
	if (!before->exists || before->changes || before->many || before->counted == MODEL_NONE ||
	    before->epoch != t->now.epoch || t->now.acted || cell == before->counted ||
	    !is_of_found(s->m, before, cell))
		return;
	t->now.acted = true;
	for (uint32_t i = 0; i < before->count && !s->failed; i++) {
		const struct check_act_seen *link = &before->seen[i];
		if (lookup_is_near(s->m, link->cell, before->counted))
			return;
		if (link->again == MODEL_NONE && !link->done)
			add_candidate(s, link->read, e, link->cell, lock, before->counted, MODEL_NONE);
	}
}

/* A library counts an element of a container near to what the section before has read of it, and has read that again.
 * Every other thread that inserts changes the number as well. */
static void at_counting(struct check_act_finder *s, struct check_act_hold *before, uint32_t e, uint32_t cell,
                        uint32_t lock)
{
	enum { CONTAINER = 64 }; /* no container itself has more bytes */
	uint64_t addr = s->m->cells[cell].addr;
	for (uint32_t i = 0; i < before->count; i++) {
		struct check_act_seen *x = &before->seen[i];
		uint64_t from = s->m->cells[x->cell].addr;
		if (x->again == MODEL_NONE || (addr > from ? addr - from : from - addr) >= CONTAINER ||
		    !is_by_library(s->m, e) || !is_by_library(s->m, x->read))
			continue;
		add_candidate(s, x->read, e, cell, lock, MODEL_NONE, x->again);
		return;
	}
}

static void at_write(struct check_act_finder *s, struct track *t, uint32_t e, uint32_t cell, uint32_t lock)
{
	bool counts = t->now.last == cell && (t->now.counted == MODEL_NONE || t->now.counted == cell);
	t->now.writes = true;
	t->now.changes |= !counts;
	t->now.counted = counts ? cell : t->now.counted;
	t->now.last = MODEL_NONE;
	at_act(s, t, e, cell, lock);
	struct check_act_hold *before = &t->before;
	if (!before->exists || before->writes || before->many || before->epoch != t->now.epoch)
		return;
	if (counts)
		at_counting(s, before, e, cell, lock);
	struct check_act_seen *check = seen_find(before, cell);
	if (!check || check->done)
		return;
	check->done = true;
	/* An update acts from its read on. Another read looks at the cell again, and may decide. */
	if (check->again == MODEL_NONE)
		add_candidate(s, check->read, e, cell, lock, MODEL_NONE, MODEL_NONE);
	else if (!check->often && update_is_one(s->m, &s->source, check->again, e))
		add_candidate(s, check->read, check->again, cell, lock, MODEL_NONE, MODEL_NONE);
}

static void at_access(struct check_act_finder *s, uint32_t e, unsigned op)
{
	const struct model *m = s->m;
	const struct model_lockset *held = &m->locksets[model_lockset_of(m, e)];
	for (uint32_t i = 0; i < held->count && !s->failed; i++) {
		if (held->locks[i].shared)
			continue;
		struct track *t = track_of(s, model_thread_of(m, e), held->locks[i].object);
		if (!t)
			return;
		if (rt_op_writes(op))
			at_write(s, t, e, m->events[e].object, held->locks[i].object);
		else
			at_read(s, t, e, m->events[e].object);
	}
}

/* True if the thread may meet others there, in time or in order. */
static bool meets(unsigned op)
{
	return rt_op_has(op, RT_WAITS) || rt_op_has(op, RT_WAKES) || rt_op_has(op, RT_FOLLOWS) ||
	       rt_op_has(op, RT_STEPS) || rt_op_has(op, RT_OF_THREAD);
}

/* The section before becomes the room of the one that begins. */
static void begin_section(struct track *t, uint32_t epoch)
{
	struct check_act_hold old = t->before;
	t->before = t->now;
	t->now = (struct check_act_hold){.exists = true,
	                                 .epoch = epoch,
	                                 .counted = MODEL_NONE,
	                                 .last = MODEL_NONE,
	                                 .seen = old.seen,
	                                 .capacity = old.capacity};
}

static void find_candidates(struct check_act_finder *s)
{
	const struct model *m = s->m;
	for (uint32_t e = 0; e < m->event_count && !s->failed; e++) {
		unsigned op = model_op(m, e);
		uint32_t thread = model_thread_of(m, e);
		struct track *t;
		if (rt_op_is_access(op)) {
			if (model_lockset_of(m, e))
				at_access(s, e, op);
		} else if (op == RT_OP_ACQUIRE) {
			if (!(t = track_of(s, thread, m->events[e].object)))
				return;
			begin_section(t, s->epochs[thread]);
		} else if (op != RT_OP_RELEASE && op != RT_OP_ACQUIRE_SHARED && op != RT_OP_FENCE && meets(op)) {
			s->epochs[thread]++;
		}
	}
}

/* --- the other thread's write --- */

/* True if it is offered. */
static bool offer(struct check_act_finder *s, const struct check_act_candidate *c, uint32_t e2)
{
	const struct model *m = s->m;
	const struct segment_order *por = s->context->por;
	uint32_t other = model_thread_of(m, e2);
	bool lookup = c->counted != MODEL_NONE;
	if (other == c->thread || !rt_op_writes(model_op(m, e2)) ||
	    m->events[e2].pos < segment_order_race_horizon(por, c->e1, other) ||
	    m->events[c->e3].pos < segment_order_race_horizon(por, e2, c->thread))
		return false;
	if (lookup && !lookup_is_lost(m, &s->source, c->e1, e2, c->e3, c->lock, c->counted))
		return false;
	uint32_t events[] = {c->e1, e2, c->e3};
	bool observed = rt_trace_info(m->trace)->exact && c->e1 < e2 && e2 < c->e3;
	found_tuple(&s->found, lookup ? &pattern_lookup_act : &pattern_check_act, events, observed);
	return true;
}

/* True if the section of the act reads the cell again elsewhere than in the call that replaces an element. */
static bool decides_again(const struct check_act_finder *s, const struct check_act_candidate *c)
{
	uint32_t first =
	    c->again == MODEL_NONE ? s->count : (uint32_t)lower_bound(i, 0, s->count, s->candidates[i].e1 < c->again);
	for (uint32_t i = first; i < s->count && s->candidates[i].e1 == c->again; i++)
		if (s->candidates[i].inner && s->candidates[i].e3 == c->e3 && s->candidates[i].one_call)
			return false;
	return c->again != MODEL_NONE;
}

static void tracks_release(struct check_act_finder *s)
{
	for (uint32_t i = 0; i < s->track_count; i++) {
		free(s->tracks[i].before.seen);
		free(s->tracks[i].now.seen);
	}
	free(s->tracks);
}

static void offer_writes(struct check_act_finder *s, const struct check_act_candidate *c)
{
	const struct model_cell *cell = &s->m->cells[c->cell];
	const uint32_t *events = &s->m->cell_events[cell->first];
	uint32_t offered = 0;
	for (uint32_t i = 0; i < cell->count && offered < WRITES_MAX && !s->found.failed; i++)
		offered += offer(s, c, events[i]);
}

/* Those in between, and the next ones. */
static void offer_next(struct check_act_finder *s, const struct check_act_candidate *c)
{
	const struct model_cell *cell = &s->m->cells[c->cell];
	const uint32_t *events = &s->m->cell_events[cell->first];
	uint32_t first = (uint32_t)lower_bound(mid, 0, cell->count, events[mid] < c->e1), offered = 0;
	for (uint32_t i = first; i < cell->count && i < first + LOOKED_AT && offered < NEXT && !s->found.failed; i++)
		offered += offer(s, c, events[i]) && events[i] > c->e3;
}

/* Number of events from an act to the next write of another thread. */
static uint32_t distance(const struct check_act_finder *s, const struct check_act_candidate *c)
{
	const struct model_cell *cell = &s->m->cells[c->cell];
	const uint32_t *events = &s->m->cell_events[cell->first];
	uint32_t i = (uint32_t)lower_bound(mid, 0, cell->count, events[mid] <= c->e3);
	while (i < cell->count && model_thread_of(s->m, events[i]) == c->thread)
		i++;
	return i < cell->count ? events[i] - c->e3 : UINT32_MAX;
}

/* Those first after which another thread inserts soon: in between fewer reads would see other writes. */
static void offer_replacing(struct check_act_finder *s)
{
	uint32_t least = 0;
	for (uint32_t most = 256; least < UINT32_MAX; least = most, most = most < 1 << 16 ? most * 16 : UINT32_MAX)
		for (uint32_t i = 0; i < s->count && !s->found.failed; i++) {
			const struct check_act_candidate *c = &s->candidates[i];
			if (!c->one_call || c->inner || c->again == MODEL_NONE || decides_again(s, c))
				continue;
			uint32_t from = distance(s, c);
			if (from >= least && from < most)
				offer_next(s, c);
		}
}

/* True if the reads of a call that replaces an element are no condition, nor are those of another thread's section of
 * the lock: the call finds its place anew. */
static bool is_no_condition(const struct model *m, const struct anomaly *a, uint32_t need)
{
	const struct model_lockset *held = &m->locksets[model_lockset_of(m, need)];
	for (uint32_t i = 0; is_by_library(m, a->events[2]) && i < held->count; i++)
		if (model_lockset_lock(m, model_lockset_of(m, a->events[2]), held->locks[i].object))
			return true;
	return false;
}

/*
 * If another thread makes the same call later in the trace, its own check saw what this act wrote, and would now see
 * another write. A check that sees another value of what it checks is no condition. Of a look-up that was settled
 * before (lookup_is_lost).
 */
void check_act_settle(const struct model *m, struct anomaly *a)
{
	bool lookup = anomaly_is_lookup(a);
	if ((!anomaly_is_check(a) && !lookup) || a->verdict != VERDICT_CONDITIONAL || !a->need_count ||
	    (!lookup && a->need_count < a->need_total && !is_by_library(m, a->events[2])))
		return;
	for (uint32_t i = 0; i < a->need_count && !lookup; i++)
		if (m->events[a->needs[i]].object != m->events[a->events[0]].object &&
		    !is_no_condition(m, a, a->needs[i]))
			return;
	a->verdict = VERDICT_PREDICTED;
	reasons_add(&a->reasons, REASON_CHECKS);
}

enum rt_status check_act_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err)
{
	struct check_act_finder s = {
	    .context = c, .m = c->m, .found = {.context = c, .list = list}, .source = {.trace = c->m->trace}};
	enum rt_status status = RT_OK;
	s.epochs = calloc((size_t)c->m->thread_count + 1, sizeof *s.epochs);
	s.failed = !s.epochs;
	if (!s.failed)
		find_candidates(&s);
	if (!s.failed && s.count)
		status = check_act_find_calls(s.m, s.candidates, s.count, err);
	for (uint32_t i = 0; i < s.count && !s.failed && !status; i++)
		if (s.candidates[i].one_call && s.candidates[i].again == MODEL_NONE)
			(s.candidates[i].counted == MODEL_NONE ? offer_writes : offer_next)(&s, &s.candidates[i]);
	offer_replacing(&s);
	classes_release(&s.keys);
	classes_release(&s.alike);
	classes_release(&s.guarded);
	tracks_release(&s);
	free(s.epochs);
	for (uint32_t i = 0; i < s.count; i++)
		free(s.candidates[i].sites);
	free(s.candidates);
	s.found.failed |= s.failed | s.source.no_memory;
	snippets_release(&s.source);
	enum rt_status finished = found_finish(&s.found, err);
	return status ? status : finished;
}
