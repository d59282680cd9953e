/*
 * Names and the classes that they are of. A class is known by its own name, without what is around it: all that people
 * are told of it. Two of one name are taken for one; a name that is declared with several classes is of none.
 */
#include "recorder/collector/declared.h"

#include "lib/base/hash.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum {
	NESTING_MAX = 16, /* of blocks, anonymous members, and pointers to pointers */
	NAMES_MAX = 50000,
	TEXT_MAX = 1024
};

/* Keys are the kind, and two strings with their ends. */
struct declared_name {
	UT_hash_handle hh;
	const char *type; /* of libdw's, as long as the debug information */
	char key[];
};

/* A class or a unit that was walked, or a function. */
struct declared_seen {
	UT_hash_handle hh;
	char key[];
};

static void add_class(struct declared *d, Dwarf_Die *class, const char *name, unsigned depth);

/* True if it was not seen before. */
static bool first_time(struct declared *d, const void *key, size_t n)
{
	struct declared_seen *s;
	HASH_FIND(hh, d->seen, key, (unsigned)n, s);
	if (s || d->failed)
		return false;
	s = malloc(sizeof *s + n);
	if (!s) {
		d->failed = true;
		return false;
	}
	memcpy(s->key, key, n);
	HASH_ADD_KEYPTR(hh, d->seen, s->key, (unsigned)n, s);
	if (HASH_ADDED(s))
		return true;
	free(s);
	d->failed = true;
	return false;
}

/* The key of a name, with its length; 0: it is too long. */
static size_t key_of(enum rt_declared_kind kind, const char *of, const char *name, char key[TEXT_MAX])
{
	size_t a = strlen(of) + 1, b = strlen(name) + 1, n = 1 + a + b;
	if (n > TEXT_MAX)
		return 0;
	key[0] = (char)kind;
	memcpy(key + 1, of, a);
	memcpy(key + 1 + a, name, b);
	return n;
}

static struct declared_name *find(const struct declared *d, enum rt_declared_kind kind, const char *of,
                                  const char *name)
{
	char key[TEXT_MAX];
	size_t n = key_of(kind, of, name, key);
	struct declared_name *known = NULL;
	if (n)
		HASH_FIND(hh, d->names, key, (unsigned)n, known);
	return known;
}

static void add_name(struct declared *d, enum rt_declared_kind kind, const char *of, const char *name, const char *type)
{
	char key[TEXT_MAX];
	size_t n = key_of(kind, of, name, key);
	struct declared_name *known = find(d, kind, of, name);
	if (known)
		known->type = strcmp(known->type, type) ? "" : known->type;
	if (known || !n || d->failed || HASH_COUNT(d->names) >= NAMES_MAX)
		return;
	known = malloc(sizeof *known + n);
	d->failed |= !known;
	if (!known)
		return;
	known->type = type;
	memcpy(known->key, key, n);
	HASH_ADD_KEYPTR(hh, d->names, known->key, (unsigned)n, known);
	if (HASH_ADDED(known))
		return;
	free(known);
	d->failed = true;
}

static bool is_of_system(Dwarf_Die *die)
{
	const char *file = dwarf_decl_file(die);
	return file && (!strncmp(file, "/usr/include/", 13) || !strncmp(file, "/usr/lib/", 9));
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* What a library's pointer points to, or its container has as elements: the first type that it is a template of. */
static bool element_of(Dwarf_Die *class, Dwarf_Die *element)
{
	static const char *const templates[] = {"unique_ptr<", "shared_ptr<", "__shared_ptr<", "vector<",
	                                        "deque<",      "array<",      "optional<",     "reference_wrapper<"};
	const char *name = dwarf_diename(class);
	Dwarf_Attribute attribute;
	bool is = false;
	for (size_t i = 0; name && i < sizeof templates / sizeof *templates; i++)
		is |= begins(name, templates[i]);
	if (!is || dwarf_child(class, element) != 0)
		return false;
	while (dwarf_tag(element) != DW_TAG_template_type_parameter)
		if (dwarf_siblingof(element, element) != 0)
			return false;
	Dwarf_Die parameter = *element;
	return dwarf_attr(&parameter, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, element);
}

/* The class that a type is, or that it has to do with: behind pointers, references, arrays and typedefs. *name: its
 * own, or that of a typedef. False: it is none of the program's own. */
static bool class_behind(Dwarf_Die *declaration, Dwarf_Die *class, const char **name)
{
	Dwarf_Attribute attribute;
	const char *given = NULL;
	if (!dwarf_attr_integrate(declaration, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, class))
		return false;
	for (unsigned i = 0; i < NESTING_MAX; i++) {
		Dwarf_Die next;
		int tag = dwarf_tag(class);
		if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type) {
			*name = dwarf_diename(class) ? dwarf_diename(class) : given;
			if (!is_of_system(class))
				return *name != NULL;
			if (!element_of(class, &next))
				return false;
			given = NULL;
		} else if (tag == DW_TAG_subroutine_type || !dwarf_attr_integrate(class, DW_AT_type, &attribute) ||
		           !dwarf_formref_die(&attribute, &next)) {
			return false;
		} else {
			given = tag == DW_TAG_typedef         ? dwarf_diename(class)
			        : tag == DW_TAG_const_type    ? given
			        : tag == DW_TAG_volatile_type ? given
			                                      : NULL;
		}
		*class = next;
	}
	return false;
}

/* A name, and the class that it has to do with, which is walked, too. */
static void add_of(struct declared *d, enum rt_declared_kind kind, const char *of, const char *name, Dwarf_Die *die,
                   unsigned depth)
{
	Dwarf_Die class;
	const char *type = NULL;
	bool known = class_behind(die, &class, &type);
	add_name(d, kind, of, name, known ? type : "");
	if (known)
		add_class(d, &class, type, depth + 1);
}

static void add_members(struct declared *d, Dwarf_Die *class, const char *name, unsigned depth)
{
	Dwarf_Attribute attribute;
	Dwarf_Die part, inner;
	if (depth > NESTING_MAX || dwarf_child(class, &part) != 0)
		return;
	do {
		int tag = dwarf_tag(&part);
		const char *member = dwarf_diename(&part);
		if (tag == DW_TAG_inheritance)
			add_of(d, RT_DECLARED_MEMBER, name, "", &part, depth);
		else if (tag == DW_TAG_member && member)
			add_of(d, RT_DECLARED_MEMBER, name, member, &part, depth);
		else if (tag == DW_TAG_member && dwarf_attr_integrate(&part, DW_AT_type, &attribute) &&
		         dwarf_formref_die(&attribute, &inner))
			add_members(d, &inner, name, depth + 1); /* an anonymous structure or union */
	} while (dwarf_siblingof(&part, &part) == 0);
}

static void add_class(struct declared *d, Dwarf_Die *class, const char *name, unsigned depth)
{
	if (!dwarf_hasattr(class, DW_AT_declaration) && first_time(d, name, strlen(name) + 1))
		add_members(d, class, name, depth);
}

/* Variables of a function, but for those of what is inlined there. */
static void add_variables(struct declared *d, Dwarf_Die *around, const char *function, unsigned depth)
{
	Dwarf_Die die;
	if (depth > NESTING_MAX || dwarf_child(around, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);
		const char *name = dwarf_diename(&die);
		if (tag == DW_TAG_lexical_block)
			add_variables(d, &die, function, depth + 1);
		else if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && name && !begins(name, "__"))
			add_of(d, RT_DECLARED_LOCAL, function, name, &die, 0);
	} while (dwarf_siblingof(&die, &die) == 0);
}

static void add_globals(struct declared *d, struct debug_unit *unit)
{
	for (size_t i = 0; i < unit->variable_count; i++) {
		Dwarf_Die die = unit->variables[i].die;
		const char *name = debug_text(&die, DW_AT_name);
		if (name && !is_of_system(&die))
			add_of(d, RT_DECLARED_GLOBAL, "", name, &die, 0);
	}
}

void declared_add(struct declared *d, struct debug_unit *unit, uint32_t scope, const char *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Die die = unit->scopes[scope].die, origin;
	if (!function || begins(function, "std::") || begins(function, "__gnu_cxx::") || unit->image->system)
		return;
	if (dwarf_attr(&die, DW_AT_abstract_origin, &attribute) && dwarf_formref_die(&attribute, &origin))
		die = origin;
	if (!first_time(d, &die.addr, sizeof die.addr) || is_of_system(&die))
		return;
	add_variables(d, &die, function, 0);
	if (first_time(d, &unit, sizeof unit))
		add_globals(d, unit);
}

/* True if it tells something: members are there or not, others have a class, but for a variable that hides a member of
 * the function's object. */
static bool tells(const struct declared *d, const struct declared_name *n, const char *of, const char *name)
{
	enum { ABOVE_MAX = 8 };
	if (n->key[0] == RT_DECLARED_MEMBER || *n->type)
		return true;
	const struct declared_name *class =
	    n->key[0] == RT_DECLARED_LOCAL ? find(d, RT_DECLARED_LOCAL, of, "this") : NULL;
	for (unsigned i = 0; class && *class->type && i < ABOVE_MAX; i++) {
		if (find(d, RT_DECLARED_MEMBER, class->type, name))
			return true;
		class = find(d, RT_DECLARED_MEMBER, class->type, "");
	}
	return false;
}

enum rt_status declared_write(const struct declared *d, struct rt_writer *w, struct rt_error *err)
{
	enum rt_status status =
	    d->failed ? rt_error_set(err, RT_EMEMORY, "no memory for the names that functions declare") : RT_OK;
	for (const struct declared_name *n = d->names; n && !status; n = n->hh.next) {
		const char *of = n->key + 1, *name = of + strlen(of) + 1;
		const struct rt_declared declared = {(enum rt_declared_kind)n->key[0], of, name, n->type};
		if (tells(d, n, of, name))
			status = rt_writer_declared(w, &declared, err);
	}
	return status;
}

void declared_release(struct declared *d)
{
	HASH_FREE(d->names);
	HASH_FREE(d->seen);
}
