/*
 * Which accesses race with a write in the recorded run. The recorder reads a value beside the access, not with it
 * (recorder/runtime/value.c): where another thread's write may have come in between, the value may be another one. A
 * value counts as recorded only if no write of another thread to the cell is unordered with the access by the
 * happens-before of the run (two atomic operations are stamped in their order). In a trace whose order is exact an
 * access and its value are one.
 */
#ifndef LIB_RELATION_RACED_H
#define LIB_RELATION_RACED_H

#include "lib/relation/facts.h"

/* Fills in m->raced if the trace has values and its order is stamped. f: of this model.
 * Until then no value of such a trace counts. */
enum rt_status raced_find(struct model *m, struct facts *f, struct rt_error *err);

#endif
