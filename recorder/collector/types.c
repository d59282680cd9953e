/*
 * What a report needs to say "queue.slot[3].next" for an address: each variable's extent and the layout of its type.
 * Types are reduced to that (no names, no qualifiers, no pointed-to types) and equal ones are written once, so a
 * thousand units that include the same header cost one copy.
 */
#include "recorder/collector/types.h"

#include "lib/base/hash.h"
#include "lib/base/lower_bound.h"
#include "lib/base/memory_file.h"
#include "lib/base/vec.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* No sane type is nested deeper; damaged debug information may be nested without end. */
#define NESTING_MAX 40
#define MEMBERS_MAX 4096

/* A type by the place of its DIE, or by its content. */
struct entry {
	UT_hash_handle hh;
	uint32_t index;
	unsigned char key[];
};

struct extent {
	uint64_t address, size;
};

struct context {
	struct rt_writer *writer;
	struct entry *by_die, *by_content;
	const char *(*file_name)(void *arg, struct debug_file file);
	void *arg;
	struct extent *extents; /* of the variables of an image, for its symbols */
	size_t extent_count, extent_size;
	enum rt_status status;
	struct rt_error *err;
};

static void no_memory(struct context *c)
{
	c->status = rt_error_set(c->err, RT_EMEMORY, "no memory for the types of variables");
}

/* ---- Interning ---- */

static const struct entry *find(struct entry *table, const void *key, size_t size)
{
	struct entry *e;
	HASH_FIND(hh, table, key, (unsigned)size, e);
	return e;
}

static void add(struct context *c, struct entry **table, const void *key, size_t size, uint32_t index)
{
	struct entry *e = malloc(sizeof *e + size);
	if (!e) {
		no_memory(c);
		return;
	}
	e->index = index;
	memcpy(e->key, key, size);
	HASH_ADD_KEYPTR(hh, *table, e->key, (unsigned)size, e);
	if (HASH_ADDED(e))
		return;
	free(e);
	no_memory(c);
}

/* The content of a type as bytes. */
static char *content(const struct rt_type *type, size_t *size)
{
	struct rt_bytes bytes = {0};
	FILE *out = rt_memory_file(&bytes);
	if (!out)
		return NULL;
	fwrite(&type->size, sizeof type->size, 1, out);
	fwrite(&type->count, sizeof type->count, 1, out);
	for (size_t i = 0; i < type->member_count; i++) {
		const struct rt_member *m = &type->members[i];
		fwrite(&m->offset, sizeof m->offset, 1, out);
		fwrite(&m->type, sizeof m->type, 1, out);
		fwrite(m->name ? m->name : "", 1, m->name ? strlen(m->name) + 1 : 1, out);
	}
	if (fclose(out) == 0) {
		*size = bytes.len;
		return (char *)bytes.data;
	}
	rt_bytes_release(&bytes);
	return NULL;
}

static uint32_t intern(struct context *c, const struct rt_type *type)
{
	size_t size;
	uint32_t index = RT_NO_TYPE;
	char *key = content(type, &size);
	if (!key) {
		no_memory(c);
		return RT_NO_TYPE;
	}
	const struct entry *known = find(c->by_content, key, size);
	if (known)
		index = known->index;
	else if (!c->status && !(c->status = rt_writer_type(c->writer, type, &index, c->err)))
		add(c, &c->by_content, key, size, index);
	free(key);
	return index;
}

/* ---- Types ---- */

static uint32_t type_of(struct context *c, Dwarf_Die *die, unsigned depth);

/* The type that a DIE has, without typedefs and qualifiers. */
static bool peeled_type(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die whole;
	if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, &whole))
		return false;
	return dwarf_peel_type(&whole, type) == 0;
}

static bool number_attribute(Dwarf_Die *die, unsigned name, uint64_t *value)
{
	Dwarf_Attribute attribute;
	Dwarf_Word word;
	if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &word) != 0)
		return false;
	*value = word;
	return true;
}

static bool member_offset(Dwarf_Die *die, uint64_t *offset)
{
	if (number_attribute(die, DW_AT_data_member_location, offset))
		return true;
	if (number_attribute(die, DW_AT_data_bit_offset, offset)) {
		*offset /= 8;
		return true;
	}
	*offset = 0;
	return !dwarf_hasattr(die, DW_AT_data_member_location); /* of a virtual base: an expression */
}

/* True if it is a part of each object. Static members are not. */
static bool is_part(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	return (tag == DW_TAG_member || tag == DW_TAG_inheritance) && !dwarf_hasattr(die, DW_AT_external) &&
	       !dwarf_hasattr(die, DW_AT_declaration);
}

static size_t gather_members(struct context *c, Dwarf_Die *die, struct rt_member *members, unsigned depth)
{
	Dwarf_Die part, type;
	size_t n = 0;
	if (dwarf_child(die, &part) != 0)
		return 0;
	do {
		struct rt_member *m = &members[n];
		if (!is_part(&part) || !member_offset(&part, &m->offset))
			continue;
		/* What a class inherits is named like its own. */
		m->name = dwarf_tag(&part) == DW_TAG_inheritance ? NULL : dwarf_diename(&part);
		m->type = peeled_type(&part, &type) ? type_of(c, &type, depth + 1) : RT_NO_TYPE;
		n++;
	} while (n < MEMBERS_MAX && dwarf_siblingof(&part, &part) == 0);
	return n;
}

static uint32_t aggregate(struct context *c, Dwarf_Die *die, uint64_t size, unsigned depth)
{
	struct rt_member *members = calloc(MEMBERS_MAX, sizeof *members);
	if (!members) {
		no_memory(c);
		return RT_NO_TYPE;
	}
	struct rt_type type = {.size = size, .members = members};
	type.member_count = gather_members(c, die, members, depth);
	uint32_t index = intern(c, &type);
	free(members);
	return index;
}

/* Number of elements that a subrange says; 0: unknown. */
static uint64_t elements(Dwarf_Die *subrange)
{
	uint64_t n;
	if (number_attribute(subrange, DW_AT_count, &n))
		return n;
	return number_attribute(subrange, DW_AT_upper_bound, &n) && n != UINT64_MAX ? n + 1 : 0;
}

/* int a[2][3] is one DIE with two subranges, and here an array of arrays. */
static uint32_t array(struct context *c, Dwarf_Die *die, unsigned depth)
{
	uint64_t counts[8];
	size_t n = 0;
	Dwarf_Die child, element;
	Dwarf_Word size;
	if (!peeled_type(die, &element) || dwarf_aggregate_size(&element, &size) != 0 || dwarf_child(die, &child) != 0)
		return RT_NO_TYPE;
	do
		if (dwarf_tag(&child) == DW_TAG_subrange_type)
			counts[n++] = elements(&child);
	while (n < sizeof counts / sizeof *counts && dwarf_siblingof(&child, &child) == 0);
	uint32_t index = type_of(c, &element, depth + 1);
	while (n-- > 0) {
		if (counts[n] == 0 || size > UINT64_MAX / counts[n])
			return RT_NO_TYPE;
		struct rt_member member = {.type = index};
		struct rt_type type = {
		    .size = size * counts[n], .count = counts[n], .members = &member, .member_count = 1};
		index = intern(c, &type);
		size = type.size;
	}
	return index;
}

/* Index of a peeled type, RT_NO_TYPE if its layout is unknown. */
static uint32_t type_of(struct context *c, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Word size = 0;
	uint32_t index;
	const struct entry *known = find(c->by_die, &die->addr, sizeof die->addr);
	if (known)
		return known->index;
	if (depth > NESTING_MAX || c->status)
		return RT_NO_TYPE;
	switch (dwarf_tag(die)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		if (dwarf_hasattr(die, DW_AT_declaration) || dwarf_aggregate_size(die, &size) != 0)
			return RT_NO_TYPE;
		index = aggregate(c, die, size, depth);
		break;
	case DW_TAG_array_type:
		index = array(c, die, depth);
		break;
	default:
		if (dwarf_aggregate_size(die, &size) != 0)
			return RT_NO_TYPE;
		index = intern(c, &(struct rt_type){.size = size});
		break;
	}
	if (!c->status)
		add(c, &c->by_die, &die->addr, sizeof die->addr, index);
	return index;
}

/* ---- Variables ---- */

static bool remember(struct context *c, uint64_t address, uint64_t size)
{
	if (!vec_reserve(&c->extents, &c->extent_size, (uint64_t)c->extent_count + 1, sizeof *c->extents))
		return false;
	c->extents[c->extent_count++] = (struct extent){address, size};
	return true;
}

static void write_variable(struct context *c, const struct debug_image *image, struct debug_unit *unit,
                           struct debug_variable *v)
{
	Dwarf_Die type;
	Dwarf_Word size = 0;
	uint32_t index = RT_NO_TYPE;
	int line = 0;
	uint64_t address = v->address + image->bias, distance = v->is_local ? debug_tls_distance(image) : 0;
	bool known = address >= image->low && address < image->high;
	if (v->is_local) {
		known = v->address < distance;
		address = RT_TLS_END - (distance - v->address);
	}
	char *name = known ? debug_variable_name(unit, v) : NULL;
	if (!name)
		return;
	if (peeled_type(&v->die, &type)) {
		dwarf_aggregate_size(&type, &size);
		index = type_of(c, &type, 0);
	}
	const char *file = c->file_name(c->arg, debug_file(&v->die, DW_AT_decl_file));
	dwarf_decl_line(&v->die, &line);
	if (!c->status)
		c->status = rt_writer_variable(c->writer, name, address, size, index, file, (uint32_t)line, c->err);
	if (!c->status && !remember(c, address, size))
		no_memory(c);
	free(name);
}

static int by_address(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;
	return x->address < y->address ? -1 : x->address > y->address;
}

static bool has_variable(const struct context *c, uint64_t address)
{
	size_t from = lower_bound(middle, 0, c->extent_count, c->extents[middle].address <= address);
	if (!from)
		return false;
	const struct extent *e = &c->extents[from - 1];
	return address == e->address || address - e->address < e->size;
}

/* True if the program can write there once it runs. Not into what is read-only after relocation. */
static bool in_writable_section(Elf *elf, GElf_Word index)
{
	GElf_Shdr header;
	size_t names;
	Elf_Scn *section = elf ? elf_getscn(elf, index) : NULL;
	if (!section || !gelf_getshdr(section, &header) || elf_getshdrstrndx(elf, &names) != 0)
		return false;
	const char *name = elf_strptr(elf, names, header.sh_name);
	return (header.sh_flags & SHF_WRITE) && name && strncmp(name, ".data.rel.ro", 12) != 0;
}

/* Objects without debug information: of a library, or written in assembler. */
static void write_symbols(struct context *c, const struct debug_image *image)
{
	int n = dwfl_module_getsymtab(image->module);
	uint64_t distance = debug_tls_distance(image);
	if (c->extent_count)
		qsort(c->extents, c->extent_count, sizeof *c->extents, by_address);
	for (int i = 0; i < n && !c->status; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		GElf_Word section;
		Elf *elf;
		const char *name = dwfl_module_getsym_info(image->module, i, &symbol, &address, &section, &elf, NULL);
		if (name && GELF_ST_TYPE(symbol.st_info) == STT_TLS && symbol.st_value < distance)
			address = RT_TLS_END - (distance - symbol.st_value);
		else if (GELF_ST_TYPE(symbol.st_info) != STT_OBJECT)
			continue;
		if (!name || !*name || !symbol.st_size || !in_writable_section(elf, section) ||
		    has_variable(c, address))
			continue;
		char *shown = debug_demangle(name);
		if (shown)
			c->status =
			    rt_writer_variable(c->writer, shown, address, symbol.st_size, RT_NO_TYPE, NULL, 0, c->err);
		free(shown);
	}
}

static void write_image(struct context *c, struct debug_image *image)
{
	bool in_full = !image->system && debug_find_units(image);
	c->extent_count = 0;
	for (size_t u = 0; in_full && u < image->unit_count && !c->status; u++) {
		struct debug_unit *unit = &image->units[u];
		if (!debug_load_unit(unit))
			no_memory(c);
		for (size_t i = 0; i < unit->variable_count && !c->status; i++)
			write_variable(c, image, unit, &unit->variables[i]);
	}
	write_symbols(c, image);
}

enum rt_status types_write(struct debug *d, const char *(*file_name)(void *arg, struct debug_file file), void *arg,
                           struct rt_writer *w, struct rt_error *err)
{
	struct context c = {.writer = w, .file_name = file_name, .arg = arg, .err = err};
	for (size_t i = 0; i < d->image_count && !c.status; i++)
		write_image(&c, &d->images[i]);
	HASH_FREE(c.by_die);
	HASH_FREE(c.by_content);
	free(c.extents);
	return c.status;
}
