/* The exhaustive prover; see search.h. */
#include "lib/witness/search.h"

#include "lib/witness/base.h"

#include <stdlib.h>
#include <string.h>

/* An open-addressing set of 128-bit state fingerprints. */
struct seen {
	uint64_t (*slots)[2];
	size_t count, capacity;
};

struct undo {
	uint32_t event;
	bool frozen, unheard; /* were its thread's */
};

/* A wait that must be signalled, as it was in the trace. */
struct wait {
	uint32_t signal, begin, end;
};

/* A state in which more than one thread may go on: the threads still to be tried. */
struct choice {
	uint32_t depth;            /* executed events when it was made */
	uint32_t first, next, end; /* in candidates */
};

struct search {
	const struct model *m;
	const struct trf *trf;
	const uint8_t *free_reads;   /* by event, bits; or NULL */
	const struct values *values; /* or NULL */
	/* Of the trace. */
	uint32_t *before; /* by entry of cell_events: entry of the last write before, MODEL_NONE: initial */
	uint32_t *entry;  /* by event: its entry in its first cell */
	struct base base;
	uint32_t
	    *signal_of;     /* by event: WAIT_BEGIN, WAIT_END: the signal that ends the wait, MODEL_NONE: none needed */
	struct wait *waits; /* untimed waits, by signal */
	uint32_t wait_count;
	/* Of the goal. */
	const struct goal *goal;
	uint32_t *must, *bound; /* by thread: so many events are needed; are relevant */
	uint32_t *start;        /* by thread: so many are the base, which comes first */
	uint32_t end;           /* all of the base are events before this one */
	bool *looked;           /* by cell: is it known whom the base wrote last? */
	uint32_t *target;       /* by thread: pos to stand at (RACE, DEADLOCK), MODEL_NONE */
	uint32_t *asking,
	    *asking_first; /* with values, by entry and by cell: last goal that included all writes of it */
	uint32_t asked_goals;
	/* The state. */
	uint32_t *pos;         /* by thread */
	uint32_t *last;        /* by cell: entry of the last write, MODEL_NONE */
	uint32_t *left;        /* by cell: relevant writes not yet executed */
	uint32_t *asked;       /* by entry: relevant reads of this write not yet executed */
	uint32_t *asked_first; /* by cell: the same of the initial value */
	uint32_t *need;        /* by entry: needed ones among them */
	uint32_t *need_first;
	uint32_t *owner, *readers; /* by object */
	bool *frozen;              /* by thread: its goal event saw another write */
	bool *unheard;             /* by thread: the signal of its wait came before the wait began */
	uint32_t reached;          /* SEQUENCE: goal events executed */
	uint64_t hash[2];
	/* Work space. */
	struct undo *done;
	size_t done_count, done_capacity;
	uint32_t *saved;
	size_t saved_count, saved_capacity;
	struct choice *choices;
	size_t choice_count, choice_capacity;
	uint32_t *candidates;
	size_t candidate_count, candidate_capacity;
	struct seen seen;
	uint64_t spent, budget;
	bool failed;
};

static bool grow(void *pointer, size_t *capacity, size_t wanted, size_t size)
{
	if (wanted <= *capacity)
		return true;
	size_t n = *capacity ? *capacity * 2 : 64;
	while (n < wanted)
		n *= 2;
	void *old, *now;
	memcpy(&old, pointer, sizeof old);
	now = realloc(old, n * size);
	if (!now)
		return false;
	memcpy(pointer, &now, sizeof now);
	*capacity = n;
	return true;
}

/* States already seen. */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Adds or takes away (the same operation) one fact about the state. */
static void hash_fact(struct search *s, uint64_t kind, uint64_t what, uint64_t value)
{
	uint64_t key = mix(what * UINT64_C(0x9e3779b97f4a7c15) + kind) + value;
	s->hash[0] ^= mix(key);
	s->hash[1] ^= mix(key ^ UINT64_C(0xd6e8feb86659fd93));
}

/* The last write of a cell is part of the state only while some read may still ask for it. */
static void hash_last(struct search *s, uint32_t cell)
{
	uint32_t last = s->last[cell];
	uint32_t asked = last == MODEL_NONE ? s->asked_first[cell] : s->asked[last];
	if (asked)
		hash_fact(s, 2, cell, last);
}

static bool seen_grow(struct seen *seen)
{
	size_t capacity = seen->capacity ? seen->capacity * 2 : 256;
	uint64_t(*slots)[2] = calloc(capacity, sizeof *slots);
	if (!slots)
		return false;
	for (size_t i = 0; i < seen->capacity; i++) {
		if (!seen->slots[i][0] && !seen->slots[i][1])
			continue;
		size_t at = seen->slots[i][0] & (capacity - 1);
		while (slots[at][0] || slots[at][1])
			at = (at + 1) & (capacity - 1);
		slots[at][0] = seen->slots[i][0];
		slots[at][1] = seen->slots[i][1];
	}
	free(seen->slots);
	seen->slots = slots;
	seen->capacity = capacity;
	return true;
}

/* Adds the present state; false if it was there. */
static bool seen_add(struct search *s)
{
	struct seen *seen = &s->seen;
	if (seen->count * 2 >= seen->capacity && !seen_grow(seen)) {
		s->failed = true;
		return false;
	}
	size_t at = s->hash[0] & (seen->capacity - 1);
	for (; seen->slots[at][0] || seen->slots[at][1]; at = (at + 1) & (seen->capacity - 1))
		if (seen->slots[at][0] == s->hash[0] && seen->slots[at][1] == s->hash[1])
			return false;
	seen->slots[at][0] = s->hash[0];
	seen->slots[at][1] = s->hash[1];
	seen->count++;
	return true;
}

/* Facts of the trace. */

static uint32_t entry_in(const struct search *s, uint32_t e, uint32_t cell)
{
	const struct model *m = s->m;
	if (cell == m->events[e].object)
		return s->entry[e];
	uint32_t low = m->cells[cell].first, high = low + m->cells[cell].count;
	while (low + 1 < high) {
		uint32_t middle = low + (high - low) / 2;
		if (m->cell_events[middle] <= e)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* What the read at this entry must see, and what a write there leaves to be seen. With values, the first write of a
 * value stands for all. */
static uint32_t wanted(const struct search *s, uint32_t entry)
{
	return s->values ? s->values->saw[entry] : s->before[entry];
}
static uint32_t left_by(const struct search *s, uint32_t entry)
{
	return s->values ? s->values->like[entry] : entry;
}

/* The lock that an event takes, or lets go (begins: WAIT_BEGIN counts as a release). MODEL_NONE: none. */
static uint32_t lock_taken(const struct model *m, uint32_t e)
{
	unsigned op = model_op(m, e);
	if (op == RT_OP_ACQUIRE || op == RT_OP_ACQUIRE_SHARED)
		return m->events[e].object;
	return op == RT_OP_WAIT_END ? model_arg(m, e) : MODEL_NONE;
}
static uint32_t lock_let_go(const struct model *m, uint32_t e)
{
	unsigned op = model_op(m, e);
	if (op == RT_OP_RELEASE)
		return m->events[e].object;
	return op == RT_OP_WAIT_BEGIN ? model_arg(m, e) : MODEL_NONE;
}

static void scan_cells(struct search *s)
{
	const struct model *m = s->m;
	for (uint32_t c = 0; c < m->cell_count; c++) {
		uint32_t last = MODEL_NONE;
		for (uint32_t i = m->cells[c].first; i < m->cells[c].first + m->cells[c].count; i++) {
			uint32_t e = m->cell_events[i];
			if (m->events[e].object == c)
				s->entry[e] = i;
			s->before[i] = last;
			if (rt_op_writes(model_op(m, e)))
				last = i;
		}
	}
}

static int compare_waits(const void *a, const void *b)
{
	uint32_t x = ((const struct wait *)a)->signal, y = ((const struct wait *)b)->signal;
	return x < y ? -1 : x > y;
}

/* The signal of a wait: the first on its condition after the begin that its end needs. */
static uint32_t signal_between(const struct search *s, uint32_t begin, uint32_t end)
{
	const struct model *m = s->m;
	uint32_t clock = trf_clock(s->trf, end), low = 0, high = m->sync_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (m->sync[middle] > begin)
			high = middle;
		else
			low = middle + 1;
	}
	for (; low < m->sync_count && m->sync[low] < end; low++) {
		uint32_t e = m->sync[low];
		unsigned op = model_op(m, e);
		if ((op == RT_OP_SIGNAL || op == RT_OP_BROADCAST) && m->events[e].object == m->events[end].object &&
		    clock_get(&s->trf->clocks, clock, model_thread_of(m, e)) > m->events[e].pos)
			return e;
	}
	return MODEL_NONE;
}

static void scan_waits(struct search *s)
{
	const struct model *m = s->m;
	uint32_t *begin = malloc((m->thread_count + 1) * sizeof *begin);
	s->waits = malloc((m->sync_count + 1) * sizeof *s->waits);
	if (!begin || !s->waits) {
		free(begin);
		s->failed = true;
		return;
	}
	for (uint32_t i = 0; i < m->sync_count; i++) {
		uint32_t e = m->sync[i], thread = model_thread_of(m, e);
		if (model_op(m, e) == RT_OP_WAIT_BEGIN)
			begin[thread] = e;
		if (model_op(m, e) != RT_OP_WAIT_END ||
		    (m->sites[m->events[e].site].flags & (RT_F_TIMED | RT_F_TIMEOUT | RT_F_UNWOKEN)))
			continue;
		uint32_t signal = signal_between(s, begin[thread], e);
		if (signal == MODEL_NONE)
			continue;
		s->signal_of[begin[thread]] = s->signal_of[e] = signal;
		s->waits[s->wait_count++] = (struct wait){signal, begin[thread], e};
	}
	free(begin);
	qsort(s->waits, s->wait_count, sizeof *s->waits, compare_waits);
}

void search_free(struct search *s)
{
	if (!s)
		return;
	void *const parts[] = {s->before,     s->entry,  s->start,       s->looked, s->signal_of,  s->waits,
	                       s->unheard,    s->must,   s->bound,       s->target, s->pos,        s->last,
	                       s->left,       s->asked,  s->asked_first, s->need,   s->need_first, s->owner,
	                       s->readers,    s->frozen, s->done,        s->saved,  s->choices,    s->candidates,
	                       s->seen.slots, s->asking, s->asking_first};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		free(parts[i]);
	base_release(&s->base);
	free(s);
}

struct search *search_create(const struct model *m, const struct trf *trf, const uint8_t *free_reads,
                             const struct values *values)
{
	struct search *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->m = m;
	s->trf = trf;
	s->free_reads = free_reads;
	s->values = values;
	size_t entries = m->cell_count ? m->cells[m->cell_count - 1].first + m->cells[m->cell_count - 1].count : 0;
	struct {
		uint32_t **array;
		size_t n;
	} const parts[] = {
	    {&s->before, entries},
	    {&s->entry, m->event_count},
	    {&s->start, m->thread_count},
	    {&s->signal_of, m->event_count},
	    {&s->must, m->thread_count},
	    {&s->bound, m->thread_count},
	    {&s->target, m->thread_count},
	    {&s->pos, m->thread_count},
	    {&s->last, m->cell_count},
	    {&s->left, m->cell_count},
	    {&s->asked, entries},
	    {&s->asked_first, m->cell_count},
	    {&s->need, entries},
	    {&s->need_first, m->cell_count},
	    {&s->owner, m->object_count},
	    {&s->readers, m->object_count},
	    {&s->asking, values ? entries : 0},
	    {&s->asking_first, values ? m->cell_count : 0},
	};
	s->frozen = calloc(m->thread_count + 1, sizeof *s->frozen);
	s->unheard = calloc(m->thread_count + 1, sizeof *s->unheard);
	s->looked = calloc((size_t)m->cell_count + 1, sizeof *s->looked);
	bool ok = base_init(&s->base, m, trf) && s->frozen && s->unheard && s->looked;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		ok = (*parts[i].array = calloc(parts[i].n + 1, sizeof(uint32_t))) && ok;
	if (ok) {
		memset(s->signal_of, 0xff, m->event_count * sizeof *s->signal_of);
		memset(s->last, 0xff, m->cell_count * sizeof *s->last);
		memset(s->owner, 0xff, m->object_count * sizeof *s->owner);
		scan_cells(s);
		scan_waits(s);
	}
	if (!ok || s->failed) {
		search_free(s);
		return NULL;
	}
	return s;
}

/* What the goal needs, and what is relevant to it. */

static void raise_to(uint32_t *set, const struct search *s, uint32_t clock)
{
	for (uint32_t t = 0; t < s->m->thread_count; t++) {
		uint32_t n = clock_get(&s->trf->clocks, clock, t);
		if (n > set[t])
			set[t] = n;
	}
}

/* Adds an event with all that it needs. */
static void include(uint32_t *set, const struct search *s, uint32_t e)
{
	uint32_t thread = model_thread_of(s->m, e);
	raise_to(set, s, trf_clock(s->trf, e));
	if (s->m->events[e].pos + 1 > set[thread])
		set[thread] = s->m->events[e].pos + 1;
}

/* Adds what must have occurred for e to be next. */
static void include_before(uint32_t *set, const struct search *s, uint32_t e)
{
	uint32_t thread = model_thread_of(s->m, e);
	raise_to(set, s, trf_clock_before(s->trf, e));
	if (s->m->events[e].pos > set[thread])
		set[thread] = s->m->events[e].pos;
}

/* Is the sequence's event i right behind the one before it in the same thread? That one may have seen another write
 * then. */
static bool continues_goal(const struct search *s, uint32_t i)
{
	return i && s->goal->events[i - 1] == model_pred(s->m, s->goal->events[i]);
}

/* May this event occur at all before the goal? */
static bool may_occur(const struct search *s, uint32_t e)
{
	const struct goal *g = s->goal;
	uint32_t clock = trf_clock(s->trf, e);
	uint32_t first = g->kind == GOAL_SEQUENCE ? g->count - 1 : 0;
	for (uint32_t i = first; i < g->count; i++) {
		uint32_t x = g->events[i], thread = model_thread_of(s->m, x);
		uint32_t known = thread == model_thread_of(s->m, e) ? s->m->events[e].pos + 1
		                                                    : clock_get(&s->trf->clocks, clock, thread);
		if (known > s->m->events[x].pos)
			return false;
	}
	return true;
}

/* Is e one of a sequence's events? */
static bool is_goal(const struct search *s, uint32_t e)
{
	for (uint32_t i = 0; s->goal->kind == GOAL_SEQUENCE && i < s->goal->count; i++)
		if (s->goal->events[i] == e)
			return true;
	return false;
}

/* What the goal's events need themselves. */
static void needs_of_goal(struct search *s)
{
	const struct model *m = s->m;
	const struct goal *g = s->goal;
	memset(s->must, 0, m->thread_count * sizeof *s->must);
	memset(s->target, 0xff, m->thread_count * sizeof *s->target);
	for (uint32_t i = 0; i < g->count; i++) {
		uint32_t e = g->events[i], thread = model_thread_of(m, e);
		if (g->kind != GOAL_SEQUENCE)
			s->target[thread] = m->events[e].pos;
		if (g->kind != GOAL_SEQUENCE || !continues_goal(s, i))
			include_before(s->must, s, e);
		if (g->kind == GOAL_SEQUENCE && m->events[e].pos + 1 > s->must[thread])
			s->must[thread] = m->events[e].pos + 1;
	}
}

/* Does the goal need no event that it excludes? */
static bool needs_possible(const struct search *s)
{
	const struct goal *g = s->goal;
	for (uint32_t t = 0; t < s->m->thread_count; t++)
		if (s->target[t] != MODEL_NONE && s->must[t] > s->target[t])
			return false;
	if (g->kind != GOAL_SEQUENCE)
		return true;
	/* The last event of a sequence comes after everything. */
	uint32_t final = g->events[g->count - 1];
	return s->must[model_thread_of(s->m, final)] == s->m->events[final].pos + 1;
}

/* Must the needed part contain the end of this section, which is open there: has another thread, in the needed part, a
 * section that it excludes and that comes after its beginning? */
static bool must_close(const struct search *s, const struct section *open)
{
	const struct sections *all = &s->base.sections;
	for (uint32_t i = all->lock_first[open->lock]; i < all->lock_first[open->lock + 1]; i++) {
		const struct section_group *g = &all->groups[i];
		if (g->thread == open->thread)
			continue;
		for (uint32_t n = base_count(&s->base, g, s->must[g->thread]); n; n--) {
			const struct section *other = &all->items[all->sorted[g->first + n - 1]];
			if (other->place < open->place)
				break;
			if (sections_exclude(other, open) && !is_goal(s, other->acquire) &&
			    clock_get(&s->trf->clocks, trf_clock(s->trf, other->acquire), open->thread) >
			        s->m->events[open->acquire].pos)
				return true;
		}
	}
	return false;
}

/* Adds the ends of a thread's holds that must be needed. *possible: there are such ends. */
static bool close_needed(struct search *s, uint32_t thread, bool *possible)
{
	const struct model_lockset *held = base_held(s->m, thread, s->must[thread]);
	for (uint32_t i = 0; i < held->count; i++) {
		const struct section *open = base_section(&s->base, thread, held->locks[i].object, s->must[thread]);
		if (!open || !must_close(s, open))
			continue;
		if (open->release == MODEL_NONE || !may_occur(s, open->release)) {
			*possible = false;
			return false;
		}
		include(s->must, s, open->release);
		return true;
	}
	return false;
}

/* What the goal needs. False: it needs an event that it excludes. */
static bool needs(struct search *s)
{
	bool possible = true;
	needs_of_goal(s);
	for (bool more = true; more && possible && needs_possible(s);) {
		more = false;
		for (uint32_t t = 0; t < s->m->thread_count; t++)
			more |= close_needed(s, t, &possible);
	}
	return possible && needs_possible(s);
}

/* Adds the ends of the holds that a thread has when its relevant part ends, as far as they may occur. */
static bool close_holds(struct search *s, uint32_t thread)
{
	const struct model *m = s->m;
	const struct model_lockset *held = base_held(m, thread, s->bound[thread]);
	bool more = false;
	for (uint32_t i = 0; i < held->count; i++) {
		const struct section *open = base_section(&s->base, thread, held->locks[i].object, s->bound[thread]);
		if (!open || open->release == MODEL_NONE || m->events[open->release].pos < s->bound[thread] ||
		    !may_occur(s, open->release))
			continue;
		include(s->bound, s, open->release);
		more = true;
	}
	return more;
}

/* Does e read, and must it see what it saw? The goal's own events need not. */
static bool must_read(const struct search *s, uint32_t e)
{
	return rt_op_reads(model_op(s->m, e)) && !is_goal(s, e) &&
	       !(s->free_reads && s->free_reads[e / 8] >> e % 8 & 1);
}

/* Adds the writes that a read of this cell may see, as far as they may occur. */
static void include_writes(struct search *s, uint32_t cell, uint32_t like)
{
	uint32_t *asking = like == MODEL_NONE ? &s->asking_first[cell] : &s->asking[like];
	if (*asking == s->asked_goals)
		return;
	*asking = s->asked_goals;
	for (uint32_t i = values_first(s->values, cell, like); i != MODEL_NONE; i = s->values->next[i])
		if (may_occur(s, s->m->cell_events[i]))
			include(s->bound, s, s->m->cell_events[i]);
}

/* Adds the writes that may be seen by the thread's relevant reads, from pos on. */
static void include_seen(struct search *s, uint32_t thread, uint32_t pos)
{
	const struct model *m = s->m;
	for (; pos < s->bound[thread]; pos++) {
		uint32_t e = m->threads[thread].events[pos];
		if (!rt_op_is_access(model_op(m, e)) || !must_read(s, e))
			continue;
		uint32_t end = m->events[e].object + m->sites[m->events[e].site].cells;
		for (uint32_t cell = m->events[e].object; cell < end; cell++)
			include_writes(s, cell, wanted(s, entry_in(s, e, cell)));
	}
}

/*
 * Relevant: what is needed, and the ends of the holds that begin there, as far as they may occur; with values, the
 * writes that reads of it may see too. Until that is known, start tells how far its reads have been looked at.
 */
static void relevant(struct search *s)
{
	uint32_t threads = s->m->thread_count;
	memcpy(s->bound, s->must, threads * sizeof *s->bound);
	memset(s->start, 0, threads * sizeof *s->start);
	s->asked_goals++;
	for (bool more = true; more;) {
		more = false;
		for (uint32_t t = 0; t < threads; t++)
			more |= close_holds(s, t);
		for (uint32_t t = 0; s->values && t < threads; t++) {
			uint32_t looked = s->start[t];
			more |= looked < s->bound[t];
			s->start[t] = s->bound[t];
			include_seen(s, t, looked);
		}
	}
}

/* The last write of a cell in the base: its entry, MODEL_NONE if there is none. All of the base is before s->end. */
static uint32_t last_in_base(const struct search *s, uint32_t cell)
{
	const struct model *m = s->m;
	uint32_t first = m->cells[cell].first, low = first, high = first + m->cells[cell].count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (m->cell_events[middle] < s->end)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > first) {
		uint32_t e = m->cell_events[low];
		if (rt_op_writes(model_op(m, e)) && m->events[e].pos < s->start[model_thread_of(m, e)])
			return low;
	}
	return MODEL_NONE;
}

static void count_cell(struct search *s, uint32_t e, uint32_t cell, bool needed)
{
	bool read = must_read(s, e);
	uint32_t w = wanted(s, entry_in(s, e, cell));
	if (s->end && !s->looked[cell])
		s->last[cell] = last_in_base(s, cell);
	s->looked[cell] = true;
	s->left[cell] += (uint32_t)rt_op_writes(model_op(s->m, e));
	*(w == MODEL_NONE ? &s->asked_first[cell] : &s->asked[w]) += read;
	*(w == MODEL_NONE ? &s->need_first[cell] : &s->need[w]) += read && needed;
}

static void forget_cell(struct search *s, uint32_t e, uint32_t cell)
{
	uint32_t w = wanted(s, entry_in(s, e, cell));
	s->left[cell] = s->asked_first[cell] = s->need_first[cell] = 0;
	s->last[cell] = MODEL_NONE;
	s->looked[cell] = false;
	if (w != MODEL_NONE)
		s->asked[w] = s->need[w] = 0;
}

/* Counts the relevant accesses behind the base, or forgets them. */
static void count_accesses(struct search *s, bool count)
{
	const struct model *m = s->m;
	for (uint32_t t = 0; t < m->thread_count; t++)
		for (uint32_t pos = s->start[t]; pos < s->bound[t]; pos++) {
			uint32_t e = m->threads[t].events[pos];
			const struct model_site *site = &m->sites[m->events[e].site];
			if (!rt_op_is_access(site->op))
				continue;
			for (uint32_t cell = m->events[e].object; cell < m->events[e].object + site->cells; cell++) {
				if (count)
					count_cell(s, e, cell, pos < s->must[t]);
				else
					forget_cell(s, e, cell);
			}
		}
}

/* Takes the locks that are held at the end of the base, or forgets them. */
static void hold_locks(struct search *s, bool hold)
{
	for (uint32_t t = 0; t < s->m->thread_count; t++) {
		const struct model_lockset *held = base_held(s->m, t, s->start[t]);
		for (uint32_t i = 0; i < held->count; i++) {
			const struct model_lock *lock = &held->locks[i];
			if (lock->shared)
				s->readers[lock->object] = hold ? s->readers[lock->object] + 1 : 0;
			else
				s->owner[lock->object] = hold ? t : MODEL_NONE;
		}
	}
}

/* Begins behind the base. Costs as much as it looks at. */
static void begin(struct search *s)
{
	const struct model *m = s->m;
	/* Where a read may see several writes, the order of the base's writes may matter. */
	if (s->values)
		memset(s->start, 0, m->thread_count * sizeof *s->start);
	else
		base_find(&s->base, s->goal, s->must, s->bound, s->start);
	memcpy(s->pos, s->start, m->thread_count * sizeof *s->pos);
	s->end = 0;
	for (uint32_t t = 0; t < m->thread_count; t++) {
		s->spent += s->bound[t] - s->start[t];
		if (s->start[t] && m->threads[t].events[s->start[t] - 1] >= s->end)
			s->end = m->threads[t].events[s->start[t] - 1] + 1;
	}
	count_accesses(s, true);
	hold_locks(s, true);
}

/* The schedule: the base in the order of the trace, then what was executed. */
static bool write_schedule(struct search *s, struct schedule *out)
{
	const struct model *m = s->m;
	for (uint32_t e = 0; e < s->end; e++)
		if (m->events[e].pos < s->start[model_thread_of(m, e)] && !schedule_push(out, m, e))
			return false;
	for (size_t i = 0; i < s->done_count; i++)
		if (!schedule_push(out, m, s->done[i].event))
			return false;
	return true;
}

/* Executing and taking back. */

static uint32_t next_event(const struct search *s, uint32_t thread)
{
	return s->pos[thread] < s->bound[thread] ? s->m->threads[thread].events[s->pos[thread]] : MODEL_NONE;
}

static bool occurred(const struct search *s, uint32_t e)
{
	return s->pos[model_thread_of(s->m, e)] > s->m->events[e].pos;
}

/* Has everything occurred that the partial order relation puts before e? */
static bool por_allows(const struct search *s, uint32_t e)
{
	const struct model *m = s->m;
	uint32_t own = model_thread_of(m, e), clock = trf_clock(s->trf, e);
	for (uint32_t t = 0; t < m->thread_count; t++)
		if (t != own && clock_get(&s->trf->clocks, clock, t) > s->pos[t])
			return false;
	return true;
}

/* Would e see now what it must? An atomic read stays behind the write that it saw, whatever it sees. */
static bool reads_right(const struct search *s, uint32_t e)
{
	const struct model *m = s->m;
	bool stays = s->values && rt_op_is_atomic(model_op(m, e));
	uint32_t end = m->events[e].object + m->sites[m->events[e].site].cells;
	for (uint32_t cell = m->events[e].object; cell < end; cell++) {
		uint32_t entry = entry_in(s, e, cell), w = s->before[entry];
		if (s->last[cell] != wanted(s, entry))
			return false;
		if (stays && w != MODEL_NONE && !occurred(s, m->cell_events[w]))
			return false;
	}
	return true;
}

/* Would a write by e take away what needed events have still to read? */
static bool spoils(const struct search *s, uint32_t e)
{
	const struct model *m = s->m;
	bool reads = must_read(s, e);
	uint32_t needed = reads && m->events[e].pos < s->must[model_thread_of(m, e)];
	uint32_t end = m->events[e].object + m->sites[m->events[e].site].cells;
	for (uint32_t cell = m->events[e].object; cell < end; cell++) {
		uint32_t last = s->last[cell];
		if (s->values && values_several(s->values, cell, last))
			continue;
		if ((last == MODEL_NONE ? s->need_first[cell] : s->need[last]) > needed)
			return true;
	}
	return false;
}

static bool lock_free(const struct search *s, uint32_t e, uint32_t lock)
{
	return s->owner[lock] == MODEL_NONE && (model_op(s->m, e) == RT_OP_ACQUIRE_SHARED || !s->readers[lock]);
}

/* Is this a signal that a wait which the goal needs would miss, since it has not begun? */
static bool wastes(const struct search *s, uint32_t signal)
{
	uint32_t low = 0, high = s->wait_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (s->waits[middle].signal < signal)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < s->wait_count && s->waits[low].signal == signal; low++) {
		const struct wait *w = &s->waits[low];
		if (!occurred(s, w->begin) && s->m->events[w->end].pos < s->must[model_thread_of(s->m, w->end)])
			return true;
	}
	return false;
}

/* May e, its thread's next event, occur now? */
static bool enabled(const struct search *s, uint32_t e)
{
	const struct model *m = s->m;
	uint32_t thread = model_thread_of(m, e), fork = m->threads[thread].fork;
	unsigned op = model_op(m, e);
	bool goal = is_goal(s, e), due = goal && s->goal->events[s->reached] == e;
	if (!m->events[e].pos && fork != MODEL_NONE && !occurred(s, fork))
		return false;
	if ((goal && !due) || (s->frozen[thread] && !(due && continues_goal(s, s->reached))))
		return false;
	if (rt_op_is_access(op)) {
		if (must_read(s, e) && !reads_right(s, e))
			return false;
		return !rt_op_writes(op) || !spoils(s, e);
	}
	uint32_t lock = lock_taken(m, e);
	if (lock != MODEL_NONE && !lock_free(s, e, lock))
		return false;
	switch (op) {
	case RT_OP_SIGNAL:
	case RT_OP_BROADCAST:
		return !wastes(s, e);
	case RT_OP_WAIT_END:
		return !(s->unheard[thread] && s->signal_of[e] != MODEL_NONE) && por_allows(s, e);
	case RT_OP_JOIN:
	case RT_OP_BARRIER_LEAVE:
	case RT_OP_SEM_POST:
	case RT_OP_SEM_WAIT:
	case RT_OP_ONCE_SEEN:
	case RT_OP_HB_AFTER:
		return por_allows(s, e);
	default:
		return true;
	}
}

/* Can e, which is enabled, be in nobody's way: is executing it now, alone, as good as anything else? */
static bool harmless(const struct search *s, uint32_t e)
{
	const struct model *m = s->m;
	unsigned op = model_op(m, e);
	if (is_goal(s, e))
		return false;
	if (rt_op_writes(op)) {
		uint32_t end = m->events[e].object + m->sites[m->events[e].site].cells;
		uint32_t own = must_read(s, e) ? 1 : 0;
		for (uint32_t cell = m->events[e].object; cell < end; cell++) {
			uint32_t last = s->last[cell];
			if (s->left[cell] > 1 || (last == MODEL_NONE ? s->asked_first[cell] : s->asked[last]) > own)
				return false;
		}
		/* A goal read of the cell may want to come first. */
		for (uint32_t i = 0; s->goal->kind == GOAL_SEQUENCE && i < s->goal->count; i++) {
			uint32_t g = s->goal->events[i];
			if (m->events[g].object < end &&
			    m->events[e].object < m->events[g].object + m->sites[m->events[g].site].cells)
				return false;
		}
		return true;
	}
	return lock_taken(m, e) == MODEL_NONE && op != RT_OP_SIGNAL && op != RT_OP_BROADCAST && op != RT_OP_SEM_INIT;
}

static void execute_access(struct search *s, uint32_t e)
{
	const struct model *m = s->m;
	unsigned op = model_op(m, e);
	uint32_t thread = model_thread_of(m, e), end = m->events[e].object + m->sites[m->events[e].site].cells;
	bool goal = is_goal(s, e), needed = m->events[e].pos < s->must[thread];
	if (goal && rt_op_reads(op) && !reads_right(s, e)) {
		s->frozen[thread] = true;
		hash_fact(s, 3, thread, 1);
	}
	for (uint32_t cell = m->events[e].object; cell < end; cell++) {
		if (!grow(&s->saved, &s->saved_capacity, s->saved_count + 1, sizeof *s->saved)) {
			s->failed = true;
			return;
		}
		s->saved[s->saved_count++] = s->last[cell];
		hash_last(s, cell);
		if (must_read(s, e)) {
			uint32_t w = s->last[cell];
			(w == MODEL_NONE ? s->asked_first : s->asked)[w == MODEL_NONE ? cell : w]--;
			(w == MODEL_NONE ? s->need_first : s->need)[w == MODEL_NONE ? cell : w] -= needed;
		}
		if (rt_op_writes(op)) {
			s->last[cell] = left_by(s, entry_in(s, e, cell));
			s->left[cell]--;
		}
		hash_last(s, cell);
	}
}

static void undo_access(struct search *s, uint32_t e)
{
	const struct model *m = s->m;
	unsigned op = model_op(m, e);
	bool needed = m->events[e].pos < s->must[model_thread_of(m, e)];
	for (uint32_t cell = m->events[e].object + m->sites[m->events[e].site].cells; cell-- > m->events[e].object;) {
		hash_last(s, cell);
		if (rt_op_writes(op))
			s->left[cell]++;
		uint32_t w = s->last[cell] = s->saved[--s->saved_count];
		if (must_read(s, e)) {
			(w == MODEL_NONE ? s->asked_first : s->asked)[w == MODEL_NONE ? cell : w]++;
			(w == MODEL_NONE ? s->need_first : s->need)[w == MODEL_NONE ? cell : w] += needed;
		}
		hash_last(s, cell);
	}
}

/* Takes or gives back the lock that e takes or lets go; undoing it is the other way round. */
static void change_locks(struct search *s, uint32_t e, bool undo)
{
	const struct model *m = s->m;
	uint32_t lock = lock_taken(m, e);
	bool shared = model_op(m, e) == RT_OP_ACQUIRE_SHARED, take = !undo;
	if (lock == MODEL_NONE) {
		lock = lock_let_go(m, e);
		shared = m->sites[m->events[e].site].flags & MODEL_F_SHARED;
		take = undo;
	}
	if (lock == MODEL_NONE)
		return;
	if (shared)
		s->readers[lock] += take ? 1 : UINT32_MAX;
	else
		s->owner[lock] = take ? model_thread_of(m, e) : MODEL_NONE;
}

static void set_unheard(struct search *s, uint32_t thread, bool unheard)
{
	if (s->unheard[thread] != unheard)
		hash_fact(s, 4, thread, 1);
	s->unheard[thread] = unheard;
}

static void execute(struct search *s, uint32_t e)
{
	uint32_t thread = model_thread_of(s->m, e);
	if (!grow(&s->done, &s->done_capacity, s->done_count + 1, sizeof *s->done)) {
		s->failed = true;
		return;
	}
	s->done[s->done_count++] = (struct undo){e, s->frozen[thread], s->unheard[thread]};
	if (is_goal(s, e))
		s->reached++;
	if (rt_op_is_access(model_op(s->m, e)))
		execute_access(s, e);
	else
		change_locks(s, e, false);
	if (model_op(s->m, e) == RT_OP_WAIT_BEGIN)
		set_unheard(s, thread, s->signal_of[e] != MODEL_NONE && occurred(s, s->signal_of[e]));
	hash_fact(s, 1, thread, s->pos[thread]);
	s->pos[thread]++;
	hash_fact(s, 1, thread, s->pos[thread]);
	s->spent++;
}

static void take_back(struct search *s)
{
	struct undo u = s->done[--s->done_count];
	uint32_t thread = model_thread_of(s->m, u.event);
	hash_fact(s, 1, thread, s->pos[thread]);
	s->pos[thread]--;
	hash_fact(s, 1, thread, s->pos[thread]);
	if (s->frozen[thread] != u.frozen)
		hash_fact(s, 3, thread, 1);
	s->frozen[thread] = u.frozen;
	set_unheard(s, thread, u.unheard);
	if (is_goal(s, u.event))
		s->reached--;
	if (rt_op_is_access(model_op(s->m, u.event)))
		undo_access(s, u.event);
	else
		change_locks(s, u.event, true);
}

/* The search. */

static bool at_goal(const struct search *s)
{
	const struct model *m = s->m;
	if (s->goal->kind == GOAL_SEQUENCE)
		return s->reached == s->goal->count;
	for (uint32_t i = 0; i < s->goal->count; i++) {
		uint32_t e = s->goal->events[i], thread = model_thread_of(m, e), fork = m->threads[thread].fork;
		if (s->pos[thread] != m->events[e].pos || (fork != MODEL_NONE && !occurred(s, fork)))
			return false;
		/* Who waits for a signal still does not wait for the mutex yet. */
		if (model_op(m, e) == RT_OP_WAIT_END && s->signal_of[e] != MODEL_NONE &&
		    (s->unheard[thread] || !occurred(s, s->signal_of[e])))
			return false;
	}
	return true;
}

/* Executes whatever is harmless, as long as there is some. True at the goal. */
static bool run_harmless(struct search *s)
{
	uint32_t idle = 0;
	for (uint32_t t = 0; idle < s->m->thread_count; t = t + 1 < s->m->thread_count ? t + 1 : 0, idle++) {
		for (;;) {
			uint32_t e = next_event(s, t);
			if (e == MODEL_NONE || !enabled(s, e) || !harmless(s, e))
				break;
			execute(s, e);
			idle = 0;
			if (s->failed || s->spent > s->budget)
				return false;
		}
	}
	return at_goal(s);
}

/* Lists the threads that may go on, those with needed events first, then in the order of the trace. */
static bool push_choice(struct search *s)
{
	const struct model *m = s->m;
	struct choice c = {(uint32_t)s->done_count, (uint32_t)s->candidate_count, 0, 0};
	for (uint32_t t = 0; t < m->thread_count; t++) {
		uint32_t e = next_event(s, t);
		if (e == MODEL_NONE || !enabled(s, e))
			continue;
		if (!grow(&s->candidates, &s->candidate_capacity, s->candidate_count + 1, sizeof *s->candidates))
			return false;
		size_t i = s->candidate_count++;
		bool needed = s->pos[t] < s->must[t];
		for (; i > c.first; i--) {
			uint32_t other = s->candidates[i - 1];
			bool other_needed = m->events[other].pos < s->must[model_thread_of(m, other)];
			if (other_needed > needed || (other_needed == needed && other < e))
				break;
			s->candidates[i] = other;
		}
		s->candidates[i] = e;
	}
	c.next = c.first;
	c.end = (uint32_t)s->candidate_count;
	if (!grow(&s->choices, &s->choice_capacity, s->choice_count + 1, sizeof *s->choices))
		return false;
	s->choices[s->choice_count++] = c;
	return true;
}

/* Takes the next way at the newest choice that has one left; false: there is none anywhere. */
static bool next_way(struct search *s)
{
	while (s->choice_count) {
		struct choice *c = &s->choices[s->choice_count - 1];
		while (s->done_count > c->depth)
			take_back(s);
		if (c->next < c->end) {
			execute(s, s->candidates[c->next++]);
			return true;
		}
		s->candidate_count = c->first;
		s->choice_count--;
	}
	return false;
}

static enum search_answer explore(struct search *s)
{
	for (;;) {
		if (run_harmless(s))
			return SEARCH_FOUND;
		if (s->failed)
			return SEARCH_NO_MEMORY;
		if (s->spent > s->budget)
			return SEARCH_GAVE_UP;
		if (seen_add(s) && !push_choice(s))
			s->failed = true;
		if (s->failed)
			return SEARCH_NO_MEMORY;
		if (!next_way(s))
			return SEARCH_NONE;
		if (s->failed)
			return SEARCH_NO_MEMORY;
	}
}

static void clear(struct search *s)
{
	while (s->done_count)
		take_back(s);
	count_accesses(s, false);
	hold_locks(s, false);
	s->choice_count = s->candidate_count = s->saved_count = 0;
	if (s->seen.capacity > 65536) {
		free(s->seen.slots);
		s->seen = (struct seen){0};
	} else if (s->seen.capacity) {
		memset(s->seen.slots, 0, s->seen.capacity * sizeof *s->seen.slots);
	}
	s->seen.count = 0;
}

bool search_refutes(struct search *s, const struct goal *goal)
{
	s->goal = goal;
	return !needs(s);
}

bool search_as_recorded(struct search *s, const struct goal *goal, struct schedule *out)
{
	const struct model *m = s->m;
	uint32_t end = 0;
	s->goal = goal;
	needs(s);
	for (uint32_t i = 0; i < goal->count; i++)
		end = goal->events[i] >= end ? goal->events[i] + 1 : end;
	for (uint32_t e = 0; e < end; e++)
		if (m->events[e].pos < s->must[model_thread_of(m, e)] && !schedule_push(out, m, e))
			return false;
	return true;
}

enum search_answer search_goal(struct search *s, const struct goal *goal, uint64_t budget, struct schedule *out,
                               uint64_t *spent)
{
	if (s->failed)
		return SEARCH_NO_MEMORY; /* the state was left half changed */
	s->goal = goal;
	s->spent = *spent = 0;
	s->budget = budget;
	s->hash[0] = s->hash[1] = 1;
	if (!needs(s))
		return SEARCH_NONE;
	relevant(s);
	begin(s);
	enum search_answer answer = explore(s);
	if (answer == SEARCH_FOUND && !write_schedule(s, out))
		answer = SEARCH_NO_MEMORY;
	*spent = s->spent;
	if (!s->failed)
		clear(s);
	return answer;
}
