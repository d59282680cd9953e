/*
 * RaceFuzzer: "Race Directed Random Testing of Concurrent Programs" (Sen 2008), algorithms 1 and 2. Threads go on at
 * random, but one that is about to execute a place of the pattern is postponed until the pattern is created. For a race
 * that is when another one is about to access the same memory at another place. A coin decides which of them goes on
 * first. When all enabled threads are postponed, a random one is freed, and so is one that has waited for long (section
 * 4).
 *
 * The same for what section 1 names beside races. Of a sequence (an atomicity violation, or that of a set of locations)
 * a thread is postponed at an event until those before it have come. Of a deadlock it is postponed with the locks it
 * has, about to take another or to join a thread, until each of a circle waits for the next.
 */
#include "recorder/sched/sched.h"

enum { LONG = 20000 }; /* steps after which a postponed thread is freed */

/* rank of a task, for its step number `since`. */
enum { POSTPONED = 1, FREED, FORCED };

static RT_OF_RUN unsigned forced;  /* tasks that go on before all others */
static RT_OF_RUN unsigned waiting; /* tasks that are postponed */
static RT_OF_RUN uint64_t oldest;  /* the step at which the first of them was */

static bool is(const struct rt_task *t, unsigned rank)
{
	return t->rank == rank && t->since == t->next.count;
}

static bool is_postponed(const struct rt_task *t)
{
	return is(t, POSTPONED);
}

static void set(struct rt_task *t, unsigned rank)
{
	waiting -= is(t, POSTPONED);
	waiting += rank == POSTPONED;
	forced += rank == FORCED;
	t->rank = rank;
	t->since = t->next.count;
	if (rank == POSTPONED) {
		if (waiting == 1)
			oldest = rt_sched_steps();
		rt_sched_result()->postponed++;
	}
}

static void created(const struct rt_task *a, const struct rt_task *b, uint32_t first)
{
	struct rt_control *c = rt_sched_result();

	if (c->created < RT_CREATIONS_MAX)
		c->creations[c->created] = (struct rt_creation){.threads = {a->thread, b->thread},
		                                                .pcs = {a->next.pc, b->next.pc},
		                                                .object = a->next.object,
		                                                .first = first};
	c->created++;
}

/* ---- Sequences ---- */

/*
 * How far the pattern has come: the events before `event` have, by these threads and on these objects. One thread has
 * one role.
 */
static RT_OF_RUN uint32_t event;
static RT_OF_RUN uint32_t actors[RT_ROLES_MAX]; /* index of the thread + 1; 0: none yet */
static RT_OF_RUN uint64_t objects[RT_ROLES_MAX], sizes[RT_ROLES_MAX];
enum { GATED_MAX = 64 };
static RT_OF_RUN uint32_t entered[GATED_MAX]; /* by event: index + 1 of the thread that was last let through its gate */
static RT_OF_RUN struct rt_step last[2];      /* of the first event, and of the last one by another thread, */
static RT_OF_RUN uint32_t last_thread;        /* which is this */

static const struct rt_place *place(uint32_t i)
{
	return rt_aims_places(rt_sched_aims) + i;
}

/* The first event from there on; the number of places: none. */
static uint32_t event_from(uint32_t i)
{
	while (i < rt_sched_aims->place_count && place(i)->location == RT_GATE)
		i++;
	return i;
}

static void abandon(void)
{
	event = event_from(0);
	for (unsigned i = 0; i < RT_ROLES_MAX; i++) {
		actors[i] = 0;
		sizes[i] = 0;
	}
	for (unsigned i = 0; i < GATED_MAX; i++)
		entered[i] = 0;
}

static bool acts(const struct rt_task *t)
{
	for (unsigned i = 0; i < RT_ROLES_MAX; i++)
		if (actors[i] == t->thread + 1)
			return true;
	return false;
}

/* It has not come through the event's gate: it executes the position in an earlier critical section than the one. */
static bool is_outside(const struct rt_task *t, uint32_t i)
{
	bool gated = i > 0 && i < GATED_MAX && place(i)->location != RT_GATE && place(i - 1)->location == RT_GATE;

	return gated && entered[i] != t->thread + 1;
}

/* The step can be this event, or its gate: by its role, and by its location's object. */
static bool fits(const struct rt_task *t, uint32_t i)
{
	const struct rt_place *p = place(i);
	uint64_t size = t->next.arg && t->next.op < RT_OP_ACQUIRE ? t->next.arg : 1;
	uint64_t fixed = t->next.pc - p->offset + p->object;

	if ((actors[p->role] ? actors[p->role] != t->thread + 1 : acts(t)) || is_outside(t, i))
		return false;
	if (p->object && (fixed < t->next.object || fixed >= t->next.object + size))
		return false;
	return p->location == RT_GATE || !sizes[p->location] ||
	       (t->next.object < objects[p->location] + sizes[p->location] &&
	        objects[p->location] < t->next.object + size);
}

/*
 * The event that a step is, or is the gate of: the next one of the pattern if it can be that, or a later one.
 * RT_NO_PLACE: none.
 */
static uint32_t event_of(const struct rt_task *t, bool *gate)
{
	uint32_t later = RT_NO_PLACE;

	for (uint32_t i = rt_sched_place(&t->next, 0); i != RT_NO_PLACE; i = rt_sched_place(&t->next, i + 1)) {
		uint32_t at = event_from(i);

		if (at < event || at == rt_sched_aims->place_count || !fits(t, i))
			continue;
		*gate = at != i;
		if (at == event)
			return at;
		later = later == RT_NO_PLACE ? at : later;
	}
	return later;
}

/* The thread executes the pattern's next event. */
static void advance(struct rt_task *t)
{
	const struct rt_place *p = place(event);

	actors[p->role] = t->thread + 1;
	if (!sizes[p->location]) {
		objects[p->location] = t->next.object;
		sizes[p->location] = t->next.arg && t->next.op < RT_OP_ACQUIRE ? t->next.arg : 1;
	}
	uint32_t first = event_from(0);
	if (event == first || p->role != place(first)->role) {
		last[event > first] = t->next;
		last_thread = t->thread;
	}
	event = event_from(event + 1);
	if (event < rt_sched_aims->place_count)
		return;
	struct rt_task a = {.thread = actors[place(first)->role] - 1, .next = last[0]};
	struct rt_task b = {.thread = last_thread, .next = last[1]};
	created(&a, &b, 0);
	abandon();
}

/* True if the role has an event that has not come yet. */
static bool is_due(uint32_t role)
{
	for (uint32_t i = event; i < rt_sched_aims->place_count; i++)
		if (place(i)->role == role && place(i)->location != RT_GATE)
			return true;
	return false;
}

/* What the pattern has cannot be completed: a thread with further events in it has ended, or begins it again. */
static bool is_anew(const struct rt_task *t)
{
	uint32_t first = event_from(0), begun = place(first)->role;
	bool gate;

	if (event == first)
		return false;
	for (uint32_t role = 0; role < RT_ROLES_MAX; role++)
		if (actors[role] && !rt_sched_task(actors[role] - 1) && is_due(role))
			return true;
	return actors[begun] == t->thread + 1 && is_due(begun) && rt_sched_place(&t->next, first) == first &&
	       event_of(t, &gate) == RT_NO_PLACE;
}

/* True: the thread goes on. */
static bool passes_sequence(struct rt_task *t)
{
	if (is_anew(t))
		abandon();
	bool gate = false;
	uint32_t i = event_of(t, &gate);

	if (i != event)
		return i == RT_NO_PLACE;
	if (!gate)
		advance(t);
	else if (i < GATED_MAX)
		entered[i] = t->thread + 1;
	return true;
}

/* ---- Races ---- */

/* Algorithm 2. True: the thread goes on; those whose turn is before it are forced. */
static bool passes_race(struct rt_task *t, struct rt_task *const *enabled, unsigned n)
{
	struct rt_task *rival = NULL;

	for (unsigned i = 0; i < n; i++)
		if (enabled[i] != t && is_postponed(enabled[i]) && rt_steps_race(&t->next, &enabled[i]->next))
			rival = enabled[i];
	if (!rival)
		return false;
	bool first = rt_sched_random() % 2;
	created(t, rival, first ? 0 : 1);
	if (first)
		return true;
	for (unsigned i = 0; i < n; i++)
		if (enabled[i] != t && is_postponed(enabled[i]) && rt_steps_race(&t->next, &enabled[i]->next))
			set(enabled[i], FORCED);
	return false;
}

/* ---- Deadlocks ---- */

/* The thread that this one waits for; NULL: none. */
static const struct rt_task *awaited(const struct rt_task *t)
{
	const struct rt_task *other = rt_sched.first;

	while (other && !rt_sched_waits_for(t, other))
		other = other->after;
	return other;
}

/* The thread has come to a place, and closes a circle of threads each of which waits for a lock, or the end, of the
 * next.
 */
static void look_for_circle(const struct rt_task *t)
{
	const struct rt_task *at = t;
	unsigned length = 0;

	do {
		at = awaited(at);
		if (!at || (at != t && rt_sched_place(&at->next, 0) == RT_NO_PLACE))
			return;
	} while (at != t && ++length < rt_sched.live);
	if (at == t && length > 0)
		created(t, awaited(t), 0);
}

/* ---- The strategy ---- */

static bool init(const struct rt_control *control)
{
	(void)control;
	forced = waiting = 0;
	abandon();
	return true;
}

static bool is_place(const struct rt_task *t)
{
	return rt_sched_place(&t->next, 0) != RT_NO_PLACE;
}

/* True if the thread may wait in a circle here. One that holds no lock may, if another one is to join it. */
static bool may_be_in_circle(const struct rt_task *t)
{
	bool holds = t->data && t->data->held_count != 0;

	for (unsigned i = 0; i < RT_TAKEN_MAX; i++)
		holds |= t->taken[i] != 0;

	return (rt_step_acquires(&t->next) || rt_step_waits(&t->next)) && (holds || rt_sched_random() % 2);
}

/* The thread, which was chosen at random, executes its step; otherwise it is postponed. */
static bool passes(struct rt_task *t, struct rt_task *const *enabled, unsigned n)
{
	if (is(t, FREED) || !is_place(t))
		return true;
	switch ((enum rt_pattern)rt_sched_aims->pattern) {
	case RT_PATTERN_RACE:
		return passes_race(t, enabled, n);
	case RT_PATTERN_SEQUENCE:
		return passes_sequence(t);
	case RT_PATTERN_DEADLOCK:
		return !may_be_in_circle(t);
	}
	return true;
}

static bool goes_on(struct rt_task *current)
{
	if (is_place(current)) {
		if (rt_sched_aims->pattern == RT_PATTERN_DEADLOCK)
			look_for_circle(current);
		return false;
	}
	if (forced || (waiting && rt_sched_steps() - oldest > LONG))
		return false;
	return !rt_sched_hesitates();
}

/* One that goes on by decision, not by chance. */
static struct rt_task *decided(struct rt_task *const *enabled, unsigned n)
{
	for (unsigned i = 0; i < n && forced; i++)
		if (is(enabled[i], FORCED)) {
			forced--;
			set(enabled[i], FREED);
			return enabled[i];
		}
	forced = 0;
	for (unsigned i = 0; i < n && waiting && rt_sched_steps() - oldest > LONG; i++)
		if (is_postponed(enabled[i])) {
			rt_sched_result()->livelocks++;
			oldest = rt_sched_steps();
			set(enabled[i], FREED);
			return enabled[i];
		}
	return NULL;
}

/* Frees one that was postponed. What the pattern has of it will not come: it begins anew. */
static struct rt_task *freed(struct rt_task *t)
{
	set(t, FREED);
	rt_sched_result()->thrashed++;
	if (acts(t))
		abandon();
	return t;
}

/* Those that waited for the events before theirs. */
static void release(struct rt_task *const *enabled, unsigned n)
{
	bool gate;

	for (unsigned i = 0; i < n; i++)
		if (is_postponed(enabled[i]) && event_of(enabled[i], &gate) == event)
			set(enabled[i], 0);
}

static struct rt_task *choose(struct rt_task *current, struct rt_task *const *enabled, unsigned n)
{
	struct rt_task *t = decided(enabled, n);

	(void)current;
	while (!t) {
		if (rt_sched_aims->pattern == RT_PATTERN_SEQUENCE)
			release(enabled, n);
		t = rt_sched_any_that(enabled, n, is_postponed, false);
		if (!t)
			return rt_sched_awaits_sleeper() ? NULL : freed(rt_sched_any(enabled, n));
		if (passes(t, enabled, n))
			return t;
		set(t, POSTPONED);
		t = decided(enabled, n);
	}
	return t;
}

const struct rt_strategy rt_strategy_racefuzzer = {.name = "racefuzzer",
                                                   .timeless = true,
                                                   .init = init,
                                                   .goes_on = goes_on,
                                                   .choose = choose,
                                                   .wakes = rt_sched_wakes_any};
