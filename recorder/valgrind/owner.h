/*
 * Pages that one thread alone has worked on, and at length. What it reads and writes there is not recorded, which is
 * most of a trace, and decides nothing between threads; that it accesses them is, twice at each place until it
 * synchronises.
 *
 * From the first access of another thread on, a page's values are recorded, and the owner's repeats begin anew.
 */
#ifndef RECORDER_VALGRIND_OWNER_H
#define RECORDER_VALGRIND_OWNER_H

#include "recorder/valgrind/ring.h"

/* Of addresses: those that a page has, pages that a table has, tables. Valgrind gives programs 37 bits. */
enum { OWNER_PAGE_BITS = 12, OWNER_TABLE_BITS = 12, OWNER_TABLES_BITS = 13 };

struct owner {
	uint32_t thread; /* its number; 0: none has accessed the page; OWNER_SHARED: several have */
	uint32_t count;  /* of its accesses, up to OWNER_LONG */
};
enum { OWNER_LONG = 16384 };
#define OWNER_SHARED UINT32_MAX

extern struct owner *owner_tables[1 << OWNER_TABLES_BITS];

/* What has to be done of a page that the thread has not had for long. */
void owner_note(struct guest *g, uint64_t at);

/* Of each access that is about to be recorded. True if its value is not to be. */
static inline bool owner_hides(struct guest *g, uint64_t at)
{
	uint64_t page = at >> OWNER_PAGE_BITS, table = page >> OWNER_TABLE_BITS;
	const struct owner *t = table >> OWNER_TABLES_BITS ? NULL : owner_tables[table];
	if (t) {
		const struct owner *o = &t[page & ((1 << OWNER_TABLE_BITS) - 1)];
		if (o->thread == OWNER_SHARED || (o->thread == g->number && o->count == OWNER_LONG))
			return o->thread != OWNER_SHARED;
	}
	owner_note(g, at);
	return false;
}

#endif
