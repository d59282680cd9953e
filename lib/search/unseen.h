/*
 * What uninstrumented modules read and write: no event tells, so a schedule must not bring it to another time. A race
 * that such a write forbids was proved: a thread goes on only where a library has left a value that it reads.
 */
#ifndef LIB_SEARCH_UNSEEN_H
#define LIB_SEARCH_UNSEEN_H

#include "lib/anomaly/anomaly.h"
#include "lib/search/passages.h"

/*
 * The code that may read or write something else in the anomaly's schedule than in the trace, so that a thread may not
 * come to the anomaly's events; borrowed from the passages. NULL: none may. An anomaly whose verdict needs a schedule,
 * and which has none, may be of any.
 */
const struct rt_hidden_atomic *unseen_in(const struct passages *writers, const struct passages *readers,
                                         const struct anomaly *a);

#endif
