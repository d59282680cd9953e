/* Turns at objects; see turns.h. */
#include "lib/explore/turns.h"

#include "lib/base/hash.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

enum {
	NOTES_MAX = 32,  /* of an object: more are too many to try */
	OPEN_MAX = 8,    /* critical sections of a thread */
	RACED_MAX = 1024 /* objects with races */
};

/* A turn of a thread at the object; or two with none of its own in between. */
struct note {
	uint64_t before, pc;    /* before: 0 if it is one */
	uint64_t number, began; /* of the first such event, and of the one before */
	uint32_t thread;
	bool exclusive;         /* all are */
	bool plain;             /* no lock, and not atomic */
	uint64_t reads, writes; /* what the critical section does: a bit for each variable, which others may share */
	/* The same of locks: those held each time; those held since the thread's turn at the object before. */
	uint64_t locks, inner;
};
/* The last turn of a thread at the object. */
struct last {
	uint32_t thread;
	bool exclusive;
	uint64_t pc, number;
	uint64_t event; /* its number in the trace */
	UT_hash_handle hh;
};
/* The critical sections that a thread is in. */
struct sections {
	uint32_t thread;
	unsigned count;
	uint64_t turns; /* of the thread so far */
	struct {
		uint64_t lock, number; /* number: of the turn that began it */
		bool exclusive;
		struct note *note;
	} open[OPEN_MAX];
	UT_hash_handle hh;
};

struct object {
	uint64_t address;
	struct note at; /* the last turn */
	struct last *last;
	struct note *notes; /* NOTES_MAX; NULL: none */
	unsigned count;
	UT_hash_handle hh;
};

struct finding_turns {
	struct turns *found;
	struct object *objects;
	struct sections *sections, *latest; /* latest: of the last event's thread */
	struct set known, seen;
	const struct set *racing; /* positions */
	unsigned raced;           /* objects with races */
};

static uint64_t key_of(const struct turns_order *o)
{
	uint64_t key = o->count;
	for (uint32_t i = 0; i < o->count; i++)
		key = (key ^ o->pcs[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return key ? key : 1;
}

static bool add(struct finding_turns *t, struct turns_order order)
{
	struct turns *f = t->found;
	bool added;
	if ((order.seen && !set_add(&t->seen, key_of(&order), &added)) || !set_add(&t->known, key_of(&order), &added))
		return false;
	if (!added)
		return true;
	if (!vec_reserve(&f->items, &f->room, (uint64_t)f->count + 1, sizeof *f->items))
		return false;
	f->items[f->count++] = order;
	return true;
}

/* The note of the turn; NULL: there is none. */
static struct note *find(const struct object *o, uint64_t before, uint64_t pc, uint32_t thread)
{
	for (unsigned i = 0; i < o->count; i++)
		if (o->notes[i].before == before && o->notes[i].pc == pc && o->notes[i].thread == thread)
			return &o->notes[i];
	return NULL;
}

/* False without memory. */
static bool note(struct object *o, struct note n)
{
	struct note *known = find(o, n.before, n.pc, n.thread);
	if (known) {
		known->locks &= n.locks;
		known->inner &= n.inner;
	}
	if (known || o->count == NOTES_MAX)
		return true;
	if (!o->notes && !(o->notes = calloc(NOTES_MAX, sizeof *o->notes)))
		return false;
	o->notes[o->count++] = n;
	return true;
}

static uint64_t bit_of(uint64_t address)
{
	return UINT64_C(1) << (address * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

/* Locks that the thread holds alone, and took before the turn `number`. */
static uint64_t held_since(const struct sections *s, uint64_t number)
{
	uint64_t locks = 0;
	for (unsigned i = 0; i < s->count; i++)
		locks |= s->open[i].exclusive && s->open[i].number <= number ? bit_of(s->open[i].lock) : 0;
	return locks;
}

/* The thread's turn before this one is behind it. */
static bool follow(struct finding_turns *t, struct object *o, const struct sections *s, struct note *n)
{
	struct last *last;
	HASH_FIND(hh, o->last, &n->thread, sizeof n->thread, last);
	if (!last) {
		HASH_MAKE(o->last, thread, n->thread, last);
		if (!last)
			return false;
	} else if (!note(o, (struct note){.before = last->pc,
	                                  .pc = n->pc,
	                                  .number = n->number,
	                                  .began = last->event,
	                                  .thread = n->thread,
	                                  .exclusive = last->exclusive && n->exclusive,
	                                  .inner = n->inner = held_since(s, last->number)}) ||
	           (o->at.thread != n->thread &&
	            !add(t, (struct turns_order){{last->pc, o->at.pc, n->pc}, .count = 3, .seen = true}))) {
		return false;
	}
	last->pc = n->pc;
	last->number = s->turns;
	last->event = n->number;
	last->exclusive = n->exclusive;
	return note(o, *n);
}

static struct sections *sections_of(struct finding_turns *t, uint32_t thread)
{
	struct sections *s = t->latest;
	if (s && s->thread == thread)
		return s;
	HASH_FIND(hh, t->sections, &thread, sizeof thread, s);
	if (!s)
		HASH_MAKE(t->sections, thread, thread, s);
	return t->latest = s;
}

/* False without memory. */
static bool take_turn(struct finding_turns *t, struct sections *s, const struct rt_event *e, bool lock)
{
	uint64_t at = e->op == RT_OP_WAIT_END ? e->arg : e->addr;
	struct note n = {.pc = e->pc,
	                 .number = e->number,
	                 .thread = e->thread,
	                 .exclusive = lock ? e->op != RT_OP_ACQUIRE_SHARED : rt_op_writes(e->op),
	                 .plain = !lock && !rt_op_is_atomic(e->op),
	                 .locks = held_since(s, s->turns++)};
	struct object *o;
	HASH_FIND(hh, t->objects, &at, sizeof at, o);
	if (!o && n.plain && t->raced++ >= RACED_MAX)
		return true;
	if (!o) {
		HASH_MAKE(t->objects, address, at, o);
		if (!o)
			return false;
		o->at.thread = e->thread;
	} else if (o->at.thread != e->thread && (o->at.exclusive || n.exclusive) &&
	           !add(t, (struct turns_order){{o->at.pc, n.pc}, .count = 2, .seen = true})) {
		return false;
	}
	if (!lock) {
		n.reads = rt_op_reads(e->op) ? bit_of(e->addr) : 0;
		n.writes = rt_op_writes(e->op) ? bit_of(e->addr) : 0;
	}
	if (!follow(t, o, s, &n))
		return false;
	struct note *kept = find(o, 0, e->pc, e->thread);
	if (lock && kept && s->count < OPEN_MAX) {
		s->open[s->count].lock = at;
		s->open[s->count].number = s->turns;
		s->open[s->count].exclusive = n.exclusive;
		s->open[s->count++].note = kept;
	}
	o->at = n;
	return true;
}

static void end_section(struct sections *s, uint64_t lock)
{
	for (unsigned i = s->count; i-- > 0;)
		if (s->open[i].lock == lock) {
			s->open[i] = s->open[--s->count];
			return;
		}
}

static bool races(const struct finding_turns *t, const struct rt_event *e)
{
	return (e->op == RT_OP_READ || e->op == RT_OP_WRITE) && set_has(t->racing, e->pc);
}

/* False without memory. */
static bool take(struct finding_turns *t, const struct rt_event *e)
{
	struct sections *s = sections_of(t, e->thread);
	bool lock = e->op == RT_OP_ACQUIRE || e->op == RT_OP_ACQUIRE_SHARED || e->op == RT_OP_WAIT_END;
	bool tells = e->op == RT_OP_SIGNAL || e->op == RT_OP_BROADCAST;
	if (!s)
		return false;
	if (e->op == RT_OP_RELEASE)
		end_section(s, e->addr);
	for (unsigned i = 0; i < s->count; i++) {
		s->open[i].note->reads |= rt_op_reads(e->op) || e->op == RT_OP_WAIT_BEGIN ? bit_of(e->addr) : 0;
		s->open[i].note->writes |= rt_op_writes(e->op) || tells ? bit_of(e->addr) : 0;
	}
	if (e->op == RT_OP_WAIT_BEGIN)
		end_section(s, e->arg);
	return (!lock && !rt_op_is_atomic(e->op) && !races(t, e)) || take_turn(t, s, e, lock);
}

/* True if one may see what the other does. */
static bool matters(const struct note *a, const struct note *b)
{
	return (a->reads & b->writes) || (a->writes & b->reads);
}

/*
 * The turn is to come before that of the note, or between it and the one before. Behind it its thread goes on, unless
 * that is to come between.
 */
static struct delay delay_of(const struct note *n, const struct note *turn)
{
	if (n->number < turn->number)
		return (struct delay){.held = n->number, .until = turn->number};
	if (n->before && turn->number < n->began)
		return (struct delay){.held = turn->number, .until = n->began, .returns = true};
	return (struct delay){0};
}

/* What no trace had directly before a turn, or between two, but could have. */
static bool combine(struct finding_turns *t, const struct object *o)
{
	bool ok = true;
	for (unsigned i = 0; i < o->count; i++)
		for (unsigned k = 0; ok && k < o->count; k++) {
			const struct note *n = &o->notes[i], *turn = &o->notes[k];
			if (turn->before || turn->thread == n->thread || !(turn->exclusive || n->exclusive) ||
			    turn->locks & n->inner) /* the thread has the lock all the while */
				continue;
			const struct note *first = find(o, 0, n->before, n->thread),
			                  *last = find(o, 0, n->pc, n->thread);
			struct turns_order order = {{turn->pc, n->pc}, .count = 2};
			struct turns_order other = {{n->pc, turn->pc}, .count = 2};
			if (n->before)
				order = (struct turns_order){{n->before, turn->pc, n->pc}, .count = 3};
			order.worth = (last && matters(turn, last)) ? 1 : 0;
			order.worth += (first && n->before && matters(turn, first)) ? 1 : 0;
			order.plain = turn->plain || (last && last->plain);
			order.update = first && last && (first->reads & turn->writes & last->reads & last->writes);
			order.reverse = order.count == 2 && set_has(&t->seen, key_of(&other));
			order.delay = delay_of(n, turn);
			ok = add(t, order);
		}
	return ok;
}

static void release(struct finding_turns *t)
{
	for (struct object *o = t->objects; o; o = o->hh.next) {
		HASH_FREE(o->last);
		free(o->notes);
	}
	HASH_FREE(t->objects);
	HASH_FREE(t->sections);
	set_release(&t->known);
	set_release(&t->seen);
}

void turns_release(struct turns *turns)
{
	free(turns->items);
	*turns = (struct turns){0};
}

enum rt_status turns_of(struct rt_trace *trace, const struct set *racing, struct turns *turns, struct rt_error *err)
{
	*turns = (struct turns){0};
	struct finding_turns t = {.found = turns, .racing = racing};
	struct rt_pass pass;
	bool ok = true;
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e && ok; e = rt_pass_next(&pass))
		ok = take(&t, e);
	for (const struct object *o = t.objects; o && ok; o = o->hh.next)
		ok = combine(&t, o);
	release(&t);
	if (!pass.status && ok)
		return RT_OK;
	turns_release(turns);
	return ok ? pass.status : rt_error_set(err, RT_EMEMORY, "no memory for the turns of a trace");
}
