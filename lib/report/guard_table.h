/*
 * The guards of all variables: for each variable of the source the lock that most of its accesses hold, and the places
 * that do not hold it. Cells are summed up that one name of the source stands for: elements of an array, blocks of one
 * allocation at one offset. Locks are, too: each object of a type has its own.
 */
#ifndef LIB_REPORT_GUARD_TABLE_H
#define LIB_REPORT_GUARD_TABLE_H

#include "lib/report/place.h"
#include "lib/report/report.h"
#include "lib/report/subject.h"

enum { GUARD_LOCKS_MAX = 8, GUARD_WITHOUT_MAX = 8 };

struct guard_lock {
	char *name;    /* as the source has it */
	char *written; /* what the line of an acquire locks, of a lock without a name of its own; NULL: not known */
	char *member;  /* the same by its type: "Account::m"; NULL: not known */
	uint64_t held;
	bool shared; /* two threads held it at an access of one cell */
};

struct guard_place {
	char *function; /* NULL: unknown */
	char *file;     /* NULL: unknown */
	uint32_t line;
	char *text; /* an STD file's location; NULL: none */
	bool writes;
	uint64_t count; /* accesses */
};

struct guard_row {
	char *name;
	const char *kind; /* as a subject's */
	char *file;       /* where it is declared, or NULL */
	uint32_t line;
	char *written; /* what a write's source line assigns to, of memory without a name of its own; NULL: not known */
	char *member;  /* the same by its type: "Account::balance"; NULL: not known */
	uint64_t of, writes;                      /* of: accesses while it is shared */
	bool atomic;                              /* all of them are atomic operations */
	struct guard_lock locks[GUARD_LOCKS_MAX]; /* the most held first */
	uint32_t lock_count;
	bool guarded; /* the first of them is held at more than half of the accesses, by two threads */
	struct guard_place
	    without[GUARD_WITHOUT_MAX]; /* places that do not hold the first lock, the most frequent first */
	uint32_t without_count;
	bool without_cut; /* there are more */
	double order;
};

struct guard_table {
	struct guard_row *rows; /* the most likely mistakes first */
	size_t count;
	uint64_t left_out; /* cells beyond the bound */
};

/* Works out the guards of a loaded model's variables, with one more pass over its trace. a: its trace, model and facts
 * are used. On RT_OK *out is owned by the caller. RT_EMEMORY and errors of reading. */
enum rt_status guard_table_create(struct analysis *a, struct guard_table *out, struct rt_error *err);
void guard_table_release(struct guard_table *t);

#endif
