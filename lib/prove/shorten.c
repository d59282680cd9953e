/* Shorter witnesses; see shorten.h. Places are positions in the given schedule, from 0. */
#include "lib/prove/shorten.h"

#include "lib/base/free.h"
#include "lib/base/vec.h"
#include "lib/relation/sections.h"

#include <string.h>

/* An earlier event that one depends on. NEEDS: it must be kept; otherwise it must only not come later. */
#define NEEDS (UINT32_C(1) << 31)

struct shorten_reader {
	uint32_t place, next; /* next: index of another one of the same cell and write, MODEL_NONE: none */
};

struct shorten_hold {
	uint32_t lock, place;
};

struct shorten_turn {
	uint32_t thread, to; /* run it up to this pos, not included */
};

struct shorten {
	const struct model *m;
	/* By cell, object, thread; used during one call, MODEL_NONE between two. */
	uint32_t *write;   /* place of the last write */
	uint32_t *readers; /* the reads after it: index into reader list */
	uint32_t *last;    /* object: place of the last operation */
	uint32_t *latest;  /* lock: place of the latest acquire that is kept */
	uint32_t *made;    /* semaphore: place of its initialisation */
	uint32_t *offset;  /* thread: where its places begin in `places` */
	uint32_t *kept;    /* thread: number of its events that are kept */
	uint32_t *next;    /* thread: pos of its next event */
	/* By place. */
	uint32_t *events, *places; /* places: of each thread's events by pos, thread by thread */
	uint32_t *first, *release; /* of its dependences; for an acquire, the place of the release, MODEL_NONE: none */
	uint32_t count;
	uint32_t *depends;
	uint32_t depend_count, depend_capacity;
	struct shorten_reader *reader;
	uint32_t reader_count, reader_capacity;
	struct shorten_hold *holds;
	uint32_t hold_count, hold_capacity;
	struct shorten_turn *turns; /* stack */
	uint32_t turn_count;
	struct shorten_turn *wanted; /* stack */
	uint32_t wanted_count, wanted_capacity;
};

void shorten_free(struct shorten *s)
{
	if (!s)
		return;
	free_all(s->write, s->readers, s->last, s->latest, s->made, s->offset, s->kept, s->next, s->events, s->places,
	         s->first, s->release, s->depends, s->reader, s->holds, s->turns, s->wanted, s);
}

static uint32_t *none(uint32_t count)
{
	uint32_t *array = malloc(((size_t)count + 1) * sizeof *array);
	if (array)
		memset(array, 0xff, ((size_t)count + 1) * sizeof *array);
	return array;
}

struct shorten *shorten_create(const struct model *m)
{
	struct shorten *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	uint32_t most = m->event_count < SHORTEN_MAX ? m->event_count : SHORTEN_MAX;
	s->m = m;
	s->write = none(m->cell_count);
	s->readers = none(m->cell_count);
	s->last = none(m->object_count);
	s->latest = none(m->object_count);
	s->made = none(m->object_count);
	s->offset = none(m->thread_count);
	s->kept = none(m->thread_count);
	s->next = none(m->thread_count);
	s->events = none(most);
	s->places = none(most);
	s->first = none(most + 1);
	s->release = none(most);
	s->turns = malloc(((size_t)m->thread_count + 2) * sizeof *s->turns);
	if (s->write && s->readers && s->last && s->latest && s->made && s->offset && s->kept && s->next && s->events &&
	    s->places && s->first && s->release && s->turns)
		return s;
	shorten_free(s);
	return NULL;
}

static bool depend(struct shorten *s, uint32_t place, uint32_t on, uint32_t how)
{
	if (on == MODEL_NONE ||
	    (!how && model_thread_of(s->m, s->events[on]) == model_thread_of(s->m, s->events[place])))
		return true;
	if (!vec_reserve(&s->depends, &s->depend_capacity, (uint64_t)s->depend_count + 1, sizeof *s->depends))
		return false;
	s->depends[s->depend_count++] = on | how;
	return true;
}

static uint32_t place_of(const struct shorten *s, uint32_t e)
{
	return s->places[s->offset[model_thread_of(s->m, e)] + s->m->events[e].pos];
}

/* The cell's last write before e in the trace, if the schedule has executed it, as a place; MODEL_NONE. */
static uint32_t place_of_saw(const struct shorten *s, uint32_t cell, uint32_t e)
{
	const struct model *m = s->m;
	for (uint32_t entry = model_entry(m, cell, e); entry-- > m->cells[cell].first;) {
		uint32_t w = m->cell_events[entry];
		if (rt_op_writes(model_op(m, w)))
			return m->events[w].pos < s->next[model_thread_of(m, w)] ? place_of(s, w) : MODEL_NONE;
	}
	return MODEL_NONE;
}

/* A read depends on the write that it sees, a write comes after that and after the reads of it. With values, an atomic
 * read that sees another write stays behind the one that it saw. */
static bool depend_access(struct shorten *s, uint32_t place)
{
	const struct model *m = s->m;
	uint32_t e = s->events[place], cell = m->events[e].object, end = cell + m->sites[m->events[e].site].cells;
	unsigned op = model_op(m, e);
	bool stays = m->value_count && rt_op_is_atomic(op) && rt_op_reads(op);
	for (; cell < end; cell++) {
		if (!depend(s, place, s->write[cell], rt_op_reads(op) ? NEEDS : 0) ||
		    (stays && !depend(s, place, place_of_saw(s, cell, e), NEEDS)))
			return false;
		if (!rt_op_writes(op)) {
			if (!vec_reserve(&s->reader, &s->reader_capacity, (uint64_t)s->reader_count + 1,
			                 sizeof *s->reader))
				return false;
			s->reader[s->reader_count] = (struct shorten_reader){place, s->readers[cell]};
			s->readers[cell] = s->reader_count++;
			continue;
		}
		for (uint32_t i = s->readers[cell]; i != MODEL_NONE; i = s->reader[i].next)
			if (!depend(s, place, s->reader[i].place, 0))
				return false;
		s->readers[cell] = MODEL_NONE;
		s->write[cell] = place;
	}
	return true;
}

static bool depend_lock(struct shorten *s, uint32_t place, uint32_t lock, bool acquire)
{
	const struct model *m = s->m;
	bool ok = depend(s, place, s->last[lock], 0);
	s->last[lock] = place;
	if (acquire) {
		if (!vec_reserve(&s->holds, &s->hold_capacity, (uint64_t)s->hold_count + 1, sizeof *s->holds))
			return false;
		s->holds[s->hold_count++] = (struct shorten_hold){lock, place};
		return ok;
	}
	for (uint32_t i = s->hold_count; i-- > 0;)
		if (s->holds[i].lock == lock &&
		    model_thread_of(m, s->events[s->holds[i].place]) == model_thread_of(m, s->events[place])) {
			s->release[s->holds[i].place] = place;
			s->holds[i] = s->holds[--s->hold_count];
			break;
		}
	return ok;
}

/* Every earlier operation on the object. */
static bool depend_object(struct shorten *s, uint32_t place, uint32_t object)
{
	if (object >= s->m->object_count)
		return true;
	bool ok = depend(s, place, s->last[object], NEEDS);
	s->last[object] = place;
	return ok;
}

/* A semaphore that is a lock has to be made, and that is all; depend_lock sees to the rest. */
static bool depend_semaphore(struct shorten *s, uint32_t place, uint32_t object)
{
	if (model_op(s->m, s->events[place]) == RT_OP_SEM_INIT)
		s->made[object] = place;
	else if (s->m->objects[object].lock)
		return depend(s, place, s->made[object], NEEDS);
	return depend_object(s, place, object);
}

/* A join needs its thread's creation and all its events so far in the schedule. */
static bool depend_join(struct shorten *s, uint32_t place, uint32_t child)
{
	const struct model *m = s->m;
	if (child >= m->thread_count)
		return true;
	if (s->next[child])
		return depend(s, place, s->places[s->offset[child] + s->next[child] - 1], NEEDS);
	return m->threads[child].fork == MODEL_NONE || depend(s, place, place_of(s, m->threads[child].fork), NEEDS);
}

static bool depend_sync(struct shorten *s, uint32_t place)
{
	const struct model *m = s->m;
	uint32_t e = s->events[place], object = m->events[e].object;
	uint32_t taken = model_lock_taken(m, e), released = model_lock_released(m, e);
	if ((taken != MODEL_NONE && !depend_lock(s, place, taken, true)) ||
	    (released != MODEL_NONE && !depend_lock(s, place, released, false)))
		return false;
	switch (rt_op_group(model_op(m, e))) {
	case RT_GROUP_THREAD:
		return model_op(m, e) != RT_OP_JOIN || depend_join(s, place, object);
	case RT_GROUP_CONDITION:
	case RT_GROUP_BARRIER:
	case RT_GROUP_ONCE:
	case RT_GROUP_ANNOTATION:
		return depend_object(s, place, object);
	case RT_GROUP_SEMAPHORE:
		return depend_semaphore(s, place, object);
	default:
		return true;
	}
}

/* The schedule as a list, with the dependences of each event. */
static bool read_witness(struct shorten *s, const struct schedule *witness, const struct goal *goal)
{
	const struct model *m = s->m;
	uint32_t total = 0, previous = MODEL_NONE;
	memset(s->next, 0, m->thread_count * sizeof *s->next);
	for (uint32_t i = 0; i < witness->count; i++)
		s->next[witness->steps[i].thread] = witness->steps[i].to + 1;
	for (uint32_t t = 0; t < m->thread_count; t++) {
		s->offset[t] = total;
		total += s->next[t];
		s->next[t] = 0;
	}
	s->count = s->depend_count = s->reader_count = s->hold_count = 0;
	for (uint32_t i = 0; i < witness->count; i++)
		for (uint32_t pos = witness->steps[i].from; pos <= witness->steps[i].to; pos++) {
			uint32_t thread = witness->steps[i].thread, e = m->threads[thread].events[pos];
			uint32_t place = s->count++, fork = m->threads[thread].fork;
			s->events[place] = e;
			s->release[place] = MODEL_NONE;
			s->places[s->offset[thread] + pos] = place;
			s->first[place] = s->depend_count;
			if (!pos && fork != MODEL_NONE && !depend(s, place, place_of(s, fork), NEEDS))
				return false;
			if (!(rt_op_is_access(model_op(m, e)) ? depend_access(s, place) : depend_sync(s, place)))
				return false;
			for (uint32_t g = 0; goal->kind == GOAL_SEQUENCE && g < goal->count; g++)
				if (goal->events[g] == e) {
					if (!depend(s, place, previous, NEEDS))
						return false;
					previous = place;
				}
			s->next[thread] = pos + 1;
		}
	s->first[s->count] = s->depend_count;
	return true;
}

/* Resets the arrays for the next call. */
static void forget_witness(struct shorten *s)
{
	const struct model *m = s->m;
	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t e = s->events[i], object = m->events[e].object;
		uint32_t taken = model_lock_taken(m, e), released = model_lock_released(m, e);
		if (taken != MODEL_NONE)
			s->last[taken] = s->latest[taken] = MODEL_NONE;
		if (released != MODEL_NONE)
			s->last[released] = MODEL_NONE;
		if (!rt_op_is_access(model_op(m, e))) {
			if (object < m->object_count)
				s->last[object] = s->made[object] = MODEL_NONE;
			continue;
		}
		for (uint32_t k = 0; k < m->sites[m->events[e].site].cells; k++)
			s->write[object + k] = s->readers[object + k] = MODEL_NONE;
	}
}

static bool want(struct shorten *s, uint32_t thread, uint32_t to)
{
	if (s->kept[thread] >= to)
		return true;
	if (!vec_reserve(&s->wanted, &s->wanted_capacity, (uint64_t)s->wanted_count + 1, sizeof *s->wanted))
		return false;
	s->wanted[s->wanted_count++] = (struct shorten_turn){thread, to};
	return true;
}

static bool want_place(struct shorten *s, uint32_t place)
{
	const struct model *m = s->m;
	return place == MODEL_NONE ||
	       want(s, model_thread_of(m, s->events[place]), m->events[s->events[place]].pos + 1);
}

/* Of two sections of a lock that are kept, the earlier one is kept to its end. */
static bool want_release(struct shorten *s, uint32_t place)
{
	uint32_t lock = model_lock_taken(s->m, s->events[place]);
	if (lock == MODEL_NONE)
		return true;
	uint32_t latest = s->latest[lock];
	if (latest == MODEL_NONE || latest < place)
		s->latest[lock] = place;
	if (latest == MODEL_NONE)
		return true;
	return want_place(s, s->release[latest < place ? latest : place]);
}

/* Keeps the wanted events and those that they need. */
static bool keep(struct shorten *s)
{
	while (s->wanted_count) {
		struct shorten_turn w = s->wanted[--s->wanted_count];
		while (s->kept[w.thread] < w.to) {
			uint32_t place = s->places[s->offset[w.thread] + s->kept[w.thread]++];
			for (uint32_t i = s->first[place]; i < s->first[place + 1]; i++)
				if (s->depends[i] & NEEDS && !want_place(s, s->depends[i] & ~NEEDS))
					return false;
			if (!want_release(s, place))
				return false;
		}
	}
	return true;
}

/* Number of events that the goal requires of an event's thread. */
static struct shorten_turn root(const struct shorten *s, const struct goal *goal, uint32_t i)
{
	uint32_t e = goal->events[i];
	return (struct shorten_turn){model_thread_of(s->m, e), s->m->events[e].pos + (goal->kind == GOAL_SEQUENCE)};
}

/* And of the thread that creates it, if the event is its first one. */
static struct shorten_turn creation(const struct shorten *s, const struct goal *goal, uint32_t i)
{
	const struct model *m = s->m;
	uint32_t fork = m->threads[model_thread_of(m, goal->events[i])].fork;
	return fork == MODEL_NONE ? (struct shorten_turn){0, 0}
	                          : (struct shorten_turn){model_thread_of(m, fork), m->events[fork].pos + 1};
}

/* True if the goal requires more than its threads' positions: a wait that is to block on its mutex has had its
 * signal. */
static bool asks_more(const struct shorten *s, const struct goal *goal)
{
	for (uint32_t i = 0; i < goal->count; i++)
		if (model_op(s->m, goal->events[i]) == RT_OP_WAIT_END)
			return true;
	return false;
}

/* The first dependence of the event at `place` that has not occurred; MODEL_NONE if there is none. */
static uint32_t blocked_by(const struct shorten *s, uint32_t place)
{
	const struct model *m = s->m;
	for (uint32_t i = s->first[place]; i < s->first[place + 1]; i++) {
		uint32_t on = s->events[s->depends[i] & ~NEEDS], thread = model_thread_of(m, on);
		if (m->events[on].pos >= s->next[thread])
			return on;
	}
	return MODEL_NONE;
}

/* Runs a thread up to a pos, and the others as far as its dependences require. A thread on the stack waits for an event
 * that comes before all its remaining ones, so each thread is on it at most once. */
static bool run(struct shorten *s, struct shorten_turn turn, struct schedule *out)
{
	const struct model *m = s->m;
	s->turns[0] = turn;
	s->turn_count = 1;
	while (s->turn_count) {
		struct shorten_turn *top = &s->turns[s->turn_count - 1];
		if (s->next[top->thread] >= top->to) {
			s->turn_count--;
			continue;
		}
		uint32_t place = s->places[s->offset[top->thread] + s->next[top->thread]];
		uint32_t on = blocked_by(s, place);
		if (on != MODEL_NONE) {
			s->turns[s->turn_count++] =
			    (struct shorten_turn){model_thread_of(m, on), m->events[on].pos + 1};
			continue;
		}
		if (!schedule_push(out, m, s->events[place]))
			return false;
		s->next[top->thread]++;
	}
	return true;
}

/* The part of the witness that the goal needs. */
static bool write_needed(struct shorten *s, const struct goal *goal, struct schedule *out)
{
	const struct model *m = s->m;
	memset(s->kept, 0, m->thread_count * sizeof *s->kept);
	for (uint32_t i = 0; i < goal->count; i++) {
		struct shorten_turn r = root(s, goal, i), c = creation(s, goal, i);
		if (!want(s, r.thread, r.to) || !want(s, c.thread, c.to) || !keep(s))
			return false;
	}
	for (uint32_t i = 0; i < s->count; i++)
		if (m->events[s->events[i]].pos < s->kept[model_thread_of(m, s->events[i])] &&
		    !schedule_push(out, m, s->events[i]))
			return false;
	return true;
}

/* The same events in few turns. A sequence ends with its last event. */
static bool write_turns(struct shorten *s, const struct goal *goal, struct schedule *out)
{
	memset(s->next, 0, s->m->thread_count * sizeof *s->next);
	for (uint32_t i = goal->kind == GOAL_SEQUENCE ? goal->count - 1 : 0; i < goal->count; i++)
		if (!run(s, creation(s, goal, i), out) || !run(s, root(s, goal, i), out))
			return false;
	return true;
}

enum search_answer shorten_schedule(struct shorten *s, const struct schedule *witness, const struct goal *goal,
                                    struct schedule *out)
{
	if (asks_more(s, goal))
		return SEARCH_GAVE_UP;
	struct schedule needed = {0};
	bool ok = read_witness(s, witness, goal) && write_needed(s, goal, &needed);
	forget_witness(s);
	if (ok) {
		/* Once more: each event now depends on the latest one that is kept. */
		ok = read_witness(s, &needed, goal) && write_turns(s, goal, out);
		forget_witness(s);
	}
	schedule_release(&needed);
	if (ok && out->events <= witness->events && out->count <= witness->count &&
	    (out->events < witness->events || out->count < witness->count))
		return SEARCH_FOUND;
	schedule_release(out);
	return ok ? SEARCH_GAVE_UP : SEARCH_NO_MEMORY;
}
