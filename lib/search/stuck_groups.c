/* Groups of stuck threads; see stuck_groups.h. */
#include "lib/search/stuck_groups.h"

#include "lib/base/free.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

struct grouping {
	const struct stuck_needs *by;
	uint32_t *length; /* by thread: length of the shortest ring that it is in, 0: none */
	uint32_t *group;  /* by thread: its group's index + 1; 0: none yet */
	uint32_t *queue, *from;
};

static uint32_t block_of(const struct stuck_needs *by, uint32_t thread)
{
	return by->m->threads[thread].block;
}

/* Breadth-first search from a thread. from[]: the thread that led to each, + 1; the start itself only if it is in a
 * ring. Returns the number of threads in queue. */
static uint32_t walk(struct grouping *f, uint32_t thread)
{
	uint32_t count = 0;
	if (f->by->first[thread] == f->by->first[thread + 1])
		return 0;
	memset(f->from, 0, f->by->threads * sizeof *f->from);
	for (uint32_t next = 0, t = thread;; t = f->queue[next++]) {
		for (uint32_t i = f->by->first[t]; i < f->by->first[t + 1]; i++)
			if (!f->from[f->by->needs[i]]) {
				f->from[f->by->needs[i]] = t + 1;
				f->queue[count++] = f->by->needs[i];
			}
		if (next == count)
			return count;
	}
}

static uint32_t ring_length(struct grouping *f, uint32_t thread)
{
	uint32_t length = 1;
	if (!walk(f, thread) || !f->from[thread])
		return 0;
	for (uint32_t t = f->from[thread] - 1; t != thread; t = f->from[t] - 1)
		length++;
	return length;
}

/* A group with room for all threads that are in none yet. */
static struct stuck_group *add_group(struct grouping *f, struct stuck *out)
{
	if (!vec_reserve(&out->groups, &out->capacity, (uint64_t)out->count + 1, sizeof *out->groups))
		return NULL;
	struct stuck_group *g = &out->groups[out->count];
	*g = (struct stuck_group){.waits = malloc(((size_t)f->by->threads + 1) * sizeof *g->waits)};
	if (!g->waits)
		return NULL;
	out->count++;
	return g;
}

static void join_group(struct grouping *f, struct stuck *out, uint32_t index, uint32_t thread)
{
	struct stuck_group *g = &out->groups[index];
	g->waits[g->count++] = block_of(f->by, thread);
	f->group[thread] = index + 1;
}

/* The ring through the thread, its earliest event first. */
static bool add_ring(struct grouping *f, struct stuck *out, uint32_t thread)
{
	struct stuck_group *g = add_group(f, out);
	if (!g)
		return false;
	uint32_t length = f->length[thread];
	walk(f, thread);
	for (uint32_t i = length, t = thread; i-- > 0; t = f->from[t] - 1)
		f->queue[(i + 1) % length] = t;
	g->cycle = length;
	for (uint32_t i = 0; i < length; i++)
		join_group(f, out, out->count - 1, f->queue[i]);
	return true;
}

/* The group that the thread waits for, directly or indirectly; 0: none. */
static uint32_t group_ahead(struct grouping *f, uint32_t thread)
{
	uint32_t count = walk(f, thread);
	for (uint32_t i = 0; i < count; i++)
		if (f->group[f->queue[i]])
			return f->group[f->queue[i]];
	return 0;
}

/* The shortest, then earliest ring with no thread in a group, and no path to one; returns the thread that begins it. */
static uint32_t next_ring(struct grouping *f)
{
	uint32_t best = MODEL_NONE;
	for (uint32_t t = 0; t < f->by->threads; t++) {
		if (!f->length[t] || f->group[t] || group_ahead(f, t))
			continue;
		if (best == MODEL_NONE || f->length[t] < f->length[best] ||
		    (f->length[t] == f->length[best] && block_of(f->by, t) < block_of(f->by, best)))
			best = t;
	}
	return best;
}

/* Those that wait for a thread of the group, directly or indirectly. */
static void join_behind(struct grouping *f, struct stuck *out, uint32_t index)
{
	for (uint32_t t = 0; t < f->by->threads; t++)
		if (!f->group[t] && f->by->stuck[t] && group_ahead(f, t) == index + 1)
			join_group(f, out, index, t);
}

/* Puts each stuck thread into a group. False without memory. */
static bool group_all(struct grouping *f, struct stuck *out)
{
	const struct stuck_needs *by = f->by;
	for (uint32_t t = 0; t < by->threads; t++)
		f->length[t] = ring_length(f, t);
	for (uint32_t t; (t = next_ring(f)) != MODEL_NONE;)
		if (!add_ring(f, out, t))
			return false;
	uint32_t rings = out->count;
	for (uint32_t i = 0; i < rings; i++)
		join_behind(f, out, i);
	/* Where threads are in a deadlock, it may be what keeps them from giving what others wait for. */
	for (uint32_t t = 0; t < by->threads && rings; t++)
		if (!f->group[t] && by->stuck[t] && by->first[t] == by->first[t + 1] &&
		    stuck_awaits_any(model_arg(by->m, block_of(by, t))))
			join_group(f, out, 0, t);
	if (rings)
		join_behind(f, out, 0);
	/* The remaining threads wait for what no thread can provide: first those that wait for no thread, then those
	 * that wait for these. */
	for (int behind = 0; behind < 2; behind++)
		for (uint32_t t = 0; t < by->threads; t++) {
			if (f->group[t] || !by->stuck[t] || (!behind && by->first[t] != by->first[t + 1]))
				continue;
			if (out->count == rings && !add_group(f, out))
				return false;
			join_group(f, out, rings, t);
		}
	return true;
}

bool stuck_group_all(const struct stuck_needs *by, struct stuck *out)
{
	size_t room = (size_t)by->threads + 1;
	struct grouping f = {.by = by,
	                     .length = calloc(room, sizeof *f.length),
	                     .group = calloc(room, sizeof *f.group),
	                     .queue = calloc(room, sizeof *f.queue),
	                     .from = calloc(room, sizeof *f.from)};
	bool ok = f.length && f.group && f.queue && f.from && group_all(&f, out);
	free_all(f.length, f.group, f.queue, f.from);
	return ok;
}
