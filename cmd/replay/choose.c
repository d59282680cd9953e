/* The entries of a report that a replay is of; see choose.h. */
#include "cmd/replay/choose.h"

#include "cmd/try/ways.h"
#include "lib/report/findings.h"

#include <stdlib.h>
#include <string.h>

struct choosing {
	const struct report *r;
	const struct replay_options *o;
	bool watched;
	size_t *entries, count;
};

/* True if the entry is in the finding that is asked for. */
static bool is_of_finding(const struct choosing *c, const struct report_entry *e)
{
	const struct findings *all = c->r->findings;
	for (size_t i = 0; i < all->count; i++)
		for (size_t k = 0; k < all->items[i].entry_count; k++)
			if (!strcmp(all->items[i].id, c->o->finding) && &c->r->entries[all->items[i].entries[k]] == e)
				return true;
	return false;
}

/* True if machine code does not tell whether the race's accesses are atomic: that both are pending shows no race. */
static bool is_undecided(const struct choosing *c, const struct anomaly *a)
{
	return c->watched && anomaly_may_be_atomic(a);
}

/* True if runs may show it. An observed race that follows from what orders it is hardly ever pending. */
static bool may_be_shown(const struct report *r, const struct anomaly *a)
{
	return way_has_schedule(r, a) || (way_can_search(r, a) && (a->verdict < VERDICT_PROVED || !a->follows));
}

static bool is_wanted(const struct choosing *c, const struct report_entry *e)
{
	if (c->o->anomaly)
		return !strcmp(e->id, c->o->anomaly);
	if (is_undecided(c, e->anomaly))
		return false;
	if (c->o->finding)
		return is_of_finding(c, e) && (way_has_schedule(c->r, e->anomaly) || way_can_search(c->r, e->anomaly));
	return c->o->verdicts >> e->anomaly->verdict & 1 && may_be_shown(c->r, e->anomaly);
}

/* How soon an entry's turn comes. */
struct turn {
	size_t entry;
	enum verdict verdict;
	enum finding_level level;
	size_t round; /* how many of its finding come before it */
};

static int by_turn(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	if (x->verdict != y->verdict)
		return x->verdict > y->verdict ? -1 : 1;
	if (x->level != y->level)
		return x->level > y->level ? -1 : 1;
	if (x->round != y->round)
		return x->round < y->round ? -1 : 1;
	return x->entry < y->entry ? -1 : 1;
}

/* Time may not suffice for all: the likelier findings come first, and each has one tried before any has two. */
static bool take_turns(struct choosing *c)
{
	const struct findings *all = c->r->findings;
	struct turn *turns = calloc(c->r->count + 1, sizeof *turns);
	size_t n = 0;
	if (!turns)
		return false;
	for (size_t i = 0; i < c->r->count; i++)
		turns[i] = (struct turn){.entry = i, .verdict = c->r->entries[i].anomaly->verdict, .level = LEVEL_NOTE};
	for (size_t i = 0; i < all->count; i++)
		for (size_t k = 0; k < all->items[i].entry_count; k++) {
			turns[all->items[i].entries[k]].level = all->items[i].level;
			turns[all->items[i].entries[k]].round = k;
		}
	for (size_t i = 0; i < c->r->count; i++)
		if (is_wanted(c, &c->r->entries[i]))
			turns[n++] = turns[i];
	qsort(turns, n, sizeof *turns, by_turn);
	for (; c->count < n; c->count++)
		c->entries[c->count] = turns[c->count].entry;
	free(turns);
	return true;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Keeps as many as wanted, each as likely as another, in their order (selection sampling, Knuth 3.4.2). */
static void take_sample(struct choosing *c)
{
	size_t kept = 0;
	for (size_t i = 0; i < c->count; i++)
		if (mix(c->o->seed * UINT64_C(0x9e3779b97f4a7c15) + i) % (c->count - i) < c->o->sample - kept)
			c->entries[kept++] = c->entries[i];
	c->count = kept;
}

static enum rt_status choose(struct choosing *c, struct rt_error *err)
{
	const struct report *r = c->r;
	const char *path = rt_trace_info(r->analysis->trace)->path;
	c->entries = calloc(r->count + 1, sizeof *c->entries);
	if (!c->entries || !take_turns(c))
		return rt_error_set(err, RT_EMEMORY, "no memory to replay a report");
	if (c->o->sample && c->o->sample < c->count)
		take_sample(c);
	if (c->o->finding && !c->count)
		return rt_error_set(err, RT_EUSAGE, "there is no finding '%s' in '%s' that can be replayed",
		                    c->o->finding, path);
	if (c->o->anomaly && !c->count)
		return rt_error_set(err, RT_EUSAGE, "there is no anomaly '%s' in '%s'", c->o->anomaly, path);
	if (c->o->anomaly && is_undecided(c, r->entries[c->entries[0]].anomaly))
		return rt_error_set(err, RT_EUSAGE,
		                    "'%s' cannot be replayed: machine code does not tell whether its accesses are "
		                    "atomic; give a build with gcc -fsanitize=thread after '--'",
		                    c->o->anomaly);
	if (c->o->anomaly && !way_has_schedule(r, r->entries[c->entries[0]].anomaly) &&
	    !way_can_search(r, r->entries[c->entries[0]].anomaly))
		return rt_error_set(err, RT_EUSAGE, "'%s' cannot be replayed: it has no schedule", c->o->anomaly);
	return RT_OK;
}

enum rt_status replay_choose(const struct report *r, const struct replay_options *options, bool watched,
                             size_t **entries, size_t *count, struct rt_error *err)
{
	struct choosing c = {.r = r, .o = options, .watched = watched};
	enum rt_status status = choose(&c, err);
	*entries = c.entries;
	*count = c.count;
	return status;
}
