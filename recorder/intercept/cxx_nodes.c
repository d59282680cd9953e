/*
 * What libstdc++ does to the nodes of std::map, std::set and std::list inside, where no compiler puts hooks: it links
 * and unlinks them, and goes from one to the next. Without that a search that reads a map has nothing in common with
 * what inserts into it but the number of elements.
 *
 * Of a call only accesses that it makes in any case are recorded. To rotate a tree is left out: which nodes that writes
 * is not known before. The layouts are those of libstdc++.so.6.
 */
#include "recorder/runtime/core.h"

struct tree_node {
	int colour;
	struct tree_node *parent, *left, *right;
};

struct list_node {
	struct list_node *next, *previous;
};

static void note(unsigned op, struct tree_node *const *link, uintptr_t pc)
{
	rt_emit_range(op, link, sizeof *link, pc);
}

/* header: its parent is the root, left and right are the first and the last node; it is the root's parent. */
RT_INTERPOSE(void, _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_,
             (bool left, struct tree_node *x, struct tree_node *parent, struct tree_node *header))
{
	rt_emit_range(RT_OP_WRITE, x, sizeof *x, RT_PC);
	note(RT_OP_WRITE, left ? &parent->left : &parent->right, RT_PC);
	if (left && parent == header) {
		note(RT_OP_WRITE, &header->parent, RT_PC);
		note(RT_OP_WRITE, &header->right, RT_PC);
	} else if (left && parent == header->left) {
		note(RT_OP_WRITE, &header->left, RT_PC);
	} else if (!left && parent == header->right) {
		note(RT_OP_WRITE, &header->right, RT_PC);
	}
	RT_REAL(_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_)(left, x, parent, header);
}

RT_INTERPOSE(struct tree_node *, _ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_,
             (struct tree_node * x, struct tree_node *header))
{
	rt_emit_range(RT_OP_READ, &x->parent, sizeof *x - offsetof(struct tree_node, parent), RT_PC);
	if (header->parent == x)
		note(RT_OP_WRITE, &header->parent, RT_PC);
	else
		note(RT_OP_WRITE, x->parent->left == x ? &x->parent->left : &x->parent->right, RT_PC);
	if (header->left == x)
		note(RT_OP_WRITE, &header->left, RT_PC);
	if (header->right == x)
		note(RT_OP_WRITE, &header->right, RT_PC);
	return RT_REAL(_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_)(x, header);
}

/* Reads of the way to the next node: down in its right branch, or up. */
static void note_next(struct tree_node *x, uintptr_t pc)
{
	note(RT_OP_READ, &x->right, pc);
	if (x->right) {
		for (x = x->right; x; x = x->left)
			note(RT_OP_READ, &x->left, pc);
		return;
	}
	struct tree_node *up = x->parent;
	for (note(RT_OP_READ, &x->parent, pc); x == up->right; up = up->parent) {
		note(RT_OP_READ, &up->right, pc);
		note(RT_OP_READ, &up->parent, pc);
		x = up;
	}
	note(RT_OP_READ, &up->right, pc);
}

#define NEXT(name)                                                                                                     \
	RT_INTERPOSE(struct tree_node *, name, (struct tree_node * x))                                                 \
	{                                                                                                              \
		note_next(x, RT_PC);                                                                                   \
		return RT_REAL(name)(x);                                                                               \
	}
NEXT(_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base)
NEXT(_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base)

static void note_list(unsigned op, struct list_node *const *link, uintptr_t pc)
{
	rt_emit_range(op, link, sizeof *link, pc);
}

RT_INTERPOSE(void, _ZNSt8__detail15_List_node_base7_M_hookEPS0_, (struct list_node * x, struct list_node *before))
{
	rt_emit_range(RT_OP_WRITE, x, sizeof *x, RT_PC);
	note_list(RT_OP_READ, &before->previous, RT_PC);
	note_list(RT_OP_WRITE, &before->previous->next, RT_PC);
	note_list(RT_OP_WRITE, &before->previous, RT_PC);
	RT_REAL(_ZNSt8__detail15_List_node_base7_M_hookEPS0_)(x, before);
}

RT_INTERPOSE(void, _ZNSt8__detail15_List_node_base9_M_unhookEv, (struct list_node * x))
{
	rt_emit_range(RT_OP_READ, x, sizeof *x, RT_PC);
	note_list(RT_OP_WRITE, &x->previous->next, RT_PC);
	note_list(RT_OP_WRITE, &x->next->previous, RT_PC);
	RT_REAL(_ZNSt8__detail15_List_node_base9_M_unhookEv)(x);
}

/* Moves the nodes from `first` to the one before `last`. */
RT_INTERPOSE(void, _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_,
             (struct list_node * x, struct list_node *first, struct list_node *last))
{
	struct list_node *const ends[] = {last, first, x};
	for (size_t i = 0; x != last && i < sizeof ends / sizeof *ends; i++) {
		note_list(RT_OP_READ, &ends[i]->previous, RT_PC);
		note_list(RT_OP_WRITE, &ends[i]->previous->next, RT_PC);
		note_list(RT_OP_WRITE, &ends[i]->previous, RT_PC);
	}
	RT_REAL(_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_)(x, first, last);
}
