/*
 * Check-then-act over two critical sections: one call of a function reads a cell in one critical section and writes it
 * in the next one of the same lock, and another thread's section of that lock writes it in between. Each access is
 * guarded, so there is no race, and each section is atomic; the call is not.
 *
 * Locks are released to let other threads in, so most such pairs are intended. Only what looks like a check and its act
 * is reported. The lock guards the cell: all accesses hold it while several threads have it. The first section writes
 * nothing. The second writes the cell without reading it again first (an update, x -= n, reads it for itself:
 * update.c). No other section of the lock is in between, and no wait. Both are in one call that the program's own
 * source makes, or the second is further down in main or in a thread's own routine.
 */
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"
#include "lib/search/classes.h"
#include "lib/search/found.h"
#include "lib/search/lookup.h"
#include "lib/search/update.h"
#include "lib/trace/jumps.h"

#include <stdlib.h>
#include <string.h>

/* Limits: cells that a check reads; instances of two positions; of all; other threads' writes of each. */
enum { READS_MAX = 16, ALIKE_MAX = 64, CANDIDATES_MAX = 4096, WRITES_MAX = 32 };
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
	uint32_t epoch, count;
	struct check_act_seen seen[READS_MAX];
};
/* A thread's sections of a lock: the last one, and the one before. */
struct track {
	struct check_act_hold before, now;
};

struct check_act_candidate {
	uint32_t e1, e3, cell, thread;
	uint32_t lock, counted; /* of a look-up: the cell that counts references; else MODEL_NONE */
	uint32_t depth;         /* number of calls that were open all the time */
	uint64_t *sites; /* positions of the calls that are open at e1, and e1's own; NULL: not set yet, or released */
	uint32_t open;
	bool one_call; /* both are in one call that the program's own source makes */
};

struct check_act_finder {
	const struct search_context *context;
	const struct model *m;
	struct found_list found;
	struct snippets source;
	struct classes keys; /* thread, lock: number of the track */
	struct track *tracks;
	uint32_t track_capacity;
	uint32_t *epochs; /* by thread: number of its events so far at which it may wait */
	struct check_act_candidate *candidates;
	uint32_t count, capacity;
	struct classes alike;   /* sites: number of candidates */
	struct classes guarded; /* cell, lock: 1 + the answer */
	bool failed;
};

/* --- candidates --- */

static struct track *track_of(struct check_act_finder *s, uint32_t thread, uint32_t lock)
{
	uint32_t before = s->keys.count, i = classes_index(&s->keys, (uint32_t[CLASS_KEY]){thread, lock});
	if (s->keys.failed || !vec_reserve(&s->tracks, &s->track_capacity, (uint64_t)i + 1, sizeof *s->tracks)) {
		s->failed = true;
		return NULL;
	}
	if (i == before)
		memset(&s->tracks[i], 0, sizeof s->tracks[i]);
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

/* counted: of a look-up, else MODEL_NONE. */
static void add_candidate(struct check_act_finder *s, uint32_t e1, uint32_t e3, uint32_t cell, uint32_t lock,
                          uint32_t counted)
{
	const struct model *m = s->m;
	if (s->count >= CANDIDATES_MAX || !is_guarded(s, cell, lock))
		return;
	uint32_t like = classes_index(&s->alike, (uint32_t[CLASS_KEY]){m->events[e1].site, m->events[e3].site});
	if (s->alike.failed ||
	    !vec_reserve(&s->candidates, &s->capacity, (uint64_t)s->count + 1, sizeof *s->candidates)) {
		s->failed = true;
		return;
	}
	if (s->alike.items[like].count++ < ALIKE_MAX)
		s->candidates[s->count++] = (struct check_act_candidate){
		    e1, e3, cell, model_thread_of(m, e1), lock, counted, 0, NULL, 0, false};
}

static struct check_act_seen *seen_find(struct check_act_hold *section, uint32_t cell)
{
	for (uint32_t i = 0; i < section->count; i++)
		if (section->seen[i].cell == cell)
			return &section->seen[i];
	return NULL;
}

static void at_read(struct track *t, uint32_t e, uint32_t cell)
{
	struct check_act_seen *before = seen_find(&t->before, cell), *now = seen_find(&t->now, cell);
	t->now.last = cell;
	if (before && before->again == MODEL_NONE)
		before->again = e;
	else if (before)
		before->often = true;
	if (now)
		now->read = e;
	else if (t->now.count < READS_MAX)
		t->now.seen[t->now.count++] = (struct check_act_seen){cell, e, MODEL_NONE, false, false};
	else
		t->now.many = true;
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
			add_candidate(s, link->read, e, link->cell, lock, before->counted);
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
	struct check_act_seen *check =
	    before->exists && !before->writes && !before->many && before->epoch == t->now.epoch
	        ? seen_find(before, cell)
	        : NULL;
	if (!check || check->done)
		return;
	check->done = true;
	/* An update acts from its read on. Another read looks at the cell again, and may decide. */
	if (check->again == MODEL_NONE)
		add_candidate(s, check->read, e, cell, lock, MODEL_NONE);
	else if (!check->often && update_is_one(s->m, &s->source, check->again, e))
		add_candidate(s, check->read, check->again, cell, lock, MODEL_NONE);
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
			at_read(t, e, m->events[e].object);
	}
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
			t->before = t->now;
			t->now = (struct check_act_hold){
			    .exists = true, .epoch = s->epochs[thread], .counted = MODEL_NONE, .last = MODEL_NONE};
		} else if (op != RT_OP_RELEASE && op != RT_OP_ACQUIRE_SHARED && op != RT_OP_FENCE) {
			s->epochs[thread]++;
		}
	}
}

/* --- calls --- */

struct calls {
	uint64_t *sites; /* return sites of the open calls, outermost first */
	uint32_t depth, capacity;
	struct jumps jumps;
};

static bool is_own(const struct rt_frame *f)
{
	return f->file && strncmp(f->file, "/usr/", 5) != 0;
}

/* True if the program's own source makes the call at this position. */
static bool is_own_call(const struct check_act_finder *s, uint64_t site)
{
	size_t n;
	const struct rt_frame *f = rt_trace_frames(s->m->trace, site, &n);
	return n && is_own(f);
}

static bool same_place(const struct rt_frame *f1, const struct rt_frame *f2)
{
	return f1->line && f1->line == f2->line && f1->column == f2->column && f1->file && f2->file &&
	       !strcmp(f1->file, f2->file);
}

/* True if two positions of one activation are in one inlined call that the program's own source makes. */
static bool in_one_inlined_call(const struct check_act_finder *s, uint64_t pc1, uint64_t pc2)
{
	size_t n1, n2;
	const struct rt_frame *f1 = rt_trace_frames(s->m->trace, pc1, &n1),
	                      *f2 = rt_trace_frames(s->m->trace, pc2, &n2);
	while (n1 > 1 && n2 > 1 && same_place(&f1[n1 - 1], &f2[n2 - 1])) {
		if (is_own(&f1[n1 - 1]))
			return true;
		n1--;
		n2--;
	}
	return false;
}

/*
 * True if the second position is further down in the same function of the program. What main or a thread's own routine
 * does is one call, but may be many rounds of a loop; from one round to the next the way goes up.
 */
static bool comes_below(const struct check_act_finder *s, uint64_t pc1, uint64_t pc2)
{
	size_t n1, n2;
	const struct rt_frame *f1 = rt_trace_frames(s->m->trace, pc1, &n1),
	                      *f2 = rt_trace_frames(s->m->trace, pc2, &n2);
	if (!n1 || !n2)
		return false;
	f1 += n1 - 1;
	f2 += n2 - 1;
	return is_own(f1) && is_own(f2) && !strcmp(f1->file, f2->file) && f1->function && f2->function &&
	       !strcmp(f1->function, f2->function) && f1->line < f2->line;
}

static bool begin_candidate(const struct check_act_finder *s, const struct calls *calls, struct check_act_candidate *c)
{
	c->depth = c->open = calls->depth;
	c->sites = malloc(((size_t)calls->depth + 1) * sizeof *c->sites);
	if (!c->sites)
		return false;
	if (calls->depth)
		memcpy(c->sites, calls->sites, calls->depth * sizeof *c->sites);
	c->sites[c->open] = s->m->sites[s->m->events[c->e1].site].pc;
	return true;
}

/* Ends the candidate at an event past it: whether a call was open all the time. */
static void end_candidate(const struct check_act_finder *s, const struct calls *calls, struct check_act_candidate *c)
{
	const struct model *m = s->m;
	uint64_t own = m->sites[m->events[c->e3].site].pc;
	uint64_t at = c->depth < calls->depth ? calls->sites[c->depth] : own;
	c->one_call = (c->depth && is_own_call(s, c->sites[c->depth - 1])) ||
	              in_one_inlined_call(s, c->sites[c->depth], at) ||
	              (c->depth == 1 && comes_below(s, c->sites[c->depth], at));
	free(c->sites);
	c->sites = NULL;
}

static bool step_calls(struct calls *calls, const struct rt_event *e)
{
	switch (e->op) {
	case RT_OP_ENTER:
		if (!vec_reserve(&calls->sites, &calls->capacity, (uint64_t)calls->depth + 1, sizeof *calls->sites))
			return false;
		calls->sites[calls->depth++] = e->pc;
		return true;
	case RT_OP_LEAVE:
		calls->depth -= calls->depth > 0;
		return true;
	case RT_OP_SETJMP:
		return jumps_set(&calls->jumps, e->addr, calls->depth);
	case RT_OP_LONGJMP:
		calls->depth = (uint32_t)jumps_target(&calls->jumps, e->addr, calls->depth);
		return true;
	default:
		return true;
	}
}

/* Open candidates. */
struct calls_walk {
	struct calls *calls; /* by thread */
	uint32_t *active;    /* candidates, any order */
	uint32_t count, next;
};

/* Called before an event of this number: begins and ends candidates. */
static void move_to(struct check_act_finder *s, struct calls_walk *w, uint64_t number)
{
	const struct model *m = s->m;
	for (; w->next < s->count && m->events[s->candidates[w->next].e1].number < number; w->next++) {
		struct check_act_candidate *c = &s->candidates[w->next];
		s->failed |= !begin_candidate(s, &w->calls[c->thread], c);
		w->active[w->count++] = w->next;
	}
	for (uint32_t i = 0; i < w->count;) {
		struct check_act_candidate *c = &s->candidates[w->active[i]];
		if (m->events[c->e3].number < number && !s->failed) {
			end_candidate(s, &w->calls[c->thread], c);
			w->active[i] = w->active[--w->count];
		} else {
			i++;
		}
	}
}

static enum rt_status walk_calls(struct check_act_finder *s, struct calls_walk *w, struct rt_error *err)
{
	struct rt_trace *trace = s->m->trace;
	struct rt_pass pass;
	rt_trace_select(trace, UINT64_C(1) << RT_OP_ENTER | UINT64_C(1) << RT_OP_LEAVE | UINT64_C(1) << RT_OP_SETJMP |
	                           UINT64_C(1) << RT_OP_LONGJMP);
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e && !s->failed && (w->next < s->count || w->count);
	     e = rt_pass_next(&pass)) {
		if (e->thread >= s->m->thread_count)
			continue;
		move_to(s, w, e->number);
		struct calls *calls = &w->calls[e->thread];
		if (!step_calls(calls, e))
			return rt_error_set(err, RT_EMEMORY, "no memory for the calls of the trace");
		for (uint32_t k = 0; k < w->count; k++) {
			struct check_act_candidate *c = &s->candidates[w->active[k]];
			if (c->thread == e->thread && calls->depth < c->depth)
				c->depth = calls->depth;
		}
	}
	if (!pass.status)
		move_to(s, w, UINT64_MAX);
	return pass.status;
}

static int by_first(const void *x, const void *y)
{
	const struct check_act_candidate *a = x, *b = y;
	return a->e1 < b->e1 ? -1 : a->e1 > b->e1;
}

/* Determines which candidates are in one call of a function. */
static enum rt_status find_calls(struct check_act_finder *s, struct rt_error *err)
{
	qsort(s->candidates, s->count, sizeof *s->candidates, by_first);
	struct calls_walk w = {.calls = calloc((size_t)s->m->thread_count + 1, sizeof *w.calls),
	                       .active = malloc(((size_t)s->count + 1) * sizeof *w.active)};
	enum rt_status status = RT_EMEMORY;
	if (w.calls && w.active)
		status = walk_calls(s, &w, err);
	else
		rt_error_set(err, RT_EMEMORY, "no memory for the calls of the trace");
	rt_trace_select(s->m->trace, RT_SELECT_ALL);
	for (uint32_t i = 0; w.calls && i < s->m->thread_count; i++) {
		free(w.calls[i].sites);
		jumps_release(&w.calls[i].jumps);
	}
	free(w.calls);
	free(w.active);
	return status;
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

/*
 * If another thread makes the same call later in the trace, its own check saw what this act wrote, and would now see
 * another write. A check that sees another value of what it checks is no condition. Of a look-up that was settled
 * before (lookup_is_lost).
 */
void check_act_settle(const struct model *m, struct anomaly *a)
{
	bool lookup = anomaly_is_lookup(a);
	if ((!anomaly_is_check(a) && !lookup) || a->verdict != VERDICT_CONDITIONAL || !a->need_count ||
	    (!lookup && a->need_count < a->need_total))
		return;
	for (uint32_t i = 0; i < a->need_count && !lookup; i++)
		if (m->events[a->needs[i]].object != m->events[a->events[0]].object)
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
		status = find_calls(&s, err);
	for (uint32_t i = 0; i < s.count && !s.failed && !status; i++)
		if (s.candidates[i].one_call)
			(s.candidates[i].counted == MODEL_NONE ? offer_writes : offer_next)(&s, &s.candidates[i]);
	classes_release(&s.keys);
	classes_release(&s.alike);
	classes_release(&s.guarded);
	free(s.tracks);
	free(s.epochs);
	for (uint32_t i = 0; i < s.count; i++)
		free(s.candidates[i].sites);
	free(s.candidates);
	s.found.failed |= s.failed | s.source.no_memory;
	snippets_release(&s.source);
	enum rt_status finished = found_finish(&s.found, err);
	return status ? status : finished;
}
