/*
 * From code addresses to source positions, and the variables in memory: a trace carries these so that it can be read
 * without the binary. Reads the DWARF and the symbol tables of the program's modules, with libdw.
 */
#ifndef RECORDER_COLLECTOR_RESOLVE_H
#define RECORDER_COLLECTOR_RESOLVE_H

#include "recorder/collector/hidden_cache.h"
#include "recorder/collector/maps.h"
#include "tracefmt/native/writer.h"

struct resolver;

/* For modules at these addresses (they may be unloaded, but their files must exist). cache: borrowed; NULL: none. */
enum rt_status resolver_create(const struct modules *modules, struct hidden_cache *cache, struct resolver **out,
                               struct rt_error *err);
void resolver_free(struct resolver *r);

/*
 * libdw and libcapstone may crash where an allocation fails. If memory is limited (ulimit), a child process does first
 * what resolver_create and resolver_write will do here: false if it came to no good end. Writes nothing.
 */
bool resolver_can_write(const struct modules *modules, struct rt_writer *w, bool late);

#define RESOLVE_FRAMES_MAX 32
/*
 * Frames of a return address (the call before it is looked up), innermost inlined function first; at most
 * RESOLVE_FRAMES_MAX. 0: no known module contains it. Strings are valid as long as the resolver.
 */
size_t resolver_frames(struct resolver *r, uint64_t pc, struct rt_frame frames[RESOLVE_FRAMES_MAX]);

/* Names of the functions with atomic instructions that are not events, such as "f, g, ..."; NULL: there are none. Set
 * by resolver_write; borrowed. */
const char *resolver_hidden_atomics(const struct resolver *r);

/* Writes modules, atomic instructions that are not events, the positions of all written pcs, types and variables. late:
 * long after the run, when source files may have changed. */
enum rt_status resolver_write(struct resolver *r, struct rt_writer *w, bool late, struct rt_error *err);

#endif
