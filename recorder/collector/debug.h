/*
 * The debug information of the loaded modules, indexed for two queries: the code at an address, and the variables
 * there. A compilation unit is walked once, when first needed.
 */
#ifndef RECORDER_COLLECTOR_DEBUG_H
#define RECORDER_COLLECTOR_DEBUG_H

#include "recorder/collector/maps.h"
#include "recorder/collector/symbol.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

#define SCOPE_NONE UINT32_MAX

/* A function, an inlined call of one, or a namespace. */
struct debug_scope {
	Dwarf_Die die;
	uint32_t parent;  /* the enclosing scope, SCOPE_NONE: the unit */
	bool inlined;     /* a DW_TAG_inlined_subroutine */
	bool is_function; /* else a namespace */
	char *name;       /* with all enclosing names; NULL until requested */
};

/* Code of a scope (or of a unit), in addresses of the file. A scope may have several. */
struct debug_range {
	Dwarf_Addr low, high;
	uint32_t owner; /* index of the scope (or unit) */
};

struct debug_variable {
	Dwarf_Die die;
	Dwarf_Addr address; /* in the file; thread-local: in the module's part of a thread's memory */
	uint32_t scope;     /* SCOPE_NONE: the unit */
	bool is_local;
};

struct debug_image;
struct debug_unit {
	struct debug_image *image;
	Dwarf_Die die;  /* has lines and ranges */
	Dwarf_Die body; /* has the declarations: in split DWARF another one than die */
	bool loaded;
	struct debug_scope *scopes;
	size_t scope_count, scope_size;
	struct debug_range *ranges; /* by low, outer before inner */
	size_t range_count, range_size;
	struct debug_variable *variables;
	size_t variable_count, variable_size;
	struct lambda *lambdas; /* lambda.h */
};

/* A symbol whose name has more than its DIE's: a mangled one. */
struct debug_symbol {
	Dwarf_Addr address; /* in the process */
	const char *name;
};

/* One module with its debug information, if it has any. */
struct debug_image {
	Dwfl_Module *module;
	Dwarf_Addr low, high; /* in the process */
	Dwarf_Addr bias;      /* address in the process - address in the DWARF */
	const char *base;     /* its file's name */
	bool instrumented;    /* calls the recorder's hooks */
	bool system;          /* the C library, what comes with the compiler, or the recorder */
	bool looked;          /* for debug information */
	struct debug_unit *units;
	size_t unit_count, unit_size;
	struct debug_range *ranges; /* of the units, by low */
	size_t range_count, range_size;
	struct debug_symbol *symbols; /* by address; gathered on demand */
	size_t symbol_count, symbol_size;
	bool gathered;
	struct symbol_places places;
};

struct debug {
	Dwfl *dwfl;
	struct debug_image *images; /* by low */
	size_t image_count;
};

/* Opens what it can; a module whose file is missing or damaged is left out. *d must be zeroed. */
enum rt_status debug_open(struct debug *d, const struct modules *modules, struct rt_error *err);
void debug_release(struct debug *d);

/* The image that covers an address of the process, NULL if none does. */
struct debug_image *debug_image_at(struct debug *d, Dwarf_Addr address);
/* The unit that covers an address of the process, loaded; NULL if none does (or no memory). */
struct debug_unit *debug_unit_at(struct debug_image *image, Dwarf_Addr address);
/* Finds the image's units. False: it has none. */
bool debug_find_units(struct debug_image *image);
/* Walks a unit, once. False without memory. */
bool debug_load_unit(struct debug_unit *unit);
/*
 * Distance of the module's thread-local memory below the thread pointer, if the file shows that it is the same in all
 * threads: the program's own. 0: it is not, or there is none.
 */
uint64_t debug_tls_distance(const struct debug_image *image);
/* The innermost scope that covers an address of the file; SCOPE_NONE if there is none. */
uint32_t debug_scope_at(const struct debug_unit *unit, Dwarf_Addr address);
/* The function that encloses a scope (itself not counted); SCOPE_NONE if there is none. */
uint32_t debug_function_around(const struct debug_unit *unit, uint32_t scope);
/* Its full name in the source language: "app::Queue::push", "worker". NULL: it has none. Valid as long as the unit. */
const char *debug_scope_name(struct debug_unit *unit, uint32_t scope);
/* A text that an attribute has, also by the declaration; NULL: none. Valid as long as the debug information. */
const char *debug_text(Dwarf_Die *die, unsigned attribute);
/* Full name of a variable ("app::count", "worker::calls"), owned by the caller; NULL: it has none, or no memory. */
char *debug_variable_name(struct debug_unit *unit, const struct debug_variable *variable);
/* A source file as named by the compiler: a relative name is relative to the folder (which may be NULL). */
struct debug_file {
	const char *name, *folder; /* valid as long as the debug information; name is NULL if it is unknown */
};
/* The file that an attribute (DW_AT_call_file, DW_AT_decl_file) of a DIE names. */
struct debug_file debug_file(Dwarf_Die *die, unsigned attribute);
/* The line of the code at an address of the file, from the unit's line table; its file's name is NULL if unknown. */
struct debug_file debug_line(struct debug_unit *unit, Dwarf_Addr address, uint32_t *line, uint32_t *column);
/* The name in the source language of a symbol; owned by the caller, NULL only without memory. */
char *debug_demangle(const char *symbol);

#endif
