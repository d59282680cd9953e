/*
 * Atomic instructions that are not events (struct rt_hidden_atomic), and whether they may order two events of different
 * threads that the trace leaves unordered. Their memory is unknown, so any two passages may be release and acquire.
 */
#ifndef LIB_SEARCH_HIDDEN_H
#define LIB_SEARCH_HIDDEN_H

#include "lib/anomaly/anomaly.h"

struct search_context;
struct hidden;

/* Reads the trace once if it has any. On RT_OK the caller owns *out; NULL: the trace has none. */
enum rt_status hidden_load(const struct model *m, struct hidden **out, struct rt_error *err);
/* NULL is allowed. */
void hidden_free(struct hidden *h);

/* The hidden atomic that may order the two events, in either direction; borrowed from the trace. NULL: none may. h may
 * be NULL. */
const struct rt_hidden_atomic *hidden_between(const struct hidden *h, const struct search_context *c, uint32_t e1,
                                              uint32_t e2);
/* The same, of the recorded run alone: NULL: none did there. */
const struct rt_hidden_atomic *hidden_in_run(const struct hidden *h, const struct search_context *c, uint32_t e1,
                                             uint32_t e2);
/* Limits anomalies that they may order to `predicted`. */
void hidden_cap(const struct hidden *h, const struct search_context *c, struct anomaly_list *list);

#endif
