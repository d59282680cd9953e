/* Limits races that machine code shows to `predicted` if its accesses may be atomic ones. */
#ifndef LIB_ANALYSIS_BINARY_H
#define LIB_ANALYSIS_BINARY_H

#include "lib/anomaly/anomaly.h"
#include "lib/trace/snippet.h"

/*
 * Call it when the anomaly is decided and its evidence gathered. A race is certain where no atomic operation is
 * compiled to the instruction of one of its accesses, or the source lines of both call none. `observed` besides means
 * that no load has seen a store on the way from one to the other, which an acquire and a release would order: the pair
 * is unordered by shb.
 */
void binary_cap(const struct model *m, struct snippets *sources, struct anomaly *a);

#endif
