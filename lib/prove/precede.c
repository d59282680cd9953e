/* Order constraints between pairs of events; see precede.h. */
#include "lib/prove/precede.h"

#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"

#include <stdlib.h>

/* No event of the thread from pos on comes before `later`. While the question is open: whether that holds at pos. */
struct precede_bound {
	uint32_t later, thread, pos;
};

static int compare(const void *a, const void *b)
{
	const struct precede_bound *x = a, *y = b;
	if (x->later != y->later)
		return x->later < y->later ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->pos < y->pos ? -1 : x->pos != y->pos;
}

/*
 * True if a goal event before event i may see another write than it saw when event i + 1 is executed. Its thread then
 * stops, or continues with the goal right after it.
 */
static bool sees_other(const struct model *m, const struct goal *goal, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++) {
		bool open = rt_op_reads(model_op(m, goal->events[k]));
		for (uint32_t l = k + 1; l <= i + 1 && open; l++)
			open = model_thread_of(m, goal->events[l]) != model_thread_of(m, goal->events[k]) ||
			       goal_continues(goal, m, l);
		if (open)
			return true;
	}
	return false;
}

/* True if the goal reverses its events i and i + 1, of two threads; *pair: the one to come before the latter. An answer
 * about two events alone applies to the goal if all events that it executes before see what they saw. */
static bool turns(const struct model *m, const struct goal *goal, uint32_t i, struct precede_bound *pair)
{
	uint32_t e = goal->events[i], f = goal->events[i + 1], thread = model_thread_of(m, e);
	*pair = (struct precede_bound){f, thread, m->events[e].pos};
	return e > f && thread != model_thread_of(m, f) && !sees_other(m, goal, i);
}

bool precede_ask(struct precede *p, const struct goal *goal)
{
	for (uint32_t i = 0; goal->kind == GOAL_SEQUENCE && i + 1 < goal->count; i++) {
		struct precede_bound pair;
		if (!turns(p->m, goal, i, &pair))
			continue;
		if (!vec_reserve(&p->items, &p->capacity, (uint64_t)p->count + 1, sizeof *p->items))
			return false;
		p->items[p->count++] = pair;
	}
	return true;
}

/* The state of precede_find. */
struct asking {
	const struct precede *p;
	struct search *search;
	uint64_t budget, total, spent;
};

static bool is_refuted(struct asking *a, const struct precede_bound *pair)
{
	struct goal goal = {.kind = GOAL_SEQUENCE,
	                    .count = 2,
	                    .events = {a->p->m->threads[pair->thread].events[pair->pos], pair->later}};
	uint64_t left = a->spent < a->total ? a->total - a->spent : 0, spent = 0;
	if (!left)
		return false;
	uint64_t looked = search_looked(a->search);
	bool refuted = search_contradicts(a->search, &goal, left < a->budget ? left : a->budget, &spent);
	a->spent += spent + 1 + search_looked(a->search) - looked;
	return refuted;
}

/* The first of n pairs, of one event and one thread, that is refuted; n: none. Near ones are tried first, as they cost
 * less. */
static uint32_t first_refuted(struct asking *a, const struct precede_bound *pairs, uint32_t n)
{
	uint32_t open = 0, refuted = n;
	for (uint32_t at = 0, step = 1; at < n; step *= 2) {
		if (is_refuted(a, &pairs[at])) {
			refuted = at;
			break;
		}
		open = at + 1;
		at = at + step < n || open == n ? at + step : n - 1;
	}
	return refuted < n ? lower_bound(i, open, refuted, !is_refuted(a, &pairs[i])) : refuted;
}

/* Each pair once. */
static void sort(struct precede *p)
{
	uint32_t kept = 0;
	if (p->count)
		qsort(p->items, p->count, sizeof *p->items, compare);
	for (uint32_t i = 0; i < p->count; i++)
		if (!i || compare(&p->items[i], &p->items[kept - 1]))
			p->items[kept++] = p->items[i];
	p->count = kept;
}

uint64_t precede_find(struct precede *p, struct search *search, uint64_t budget, uint64_t total)
{
	struct asking a = {.p = p, .search = search, .budget = budget, .total = total};
	uint32_t found = 0;
	sort(p);
	for (uint32_t i = 0, end; i < p->count; i = end) {
		for (end = i + 1; end < p->count && p->items[end].later == p->items[i].later &&
		                  p->items[end].thread == p->items[i].thread;)
			end++;
		uint32_t k = first_refuted(&a, &p->items[i], end - i);
		if (k < end - i)
			p->items[found++] = p->items[i + k];
	}
	p->count = found;
	return a.spent;
}

static bool is_before(const struct precede_bound *a, const struct precede_bound *b)
{
	return a->later < b->later || (a->later == b->later && a->thread < b->thread);
}

static bool is_bound(const struct precede *p, const struct precede_bound *pair)
{
	uint32_t low = lower_bound(i, 0, p->count, is_before(&p->items[i], pair));
	return low < p->count && p->items[low].later == pair->later && p->items[low].thread == pair->thread &&
	       p->items[low].pos <= pair->pos;
}

bool precede_refutes(const struct precede *p, const struct goal *goal)
{
	struct precede_bound pair;
	for (uint32_t i = 0; goal->kind == GOAL_SEQUENCE && i + 1 < goal->count; i++)
		if (turns(p->m, goal, i, &pair) && is_bound(p, &pair))
			return true;
	return false;
}

void precede_release(struct precede *p)
{
	free(p->items);
	*p = (struct precede){0};
}
