/*
 * Every correct reordering of a small trace: prefixes of all threads such that each read sees the write that it saw,
 * locks exclude, and whatever comes before an event by the partial order relation has come. A depth-first search over
 * states (how far each thread is, who wrote each half last).
 */
#include "tests/oracle/oracle.h"

#include <stdlib.h>
#include <string.h>

enum { STATES = 1 << 16 };

struct search {
	const struct oracle_trace *t;
	bool (*edges)[ORACLE_EVENTS];
	bool (*predictable)[ORACLE_EVENTS];
	int of_thread[ORACLE_THREADS][ORACLE_EVENTS], length[ORACLE_THREADS];
	int writer[ORACLE_EVENTS][ORACLE_HALVES]; /* whom each read sees */
	uint64_t seen[STATES];                    /* hash set of states + 1 */
};

struct state {
	int next[ORACLE_THREADS];
	int last_write[ORACLE_HALVES];
};

static uint64_t key_of(const struct search *s, const struct state *now)
{
	/* Digits of base count + 2; with at most ORACLE_EVENTS events they fit in 64 bits. */
	uint64_t base = (uint64_t)s->t->count + 2, key = 1;
	for (int i = 0; i < s->t->threads; i++)
		key = key * base + (uint64_t)now->next[i];
	for (int i = 0; i < ORACLE_HALVES; i++)
		key = key * base + (uint64_t)(now->last_write[i] + 1);
	return key;
}

static bool first_visit(struct search *s, uint64_t key)
{
	uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 48;
	for (; s->seen[at]; at = (at + 1) % STATES)
		if (s->seen[at] == key)
			return false;
	s->seen[at] = key;
	return true;
}

static bool done(const struct search *s, const struct state *now, int e)
{
	int thread = (int)s->t->events[e].thread;
	for (int i = 0; i < now->next[thread]; i++)
		if (s->of_thread[thread][i] == e)
			return true;
	return false;
}

static bool lets_go(const struct rt_event *e, uint64_t lock)
{
	return (e->op == RT_OP_RELEASE && e->addr == lock) || (e->op == RT_OP_WAIT_BEGIN && e->arg == lock);
}
static bool takes(const struct rt_event *e, uint64_t lock)
{
	return ((e->op == RT_OP_ACQUIRE || e->op == RT_OP_ACQUIRE_SHARED) && e->addr == lock) ||
	       (e->op == RT_OP_WAIT_END && e->arg == lock);
}

/* Could the lock be taken now, by a reader or a writer? */
static bool lock_free(const struct search *s, const struct state *now, uint64_t lock, bool shared)
{
	for (int thread = 0; thread < s->t->threads; thread++) {
		bool held = false, as_reader = false;
		for (int i = 0; i < now->next[thread]; i++) {
			const struct rt_event *e = &s->t->events[s->of_thread[thread][i]];
			if (takes(e, lock)) {
				held = true;
				as_reader = e->op == RT_OP_ACQUIRE_SHARED;
			} else if (lets_go(e, lock)) {
				held = false;
			}
		}
		if (held && !(shared && as_reader))
			return false;
	}
	return true;
}

/* May event e come next, its thread being there? */
static bool may_run(const struct search *s, const struct state *now, int e)
{
	const struct rt_event *event = &s->t->events[e];
	for (int i = 0; i < s->t->count; i++)
		if (s->edges[i][e] && !done(s, now, i))
			return false;
	if (event->op == RT_OP_ACQUIRE || event->op == RT_OP_ACQUIRE_SHARED)
		return lock_free(s, now, event->addr, event->op == RT_OP_ACQUIRE_SHARED);
	if (event->op == RT_OP_WAIT_END)
		return lock_free(s, now, event->arg, false);
	for (int half = 0; rt_op_reads(event->op) && half < ORACLE_HALVES; half++)
		if (oracle_halves(event) >> half & 1 && now->last_write[half] != s->writer[e][half])
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

static void note_pairs(const struct search *s, const struct state *now)
{
	for (int a = 0; a < s->t->threads; a++)
		for (int b = 0; b < s->t->threads; b++) {
			int i = next_of(s, now, a), j = next_of(s, now, b);
			if (i >= 0 && j > i && oracle_conflict(s->t, i, j) && begun(s, now, a) && begun(s, now, b))
				s->predictable[i][j] = true;
		}
}

static void visit(struct search *s, const struct state *now)
{
	if (!first_visit(s, key_of(s, now)))
		return;
	note_pairs(s, now);
	for (int thread = 0; thread < s->t->threads; thread++) {
		int e = next_of(s, now, thread);
		if (e < 0 || !may_run(s, now, e))
			continue;
		struct state after = *now;
		after.next[thread]++;
		for (int half = 0; rt_op_writes(s->t->events[e].op) && half < ORACLE_HALVES; half++)
			if (oracle_halves(&s->t->events[e]) >> half & 1)
				after.last_write[half] = e;
		visit(s, &after);
	}
}

void oracle_reorder(const struct oracle_trace *t, oracle_pairs edges, oracle_pairs predictable)
{
	static struct search s;
	memset(&s, 0, sizeof s);
	s.t = t;
	s.edges = edges;
	s.predictable = predictable;
	for (int i = 0; i < t->count; i++) {
		int thread = (int)t->events[i].thread;
		s.of_thread[thread][s.length[thread]++] = i;
		for (int half = 0; half < ORACLE_HALVES; half++)
			s.writer[i][half] = oracle_last_write(t, half, i);
	}
	struct state start = {{0}, {0}};
	for (int half = 0; half < ORACLE_HALVES; half++)
		start.last_write[half] = -1;
	visit(&s, &start);
}
