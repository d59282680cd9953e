/*
 * GUARDED_BY attributes of Clang's thread safety analysis that a source already has: found in the text of the files
 * that a compile database names, and of the files that these include by a quoted name.
 */
#ifndef LIB_REPORT_GUARDED_BY_H
#define LIB_REPORT_GUARDED_BY_H

#include "lib/report/guard_table.h"

struct guarded_by {
	char *file;
	uint32_t line;
	char *variable, *lock; /* last components: "size", "mutex" */
};

struct guarded_by_list {
	struct guarded_by *items; /* in the order of the files and their lines */
	size_t count, capacity;
};

/* Reads them. RT_EUSAGE: the file is no compile database; RT_EMEMORY. The caller releases *out in any case. Files that
 * cannot be opened are skipped. */
enum rt_status guarded_by_read(const char *path, struct guarded_by_list *out, struct rt_error *err);
void guarded_by_release(struct guarded_by_list *list);

/* The row of the attribute's variable; NULL: the run did not share it. A member's name may occur in several types: the
 * row with the most accesses whose locks have the attribute's name, else the one with the most. */
const struct guard_row *guarded_by_row(const struct guard_table *t, const struct guarded_by *attribute);
/* Accesses of the row that hold the attribute's lock. */
uint64_t guarded_by_held(const struct guard_row *row, const struct guarded_by *attribute);

#endif
