/* By access: the last write of its cell before it in the trace, which is what a read saw. */
#ifndef LIB_RELATION_LAST_WRITES_H
#define LIB_RELATION_LAST_WRITES_H

#include "lib/trace/model.h"

struct last_writes {
	uint32_t *before; /* by entry of cell_events: entry of the last write before, MODEL_NONE: initial content */
	uint32_t *entry;  /* by event: its entry in its first cell */
};

/* False without memory. */
bool last_writes_init(struct last_writes *w, const struct model *m);
void last_writes_release(struct last_writes *w);

#endif
