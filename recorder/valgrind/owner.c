/* See owner.h. */
#include "recorder/valgrind/owner.h"

#include <valgrind/pub_tool_basics.h>
#include <valgrind/pub_tool_mallocfree.h>

struct owner *owner_tables[1 << OWNER_TABLES_BITS];

void owner_note(struct guest *g, uint64_t at)
{
	static uint32_t threads;
	uint64_t page = at >> OWNER_PAGE_BITS, table = page >> OWNER_TABLE_BITS;
	if (table >> OWNER_TABLES_BITS)
		return;
	if (!owner_tables[table])
		owner_tables[table] = VG_(calloc)("racetrace.owners", 1 << OWNER_TABLE_BITS, sizeof(struct owner));
	struct owner *o = &owner_tables[table][page & ((1 << OWNER_TABLE_BITS) - 1)];
	if (!g->number)
		g->number = ++threads;
	if (o->thread && o->thread != g->number) {
		if (o->count == OWNER_LONG)
			guests_forget(o->thread);
		o->thread = OWNER_SHARED;
		return;
	}
	o->thread = g->number;
	o->count++;
}
