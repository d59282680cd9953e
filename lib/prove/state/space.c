/* The state of a search; see space.h. */
#include "lib/prove/state/space.h"

#include "lib/base/assert.h"
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"
#include "lib/prove/state/base.h"
#include "lib/relation/sections.h"

/* The fingerprint. */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Adds or removes (the same operation) one fact about the state. */
static void hash_fact(struct space *s, uint64_t kind, uint64_t what, uint64_t value)
{
	uint64_t key = mix(what * UINT64_C(0x9e3779b97f4a7c15) + kind) + value;
	s->hash[0] ^= mix(key);
	s->hash[1] ^= mix(key ^ UINT64_C(0xd6e8feb86659fd93));
}

/* True if one of a sequence's events reads the cell. It may see any write, but whether its thread may continue depends
 * on which. */
static bool goal_reads(const struct space *s, uint32_t cell)
{
	const struct model *m = s->m;
	for (uint32_t i = 0; !s->reads->free && s->goal->kind == GOAL_SEQUENCE && i < s->goal->count; i++) {
		const struct model_event *e = &m->events[s->goal->events[i]];
		if (rt_op_reads(m->sites[e->site].op) && cell - e->object < m->sites[e->site].cells)
			return true;
	}
	return false;
}

/* The number of reads that must still see a given write of the cell, or its initial value. */
static struct space_readers *readers_of(const struct space *s, uint32_t cell, uint32_t write)
{
	return write == MODEL_NONE ? &s->cells[cell].initial : &s->writes[write];
}

/* The last write of a cell is part of the state only while some later read depends on it. */
static void hash_last(struct space *s, uint32_t cell)
{
	uint32_t last = s->cells[cell].last;
	if (readers_of(s, cell, last)->asked || goal_reads(s, cell))
		hash_fact(s, 2, cell, last);
}

bool space_init(struct space *s, const struct reads *reads, const struct trf *trf)
{
	const struct model *m = reads->m;
	memset(s, 0, sizeof *s);
	s->m = m;
	s->trf = trf;
	s->reads = reads;
	struct {
		uint32_t **array;
		size_t n;
	} const parts[] = {
	    {&s->pos, m->thread_count},
	    {&s->owner, m->object_count},
	    {&s->readers, m->object_count},
	};
	s->frozen = calloc((size_t)m->thread_count + 1, sizeof *s->frozen);
	s->lost_signal = calloc((size_t)m->thread_count + 1, sizeof *s->lost_signal);
	s->cells = calloc((size_t)m->cell_count + 1, sizeof *s->cells);
	s->writes = calloc((size_t)model_entries(m) + 1, sizeof *s->writes);
	bool ok = waits_init(&s->waits, m, trf) && s->frozen && s->lost_signal && s->cells && s->writes;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		ok = (*parts[i].array = calloc(parts[i].n + 1, sizeof(uint32_t))) && ok;
	if (!ok)
		return false;
	for (uint32_t c = 0; c < m->cell_count; c++)
		s->cells[c].last = MODEL_NONE;
	memset(s->owner, 0xff, m->object_count * sizeof *s->owner);
	return true;
}

void space_release(struct space *s)
{
	void *const parts[] = {s->pos,    s->cells,       s->writes, s->owner, s->readers,
	                       s->frozen, s->lost_signal, s->done,   s->saved};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		free(parts[i]);
	waits_release(&s->waits);
	seen_release(&s->seen);
}

/* Starting after a base. */

/* The last write of a cell in the base: its entry, MODEL_NONE if there is none. All of the base is before s->end. */
static uint32_t last_in_base(const struct space *s, uint32_t cell)
{
	const struct model *m = s->m;
	uint32_t first = m->cells[cell].first;
	uint32_t entry = lower_bound(i, first, first + m->cells[cell].count, m->cell_events[i] < s->end);
	while (entry-- > first) {
		uint32_t e = m->cell_events[entry];
		if (rt_op_writes(model_op(m, e)) && m->events[e].pos < s->start[model_thread_of(m, e)])
			return entry;
	}
	return MODEL_NONE;
}

static void count_cell(struct space *s, uint32_t e, uint32_t cell, uint32_t entry, bool needed)
{
	struct space_cell *c = &s->cells[cell];
	if (s->end && !c->looked)
		c->last = last_in_base(s, cell);
	c->looked = true;
	c->left += (uint32_t)rt_op_writes(model_op(s->m, e));
	if (reads_must(s->reads, s->goal, e)) {
		struct space_readers *r = readers_of(s, cell, reads_wanted(s->reads, entry));
		r->asked++;
		r->needed += needed;
	}
}

static void forget_cell(struct space *s, uint32_t e, uint32_t cell, uint32_t entry)
{
	if (reads_must(s->reads, s->goal, e))
		*readers_of(s, cell, reads_wanted(s->reads, entry)) = (struct space_readers){0, 0};
	s->cells[cell] = (struct space_cell){.last = MODEL_NONE};
}

/* Counts the relevant accesses after the base, or uncounts them. */
static void count_accesses(struct space *s, bool count)
{
	const struct model *m = s->m;
	for (uint32_t t = 0; t < m->thread_count; t++)
		for (uint32_t pos = s->start[t]; pos < s->bound[t]; pos++) {
			uint32_t e = m->threads[t].events[pos];
			const struct model_site *site = &m->sites[m->events[e].site];
			if (!rt_op_is_access(site->op))
				continue;
			uint32_t first = m->events[e].object, entry = MODEL_NONE;
			for (uint32_t cell = first; cell < first + site->cells; cell++) {
				entry = reads_entry(s->reads, e, cell, entry);
				if (count)
					count_cell(s, e, cell, entry, pos < s->must[t]);
				else
					forget_cell(s, e, cell, entry);
			}
		}
}

/* Takes the locks that are held at the end of the base, or releases them. */
static void hold_locks(struct space *s, bool hold)
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

/* Costs as much as it examines. */
void space_begin(struct space *s, const struct goal *goal, const uint32_t *must, const uint32_t *bound,
                 const uint32_t *start)
{
	const struct model *m = s->m;
	s->goal = goal;
	s->must = must;
	s->bound = bound;
	s->start = start;
	s->end = 0;
	s->unsignalled_count = 0;
	for (uint32_t i = 0; goal->kind == GOAL_DEADLOCK && i < goal->count; i++)
		if (goal_awaits_signal(m, goal->events, goal->count, i))
			s->unsignalled[s->unsignalled_count++] = goal->events[i];
	s->spent = 0;
	s->hash[0] = s->hash[1] = 1;
	memcpy(s->pos, start, m->thread_count * sizeof *s->pos);
	for (uint32_t t = 0; t < m->thread_count; t++) {
		s->spent += bound[t] - start[t];
		if (start[t] && m->threads[t].events[start[t] - 1] >= s->end)
			s->end = m->threads[t].events[start[t] - 1] + 1;
	}
	count_accesses(s, true);
	hold_locks(s, true);
}

void space_end(struct space *s)
{
	while (s->done_count)
		space_take_back(s);
	rt_assert(!s->saved_count && !s->reached && !memcmp(s->pos, s->start, s->m->thread_count * sizeof *s->pos));
	count_accesses(s, false);
	hold_locks(s, false);
	s->saved_count = 0;
	seen_clear(&s->seen);
}

bool space_schedule(const struct space *s, struct schedule *out)
{
	const struct model *m = s->m;
	if (!schedule_push_recorded(out, m, s->start, s->end))
		return false;
	for (size_t i = 0; i < s->done_count; i++)
		if (!schedule_push(out, m, s->done[i].event))
			return false;
	return true;
}

/* Executing and undoing. */

/* True if everything that the partial order relation puts before e has occurred. */
static bool por_allows(const struct space *s, uint32_t e)
{
	const struct model *m = s->m;
	uint32_t own = model_thread_of(m, e), clock = trf_clock(s->trf, e);
	for (uint32_t t = 0; t < m->thread_count; t++)
		if (t != own && clock_get(&s->trf->clocks, clock, t) > s->pos[t])
			return false;
	return true;
}

/* True if e would see now what it must. An atomic read stays after the write that it saw, whatever it sees. */
static bool reads_right(const struct space *s, uint32_t e)
{
	const struct model *m = s->m;
	bool stays = s->reads->values && rt_op_is_atomic(model_op(m, e));
	uint32_t end = m->events[e].object + m->sites[m->events[e].site].cells, entry = MODEL_NONE;
	for (uint32_t cell = m->events[e].object; cell < end; cell++) {
		entry = reads_entry(s->reads, e, cell, entry);
		uint32_t w = last_writes_before(s->reads->last_writes, entry);
		if (s->cells[cell].last != reads_wanted(s->reads, entry))
			return false;
		if (stays && w != MODEL_NONE && !space_occurred(s, m->cell_events[w]))
			return false;
	}
	return true;
}

/* True if a write by e would cover a value that needed events have still to read. */
static bool spoils(const struct space *s, uint32_t e)
{
	const struct model *m = s->m;
	bool reads = reads_must(s->reads, s->goal, e);
	uint32_t needed = reads && m->events[e].pos < s->must[model_thread_of(m, e)];
	uint32_t end = m->events[e].object + m->sites[m->events[e].site].cells;
	for (uint32_t cell = m->events[e].object; cell < end; cell++) {
		uint32_t last = s->cells[cell].last;
		if (s->reads->values && values_several(s->reads->values, cell, last))
			continue;
		if (readers_of(s, cell, last)->needed > needed)
			return true;
	}
	return false;
}

/* True if the signal would end a wait at which the goal's thread is to stand. */
static bool ends_wait(const struct space *s, uint32_t signal)
{
	const struct model *m = s->m;
	for (uint32_t i = 0; i < s->unsignalled_count; i++) {
		uint32_t e = s->unsignalled[i];
		if (m->events[e].object == m->events[signal].object &&
		    s->pos[model_thread_of(m, e)] == m->events[e].pos)
			return true;
	}
	return false;
}

bool space_begins_wait(const struct space *s, uint32_t e)
{
	for (uint32_t i = 0; i < s->unsignalled_count; i++)
		if (model_pred(s->m, s->unsignalled[i]) == e)
			return true;
	return false;
}

static bool lock_free(const struct space *s, uint32_t e, uint32_t lock)
{
	return s->owner[lock] == MODEL_NONE && (model_op(s->m, e) == RT_OP_ACQUIRE_SHARED || !s->readers[lock]);
}

/* True if this signal would be lost to a wait that the goal needs, since the wait has not begun. */
static bool wastes(const struct space *s, uint32_t signal)
{
	for (uint32_t i = waits_of(&s->waits, signal); i < s->waits.count && s->waits.items[i].signal == signal; i++) {
		const struct wait *w = &s->waits.items[i];
		if (!space_occurred(s, w->begin) && s->m->events[w->end].pos < s->must[model_thread_of(s->m, w->end)])
			return true;
	}
	return false;
}

bool space_enabled(const struct space *s, uint32_t e)
{
	const struct model *m = s->m;
	uint32_t thread = model_thread_of(m, e), fork = m->threads[thread].fork;
	enum rt_op op = model_op(m, e);
	bool goal = goal_runs(s->goal, e), due = goal && s->goal->events[s->reached] == e;
	if (!m->events[e].pos && fork != MODEL_NONE && !space_occurred(s, fork))
		return false;
	if ((goal && !due) || (s->frozen[thread] && !(due && goal_continues(s->goal, m, s->reached))))
		return false;
	if (rt_op_is_access(op)) {
		if (reads_must(s->reads, s->goal, e) && !reads_right(s, e))
			return false;
		/* Without reads-from, only the partial order relation keeps the order of synchronisation. */
		if (s->reads->free && !goal && rt_op_is_atomic(op) && !por_allows(s, e))
			return false;
		return !rt_op_writes(op) || !spoils(s, e);
	}
	uint32_t lock = model_lock_taken(m, e);
	if (lock != MODEL_NONE && !lock_free(s, e, lock))
		return false;
	switch (op) {
	case RT_OP_SIGNAL:
	case RT_OP_BROADCAST:
		return !wastes(s, e) && !ends_wait(s, e);
	case RT_OP_WAIT_END:
		return !(s->lost_signal[thread] && s->waits.signal_of[e] != MODEL_NONE) && por_allows(s, e);
	case RT_OP_JOIN:
	case RT_OP_BARRIER_LEAVE:
	case RT_OP_SEM_POST:
	case RT_OP_SEM_WAIT:
	case RT_OP_ONCE_SEEN:
	case RT_OP_HB_AFTER:
		return por_allows(s, e);
	case RT_OP_FENCE:
		return !s->reads->free || por_allows(s, e);
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
	case RT_OP_RELEASE:
	case RT_OP_WAIT_BEGIN:
	case RT_OP_BARRIER_ARRIVE:
	case RT_OP_SEM_INIT:
	case RT_OP_ONCE_BEGIN:
	case RT_OP_ONCE_END:
	case RT_OP_FORK:
	case RT_OP_REGION_BEGIN:
	case RT_OP_REGION_END:
	case RT_OP_HB_BEFORE:
	case RT_OP_ALLOC:
	case RT_OP_BLOCK:
	RT_CASES_ACCESS:
	MODEL_CASES_NEVER_KEPT:
		break;
	}
	return true;
}

bool space_writes_alone(const struct space *s, uint32_t e)
{
	const struct model *m = s->m;
	uint32_t end = m->events[e].object + m->sites[m->events[e].site].cells;
	uint32_t own = reads_must(s->reads, s->goal, e) ? 1 : 0;
	for (uint32_t cell = m->events[e].object; !s->reads->free && cell < end; cell++) {
		uint32_t last = s->cells[cell].last;
		if (s->cells[cell].left > 1 || readers_of(s, cell, last)->asked > own)
			return false;
	}
	return true;
}

/* True if e is its thread's next event, the thread has begun and, if e ends a wait, its signal has come. */
static bool space_stands_before(const struct space *s, uint32_t e)
{
	const struct model *m = s->m;
	uint32_t thread = model_thread_of(m, e), fork = m->threads[thread].fork;
	if (s->pos[thread] != m->events[e].pos || (fork != MODEL_NONE && !space_occurred(s, fork)))
		return false;
	for (uint32_t i = 0; i < s->unsignalled_count; i++)
		if (s->unsignalled[i] == e)
			return true;
	/* A thread that still waits for a signal does not wait for the mutex yet. */
	return model_op(m, e) != RT_OP_WAIT_END || s->waits.signal_of[e] == MODEL_NONE ||
	       (!s->lost_signal[thread] && space_occurred(s, s->waits.signal_of[e]));
}

bool space_meets(const struct space *s, const struct goal *goal)
{
	if (goal->kind == GOAL_SEQUENCE)
		return s->reached == goal->count;
	for (uint32_t i = 0; i < goal->count; i++)
		if (!space_stands_before(s, goal->events[i]))
			return false;
	return true;
}

static void execute_access(struct space *s, uint32_t e)
{
	const struct model *m = s->m;
	unsigned op = model_op(m, e);
	uint32_t thread = model_thread_of(m, e), end = m->events[e].object + m->sites[m->events[e].site].cells;
	bool goal = goal_runs(s->goal, e), needed = m->events[e].pos < s->must[thread];
	uint32_t entry = MODEL_NONE;
	if (goal && rt_op_reads(op) && (s->reads->free ? !por_allows(s, e) : !reads_right(s, e))) {
		s->frozen[thread] = true;
		hash_fact(s, 3, thread, 1);
	}
	for (uint32_t cell = m->events[e].object; cell < end; cell++) {
		if (!vec_reserve(&s->saved, &s->saved_capacity, (uint64_t)s->saved_count + 1, sizeof *s->saved)) {
			s->failed = true;
			return;
		}
		s->saved[s->saved_count++] = s->cells[cell].last;
		hash_last(s, cell);
		if (reads_must(s->reads, s->goal, e)) {
			struct space_readers *r = readers_of(s, cell, s->cells[cell].last);
			r->asked--;
			r->needed -= needed;
		}
		if (rt_op_writes(op)) {
			entry = reads_entry(s->reads, e, cell, entry);
			s->cells[cell].last = reads_left_by(s->reads, entry);
			s->cells[cell].left--;
		}
		hash_last(s, cell);
	}
}

static void undo_access(struct space *s, uint32_t e)
{
	const struct model *m = s->m;
	unsigned op = model_op(m, e);
	bool needed = m->events[e].pos < s->must[model_thread_of(m, e)];
	for (uint32_t cell = m->events[e].object + m->sites[m->events[e].site].cells; cell-- > m->events[e].object;) {
		hash_last(s, cell);
		if (rt_op_writes(op))
			s->cells[cell].left++;
		s->cells[cell].last = s->saved[--s->saved_count];
		if (reads_must(s->reads, s->goal, e)) {
			struct space_readers *r = readers_of(s, cell, s->cells[cell].last);
			r->asked++;
			r->needed += needed;
		}
		hash_last(s, cell);
	}
}

/* Applies e to its lock: acquires or releases it; undo does the reverse. */
static void change_locks(struct space *s, uint32_t e, bool undo)
{
	const struct model *m = s->m;
	uint32_t lock = model_lock_taken(m, e);
	bool shared = model_op(m, e) == RT_OP_ACQUIRE_SHARED, take = !undo;
	if (lock == MODEL_NONE) {
		lock = model_lock_released(m, e);
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

static void set_lost_signal(struct space *s, uint32_t thread, bool lost_signal)
{
	if (s->lost_signal[thread] != lost_signal)
		hash_fact(s, 4, thread, 1);
	s->lost_signal[thread] = lost_signal;
}

void space_execute(struct space *s, uint32_t e)
{
	uint32_t thread = model_thread_of(s->m, e);
	if (!vec_reserve(&s->done, &s->done_capacity, (uint64_t)s->done_count + 1, sizeof *s->done)) {
		s->failed = true;
		return;
	}
	s->done[s->done_count++] = (struct space_undo){e, s->frozen[thread], s->lost_signal[thread]};
	if (goal_runs(s->goal, e))
		s->reached++;
	if (rt_op_is_access(model_op(s->m, e)))
		execute_access(s, e);
	else
		change_locks(s, e, false);
	if (model_op(s->m, e) == RT_OP_WAIT_BEGIN)
		set_lost_signal(s, thread,
		                s->waits.signal_of[e] != MODEL_NONE && space_occurred(s, s->waits.signal_of[e]));
	hash_fact(s, 1, thread, s->pos[thread]);
	s->pos[thread]++;
	hash_fact(s, 1, thread, s->pos[thread]);
	s->spent++;
}

void space_take_back(struct space *s)
{
	rt_assert(s->done_count);
	struct space_undo u = s->done[--s->done_count];
	uint32_t thread = model_thread_of(s->m, u.event);
	hash_fact(s, 1, thread, s->pos[thread]);
	s->pos[thread]--;
	hash_fact(s, 1, thread, s->pos[thread]);
	if (s->frozen[thread] != u.frozen)
		hash_fact(s, 3, thread, 1);
	s->frozen[thread] = u.frozen;
	set_lost_signal(s, thread, u.lost_signal);
	if (goal_runs(s->goal, u.event))
		s->reached--;
	if (rt_op_is_access(model_op(s->m, u.event)))
		undo_access(s, u.event);
	else
		change_locks(s, u.event, true);
}
