/*
 * The partial and temporal order graph of PECAN (4.3, 5.1). Its nodes are the model's events. Solid edges are the
 * partial order relation: within a thread, program order, given by the thread's list; between threads, edges of
 * thread-communication events only (fork, join, wait and notify, and other communication of C programs), without
 * transitive ones. Dashed edges are the temporal order: consecutive accesses of one cell.
 */
#ifndef LIB_SEARCH_PTG_H
#define LIB_SEARCH_PTG_H

#include "lib/relation/por.h"

struct ptg;

/* Event indices in global order; borrowed from the graph or its model. */
struct ptg_list {
	const uint32_t *events;
	uint32_t count;
};

/* Builds the graph of a model from its partial order relation; both are borrowed. NULL without memory. */
struct ptg *ptg_create(const struct model *m, const struct segment_order *por);
void ptg_free(struct ptg *g);

struct ptg_list ptg_of_thread(const struct ptg *g, uint32_t thread);

/* Sources, in other threads, of the solid edges that end at e; most events have none. */
struct ptg_list ptg_por_into(const struct ptg *g, uint32_t e);

/* The access at the end, or at the beginning, of e's dashed edge along this cell; MODEL_NONE if there is none. */
uint32_t ptg_tor_after(const struct ptg *g, uint32_t e, uint32_t cell);
uint32_t ptg_tor_before(const struct ptg *g, uint32_t e, uint32_t cell);

#endif
