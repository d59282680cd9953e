/*
 * User places: where in the user's own source an event belongs. An access inside a container's header or a call of the
 * C library is the deed of the line that called it.
 */
#ifndef LIB_REPORT_PLACE_H
#define LIB_REPORT_PLACE_H

#include "lib/report/expression.h"
#include "lib/report/report.h"
#include "lib/report/subject.h"

struct place {
	const struct rt_frame *frame; /* NULL: nothing is known of the position */
	uint64_t pc;
	const struct rt_frame *callee; /* library's function that it calls, in which the access is; NULL: its own */
};

/* Innermost frame of the user's own source in a stack; where there is none, the innermost frame of all. What a library
 * without debug information does is the deed of the line that called it. */
struct place place_of_stack(const struct report *r, const uint64_t *stack, size_t count);
/* Where a described event allocates: outside of the user's functions that allocate for their callers. */
struct place place_of_allocation(const struct report *r, const struct description *alloc);
/* That of an event which the report describes. Of an acquire: outside of a function that locks for its callers. */
struct place place_of(const struct report *r, uint32_t e);
/* The user's own caller of that place's function; frame: NULL, there is none. */
struct place place_caller(const struct report *r, uint32_t e);
/* Innermost function of the user's own source that was active at both events of one thread; frame: NULL, there is none,
 * or only the thread's own routine may be meant. */
struct place place_of_both(const struct report *r, uint32_t e1, uint32_t e2);
/* The same number for the same source line; where no line is known, for the same function or program counter. */
uint64_t place_key(const struct place *place);
/* The same number for the same function of the same file. */
uint64_t place_function_key(const struct place *place);

/* The whole source line of the user's own access there; NULL: it is not known, or a library's function accesses. The
 * caller frees it. */
char *place_line(const struct report *r, const struct place *place);
/* The access's column in that line; 0: not known, as in Fortran, where it is that of the statement's end. */
uint32_t place_column(const struct place *place);
/* The object whose member function of a library the user's line calls at the place, as expression_called_for says it.
 * False: it is not known, or the access is the user's own. */
bool place_called_for(const struct report *r, const struct place *place, char name[EXPRESSION_MAX]);
/* What the user's line of an acquire locks, as expression_locked says it: the name of a lock that has none of its own.
 * Of a function that is handed a pointer to the lock, what its caller hands over.
 * False: it is not known, or the event is no acquire. acquire: NULL: not described. */
bool place_locked(const struct report *r, const struct description *acquire, char name[EXPRESSION_MAX]);
/* What the user's line of an event that frees names as freed; of a function that is handed a `void *` to free, what its
 * caller hands over. False: it is not known. */
bool place_freed(const struct report *r, const struct description *d, char name[EXPRESSION_MAX]);
/* "depend(mutexinoutset: sum)": the lock that stands for a dependence of OpenMP's tasks, by the variable or the
 * address. False: the acquire is of another lock. */
bool place_depends(const struct report *r, const struct description *acquire, char name[SUBJECT_NAME_MAX]);
/* The lock's name for people: its own, else what an acquire locks, else the block that it is in; "" if nothing is
 * known. block, acquire: NULL: not known. */
void place_lock_name(const struct report *r, uint64_t addr, const struct memory_block *block,
                     const struct description *acquire, char name[SUBJECT_NAME_MAX]);
/* The acquire of a held lock that names it: the call that took it, not a wait that took it again. */
const struct description *place_taken(const struct report *r, const struct held_lock *lock);
/* That of a lock which is held at a described event. */
void place_held_name(const struct report *r, const struct held_lock *lock, char name[SUBJECT_NAME_MAX]);

enum { PLACE_FUNCTION_MAX = 160 };
/* The function's name with what is between < and > left out: "std::map<>::find"; "a thread" where none is known. */
void place_function(const struct place *place, char name[PLACE_FUNCTION_MAX]);

#endif
