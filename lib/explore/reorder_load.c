/* The events of a trace that matter to other threads, and the values that they read and write; see reorder.h. */
#include "lib/explore/reorder_parts.h"

#include "lib/base/free.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <xxhash.h>

enum { MATTER_MAX = 1024 }; /* events that matter to other threads: more are too many to search */

static uint32_t find_variable(struct search *s, uint32_t id)
{
	while (s->variables[id].joined != id)
		id = s->variables[id].joined = s->variables[s->variables[id].joined].joined;
	return id;
}

static struct spot *spot_of(struct spot **table, uint64_t key)
{
	struct spot *spot;
	HASH_FIND(hh, *table, &key, sizeof key, spot);
	if (spot)
		return spot;
	HASH_MAKE(*table, key, key, spot);
	if (spot)
		spot->id = NONE;
	return spot;
}

static bool add_variable(struct search *s, const struct seen *e, uint32_t *id)
{
	if (!vec_reserve(&s->variables, &s->variable_room, (uint64_t)s->variable_count + 1, sizeof *s->variables))
		return false;
	*id = s->variable_count;
	s->variables[s->variable_count++] = (struct variable){
	    .joined = *id, .writer = NONE, .object = e->object, .bytes = e->bytes, .thread = e->thread};
	return true;
}

static void join_variables(struct search *s, uint32_t a, uint32_t b)
{
	struct variable *to = &s->variables[a], *from = &s->variables[b];
	if (a == b)
		return;
	to->mixed = true;
	to->shared |= from->shared || from->thread != to->thread;
	to->written |= from->written;
	from->joined = a;
}

/* A block that is cleared, copied or freed: it is of the first variable that is in it. */
static bool is_block(const struct seen *e)
{
	enum { LARGEST = 16 };
	return e->bytes > LARGEST || (!rt_op_reads(e->op) && !e->has_value);
}

/* False without memory. */
static bool note_variable(struct search *s, const struct seen *e)
{
	uint32_t id = NONE;
	if (is_block(e))
		return true;
	for (uint32_t i = 0; i < e->bytes; i++) {
		struct spot *spot = spot_of(&s->bytes, e->object + i);
		if (!spot)
			return false;
		if (spot->id != NONE && id != NONE)
			join_variables(s, find_variable(s, id), find_variable(s, spot->id));
		else if (spot->id != NONE)
			id = spot->id;
	}
	if (id == NONE && !add_variable(s, e, &id))
		return false;
	for (uint32_t i = 0; i < e->bytes; i++)
		spot_of(&s->bytes, e->object + i)->id = id;
	struct variable *v = &s->variables[find_variable(s, id)];
	v->mixed |= v->object != e->object || v->bytes != e->bytes;
	v->shared |= v->thread != e->thread;
	v->written |= rt_op_writes(e->op);
	return true;
}

static uint32_t variable_of(struct search *s, const struct seen *e)
{
	struct spot *spot = NULL;
	for (uint64_t at = e->object; !spot && at < e->object + e->bytes; at++)
		HASH_FIND(hh, s->bytes, &at, sizeof at, spot);
	return spot ? find_variable(s, spot->id) : NONE;
}

static struct lock *lock_of(struct search *s, uint64_t object)
{
	struct lock *lock;
	HASH_FIND(hh, s->locks, &object, sizeof object, lock);
	if (lock)
		return lock;
	HASH_MAKE(s->locks, object, object, lock);
	if (lock) {
		lock->owner = NONE;
		lock->taken = calloc((size_t)s->d->thread_count + 1, sizeof *lock->taken);
	}
	s->no_memory |= !lock || !lock->taken;
	return lock;
}

/* Events on one object that keep the order of the run. */
static bool is_ordered(enum rt_op op)
{
	switch ((int)op) {
	case RT_OP_WAIT_BEGIN:
	case RT_OP_WAIT_END:
	case RT_OP_SIGNAL:
	case RT_OP_BROADCAST:
	case RT_OP_BARRIER_ARRIVE:
	case RT_OP_BARRIER_LEAVE:
	case RT_OP_SEM_POST:
	case RT_OP_SEM_WAIT:
	case RT_OP_ONCE_BEGIN:
	case RT_OP_ONCE_END:
	case RT_OP_ONCE_SEEN:
	case RT_OP_HB_BEFORE:
	case RT_OP_HB_AFTER:
	case RT_OP_TRY_FAILED:
		return true;
	default:
		return false;
	}
}

static bool is_of_thread(enum rt_op op)
{
	return op == RT_OP_FORK || op == RT_OP_BEGIN || op == RT_OP_JOIN || op == RT_OP_END;
}

static bool matters(struct search *s, const struct seen *e)
{
	uint32_t v = variable_of(s, e);
	if (v != NONE)
		return s->variables[v].shared && s->variables[v].written;
	return is_ordered(e->op) || is_of_thread(e->op) || e->op == RT_OP_ACQUIRE || e->op == RT_OP_ACQUIRE_SHARED ||
	       e->op == RT_OP_RELEASE;
}

static void set_locks(struct search *s, struct matter *m, const struct seen *e)
{
	switch ((int)e->op) {
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
		m->takes = lock_of(s, e->object);
		break;
	case RT_OP_WAIT_END:
		m->takes = lock_of(s, e->mutex);
		break;
	case RT_OP_RELEASE:
		m->gives = lock_of(s, e->object);
		break;
	case RT_OP_WAIT_BEGIN:
		m->gives = lock_of(s, e->mutex);
		break;
	default:
		break;
	}
}

/* What it has to come behind: its thread's or child's other end, or the event before at the object. */
static void set_before(struct search *s, struct matter *m, const struct seen *e)
{
	m->before = NONE;
	if (is_of_thread(e->op) && e->needs != NONE)
		m->before = s->matter_of[e->needs];
	if (!is_ordered(e->op))
		return;
	struct spot *spot = spot_of(&s->objects, e->object);
	if (!spot) {
		s->no_memory = true;
		return;
	}
	m->before = spot->id;
	spot->id = s->count;
}

/* What is read and written, and the values that are known by it. */
static void set_values(struct search *s, struct matter *m, const struct seen *e)
{
	m->variable = variable_of(s, e);
	if (m->variable == NONE)
		return;
	struct variable *v = &s->variables[m->variable];
	if (!v->accessed) {
		v->accessed = calloc((size_t)s->d->thread_count + 1, 2 * sizeof *v->accessed);
		v->wrote = v->accessed ? v->accessed + s->d->thread_count : NULL;
		s->no_memory |= !v->accessed;
	}
	if (s->no_memory)
		return;
	v->accessed[e->thread] = m->rank + 1;
	if (rt_op_writes(e->op))
		v->wrote[e->thread] = m->rank + 1;
	m->saw = v->writer;
	if (rt_op_reads(e->op) && e->has_value) {
		struct matter *w = v->writer == NONE ? NULL : &s->all[s->matter_of[v->writer]];
		if (w && !w->has_wrote) {
			w->wrote = e->value;
			w->has_wrote = true;
		} else if (!w) {
			v->initial = e->value;
			v->has_initial = true;
		}
	}
	if (!rt_op_writes(e->op))
		return;
	m->has_wrote = e->has_value && !rt_op_reads(e->op);
	m->wrote = e->value;
	v->writer = m->event;
}

static bool add_matter(struct search *s, uint32_t event)
{
	const struct seen *e = &s->d->events[event];
	uint32_t t = e->thread;
	if (!vec_reserve(&s->all, &s->room, (uint64_t)s->count + 1, sizeof *s->all) ||
	    !vec_reserve(&s->by_thread[t], &s->rooms[t], (uint64_t)s->lengths[t] + 1, sizeof **s->by_thread))
		return false;
	struct matter *m = &s->all[s->count];
	*m = (struct matter){.event = event, .rank = s->lengths[t]};
	set_before(s, m, e);
	set_locks(s, m, e);
	set_values(s, m, e);
	if (m->takes && m->takes->taken)
		m->takes->taken[t] = m->rank + 1;
	s->matter_of[event] = s->count;
	s->by_thread[t][s->lengths[t]++] = s->count++;
	return !s->no_memory;
}

/* An update at one position: what it adds, if that is the same wherever it is known. */
struct update {
	uint64_t pc, adds;
	bool differs;
	UT_hash_handle hh;
};

/* False without memory. */
static bool learn_update(struct search *s, struct update **updates, const struct matter *m)
{
	const struct seen *e = seen_of(s, m);
	struct update *u;
	if (e->op != RT_OP_ATOMIC_RMW || !m->has_wrote || !e->has_value)
		return true;
	HASH_FIND(hh, *updates, &e->pc, sizeof e->pc, u);
	if (u) {
		u->differs |= u->adds != m->wrote - e->value;
		return true;
	}
	HASH_MAKE(*updates, pc, e->pc, u);
	if (u)
		u->adds = m->wrote - e->value;
	return u;
}

/* A trace has what an update reads. What it writes is seen where it is read, and is guessed where it is not. False
 * without memory. */
static bool guess_updates(struct search *s)
{
	struct update *updates = NULL, *u;
	bool ok = true;
	for (uint32_t i = 0; ok && i < s->count; i++)
		ok = learn_update(s, &updates, &s->all[i]);
	for (uint32_t i = 0; ok && i < s->count; i++) {
		struct matter *m = &s->all[i];
		const struct seen *e = seen_of(s, m);
		HASH_FIND(hh, updates, &e->pc, sizeof e->pc, u);
		if (!u || u->differs || e->op != RT_OP_ATOMIC_RMW || m->has_wrote || !e->has_value)
			continue;
		m->wrote = e->value + u->adds;
		m->has_wrote = true;
	}
	HASH_FREE(updates);
	return ok;
}

uint64_t reorder_mix(uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t parts[] = {a, b, c};
	uint64_t key = XXH3_64bits(parts, sizeof parts);
	return key ? key : 1;
}

uint64_t reorder_key(const struct seen *e, uint64_t state, uint64_t value)
{
	return reorder_mix(state, e->pc * UINT64_C(0x9e3779b97f4a7c15) + e->thread, value);
}

/* A value by which its reader tells it from others: the value, or which write it is of. */
uint64_t reorder_value(const struct search *s, const struct variable *v, uint32_t writer, bool *known)
{
	const struct matter *m = writer == NONE ? NULL : &s->all[s->matter_of[writer]];
	*known = !v->mixed && (m ? m->has_wrote : v->has_initial);
	if (*known || (!m && !v->mixed)) /* memory mostly begins with zeros */
		return m ? m->wrote : v->initial;
	return m ? reorder_mix(seen_of(s, m)->pc, seen_of(s, m)->thread, 1) : 2;
}

/* The reads of the run, and the states that threads come to by them. False without memory. */
static bool set_states(struct search *s)
{
	uint64_t *states = calloc((size_t)s->d->thread_count + 1, 2 * sizeof *states);
	uint64_t *latest = states ? states + s->d->thread_count : NULL;
	bool ok = states;
	for (uint32_t i = 0; ok && i < s->count; i++) {
		struct matter *m = &s->all[i];
		const struct seen *e = seen_of(s, m);
		bool known;
		m->state = states[e->thread];
		if (m->variable == NONE || !rt_op_reads(e->op))
			continue;
		uint64_t value = reorder_value(s, &s->variables[m->variable], m->saw, &known);
		uint64_t key = reorder_key(e, m->state, known && e->has_value ? e->value : value);
		ok = vec_reserve(&s->found->seen, &s->found->seen_room, (uint64_t)s->found->seen_count + 1,
		                 sizeof *s->found->seen);
		if (ok)
			s->found->seen[s->found->seen_count++] = key;
		uint64_t here = reorder_mix(e->pc, value, 0); /* a loop that waits stays in one state */
		if (latest[e->thread] != here)
			states[e->thread] = key;
		latest[e->thread] = here;
	}
	free(states);
	return ok;
}

/* A write before there are threads. */
static void note_initial(struct search *s, const struct seen *e)
{
	uint32_t id = e->bytes && rt_op_writes(e->op) ? variable_of(s, e) : NONE;
	struct variable *v = id == NONE ? NULL : &s->variables[id];
	if (!v)
		return;
	v->has_initial = e->has_value && !rt_op_reads(e->op) && v->object == e->object && v->bytes == e->bytes;
	v->initial = v->has_initial ? e->value : 0;
}

/* False without memory. *few: the search can be made. */
bool reorder_load(struct search *s, bool *few)
{
	const struct delays *d = s->d;
	size_t threads = d->thread_count + (size_t)1;
	s->by_thread = calloc(threads, sizeof *s->by_thread);
	s->lengths = calloc(threads, sizeof *s->lengths);
	s->rooms = calloc(threads, sizeof *s->rooms);
	s->at = calloc(threads, sizeof *s->at);
	s->matter_of = malloc((d->count + 1) * sizeof *s->matter_of);
	bool ok = s->by_thread && s->lengths && s->rooms && s->at && s->matter_of;
	*few = true;
	uint32_t alone = 0; /* events before there are threads */
	while (alone < d->count && d->events[alone].op != RT_OP_FORK)
		alone++;
	for (uint32_t i = alone; ok && i < d->count; i++)
		ok = !d->events[i].bytes || note_variable(s, &d->events[i]);
	for (uint32_t i = 0; ok && i < alone; i++)
		note_initial(s, &d->events[i]);
	for (uint32_t i = 0; ok && *few && i < d->count; i++) {
		s->matter_of[i] = NONE;
		if (matters(s, &d->events[i]) && (i >= alone || !d->events[i].bytes))
			ok = add_matter(s, i);
		*few = s->count <= MATTER_MAX;
	}
	return ok && (!*few || (guess_updates(s) && set_states(s)));
}

void reorder_release(struct search *s)
{
	for (uint32_t t = 0; s->by_thread && t < s->d->thread_count; t++)
		free(s->by_thread[t]);
	HASH_FREE(s->bytes);
	HASH_FREE(s->objects);
	for (struct lock *lock = s->locks; lock; lock = lock->hh.next)
		free(lock->taken);
	HASH_FREE(s->locks);
	for (uint32_t i = 0; i < s->variable_count; i++)
		free(s->variables[i].accessed);
	set_release(&s->visited);
	free_all(s->variables, s->all, s->by_thread, s->lengths, s->rooms, s->at, s->matter_of, s->path);
}
