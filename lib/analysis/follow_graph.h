/*
 * The graph for follow.c: happens-before, with an edge from each write to the racing reads that may have seen it, and
 * to the reads of a relaxed atomic that did. In a trace of exact order a read saw the last write before it (SHB, OOPSLA
 * 2018). In a stamped one a plain read may have seen any write that it races with, whichever is first, unless
 * synchronisation or the stamps of whole turns show that the read was over before. An edge is doubtful if the thread's
 * later reads at its place went another way behind the last write: it then saw an earlier one.
 *
 * The cost of a query does not depend on the length of the trace. By thread order only the earliest reached event of
 * each thread matters, and the targets of its edges are found by binary search.
 */
#ifndef LIB_ANALYSIS_FOLLOW_GRAPH_H
#define LIB_ANALYSIS_FOLLOW_GRAPH_H

#include "lib/relation/por.h"

/* Two source positions; relaxed: of atomics. The edges between them have one label. */
struct follow_label {
	uint64_t low, high, relaxed;
};
struct follow_labels;

/* From the w-th event of thread u to the r-th of v. */
struct follow_edge {
	uint32_t label, u, v, doubtful, w, r;
};
/* Those of one label between two threads, all doubtful or none: both w and r rise. */
struct follow_edges {
	uint32_t label, u, v, doubtful;
	const struct follow_edge *edges;
	uint32_t count;
};
/* A reached event: the target of an edge, or the start of the search. */
struct follow_node {
	uint32_t thread, pos;
	uint32_t label, write; /* label: MODEL_NONE: it is the start; write: event index */
	uint32_t parent;       /* index into nodes */
};

struct follow_graph {
	const struct model *m; /* borrowed */
	const struct segment_order
	    *order; /* borrowed: happens-before, with which it is built; queries may use another */
	bool exact;
	bool strict;   /* doubtful edges do not count; the caller sets it */
	bool failed;   /* no memory */
	uint64_t work; /* comparisons of clocks and positions so far */
	uint64_t bound;
	struct follow_labels *labels;
	uint32_t label_count;
	bool *off; /* by label: its edges do not count; set by the caller once the edges are made */
	struct follow_edge *edges;
	uint32_t edge_count, edge_capacity;
	struct follow_edges *lists;
	uint32_t list_count;
	uint32_t *of_thread;     /* by thread: the first list with it as u */
	uint32_t *begins, *ends; /* by segment: event indices of the synchronisation before and after it */
	uint32_t *next_turn;     /* by turn: the first event of its thread's next one */
	/* Of the last query. */
	uint32_t cell; /* of the pair's first event */
	struct follow_node *nodes;
	uint32_t node_count, node_capacity;
	uint32_t *arrived,
	    *known; /* by thread: pos of the event that an edge reaches; of the first that one may leave */
};

/* bound: most work. False without memory; the caller releases it in any case. */
bool follow_graph_init(struct follow_graph *g, const struct model *m, const struct segment_order *hb, bool exact,
                       uint64_t bound);
void follow_graph_release(struct follow_graph *g);
/* Number of the label of these positions; make: adds one if there is none; otherwise MODEL_NONE. */
uint32_t follow_label(struct follow_graph *g, uint64_t p1, uint64_t p2, bool relaxed, bool make);
/* Makes the edges of all existing labels, and of relaxed atomics, whose labels it adds. */
void follow_graph_build(struct follow_graph *g);
/*
 * The end node of a path from e1 to e2 (unordered by `order`) without an edge to e2 itself; parents lead back to the
 * start. MODEL_NONE: there is no path, or the bound was reached.
 */
uint32_t follow_reaches(struct follow_graph *g, uint32_t e1, uint32_t e2);
/* True if the bound was reached or memory ran out: its answers are then void. */
static inline bool follow_spent(const struct follow_graph *g)
{
	return g->failed || g->work > g->bound;
}

#endif
