/*
 * The variables of a build that a trace has events of, by name. A variable is known by its name, with members and
 * indices, and its file; two that agree in both are not told apart.
 */
#ifndef LIB_SCHEDULE_VARIABLES_H
#define LIB_SCHEDULE_VARIABLES_H

#include "tracefmt/trace.h"

struct variables;

/* An empty table of a trace's variables, which is borrowed; NULL without memory. Owned by the caller. */
struct variables *variables_create(const struct rt_trace *trace);
/* NULL is allowed. */
void variables_free(struct variables *v);
/* The variable that an event's memory is of, if there is one. False: no memory. */
bool variables_add(struct variables *v, uint64_t address);
/* The address here of the variable that another trace has at an address; 0: it is of none that was added. */
uint64_t variables_find(const struct variables *v, const struct rt_trace *other, uint64_t address);

#endif
