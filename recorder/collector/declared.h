/*
 * What the functions of a trace's positions declare, for the report: the classes of their variables, of the unit's
 * global ones, and these classes' members. All of the program's own source.
 */
#ifndef RECORDER_COLLECTOR_DECLARED_H
#define RECORDER_COLLECTOR_DECLARED_H

#include "recorder/collector/debug.h"
#include "tracefmt/native/writer.h"

/* Zeroed: nothing is known yet. */
struct declared {
	struct declared_name *names; /* in the order in which they were found */
	struct declared_seen *seen;
	bool failed; /* there was no memory */
};

/* Adds what the function declares that a scope is, or that is inlined there; each once. function: its whole name. */
void declared_add(struct declared *d, struct debug_unit *unit, uint32_t scope, const char *function);
enum rt_status declared_write(const struct declared *d, struct rt_writer *w, struct rt_error *err);
void declared_release(struct declared *d);

#endif
