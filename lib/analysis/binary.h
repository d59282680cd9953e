/* Accesses that machine code shows may be atomic ones: races of two such are at most `predicted`. */
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

/* True if machine code does not tell that the access of memory is no atomic one, nor does its source line. */
bool binary_may_be_atomic(const struct model *m, struct snippets *sources, uint32_t e);

#endif
