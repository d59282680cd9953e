/* The symbols of a module by the addresses that they cover. */
#ifndef RECORDER_COLLECTOR_SYMBOL_H
#define RECORDER_COLLECTOR_SYMBOL_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

struct symbol_place {
	Dwarf_Addr start, end; /* in the process; the same if the symbol has no size */
	Dwarf_Addr reach;      /* the furthest end of this one and those before it */
	const char *name;      /* valid as long as the module */
	int number;            /* in the module's table */
	int rank;              /* of its binding: that of a stronger one is higher, 0: local */
	/* Behind it, where it is the last symbol that begins and none reaches: */
	size_t section;    /* where libdwfl was asked; 0: it was not */
	const char *label; /* its answer: what covers the rest of that section up to the next symbol; NULL: none does */
};

/* Zeroed: nothing is known yet. */
struct symbol_places {
	struct symbol_place *items; /* by start, the better one first */
	size_t count, size;
	size_t walks; /* how often libdwfl was asked */
	bool gathered;
};

/*
 * Name of the symbol that covers an address of the process; NULL: none does. Of several it is a global one, then the
 * one that begins last. One without a size covers what is behind it in its section, up to the next symbol.
 */
const char *symbol_places_name(struct symbol_places *p, Dwfl_Module *module, Dwarf_Addr address);
void symbol_places_release(struct symbol_places *p);

#endif
