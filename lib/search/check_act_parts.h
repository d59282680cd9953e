/* What the search for check-then-act is made of: its candidates, and whether one call has both events (check_act.c). */
#ifndef LIB_SEARCH_CHECK_ACT_PARTS_H
#define LIB_SEARCH_CHECK_ACT_PARTS_H

#include "lib/trace/model.h"

struct check_act_candidate {
	uint32_t e1, e3, cell, thread;
	uint32_t lock, counted; /* of a look-up: the cell that counts references; else MODEL_NONE */
	/* The section of e3 reads the cell again, in a call that replaces an element; MODEL_NONE: not so. */
	uint32_t again;
	bool inner;      /* e1 is such a read of another candidate */
	uint32_t depth;  /* number of calls that were open all the time */
	uint64_t *sites; /* positions of the calls that are open at e1, and e1's own; NULL: not set yet, or released */
	uint32_t open;
	bool one_call; /* both are in one call that the program's own source makes; inner: that replaces an element */
};

/* True if the frame is of the program's own source. */
bool check_act_is_own(const struct rt_frame *f);
/* Sorts the candidates by their first events, and determines which are in one call of a function. */
enum rt_status check_act_find_calls(const struct model *m, struct check_act_candidate *candidates, uint32_t count,
                                    struct rt_error *err);

#endif
