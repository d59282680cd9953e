/* Names for the STD exporter: valid in the format, different for different objects. */
#ifndef TRACEFMT_STD_NAMES_H
#define TRACEFMT_STD_NAMES_H

#include "lib/base/names.h"
#include "tracefmt/std/cells.h"
#include "tracefmt/trace.h"

struct std_names {
	const struct rt_trace *trace;
	bool verbatim; /* the source is STD itself: its names may have parentheses */
	struct names threads, variables, locks;
	uint32_t *thread_names; /* by thread: index into threads */
	const struct cells *cells;
	struct std_cell_name {
		uint32_t name; /* index into variables, from 1; 0: none yet */
		uint32_t generation;
	} * cell_names;       /* by cell */
	struct names objects; /* the object of a lock's or variable's name: kind, address, thread */
	uint32_t *object_names;
	uint32_t object_room;
	uint32_t unnamed_variables, unnamed_locks;
};

/* Kinds of locks in the output. */
enum std_lock {
	STD_LOCK,
	STD_READER, /* one thread's part of a lock that is also taken shared */
	STD_ORDER,  /* an object that is not a lock but orders threads */
	STD_ATOMIC  /* makes the atomic operations on a cell exclude each other */
};

/* False: no memory. names is zeroed before. cells may be NULL until std_names_cells. */
bool std_names_init(struct std_names *names, const struct rt_trace *trace);
bool std_names_cells(struct std_names *names, const struct cells *cells);
void std_names_release(struct std_names *names);

/* All NULL: no memory. Borrowed until std_names_release. */
const char *std_name_thread(const struct std_names *names, uint32_t thread);
const char *std_name_cell(struct std_names *names, size_t cell);
/* address: of the lock; STD_ATOMIC: the cell's index. thread: STD_READER's. */
const char *std_name_lock(struct std_names *names, enum std_lock kind, uint64_t address, uint32_t thread);
/* The variable through which an object that is not a lock passes its order on. */
const char *std_name_message(struct std_names *names, uint64_t address);
/* Copies text without characters that would end a field or that RAPID splits at. */
void std_name_text(const struct std_names *names, char *out, size_t size, const char *text);

#endif
