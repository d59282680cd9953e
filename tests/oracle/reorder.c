/*
 * Every correct reordering of a small trace: prefixes of all threads such that each read sees the write that it saw,
 * locks exclude, and whatever comes before an event by the partial order relation has come; a signal wakes only a
 * thread that waits for it already. A depth-first search over states (how far each thread is, who wrote each half last,
 * whose signal came too early). Sync-preserving reordering (SyncP, POPL 2021) is the same search, in which no critical
 * section begins once a later one of its lock, which it excludes, has begun.
 */
#include "tests/oracle/oracle.h"

#include <stdlib.h>
#include <string.h>

enum { STATES = 1 << 18 };

/* Two numbers that are one state's alone. */
struct key {
	uint64_t threads, writers;
};

struct search {
	const struct oracle_trace *t;
	oracle_pairs edges;
	bool keep_sections;
	bool (*enabled)[ORACLE_EVENTS];
	/* What is to be reached, if it is one thing. */
	bool sequence;
	const int *goal;
	int goal_count;
	bool all_free, free[ORACLE_EVENTS]; /* reads that may see any write */
	int of_thread[ORACLE_THREADS][ORACLE_EVENTS], length[ORACLE_THREADS];
	int writer[ORACLE_EVENTS][ORACLE_HALVES]; /* whom each read sees */
	int signal_of[ORACLE_EVENTS];             /* of a WAIT_BEGIN: the signal that ends the wait, -1: none */
};

/* A hash set; keys are never zero. Kept from call to call: what was used is cleared. */
static struct key seen[STATES];
static unsigned used[STATES], used_count;

struct state {
	int next[ORACLE_THREADS];
	bool lost_signal[ORACLE_THREADS]; /* the signal of the wait that it is in came before the wait began */
	bool heard[ORACLE_THREADS];       /* a signal came since the wait that it is in began */
	bool frozen[ORACLE_THREADS];      /* its event of the goal saw another write */
	int reached;                      /* events of the goal that were executed */
	int last_write[ORACLE_HALVES];
};

static struct key key_of(const struct search *s, const struct state *now)
{
	uint64_t base = (uint64_t)s->t->count + 2;
	struct key key = {1 + (uint64_t)now->reached, 1};
	for (int i = 0; i < s->t->threads; i++) {
		key.threads = key.threads * base + (uint64_t)now->next[i];
		key.threads = key.threads * 8 + now->lost_signal[i] + 2 * now->frozen[i] + 4 * now->heard[i];
	}
	for (int i = 0; !s->all_free && i < ORACLE_HALVES; i++)
		key.writers = key.writers * base + (uint64_t)(now->last_write[i] + 1);
	return key;
}

static bool first_visit(struct key key)
{
	uint64_t hash = (key.threads * UINT64_C(0x9e3779b97f4a7c15) ^ key.writers) * UINT64_C(0x9e3779b97f4a7c15);
	unsigned at = (unsigned)(hash >> 40) % STATES;
	for (; seen[at].threads; at = (at + 1) % STATES)
		if (seen[at].threads == key.threads && seen[at].writers == key.writers)
			return false;
	seen[at] = key;
	used[used_count++] = at;
	if (used_count == STATES)
		abort(); /* more states than a small trace has */
	return true;
}

static bool done(const struct search *s, const struct state *now, int e)
{
	int thread = (int)s->t->events[e].thread, next = now->next[thread];
	return next > 0 && s->of_thread[thread][next - 1] >= e;
}

/* Could the lock be taken now, by a reader or a writer? */
static bool lock_free(const struct search *s, const struct state *now, uint64_t lock, bool shared)
{
	for (int thread = 0; thread < s->t->threads; thread++) {
		bool held = false, as_reader = false;
		for (int i = 0; i < now->next[thread]; i++) {
			const struct rt_event *e = &s->t->events[s->of_thread[thread][i]];
			if (oracle_holds(e) && oracle_lock(e) == lock) {
				held = true;
				as_reader = e->op == RT_OP_ACQUIRE_SHARED;
			} else if (oracle_releases(e) && oracle_lock(e) == lock) {
				held = false;
			}
		}
		if (held && !(shared && as_reader))
			return false;
	}
	return true;
}

/* Has a section begun that comes after e's in the trace, of the same lock, not both readers'? */
static bool later_section(const struct search *s, const struct state *now, int e)
{
	const struct rt_event *mine = &s->t->events[e];
	for (int i = e + 1; i < s->t->count; i++) {
		const struct rt_event *other = &s->t->events[i];
		if (oracle_acquires(other) && oracle_lock(other) == oracle_lock(mine) && done(s, now, i) &&
		    !oracle_both_read(mine, other))
			return true;
	}
	return false;
}

/* Would read e see what it saw, or the same value? Atomic reads stay behind the write that they saw. */
static bool sees_right(const struct search *s, const struct state *now, int e, int half)
{
	int saw = s->writer[e][half], sees = now->last_write[half];
	if (saw == sees || s->free[e])
		return true;
	if (rt_op_is_atomic(s->t->events[e].op) && saw >= 0 && !done(s, now, saw))
		return false;
	return oracle_same_value(s->t, half, saw, sees);
}

static bool begun(const struct search *s, const struct state *now, int thread);

/* Is e the goal's event k? */
static bool is_goal(const struct search *s, int e, int k)
{
	return s->sequence && k < s->goal_count && s->goal[k] == e;
}

/* May its thread's state let event e come next: goal events come in their order, and nothing after one that saw another
 * write but the goal's next event right behind it. */
static bool goal_allows(const struct search *s, const struct state *now, int e)
{
	const int thread = (int)s->t->events[e].thread, next = now->next[thread];
	for (int k = 0; k < s->goal_count; k++)
		if (is_goal(s, e, k) && k != now->reached)
			return false;
	return !now->frozen[thread] || (!s->t->program && is_goal(s, e, now->reached) && now->reached && next > 0 &&
	                                s->of_thread[thread][next - 1] == s->goal[now->reached - 1]);
}

/* May event e come next, its thread being there? */
static bool may_run(const struct search *s, const struct state *now, int e)
{
	const struct rt_event *event = &s->t->events[e];
	if (!goal_allows(s, now, e))
		return false;
	if (is_goal(s, e, now->reached))
		return begun(s, now, (int)event->thread);
	for (int i = 0; i < s->t->count; i++)
		if (s->edges[i][e] && !done(s, now, i))
			return false;
	if (oracle_acquires(event)) {
		if (event->op == RT_OP_WAIT_END && now->lost_signal[event->thread])
			return false;
		if (s->keep_sections && later_section(s, now, e))
			return false;
		return lock_free(s, now, oracle_lock(event), event->op == RT_OP_ACQUIRE_SHARED);
	}
	for (int half = 0; rt_op_reads(event->op) && half < ORACLE_HALVES; half++)
		if (oracle_halves(event) >> half & 1 && !sees_right(s, now, e, half))
			return false;
	return true;
}

/* Is the thread there at all: its fork, if the trace has one, has come? */
static bool begun(const struct search *s, const struct state *now, int thread)
{
	for (int i = 0; i < s->t->count; i++)
		if (s->t->events[i].op == RT_OP_FORK && s->t->events[i].addr == (uint64_t)thread && !done(s, now, i))
			return false;
	return true;
}

static int next_of(const struct search *s, const struct state *now, int thread)
{
	return now->next[thread] < s->length[thread] ? s->of_thread[thread][now->next[thread]] : -1;
}

static bool is_signal(const struct rt_event *e)
{
	return e->op == RT_OP_SIGNAL || e->op == RT_OP_BROADCAST;
}

static void run(const struct search *s, struct state *now, int e)
{
	const struct rt_event *event = &s->t->events[e];
	bool goal = is_goal(s, e, now->reached);
	for (int half = 0; goal && rt_op_reads(event->op) && half < ORACLE_HALVES; half++)
		if (oracle_halves(event) >> half & 1 && !sees_right(s, now, e, half))
			now->frozen[event->thread] = true;
	for (int i = 0; goal && s->free[e] && i < s->t->count; i++)
		if (s->edges[i][e] && !done(s, now, i))
			now->frozen[event->thread] = true;
	now->reached += goal;
	now->next[event->thread]++;
	now->heard[event->thread] = false;
	for (int thread = 0; is_signal(event) && thread < s->t->threads; thread++) {
		const int next = next_of(s, now, thread);
		now->heard[thread] |= next >= 0 && s->t->events[next].op == RT_OP_WAIT_END;
	}
	if (event->op == RT_OP_WAIT_BEGIN)
		now->lost_signal[event->thread] = s->signal_of[e] >= 0 && done(s, now, s->signal_of[e]);
	for (int half = 0; rt_op_writes(event->op) && half < ORACLE_HALVES; half++)
		if (oracle_halves(event) >> half & 1)
			now->last_write[half] = e;
}

static void note_pairs(const struct search *s, const struct state *now)
{
	for (int a = 0; a < s->t->threads; a++)
		for (int b = 0; b < s->t->threads; b++) {
			int i = next_of(s, now, a), j = next_of(s, now, b);
			if (i >= 0 && j > i && oracle_conflict(s->t, i, j) && begun(s, now, a) && begun(s, now, b))
				s->enabled[i][j] = true;
		}
}

static void visit(const struct search *s, const struct state *now)
{
	if (!first_visit(key_of(s, now)))
		return;
	note_pairs(s, now);
	for (int thread = 0; thread < s->t->threads; thread++) {
		int e = next_of(s, now, thread);
		if (e < 0 || !may_run(s, now, e))
			continue;
		struct state after = *now;
		run(s, &after, e);
		visit(s, &after);
	}
}

static void prepare(struct search *s, const struct oracle_trace *t, struct state *start)
{
	memset(s, 0, sizeof *s);
	s->t = t;
	oracle_por_edges(t, s->edges);
	for (int i = 0; i < t->count; i++)
		s->signal_of[i] = -1;
	for (int i = 0; i < t->count; i++) {
		const struct rt_event *e = &t->events[i];
		s->of_thread[e->thread][s->length[e->thread]++] = i;
		for (int half = 0; half < ORACLE_HALVES; half++)
			s->writer[i][half] = oracle_last_write(t, half, i);
		for (int k = 0; e->op == RT_OP_WAIT_END && k < i; k++)
			if (s->edges[k][i] && is_signal(&t->events[k]) && oracle_wait_begin(t, i) >= 0)
				s->signal_of[oracle_wait_begin(t, i)] = k;
	}
	memset(start, 0, sizeof *start);
	for (int half = 0; half < ORACLE_HALVES; half++)
		start->last_write[half] = -1;
}

void oracle_reorder(const struct oracle_trace *t, bool keep_sections, oracle_pairs enabled)
{
	static struct search s;
	struct state start;
	prepare(&s, t, &start);
	s.keep_sections = keep_sections;
	s.enabled = enabled;
	while (used_count)
		seen[used[--used_count]] = (struct key){0, 0};
	visit(&s, &start);
}

/* Is the thread of an event that has not occurred one of the goal's, other than this one? */
static bool of_goal(const struct search *s, uint32_t thread, uint32_t own)
{
	for (int k = 0; k < s->goal_count; k++)
		if (thread != own && s->t->events[s->goal[k]].thread == thread)
			return true;
	return false;
}

/* Does a wait for a post stand still, if the goal's threads do? All is taken, and nobody else gives more than it takes.
 */
static bool starves(const struct search *s, const struct state *now, int e)
{
	int value = 0, left[ORACLE_THREADS] = {0};
	const struct rt_event *wait = &s->t->events[e];
	for (int i = 0; i < s->t->count; i++) {
		const struct rt_event *x = &s->t->events[i];
		int adds = x->op == RT_OP_SEM_INIT ? (int)x->arg : x->op == RT_OP_SEM_POST ? 1 : -1;
		if (x->addr != wait->addr || (adds < 0 && x->op != RT_OP_SEM_WAIT))
			continue;
		if (done(s, now, i))
			value += adds;
		else if (x->op == RT_OP_SEM_INIT)
			return false;
		else if ((left[x->thread] += adds) > 0 && x->thread != wait->thread &&
		         !of_goal(s, x->thread, wait->thread))
			return false;
	}
	return value <= 0;
}

/* Does a wait at a barrier stand still? Fewer have arrived than its round needs, and nobody else will. */
static bool lacks(const struct search *s, const struct state *now, int e)
{
	int before = 0, arrived = 0;
	const struct rt_event *leave = &s->t->events[e];
	for (int i = 0; i < s->t->count; i++) {
		const struct rt_event *x = &s->t->events[i];
		if (x->op != RT_OP_BARRIER_ARRIVE)
			continue;
		before += i < e && x->thread == leave->thread;
		arrived += done(s, now, i);
		if (!done(s, now, i) && x->thread != leave->thread && !of_goal(s, x->thread, leave->thread))
			return false;
	}
	return arrived < before * (int)oracle_parties(s->t);
}

/* Does the thread hold the lock where event e is its next one? */
static bool holds(const struct search *s, int e, uint64_t lock)
{
	bool held = false;
	for (int i = 0; i < e; i++) {
		const struct rt_event *x = &s->t->events[i];
		if (x->thread == s->t->events[e].thread && (oracle_holds(x) || oracle_releases(x)) &&
		    oracle_lock(x) == lock)
			held = oracle_holds(x);
	}
	return held;
}

/* Does the end of a wait wait for its signal? If none of the other threads has its mutex, that is all it waits for. */
static bool awaits_signal(const struct search *s, int e)
{
	const struct rt_event *wait = &s->t->events[e];
	if (wait->op != RT_OP_WAIT_END || wait->flags & RT_F_TIMED)
		return false;
	for (int k = 0; k < s->goal_count; k++)
		if (s->goal[k] != e && holds(s, s->goal[k], wait->arg))
			return false;
	return true;
}

/* Is it in vain? No signal came since the wait began, and only threads of the goal have some left. */
static bool is_unheard(const struct search *s, const struct state *now, int e)
{
	const int thread = (int)s->t->events[e].thread;
	bool left = false;
	for (int i = 0; i < s->t->count; i++) {
		const struct rt_event *x = &s->t->events[i];
		if (!is_signal(x) || done(s, now, i) || (int)x->thread == thread)
			continue;
		if (!of_goal(s, x->thread, (uint32_t)thread))
			return false;
		left = true;
	}
	return left && !now->heard[thread];
}

/* Do all of the goal's threads stand before its events? */
static bool stands_at_goal(const struct search *s, const struct state *now)
{
	for (int k = 0; k < s->goal_count; k++) {
		const int e = s->goal[k], thread = (int)s->t->events[e].thread;
		const bool awaits = awaits_signal(s, e);
		if (next_of(s, now, thread) != e || !begun(s, now, thread) || (now->lost_signal[thread] && !awaits))
			return false;
		if (awaits && !is_unheard(s, now, e))
			return false;
		const unsigned op = s->t->events[e].op;
		if ((op == RT_OP_SEM_WAIT && !oracle_acquires(&s->t->events[e]) && !starves(s, now, e)) ||
		    (op == RT_OP_BARRIER_LEAVE && !lacks(s, now, e)))
			return false;
		for (int i = 0; s->t->events[e].op == RT_OP_WAIT_END && !awaits && i < s->t->count; i++)
			if (s->edges[i][e] && !done(s, now, i))
				return false;
	}
	return true;
}

static bool find(const struct search *s, const struct state *now)
{
	if (s->sequence ? now->reached == s->goal_count : stands_at_goal(s, now))
		return true;
	if (!first_visit(key_of(s, now)))
		return false;
	for (int thread = 0; thread < s->t->threads; thread++) {
		int e = next_of(s, now, thread);
		if (e < 0 || !may_run(s, now, e))
			continue;
		struct state after = *now;
		run(s, &after, e);
		if (find(s, &after))
			return true;
	}
	return false;
}

static bool reaches(const struct oracle_trace *t, bool sequence, const int *events, int count, bool all,
                    const bool *free)
{
	static struct search s;
	struct state start;
	prepare(&s, t, &start);
	s.all_free = all;
	for (int i = 0; i < t->count; i++)
		s.free[i] = (all || (free && free[i])) && rt_op_reads(t->events[i].op);
	s.sequence = sequence;
	s.goal = events;
	s.goal_count = count;
	while (used_count)
		seen[used[--used_count]] = (struct key){0, 0};
	return find(&s, &start);
}

bool oracle_reaches(const struct oracle_trace *t, bool sequence, const int *events, int count)
{
	return reaches(t, sequence, events, count, false, NULL);
}

bool oracle_reaches_free(const struct oracle_trace *t, bool sequence, const int *events, int count, const bool *free)
{
	return reaches(t, sequence, events, count, !free, free);
}

bool oracle_accepts(const struct oracle_trace *t, const int *order, int count, int e1, int e2)
{
	static struct search s;
	struct state now;
	prepare(&s, t, &now);
	for (int i = 0; i < count; i++) {
		if (order[i] != next_of(&s, &now, (int)t->events[order[i]].thread) || !may_run(&s, &now, order[i]))
			return false;
		run(&s, &now, order[i]);
	}
	int a = (int)t->events[e1].thread, b = (int)t->events[e2].thread;
	return oracle_conflict(t, e1, e2) && next_of(&s, &now, a) == e1 && next_of(&s, &now, b) == e2 &&
	       begun(&s, &now, a) && begun(&s, &now, b);
}
