/*
 * Atomic instructions that are no events (struct rt_hidden_atomic): may they order two events of different threads that
 * the trace leaves unordered? What memory they are on is not known, so any two passages may be release and acquire.
 */
#ifndef LIB_SEARCH_HIDDEN_H
#define LIB_SEARCH_HIDDEN_H

#include "lib/anomaly/anomaly.h"

struct search_context;
struct hidden;

/* Goes through the trace once if it has any. On RT_OK *out is owned by the caller; NULL: it has none. */
enum rt_status hidden_load(const struct model *m, struct hidden **out, struct rt_error *err);
/* NULL is allowed. */
void hidden_free(struct hidden *h);

/*
 * May a hidden atomic order the two events, in either direction? One of the functions in which, or NULL. h may be NULL.
 * The name lives as long as the trace; "" where it is unknown.
 */
const char *hidden_between(const struct hidden *h, const struct search_context *c, uint32_t e1, uint32_t e2);
/* Holds what they may order to `predicted`. */
void hidden_cap(const struct hidden *h, const struct search_context *c, struct anomaly_list *list);

#endif
