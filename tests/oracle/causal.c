/*
 * cp and wcp by their rules (algorithms: POPL 2012, PLDI 2017), each applied to every pair of critical sections until
 * none adds an edge. An edge (from, to) orders whatever happens-before `from`, or is it, before whatever `to`
 * happens-before, or is: rule (c). Of two sections A, B of one lock and different threads, A earlier:
 *  cp:  (a) rel(A) to acq(B) if they contain conflicting events; (b) the same if A contains x, B contains y, x cp y;
 *  wcp: (a) rel(A) to y if y of B conflicts with an event of A; (b) rel(A) to rel(B) if x of A, y of B have x wcp y.
 * The partial order relation's edges are edges of their own, also what a thread says to itself by way of a barrier, a
 * once-routine or an annotation. Two atomics do not race, but what they read depends on
 * their order like that of any others, so here they conflict. Sections that readers share are not ordered by the rules.
 */
#include "tests/oracle/oracle.h"

#include <string.h>

struct section {
	int acquire, release; /* release: -1 while open */
};

struct causal {
	const struct oracle_trace *t;
	bool (*hb)[ORACLE_EVENTS];
	oracle_pairs before; /* strictly */
	struct section sections[ORACLE_EVENTS];
	int count;
};

static bool order_edge(struct causal *c, int from, int to)
{
	bool more = false;
	for (int i = 0; i < c->t->count; i++)
		for (int j = 0; (i == from || c->hb[i][from]) && j < c->t->count; j++)
			if ((j == to || c->hb[to][j]) && !c->before[i][j])
				c->before[i][j] = more = true;
	return more;
}

static void find_sections(struct causal *c)
{
	const struct rt_event *e = c->t->events;
	for (int i = 0; i < c->t->count; i++) {
		if (!oracle_acquires(&e[i]))
			continue;
		int release = e[i].reserved == ORACLE_HOLD_HANDED ? i : i + 1;
		while (release > i && release < c->t->count &&
		       !(e[release].thread == e[i].thread && oracle_releases(&e[release]) &&
		         oracle_lock(&e[release]) == oracle_lock(&e[i])))
			release++;
		c->sections[c->count++] = (struct section){i, release < c->t->count ? release : -1};
	}
}

static bool contains(const struct causal *c, const struct section *s, int i)
{
	return c->t->events[i].thread == c->t->events[s->acquire].thread && i >= s->acquire &&
	       (s->release < 0 || i <= s->release);
}

/* Are the two of one lock that they cannot hold at a time, a being the earlier one and over? */
static bool follow(const struct causal *c, const struct section *a, const struct section *b)
{
	const struct rt_event *x = &c->t->events[a->acquire], *y = &c->t->events[b->acquire];
	return a->acquire < b->acquire && a->release >= 0 && x->thread != y->thread &&
	       oracle_lock(x) == oracle_lock(y) && !oracle_both_read(x, y);
}

static bool clash(const struct causal *c, int i, int j)
{
	const struct rt_event *x = &c->t->events[i], *y = &c->t->events[j];
	return oracle_halves(x) & oracle_halves(y) && (rt_op_writes(x->op) || rt_op_writes(y->op));
}

/* Both rules for x of A and y of B. */
static bool apply(struct causal *c, const struct section *a, const struct section *b, int x, int y, bool weak)
{
	bool more = false;
	if (clash(c, x, y))
		more |= order_edge(c, a->release, weak ? y : b->acquire);
	if (c->before[x][y] && (!weak || b->release >= 0))
		more |= order_edge(c, a->release, weak ? b->release : b->acquire);
	return more;
}

static bool apply_rules(struct causal *c, bool weak)
{
	bool more = false;
	for (int a = 0; a < c->count; a++)
		for (int b = 0; b < c->count; b++) {
			const struct section *first = &c->sections[a], *second = &c->sections[b];
			if (!follow(c, first, second))
				continue;
			for (int x = 0; x < c->t->count; x++)
				for (int y = 0; contains(c, first, x) && y < c->t->count; y++)
					if (contains(c, second, y))
						more |= apply(c, first, second, x, y, weak);
		}
	return more;
}

void oracle_causal(const struct oracle_trace *t, oracle_pairs por, oracle_pairs hb, bool weak, oracle_pairs unordered)
{
	static struct causal c;
	memset(&c, 0, sizeof c);
	c.t = t;
	c.hb = hb;
	find_sections(&c);
	for (int i = 0; i < t->count; i++)
		for (int j = 0; j < t->count; j++)
			if (por[i][j])
				order_edge(&c, i, j);
	while (apply_rules(&c, weak))
		;
	for (int i = 0; i < t->count; i++)
		for (int j = i + 1; j < t->count; j++)
			unordered[i][j] = oracle_conflict(t, i, j) && !c.before[i][j];
}
