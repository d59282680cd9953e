/* Full names of functions and variables in the source language, by DWARF and the symbols; see debug.h. */
#include "recorder/collector/debug.h"

#include "lib/base/vec.h"
#include "recorder/collector/lambda.h"

#include <dwarf.h>
#include <gelf.h>
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Leaves out the parameters of the functions that have lambdas: "work::{lambda(int)#1}::operator()". The debug
 * information of an inlined call has none, so that a lambda which is both inlined and called would have two names.
 */
static void leave_out_parameters(char *name)
{
	for (char *lambda = name; (lambda = strstr(lambda, "::{lambda(")); lambda += 2) {
		char *end = lambda - name > 6 && !strncmp(lambda - 6, " const", 6) ? lambda - 6 : lambda, *at = end;
		int depth = 0;
		if (at == name || at[-1] != ')')
			continue;
		do {
			at--;
			depth += *at == ')' ? 1 : *at == '(' ? -1 : 0;
		} while (at > name && depth);
		if (depth || at == name || !strncmp(at, "(anonymous", 10))
			continue;
		memmove(at, lambda, strlen(lambda) + 1);
		lambda = at;
	}
}

char *debug_demangle(const char *symbol)
{
	bool is_d = symbol[0] == '_' && symbol[1] == 'D' && symbol[2] >= '0' && symbol[2] <= '9';
	char *name =
	    rust_demangle(symbol, 0); /* the older of its two ways looks like C++, with a hash behind the name */
	if (!name)
		name = cplus_demangle(symbol, is_d ? DMGL_DLANG : DMGL_ANSI | DMGL_GNU_V3);
	if (name)
		leave_out_parameters(name);
	return name ? name : strdup(symbol);
}

const char *debug_text(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	return dwarf_attr_integrate(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

static char *join(const char *outer, const char *inner)
{
	char *name;
	if (!outer)
		return strdup(inner);
	return asprintf(&name, "%s::%s", outer, inner) < 0 ? NULL : name;
}

static int by_symbol_address(const void *a, const void *b)
{
	const struct debug_symbol *x = a, *y = b;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* libdwfl looks an address up by walking all symbols, which is too slow for each function of a program. */
static void gather_symbols(struct debug_image *image)
{
	int n = dwfl_module_getsymtab(image->module);
	image->gathered = true;
	for (int i = 0; i < n; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name = dwfl_module_getsym_info(image->module, i, &symbol, &address, NULL, NULL, NULL);
		if (!name || strncmp(name, "_Z", 2) != 0 || symbol.st_shndx == SHN_UNDEF)
			continue;
		if (!vec_reserve(&image->symbols, &image->symbol_size, image->symbol_count + 1, sizeof *image->symbols))
			break;
		image->symbols[image->symbol_count++] = (struct debug_symbol){address, name};
	}
	if (image->symbol_count)
		qsort(image->symbols, image->symbol_count, sizeof *image->symbols, by_symbol_address);
}

/* The mangled name of the symbol at an address of the file; NULL: there is none. */
static const char *mangled_at(struct debug_image *image, Dwarf_Addr address)
{
	struct debug_symbol key = {.address = address + image->bias};
	if (!image->gathered)
		gather_symbols(image);
	const struct debug_symbol *found = image->symbol_count ? bsearch(&key, image->symbols, image->symbol_count,
	                                                                 sizeof *image->symbols, by_symbol_address)
	                                                       : NULL;
	return found ? found->name : NULL;
}

/* The same for a thread-local variable, by its offset in the module's part. There are few. */
static const char *mangled_local(const struct debug_image *image, Dwarf_Addr place)
{
	int n = dwfl_module_getsymtab(image->module);
	for (int i = 0; i < n; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name = dwfl_module_getsym_info(image->module, i, &symbol, &address, NULL, NULL, NULL);
		if (name && !strncmp(name, "_Z", 2) && GELF_ST_TYPE(symbol.st_info) == STT_TLS &&
		    symbol.st_shndx != SHN_UNDEF && symbol.st_value == place)
			return name;
	}
	return NULL;
}

/*
 * The linker's name is complete. GCC leaves it out of the DWARF if a name is not visible to other units, but the symbol
 * (NULL: it has none) still has it. Without one (C, inlined calls), the enclosing names are used.
 */
static char *full_name(struct debug_unit *unit, Dwarf_Die *die, const char *symbol, uint32_t around,
                       const char *unnamed)
{
	const char *linkage = debug_text(die, DW_AT_linkage_name);
	if (!linkage)
		linkage = debug_text(die, DW_AT_MIPS_linkage_name);
	if (!linkage)
		linkage = symbol;
	if (linkage)
		return debug_demangle(linkage);
	const char *lambda = lambda_name(&unit->lambdas, die), *name = debug_text(die, DW_AT_name);
	if (lambda)
		return strdup(lambda);
	if (!name)
		name = unnamed;
	return name ? join(around == SCOPE_NONE ? NULL : debug_scope_name(unit, around), name) : NULL;
}

const char *debug_scope_name(struct debug_unit *unit, uint32_t index)
{
	struct debug_scope *scope = &unit->scopes[index];
	uint32_t around = scope->parent;
	if (scope->name)
		return scope->name;
	/* Nested functions and inlined calls are not named after their enclosing function. */
	while (scope->is_function && around != SCOPE_NONE && unit->scopes[around].is_function)
		around = unit->scopes[around].parent;
	Dwarf_Addr entry = 0;
	if (scope->is_function && !scope->inlined)
		dwarf_entrypc(&scope->die, &entry);
	return scope->name = full_name(unit, &scope->die, entry ? mangled_at(unit->image, entry) : NULL, around,
	                               scope->is_function ? NULL : "(anonymous namespace)");
}

char *debug_variable_name(struct debug_unit *unit, const struct debug_variable *variable)
{
	Dwarf_Die die = variable->die;
	const char *symbol = variable->is_local ? mangled_local(unit->image, variable->address)
	                                        : mangled_at(unit->image, variable->address);
	return full_name(unit, &die, symbol, variable->scope, NULL);
}
