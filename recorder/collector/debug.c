/*
 * An index over libdw. libdw's own look-ups (dwarf_addrdie, dwarf_getscopes) need .debug_aranges, which Clang does not
 * write, and walk a unit's whole tree for each address; here the tree is walked once, and an address costs two binary
 * searches.
 */
#include "recorder/collector/debug.h"

#include "lib/base/lower_bound.h"
#include "lib/base/module_path.h"
#include "lib/base/vec.h"
#include "recorder/collector/lambda.h"
#include "tracefmt/trace.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Deeper nesting, which no compiler produces, ends the walk. */
#define DEPTH_MAX 200

/* ---- Modules ---- */

/* True if the module calls the recorder's hooks: it then contains code and data of the program. */
static bool is_instrumented(Elf *elf)
{
	GElf_Shdr header;
	GElf_Sym symbol;
	for (Elf_Scn *scn = NULL; elf && (scn = elf_nextscn(elf, scn));) {
		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_DYNSYM)
			continue;
		Elf_Data *data = elf_getdata(scn, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
			if (name && symbol.st_shndx == SHN_UNDEF && !strncmp(name, "__tsan_", 7))
				return true;
		}
	}
	return false;
}

/*
 * Separate debug files are not read for the C library and what comes with the compiler. They cost more than all others,
 * where they are installed, and would make the same program's report differ between machines.
 */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file,
                          const char *link, GElf_Word crc, char **found)
{
	return *data ? dwfl_standard_find_debuginfo(module, data, name, base, file, link, crc, found) : -1;
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_debuginfo,
};

static int by_low(const void *a, const void *b)
{
	const struct debug_image *x = a, *y = b;
	return x->low < y->low ? -1 : x->low > y->low;
}

enum rt_status debug_open(struct debug *d, const struct modules *modules, struct rt_error *err)
{
	d->dwfl = dwfl_begin(&callbacks);
	d->images = calloc(modules->count + 1, sizeof *d->images);
	if (!d->dwfl || !d->images)
		return rt_error_set(err, RT_EMEMORY, "no memory for debug information");
	dwfl_report_begin(d->dwfl);
	for (size_t i = 0; i < modules->count; i++) {
		const struct module *m = &modules->items[i];
		Dwfl_Module *module = dwfl_report_elf(d->dwfl, m->path, m->path, -1, m->start, false);
		if (!module)
			continue;
		struct debug_image *image = &d->images[d->image_count++];
		image->module = module;
		image->base = strrchr(m->path, '/') ? strrchr(m->path, '/') + 1 : m->path;
		void **data;
		GElf_Addr bias;
		dwfl_module_info(module, &data, &image->low, &image->high, NULL, NULL, NULL, NULL);
		image->instrumented = is_instrumented(dwfl_module_getelf(module, &bias));
		image->system = module_is_system(m->path) && !image->instrumented;
		*data = image->system ? NULL : image->module;
	}
	dwfl_report_end(d->dwfl, NULL, NULL);
	qsort(d->images, d->image_count, sizeof *d->images, by_low);
	return RT_OK;
}

static void unit_release(struct debug_unit *unit)
{
	for (size_t i = 0; i < unit->scope_count; i++)
		free(unit->scopes[i].name);
	lambda_names_free(&unit->lambdas);
	free(unit->scopes);
	free(unit->ranges);
	free(unit->variables);
}

void debug_release(struct debug *d)
{
	for (size_t i = 0; i < d->image_count; i++) {
		struct debug_image *image = &d->images[i];
		for (size_t u = 0; u < image->unit_count; u++)
			unit_release(&image->units[u]);
		free(image->units);
		free(image->ranges);
		free(image->symbols);
		symbol_places_release(&image->places);
	}
	free(d->images);
	dwfl_end(d->dwfl);
	*d = (struct debug){0};
}

struct debug_image *debug_image_at(struct debug *d, Dwarf_Addr address)
{
	for (size_t i = 0; i < d->image_count; i++)
		if (address >= d->images[i].low && address < d->images[i].high)
			return &d->images[i];
	return NULL;
}

/* ---- Ranges ---- */

struct range_list {
	struct debug_range **items;
	size_t *count, *size;
};

/* Code that the linker discarded has its ranges at 0. */
static bool add_ranges(struct range_list list, Dwarf_Die *die, uint32_t owner)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;
	while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0) {
		if (low == 0 || low >= high)
			continue;
		if (!vec_reserve(list.items, list.size, *list.count + 1, sizeof **list.items))
			return false;
		(*list.items)[(*list.count)++] = (struct debug_range){low, high, owner};
	}
	return true;
}

/* Outer ranges before inner ones, as owners are numbered. */
static int by_place(const void *a, const void *b)
{
	const struct debug_range *x = a, *y = b;
	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->owner < y->owner ? -1 : x->owner > y->owner;
}

/* The last range that begins at or below the address; NULL if there is none. */
static const struct debug_range *last_below(const struct debug_range *ranges, size_t n, Dwarf_Addr address)
{
	size_t from = lower_bound(middle, 0, n, ranges[middle].low <= address);
	return from ? &ranges[from - 1] : NULL;
}

/* ---- Units ---- */

static bool add_unit(struct debug_image *image, Dwarf_Die *die, Dwarf_Die *body)
{
	if (!vec_reserve(&image->units, &image->unit_size, image->unit_count + 1, sizeof *image->units))
		return false;
	image->units[image->unit_count] = (struct debug_unit){.image = image, .die = *die, .body = *body};
	struct range_list ranges = {&image->ranges, &image->range_count, &image->range_size};
	return add_ranges(ranges, die, (uint32_t)image->unit_count++);
}

bool debug_find_units(struct debug_image *image)
{
	if (image->looked)
		return image->unit_count > 0;
	image->looked = true;
	Dwarf *dwarf = dwfl_module_getdwarf(image->module, &image->bias);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, split;
	uint8_t type;
	while (dwarf && dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &split) == 0) {
		bool has_split = type == DW_UT_skeleton && split.addr;
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (!add_unit(image, &die, has_split ? &split : &die))
			break;
	}
	if (image->range_count)
		qsort(image->ranges, image->range_count, sizeof *image->ranges, by_place);
	return image->unit_count > 0;
}

struct debug_unit *debug_unit_at(struct debug_image *image, Dwarf_Addr address)
{
	if (!debug_find_units(image))
		return NULL;
	const struct debug_range *range = last_below(image->ranges, image->range_count, address - image->bias);
	if (!range || address - image->bias >= range->high)
		return NULL;
	struct debug_unit *unit = &image->units[range->owner];
	return debug_load_unit(unit) ? unit : NULL;
}

/* A thread-local variable's location: its offset, and an operation that makes it an address. */
static bool local_address(Dwarf_Attribute *location, const Dwarf_Op *ops, size_t n, Dwarf_Addr *address)
{
	Dwarf_Attribute operand;
	if (n != 2 || (ops[1].atom != DW_OP_GNU_push_tls_address && ops[1].atom != DW_OP_form_tls_address))
		return false;
	switch (ops[0].atom) {
	case DW_OP_const4u:
	case DW_OP_const8u:
	case DW_OP_addr:
		*address = ops[0].number;
		return true;
	default: /* a split unit's are in a table */
		return dwarf_getlocation_attr(location, ops, &operand) == 0 && dwarf_formaddr(&operand, address) == 0;
	}
}

/* The location of a variable as operations; false if it is not the same everywhere. */
static bool location_of(Dwarf_Die *die, Dwarf_Attribute *location, Dwarf_Op **ops, size_t *n)
{
	Dwarf_Block block;
	return dwarf_attr(die, DW_AT_location, location) && dwarf_formblock(location, &block) == 0 && block.length &&
	       dwarf_getlocation(location, ops, n) == 0;
}

/* A variable with a fixed address has a location of one operation. */
static bool fixed_address(Dwarf_Die *die, Dwarf_Addr *address)
{
	Dwarf_Attribute location, operand;
	Dwarf_Block block;
	Dwarf_Op *ops;
	size_t n;
	if (!dwarf_attr(die, DW_AT_location, &location) || dwarf_formblock(&location, &block) != 0 || !block.length)
		return false;
	uint8_t first = block.data[0];
	if (first != DW_OP_addr && first != DW_OP_addrx && first != DW_OP_GNU_addr_index)
		return false;
	if (dwarf_getlocation(&location, &ops, &n) != 0 || n != 1)
		return false;
	if (first == DW_OP_addr)
		*address = ops[0].number;
	else if (dwarf_getlocation_attr(&location, ops, &operand) != 0 || dwarf_formaddr(&operand, address) != 0)
		return false;
	return *address != 0;
}

static bool push_variable(struct debug_unit *unit, struct debug_variable variable)
{
	if (!vec_reserve(&unit->variables, &unit->variable_size, unit->variable_count + 1, sizeof *unit->variables))
		return false;
	unit->variables[unit->variable_count++] = variable;
	return true;
}

static bool add_variable(struct debug_unit *unit, Dwarf_Die *die, uint32_t scope)
{
	Dwarf_Attribute location;
	Dwarf_Addr address;
	Dwarf_Op *ops;
	size_t n;
	bool local = false;
	if (!fixed_address(die, &address)) {
		local = location_of(die, &location, &ops, &n) && local_address(&location, ops, n, &address);
		if (!local)
			return true;
	}
	return push_variable(unit, (struct debug_variable){*die, address, scope, local});
}

/* An operation that is a register, or a place as far from it as its number says. */
static bool is_of_register(const Dwarf_Op *parameter, const Dwarf_Op *variable)
{
	unsigned whole = parameter->atom, from = variable->atom;
	return (whole >= DW_OP_reg0 && whole <= DW_OP_reg31 && from >= DW_OP_breg0 &&
	        whole - DW_OP_reg0 == from - DW_OP_breg0 && variable->number < RT_SHARED_MAX);
}

/* Where a variable is behind the address that is the function's parameter. False: it is not there. */
static bool shared_offset(const Dwarf_Op *parameter, const Dwarf_Op *ops, size_t n, Dwarf_Word *offset)
{
	size_t at = 1;
	*offset = 0;
	if (parameter->atom == DW_OP_fbreg && n >= 2 && ops[0].atom == DW_OP_fbreg &&
	    ops[0].number == parameter->number && ops[1].atom == DW_OP_deref)
		at = 2;
	else if (n && is_of_register(parameter, ops))
		*offset = ops[0].number;
	else
		return false;
	if (at < n && ops[at].atom == DW_OP_plus_uconst)
		*offset += ops[at++].number;
	return at == n && *offset < RT_SHARED_MAX;
}

/*
 * Variables that threads of an OpenMP region share: GCC's function of the region has a pointer to them as its
 * parameter. The address of each is the function's, and its distance from there; one without room in the function has
 * none.
 */
static bool add_shared(struct debug_unit *unit, Dwarf_Die *function)
{
	Dwarf_Attribute location;
	Dwarf_Die child;
	Dwarf_Addr low, high;
	Dwarf_Word offset;
	Dwarf_Op *ops, parameter = {0};
	size_t n;
	const char *name = dwarf_diename(function);
	if (!name || !strstr(name, "._omp_fn.") || dwarf_lowpc(function, &low) != 0 ||
	    dwarf_highpc(function, &high) != 0 || dwarf_child(function, &child) != 0)
		return true;
	do {
		int tag = dwarf_tag(&child);
		if ((tag != DW_TAG_formal_parameter && tag != DW_TAG_variable) ||
		    !dwarf_attr(&child, DW_AT_location, &location) ||
		    dwarf_getlocation_addr(&location, low, &ops, &n, 1) != 1 || !n)
			continue;
		if (tag == DW_TAG_formal_parameter)
			parameter = ops[0];
		else if (shared_offset(&parameter, ops, n, &offset) && offset < high - low &&
		         !push_variable(unit, (struct debug_variable){child, low + offset, SCOPE_NONE, false}))
			return false;
	} while (dwarf_siblingof(&child, &child) == 0);
	return true;
}

static bool add_scope(struct debug_unit *unit, Dwarf_Die *die, int tag, uint32_t parent, uint32_t *scope)
{
	if (!vec_reserve(&unit->scopes, &unit->scope_size, unit->scope_count + 1, sizeof *unit->scopes))
		return false;
	*scope = (uint32_t)unit->scope_count++;
	unit->scopes[*scope] = (struct debug_scope){.die = *die,
	                                            .parent = parent,
	                                            .inlined = tag == DW_TAG_inlined_subroutine,
	                                            .is_function = tag != DW_TAG_namespace};
	struct range_list ranges = {&unit->ranges, &unit->range_count, &unit->range_size};
	return tag == DW_TAG_namespace || add_ranges(ranges, die, *scope);
}

/* Walks the DIEs below a DIE. Those without code or variables (mostly types) are not entered. */
static bool walk(struct debug_unit *unit, Dwarf_Die *above, uint32_t scope, unsigned depth)
{
	Dwarf_Die die;
	if (depth > DEPTH_MAX || dwarf_child(above, &die) != 0)
		return true;
	do {
		uint32_t inner = scope;
		int tag = dwarf_tag(&die);
		switch (tag) {
		case DW_TAG_variable:
			if (!add_variable(unit, &die, scope))
				return false;
			break;
		case DW_TAG_subprogram:
		case DW_TAG_inlined_subroutine:
		case DW_TAG_namespace:
			if (!add_scope(unit, &die, tag, scope, &inner) || !add_shared(unit, &die))
				return false;
			/* fall through */
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			if (!walk(unit, &die, inner, depth + 1))
				return false;
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
	return true;
}

bool debug_load_unit(struct debug_unit *unit)
{
	if (unit->loaded)
		return true;
	unit->loaded = true;
	bool done = walk(unit, &unit->body, SCOPE_NONE, 0);
	if (unit->range_count)
		qsort(unit->ranges, unit->range_count, sizeof *unit->ranges, by_place);
	return done;
}

/* The layout of the System V ABI for AMD64: the program's own part is right below the thread pointer. */
uint64_t debug_tls_distance(const struct debug_image *image)
{
	GElf_Addr bias;
	GElf_Phdr p;
	size_t count = 0;
	uint64_t distance = 0;
	bool program = false;
	Elf *elf = dwfl_module_getelf(image->module, &bias);
	if (!elf || elf_getphdrnum(elf, &count) != 0)
		return 0;
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &p); i++) {
		program |= p.p_type == PT_INTERP;
		if (p.p_type != PT_TLS || p.p_memsz > UINT32_MAX || p.p_align > UINT32_MAX)
			continue;
		uint64_t align = p.p_align ? p.p_align : 1, first = -p.p_vaddr % align;
		distance = (p.p_memsz - first + align - 1) / align * align + first;
	}
	return program ? distance : 0;
}

/* ---- Scopes ---- */

static bool scope_covers(const struct debug_unit *unit, uint32_t scope, Dwarf_Addr address)
{
	Dwarf_Die die = unit->scopes[scope].die;
	return unit->scopes[scope].is_function && dwarf_haspc(&die, address) == 1;
}

/* Scopes nest: the one that began last is the innermost, or is beside the innermost inside a common outer one. */
uint32_t debug_scope_at(const struct debug_unit *unit, Dwarf_Addr address)
{
	const struct debug_range *range = last_below(unit->ranges, unit->range_count, address);
	if (!range)
		return SCOPE_NONE;
	uint32_t scope = range->owner;
	if (address < range->high)
		return scope;
	while (scope != SCOPE_NONE && !scope_covers(unit, scope, address))
		scope = unit->scopes[scope].parent;
	return scope;
}

uint32_t debug_function_around(const struct debug_unit *unit, uint32_t scope)
{
	do
		scope = unit->scopes[scope].parent;
	while (scope != SCOPE_NONE && !unit->scopes[scope].is_function);
	return scope;
}

/* ---- Lines and files ---- */

static struct debug_file file_in(Dwarf_Die *unit, const char *name)
{
	Dwarf_Attribute attribute;
	const char *folder = dwarf_attr(unit, DW_AT_comp_dir, &attribute) ? dwarf_formstring(&attribute) : NULL;
	return (struct debug_file){name, folder};
}

/* File numbers count from 0 since DWARF 5; before, 0 meant none. */
struct debug_file debug_file(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Die unit;
	Dwarf_Half version;
	Dwarf_Word index;
	Dwarf_Files *files;
	size_t n;
	if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &index) != 0 ||
	    !dwarf_cu_die(attribute.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) || (index == 0 && version < 5) ||
	    dwarf_getsrcfiles(&unit, &files, &n) != 0 || index >= n)
		return (struct debug_file){0};
	return file_in(&unit, dwarf_filesrc(files, index, NULL, NULL));
}

struct debug_file debug_line(struct debug_unit *unit, Dwarf_Addr address, uint32_t *line, uint32_t *column)
{
	int l = 0, c = 0;
	Dwarf_Line *row = dwarf_getsrc_die(&unit->die, address);
	if (!row)
		return (struct debug_file){0};
	dwarf_lineno(row, &l);
	dwarf_linecol(row, &c);
	*line = (uint32_t)l;
	*column = (uint32_t)c;
	return file_in(&unit->die, dwarf_linesrc(row, NULL, NULL));
}
