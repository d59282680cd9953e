/*
 * The graph that follow.c asks: happens-before, with an edge from each write to the racing reads that may have seen it,
 * and to the reads of a relaxed atomic that did. In a trace of exact order a read saw the last write before it (SHB,
 * OOPSLA 2018). In a stamped one a plain read may have seen any write that it races with, whichever stands first,
 * unless synchronisation or the stamps of whole turns show that the read was over before.
 *
 * A question costs nothing by the length of the trace: by thread order the earliest event of each thread that is
 * reached is all there is to know, and what an edge leads to is found by binary search.
 */
#ifndef LIB_ANALYSIS_FOLLOW_GRAPH_H
#define LIB_ANALYSIS_FOLLOW_GRAPH_H

#include "lib/order/order.h"

/* Two source positions; relaxed: of atomics. The edges between them have one label. */
struct follow_label {
	uint64_t low, high, relaxed;
};
struct follow_labels;

/* From the w-th event of thread u to the r-th of v. */
struct follow_edge {
	uint32_t label, u, v, w, r;
};
/* Those of one label between two threads: both w and r rise. */
struct follow_edges {
	uint32_t label, u, v;
	const struct follow_edge *edges;
	uint32_t count;
};
/* An event that is reached: by an edge, or as where the search begins. */
struct follow_node {
	uint32_t thread, pos;
	uint32_t label, write; /* label: MODEL_NONE: it is the beginning; write: event index */
	uint32_t parent;       /* index into nodes */
};

struct follow_graph {
	const struct model *m;         /* borrowed */
	const struct order_result *hb; /* borrowed */
	bool exact;
	bool failed;   /* no memory */
	uint64_t work; /* comparisons of clocks and positions so far */
	uint64_t bound;
	struct follow_labels *labels;
	uint32_t label_count;
	bool *off; /* by label: its edges do not count; the caller's to change once the edges are made */
	struct follow_edge *edges;
	uint32_t edge_count, edge_capacity;
	struct follow_edges *lists;
	uint32_t list_count;
	uint32_t *of_thread;     /* by thread: the first list with it as u */
	uint32_t *begins, *ends; /* by segment: event indices of the synchronisation before and behind it */
	uint32_t *next_turn;     /* by turn: the first event of its thread's next one */
	/* Of the last question. */
	struct follow_node *nodes;
	uint32_t node_count, node_capacity;
	uint32_t *arrived, *known; /* by thread: pos of what is reached by an edge; of where an edge may start */
};

/* bound: work that may be done. False without memory; to be released in any case. */
bool follow_graph_init(struct follow_graph *g, const struct model *m, const struct order_result *hb, bool exact,
                       uint64_t bound);
void follow_graph_release(struct follow_graph *g);
/* Number of the label of these positions; make: a new one if there is none; else MODEL_NONE. */
uint32_t follow_label(struct follow_graph *g, uint64_t pc1, uint64_t pc2, bool relaxed, bool make);
/* Makes the edges of all labels that there are, and of relaxed atomics, whose labels it makes. */
void follow_graph_build(struct follow_graph *g);
/*
 * Does a path lead from e1 to e2, unordered by hb, without an edge to e2 itself? The node it ends at, from which
 * parents lead back to the first; MODEL_NONE: there is no path, or too much was done already.
 */
uint32_t follow_reaches(struct follow_graph *g, uint32_t e1, uint32_t e2);
/* Is it beyond its bound, or without memory? Then what it says counts no more. */
static inline bool follow_spent(const struct follow_graph *g)
{
	return g->failed || g->work > g->bound;
}

#endif
