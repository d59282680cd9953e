/*
 * From code addresses to source positions, and which variables lie where: what a trace carries so that it can be read
 * without the binary. Reads the DWARF and the symbol tables of what the program had loaded, with libdw.
 */
#ifndef RECORDER_COLLECTOR_RESOLVE_H
#define RECORDER_COLLECTOR_RESOLVE_H

#include "recorder/collector/maps.h"
#include "tracefmt/native/writer.h"

struct resolver;

/* For modules at these addresses (they need not be loaded any more, but their files must exist). */
enum rt_status resolver_create(const struct modules *modules, struct resolver **out, struct rt_error *err);
void resolver_free(struct resolver *r);

#define RESOLVE_FRAMES_MAX 32
/*
 * Frames of a return address (the call before it is what is looked up), innermost inlined function first; at most
 * RESOLVE_FRAMES_MAX. 0: it is in no known module. Strings live as long as the resolver.
 */
size_t resolver_frames(struct resolver *r, uint64_t pc, struct rt_frame frames[RESOLVE_FRAMES_MAX]);

/* Names of the functions with atomic instructions that are no events, such as "f, g, ..."; NULL: there are none.
 * Known once resolver_write was called; borrowed. */
const char *resolver_hidden_atomics(const struct resolver *r);

/* Writes modules, atomic instructions that are no events, the positions of all pcs that were written, types and
 * variables. late: long after the run, so nothing is known of the source files as they were. */
enum rt_status resolver_write(struct resolver *r, struct rt_writer *w, bool late, struct rt_error *err);

#endif
