/*
 * Call stacks of described events; see describe_parts.h. They are rebuilt from ENTER and LEAVE as lists of nodes that
 * share their outer parts. A node is kept while its call is open or while a saved event (an allocation, an acquire, a
 * fork) refers to it.
 */
#include "lib/report/describe_parts.h"

#include "lib/trace/modules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROOT = DESCRIBE_ROOT,
	NODES_MAX = 1 << 24,     /* most calls open or referred to; more are only counted */
	STACK_GROW_NODES = 1024, /* first size of the node table */
};

bool describe_stacks_init(struct describing *p)
{
	p->nodes = calloc(STACK_GROW_NODES, sizeof *p->nodes);
	p->node_count = ROOT + 1;
	p->node_capacity = STACK_GROW_NODES;
	return p->nodes;
}

static void node_release(struct describing *p, uint32_t node)
{
	while (node != ROOT && --p->nodes[node].references == 0) {
		uint32_t parent = p->nodes[node].parent;
		p->nodes[node].parent = p->node_free;
		p->node_free = node;
		node = parent;
	}
}

/* A new node inside parent, whose reference it takes; ROOT if there is no room. */
static uint32_t node_create(struct describing *p, uint64_t pc, uint32_t parent)
{
	uint32_t node = p->node_free;
	if (node != ROOT) {
		p->node_free = p->nodes[node].parent;
	} else {
		if (p->node_count == p->node_capacity) {
			uint32_t capacity = p->node_capacity ? p->node_capacity * 2 : STACK_GROW_NODES;
			struct call_node *nodes =
			    capacity > NODES_MAX ? NULL : realloc(p->nodes, capacity * sizeof *nodes);
			if (!nodes)
				return ROOT;
			p->nodes = nodes;
			p->node_capacity = capacity;
		}
		node = p->node_count++;
	}
	p->nodes[node] = (struct call_node){.pc = pc, .parent = parent, .references = 1};
	return node;
}

/* True if it is a call in the recorder, which is between the program and a library that calls it back. */
static bool in_recorder(const struct describing *p, uint64_t pc)
{
	size_t n = 0;
	const struct rt_frame *frames = rt_trace_frames(p->trace, pc, &n);
	const char *module = n ? frames[0].module : NULL;
	return module && module_is_recorder(module);
}

void describe_enter(struct describing *p, struct described_thread *t, uint64_t pc)
{
	uint32_t node = t->uncounted ? ROOT : node_create(p, pc, t->node);
	t->depth++;
	/* The recorder calls the handler, as the event behind the signal's arrival. */
	if (node != ROOT && t->delivered && in_recorder(p, pc))
		p->nodes[node].signal = t->delivered;
	if (node == ROOT)
		t->uncounted++;
	else
		t->node = node;
}

/* A LEAVE without its ENTER (the recording began inside the call) changes nothing. */
void describe_leave(struct describing *p, struct described_thread *t)
{
	if (t->depth)
		t->depth--;
	if (t->uncounted) {
		t->uncounted--;
		return;
	}
	uint32_t node = t->node;
	if (node == ROOT)
		return;
	t->node = p->nodes[node].parent;
	if (t->node != ROOT)
		p->nodes[t->node].references++;
	node_release(p, node);
}

/* Saved events */

void describe_forget(struct describing *p, struct saved_event *s)
{
	if (s->used)
		node_release(p, s->node);
	*s = (struct saved_event){0};
}

void describe_refer(struct describing *p, const struct saved_event *s)
{
	if (s->used && s->node != ROOT)
		p->nodes[s->node].references++;
}

void describe_save(struct describing *p, struct saved_event *s, const struct rt_event *event)
{
	uint32_t node = p->threads[event->thread].node;
	if (node != ROOT)
		p->nodes[node].references++;
	describe_forget(p, s);
	*s = (struct saved_event){.event = *event, .node = node, .used = true};
}

/* The entry of an event; created if absent, with its stack only. NULL without memory. */
struct description *describe_entry(struct describing *p, const struct rt_event *event, uint32_t node, bool *is_new)
{
	struct described *e;
	HASH_FIND(hh, p->out->entries, &event->number, sizeof event->number, e);
	*is_new = !e;
	if (e)
		return &e->d;
	size_t depth = 1;
	for (uint32_t n = node; n != ROOT && depth < LIMIT_STACK_FRAMES_MAX; n = p->nodes[n].parent)
		depth++;
	e = calloc(1, sizeof *e);
	uint64_t *stack = malloc(depth * sizeof *stack);
	if (!e || !stack) {
		free(e);
		free(stack);
		p->no_memory = true;
		return NULL;
	}
	stack[0] = event->pc;
	size_t kept = 1;
	for (uint32_t n = node; n != ROOT && !e->d.signal; n = p->nodes[n].parent)
		e->d.signal = p->nodes[n].signal;
	for (size_t i = 1; i < depth; i++) {
		if (!in_recorder(p, p->nodes[node].pc))
			stack[kept++] = p->nodes[node].pc;
		node = p->nodes[node].parent;
	}
	e->d.event = *event;
	e->d.stack = stack;
	e->d.stack_count = kept;
	e->d.stack_cut = node != ROOT;
	p->out->cut |= e->d.stack_cut;
	HASH_ADD(hh, p->out->entries, d.event.number, sizeof event->number, e);
	if (HASH_ADDED(e))
		return &e->d;
	free(stack);
	free(e);
	p->no_memory = true;
	return NULL;
}

/* Describes a saved event that a query leads to; returns its number, 0 if there is none. */
uint64_t describe_saved(struct describing *p, const struct saved_event *s)
{
	bool is_new;
	if (!s->used)
		return 0;
	struct description *d = describe_entry(p, &s->event, s->node, &is_new);
	if (d && is_new && s->event.thread < p->thread_count)
		d->fork = p->threads[s->event.thread].fork.event.number;
	return s->event.number;
}

void description_signal(const struct description *d, char name[DESCRIPTION_SIGNAL_MAX])
{
	const char *known = d && d->signal ? sigabbrev_np((int)d->signal) : NULL;
	name[0] = '\0';
	if (known)
		snprintf(name, DESCRIPTION_SIGNAL_MAX, "SIG%s", known);
	else if (d && d->signal)
		snprintf(name, DESCRIPTION_SIGNAL_MAX, "signal %" PRIu32, d->signal);
}
