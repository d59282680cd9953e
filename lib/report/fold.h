/* A described event's stack as people read it: calls within libraries are folded, as they have no use for them. */
#ifndef LIB_REPORT_FOLD_H
#define LIB_REPORT_FOLD_H

#include "lib/report/report.h"

/* One call, or several within libraries in a row. */
struct fold {
	size_t first, count;   /* numbers of the calls, from 0 for the innermost */
	struct rt_frame outer; /* the outermost of them, which the program's own code called */
	bool inlined;          /* that one */
	bool library;
};

/* Calls put for each, from the innermost. unfolded: each call by itself. What is not known of the outer end is left
 * out. d: NULL: not described. */
void fold_stack(const struct report *r, const struct description *d, bool unfolded,
                void (*put)(void *arg, const struct fold *fold), void *arg);

#endif
