/* Which member of which structure a lock is, by the DWARF of the module that has or allocated it. */
#ifndef CMD_RECORD_LOCK_TYPE_H
#define CMD_RECORD_LOCK_TYPE_H

#include "tracefmt/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* Modules whose debug information was opened. Zeros at first. */
struct lock_types {
	struct lock_module *modules;
	uint32_t count, room;
};

struct lock_type {
	char name[256];   /* "item.lock" */
	uint64_t element; /* bytes of the structure */
	uint64_t offset;  /* of the lock in it */
};

/* The type of a lock that is part of a variable. False: it is none of a structure, or not known. */
bool lock_type_of_variable(struct lock_types *t, const struct rt_module *module, uint64_t lock, struct lock_type *type);
/*
 * The same of a lock in a block from the heap: the one structure that the block can be an array of, of those that the
 * unit of the allocation knows. False: there is none, or there are several.
 */
bool lock_type_of_block(struct lock_types *t, const struct rt_module *module, uint64_t allocated_at, uint64_t block,
                        uint64_t offset, struct lock_type *type);
void lock_types_release(struct lock_types *t);

#endif
