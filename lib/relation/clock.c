/* Persistent vector clocks; see clock.h. */
#include "lib/relation/clock.h"

#include "lib/base/assert.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *node(const struct clocks *c, uint32_t i)
{
	return &c->nodes[(uint64_t)i * c->width];
}

static uint32_t node_new(struct clocks *c)
{
	if (c->count == c->capacity) {
		uint64_t more = (uint64_t)c->capacity + c->capacity / 2 + 64;
		uint64_t bytes = more * c->width * sizeof *c->nodes;
		uint32_t *nodes = bytes && more < UINT32_MAX ? realloc(c->nodes, bytes) : NULL;
		if (!nodes) {
			c->failed = true;
			return 0;
		}
		c->nodes = nodes;
		c->capacity = (uint32_t)more;
	}
	return c->count++;
}

static struct clocks empty(uint32_t threads)
{
	struct clocks c = {.width = threads <= 4 ? 4 : threads <= 8 ? 8 : CLOCK_WIDTH, .depth = 1};
	for (uint64_t reach = CLOCK_WIDTH; reach < threads; reach *= CLOCK_WIDTH)
		c.depth++;
	return c;
}

uint64_t clock_bytes(uint32_t threads)
{
	struct clocks c = empty(threads);
	return (uint64_t)c.depth * c.width * sizeof *c.nodes;
}

uint64_t clock_bytes_alone(uint32_t threads)
{
	struct clocks c = empty(threads);
	uint64_t nodes = 0, below = threads;
	for (uint32_t level = 0; level < c.depth; level++)
		nodes += below = (below + CLOCK_WIDTH - 1) / CLOCK_WIDTH;
	return nodes * c.width * sizeof *c.nodes;
}

bool clocks_init(struct clocks *c, uint32_t threads)
{
	*c = empty(threads);
	node_new(c);
	if (c->failed)
		return false;
	memset(node(c, 0), 0, c->width * sizeof *c->nodes);
	return true;
}

void clocks_release(struct clocks *c)
{
	free(c->nodes);
	memset(c, 0, sizeof *c);
}

uint32_t clock_get_tree(const struct clocks *c, uint32_t clock, uint32_t thread)
{
	for (uint32_t level = c->depth; level > 1 && clock; level--)
		clock = node(c, clock)[thread >> 4 * (level - 1) & 15];
	return clock ? node(c, clock)[thread & 15] : 0;
}

/* What clock_each_other is asked for. */
struct visit {
	const struct clocks *clocks;
	void (*f)(void *arg, uint32_t thread, uint32_t count);
	void *arg;
};

/* first: the first thread of the two nodes. (Node 0 is all zeros at each level.) */
static void visit_level(const struct visit *v, uint32_t a, uint32_t b, uint32_t level, uint32_t first)
{
	const uint32_t *x = node(v->clocks, a), *y = node(v->clocks, b);
	for (uint32_t i = 0; i < v->clocks->width; i++) {
		uint32_t thread = first + (i << 4 * (level - 1));
		if (x[i] == y[i] || !x[i])
			continue;
		if (level == 1)
			v->f(v->arg, thread, x[i]);
		else
			visit_level(v, x[i], y[i], level - 1, thread);
	}
}

void clock_each_other(const struct clocks *c, uint32_t clock, uint32_t than,
                      void (*f)(void *arg, uint32_t thread, uint32_t count), void *arg)
{
	struct visit v = {c, f, arg};
	if (clock != than)
		visit_level(&v, clock, than, c->depth, 0);
}

static uint32_t join_leaves(struct clocks *c, uint32_t a, uint32_t b)
{
	const uint32_t *x = node(c, a), *y = node(c, b);
	uint32_t x_more = 0, y_more = 0;
	for (uint32_t i = 0; i < c->width; i++) {
		x_more |= x[i] > y[i];
		y_more |= y[i] > x[i];
	}
	if (!y_more)
		return a;
	if (!x_more)
		return b;
	uint32_t n = node_new(c);
	if (!n)
		return a;
	uint32_t *z = node(c, n);
	x = node(c, a);
	y = node(c, b);
	for (uint32_t i = 0; i < c->width; i++)
		z[i] = x[i] > y[i] ? x[i] : y[i];
	return n;
}

static uint32_t join_level(struct clocks *c, uint32_t a, uint32_t b, uint32_t level)
{
	if (a == b || !b)
		return a;
	if (!a)
		return b;
	if (level == 1)
		return join_leaves(c, a, b);
	uint32_t children[CLOCK_WIDTH];
	bool is_a = true, is_b = true;
	for (uint32_t i = 0; i < CLOCK_WIDTH; i++) {
		uint32_t x = node(c, a)[i], y = node(c, b)[i];
		children[i] = join_level(c, x, y, level - 1);
		is_a &= children[i] == x;
		is_b &= children[i] == y;
	}
	if (is_a || is_b)
		return is_a ? a : b;
	uint32_t n = node_new(c);
	if (!n)
		return a;
	memcpy(node(c, n), children, sizeof children);
	return n;
}

uint32_t clock_join(struct clocks *c, uint32_t a, uint32_t b)
{
	rt_assert(a < c->count && b < c->count);
	return join_level(c, a, b, c->depth);
}

/* A copy of node i to change, or i itself if it was made since `mark`. i may be 0, which has no level. */
static uint32_t own_node(struct clocks *c, uint32_t i, uint32_t mark)
{
	if (i >= mark)
		return i;
	uint32_t n = node_new(c);
	if (n)
		memcpy(node(c, n), node(c, i), c->width * sizeof *c->nodes);
	return n;
}

/* As clock_raise; nodes made since mark are not shared yet and are changed in place. */
static uint32_t raise_since(struct clocks *c, uint32_t clock, uint32_t thread, uint32_t count, uint32_t mark)
{
	if (clock_get(c, clock, thread) >= count)
		return clock;
	uint32_t top = own_node(c, clock, mark), at = top;
	for (uint32_t level = c->depth; level > 1 && at; level--) {
		uint32_t slot = thread >> 4 * (level - 1) & 15;
		uint32_t child = own_node(c, node(c, at)[slot], mark);
		node(c, at)[slot] = child;
		at = child;
	}
	uint32_t last = c->depth == 1 ? thread : thread & 15;
	if (at)
		node(c, at)[last] = count;
	return top;
}

uint32_t clock_raise(struct clocks *c, uint32_t clock, uint32_t thread, uint32_t count)
{
	rt_assert(clock < c->count);
	return raise_since(c, clock, thread, count, c->count);
}

uint32_t clock_receive(struct clocks *c, uint32_t clock, struct stamp stamp, uint32_t own)
{
	if (stamp.thread == own || clock_get(c, clock, stamp.thread) >= stamp.count)
		return clock;
	uint32_t mark = c->count;
	uint32_t joined = clock_join(c, clock, stamp.clock);
	return raise_since(c, joined, stamp.thread, stamp.count, mark);
}

uint32_t clock_receive_all(struct clocks *c, uint32_t clock, const struct stamp *stamps, uint32_t n, uint32_t own)
{
	for (uint32_t i = 0; i < n; i++) {
		struct stamp latest = stamps[i];
		if (!latest.count || latest.thread == own || clock_get(c, clock, latest.thread) >= latest.count)
			continue;
		/* All before it of its thread come with it. */
		for (uint32_t k = i + 1; k < n; k++)
			if (stamps[k].thread == latest.thread && stamps[k].count > latest.count)
				latest = stamps[k];
		clock = clock_receive(c, clock, latest, own);
	}
	return clock;
}
