#include "cmd/record/lock_type.h"

#include "lib/base/vec.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NESTING_MAX = 40 }; /* no sane type is nested deeper */

struct lock_module {
	const struct rt_module *module;
	int fd;
	Dwarf *dwarf;  /* NULL: there is none */
	uint64_t base; /* address of the module's first byte in its file */
};

/* ---- Modules ---- */

static uint64_t base_of(Dwarf *dwarf)
{
	Elf *elf = dwarf_getelf(dwarf);
	size_t n;
	if (!elf || elf_getphdrnum(elf, &n) != 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;
		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD)
			return p.p_vaddr - p.p_offset;
	}
	return 0;
}

static struct lock_module *module_of(struct lock_types *t, const struct rt_module *module)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (t->modules[i].module == module)
			return &t->modules[i];
	if (!vec_reserve(&t->modules, &t->room, (uint64_t)t->count + 1, sizeof *t->modules))
		return NULL;
	struct lock_module *m = &t->modules[t->count++];
	*m = (struct lock_module){.module = module, .fd = open(module->path, O_RDONLY | O_CLOEXEC)};
	m->dwarf = m->fd < 0 ? NULL : dwarf_begin(m->fd, DWARF_C_READ);
	m->base = m->dwarf ? base_of(m->dwarf) : 0;
	return m;
}

void lock_types_release(struct lock_types *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		if (t->modules[i].dwarf)
			dwarf_end(t->modules[i].dwarf);
		if (t->modules[i].fd >= 0)
			close(t->modules[i].fd);
	}
	free(t->modules);
	*t = (struct lock_types){0};
}

/* ---- Types ---- */

static bool is_lock(Dwarf_Die *type)
{
	static const char *const names[] = {"pthread_mutex_t",
	                                    "pthread_rwlock_t",
	                                    "pthread_spinlock_t",
	                                    "mtx_t",
	                                    "mutex",
	                                    "recursive_mutex",
	                                    "timed_mutex",
	                                    "recursive_timed_mutex",
	                                    "shared_mutex",
	                                    "shared_timed_mutex",
	                                    NULL};
	const char *name = dwarf_diename(type);
	for (size_t i = 0; name && names[i]; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), type) != NULL;
}

static bool size_of(Dwarf_Die *type, uint64_t *size)
{
	Dwarf_Word n;
	if (dwarf_aggregate_size(type, &n) != 0 || n == 0)
		return false;
	*size = n;
	return true;
}

/* The member, or the base class, in which the offset is; the offset becomes that in it. */
static bool member_at(Dwarf_Die *aggregate, uint64_t *offset, Dwarf_Die *member, Dwarf_Die *type)
{
	Dwarf_Die child;
	for (bool more = dwarf_child(aggregate, &child) == 0; more; more = dwarf_siblingof(&child, &child) == 0) {
		Dwarf_Attribute attribute;
		Dwarf_Word at = 0;
		uint64_t size;
		int tag = dwarf_tag(&child);
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !type_of(&child, type))
			continue;
		if (dwarf_attr_integrate(&child, DW_AT_data_member_location, &attribute) &&
		    dwarf_formudata(&attribute, &at) != 0)
			continue;
		if (!size_of(type, &size) || *offset < at || *offset - at >= size)
			continue;
		*offset -= at;
		*member = child;
		return true;
	}
	return false;
}

static bool is_aggregate(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* The lock at an offset in something of a type, if it is a member of a structure that has a name. */
static bool find_lock(Dwarf_Die type, uint64_t offset, struct lock_type *to)
{
	const char *alias = NULL; /* the type definition that names the aggregate to come */
	*to = (struct lock_type){0};
	for (int depth = 0; depth < NESTING_MAX; depth++) {
		Dwarf_Die inner, member;
		int tag = dwarf_tag(&type);
		uint64_t size;
		if (is_lock(&type))
			return to->name[0] != '\0' && offset == 0;
		if (tag == DW_TAG_array_type) {
			if (!type_of(&type, &inner) || !size_of(&inner, &size))
				return false;
			offset %= size;
			alias = NULL;
		} else if (is_aggregate(tag)) {
			const char *name = dwarf_diename(&type) ? dwarf_diename(&type) : alias;
			uint64_t before = offset;
			if (!size_of(&type, &size) || !member_at(&type, &offset, &member, &inner))
				return false;
			if (name && dwarf_diename(&member)) {
				snprintf(to->name, sizeof to->name, "%.120s.%.120s", name, dwarf_diename(&member));
				to->element = size;
				to->offset = before;
			}
			alias = NULL;
		} else {
			if (tag == DW_TAG_typedef)
				alias = dwarf_diename(&type);
			if (!type_of(&type, &inner))
				return false;
		}
		type = inner;
	}
	return false;
}

/* ---- Variables and blocks ---- */

static bool is_at(Dwarf_Die *variable, uint64_t address, uint64_t *offset, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t n;
	uint64_t size;
	if (dwarf_tag(variable) != DW_TAG_variable || !dwarf_attr(variable, DW_AT_location, &attribute) ||
	    dwarf_getlocation(&attribute, &ops, &n) != 0 || n != 1 || ops[0].atom != DW_OP_addr)
		return false;
	if (!type_of(variable, type) || !size_of(type, &size) || address < ops[0].number ||
	    address - ops[0].number >= size)
		return false;
	*offset = address - ops[0].number;
	return true;
}

/* Calls f for each DIE of a unit that is at its top, or in a namespace, until it returns true. */
static bool any_of(Dwarf_Die *parent, bool (*f)(Dwarf_Die *die, void *arg), void *arg, int depth)
{
	Dwarf_Die child;
	for (bool more = dwarf_child(parent, &child) == 0; more; more = dwarf_siblingof(&child, &child) == 0) {
		bool inside = dwarf_tag(&child) == DW_TAG_namespace && depth < NESTING_MAX;
		if (f(&child, arg) || (inside && any_of(&child, f, arg, depth + 1)))
			return true;
	}
	return false;
}

struct variable_search {
	uint64_t address;
	struct lock_type *type;
};

static bool look_at_variable(Dwarf_Die *die, void *arg)
{
	struct variable_search *s = arg;
	Dwarf_Die type;
	uint64_t offset;
	return is_at(die, s->address, &offset, &type) && find_lock(type, offset, s->type);
}

bool lock_type_of_variable(struct lock_types *t, const struct rt_module *module, uint64_t lock, struct lock_type *type)
{
	struct lock_module *m = module_of(t, module);
	Dwarf_Off at = 0, next;
	size_t header;
	if (!m || !m->dwarf)
		return false;
	struct variable_search s = {lock - module->start + m->base, type};
	for (; dwarf_nextcu(m->dwarf, at, &next, &header, NULL, NULL, NULL) == 0; at = next) {
		Dwarf_Die unit;
		if (dwarf_offdie(m->dwarf, at + header, &unit) && any_of(&unit, look_at_variable, &s, 0))
			return true;
	}
	return false;
}

struct block_search {
	uint64_t block, offset;
	struct lock_type type;
	unsigned found; /* types of other names */
};

static bool look_at_type(Dwarf_Die *die, void *arg)
{
	struct block_search *s = arg;
	struct lock_type type;
	uint64_t size;
	int tag = dwarf_tag(die);
	if ((!is_aggregate(tag) && tag != DW_TAG_typedef) || is_lock(die) || !size_of(die, &size) ||
	    s->block % size != 0)
		return false;
	if (!find_lock(*die, s->offset % size, &type))
		return false;
	if (!s->found || strcmp(s->type.name, type.name) != 0)
		s->found++;
	s->type = type;
	s->type.element = size;
	s->type.offset = s->offset % size;
	return false;
}

bool lock_type_of_block(struct lock_types *t, const struct rt_module *module, uint64_t allocated_at, uint64_t block,
                        uint64_t offset, struct lock_type *type)
{
	struct lock_module *m = module_of(t, module);
	struct block_search s = {.block = block, .offset = offset};
	Dwarf_Die unit;
	if (!m || !m->dwarf || !block || offset >= block ||
	    !dwarf_addrdie(m->dwarf, allocated_at - module->start + m->base - 1, &unit))
		return false;
	any_of(&unit, look_at_type, &s, 0);
	*type = s.type;
	return s.found == 1;
}
