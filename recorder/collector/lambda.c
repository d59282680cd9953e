/*
 * A lambda is the operator() of a type in the function that has it; GCC gives the type no name, and a constructor
 * "<lambda>". Its number counts the function's lambdas in the order of the source, as GCC's mangled names do.
 */
#include "recorder/collector/lambda.h"

#include "lib/base/hash.h"
#include "lib/base/memory_file.h"
#include "recorder/collector/debug.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NESTING_MAX = 8 }; /* of lambdas and blocks; what is around deeper ones is left out */
static const char call[] = "operator()", constructor[] = "<lambda";

/* By declaration: to find what is around one takes a walk through its unit. */
struct lambda {
	UT_hash_handle hh;
	const void *declaration;
	char *name; /* NULL: it is none */
};

static char *make_name(Dwarf_Die *declaration, unsigned depth);

/* The declaration that a call or a definition leads to. */
static Dwarf_Die declaration_of(Dwarf_Die die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die next;
	for (unsigned i = 0; i < NESTING_MAX; i++) {
		if ((!dwarf_attr(&die, DW_AT_abstract_origin, &attribute) &&
		     !dwarf_attr(&die, DW_AT_specification, &attribute)) ||
		    !dwarf_formref_die(&attribute, &next))
			break;
		die = next;
	}
	return die;
}

/* True if the type comes earlier in the source. */
static bool is_before(Dwarf_Die *x, Dwarf_Die *y)
{
	int line[2] = {0}, column[2] = {0};
	dwarf_decl_line(x, &line[0]);
	dwarf_decl_line(y, &line[1]);
	dwarf_decl_column(x, &column[0]);
	dwarf_decl_column(y, &column[1]);
	return line[0] != line[1] ? line[0] < line[1] : column[0] < column[1];
}

/* Appends a type as the demangler has it: "char const*". */
static void put_type(FILE *out, Dwarf_Die *of, unsigned depth)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;
	if (depth > NESTING_MAX || !dwarf_attr_integrate(of, DW_AT_type, &attribute) ||
	    !dwarf_formref_die(&attribute, &type)) {
		fputs("void", out);
		return;
	}
	const char *name = dwarf_diename(&type), *behind = NULL;
	switch (dwarf_tag(&type)) {
	case DW_TAG_const_type:
		behind = " const";
		break;
	case DW_TAG_pointer_type:
		behind = "*";
		break;
	case DW_TAG_reference_type:
		behind = "&";
		break;
	case DW_TAG_rvalue_reference_type:
		behind = "&&";
		break;
	default:
		fputs(name ? name : "?", out);
		return;
	}
	put_type(out, &type, depth + 1);
	fputs(behind, out);
}

/* The member function of a type whose name has the text. False: there is none. */
static bool find_function(Dwarf_Die *type, const char *text, Dwarf_Die *function)
{
	const char *name;
	if (dwarf_tag(type) != DW_TAG_structure_type || dwarf_child(type, function) != 0)
		return false;
	while (dwarf_tag(function) != DW_TAG_subprogram || !(name = dwarf_diename(function)) || !strstr(name, text))
		if (dwarf_siblingof(function, function) != 0)
			return false;
	return true;
}

/* The parameters of the lambda whose type this is: "(int, char)". NULL: it is no such type, or there is no memory. */
static char *parameters_of(Dwarf_Die *type)
{
	struct rt_bytes bytes = {0};
	Dwarf_Die function, parameter;
	const char *before = "";
	FILE *out = find_function(type, constructor, &function) && find_function(type, call, &function)
	                ? rt_memory_file(&bytes)
	                : NULL;
	if (!out)
		return NULL;
	putc('(', out);
	for (int more = dwarf_child(&function, &parameter); more == 0; more = dwarf_siblingof(&parameter, &parameter)) {
		if (dwarf_tag(&parameter) != DW_TAG_formal_parameter || dwarf_hasattr(&parameter, DW_AT_artificial))
			continue;
		fputs(before, out);
		put_type(out, &parameter, 0);
		before = ", ";
	}
	putc(')', out);
	putc('\0', out);
	if (fclose(out) == 0)
		return (char *)bytes.data;
	rt_bytes_release(&bytes);
	return NULL;
}

/* Number of lambdas' types below a DIE that come before `type`; blocks are entered. */
static unsigned count_before(Dwarf_Die *around, Dwarf_Die *type, unsigned depth)
{
	unsigned n = 0;
	Dwarf_Die die, function;
	if (depth > NESTING_MAX || dwarf_child(around, &die) != 0)
		return 0;
	do {
		if (dwarf_tag(&die) == DW_TAG_lexical_block)
			n += count_before(&die, type, depth + 1);
		else
			n += find_function(&die, constructor, &function) && is_before(&die, type);
	} while (dwarf_siblingof(&die, &die) == 0);
	return n;
}

/* The name of the innermost function or namespace of a chain of scopes, with all around it; "" for the file. */
static char *around_name(Dwarf_Die *scopes, int n, unsigned depth)
{
	char *outer, *whole;
	while (n && (dwarf_tag(scopes) == DW_TAG_lexical_block || !dwarf_diename(scopes)))
		scopes++, n--;
	if (!n || dwarf_tag(scopes) == DW_TAG_compile_unit || depth > NESTING_MAX)
		return strdup("");
	const char *linkage = debug_text(scopes, DW_AT_linkage_name);
	if (linkage)
		return debug_demangle(linkage);
	Dwarf_Die declaration = declaration_of(*scopes);
	whole = make_name(&declaration, depth + 1);
	if (whole)
		return whole;
	outer = around_name(scopes + 1, n - 1, depth + 1);
	if (!outer || asprintf(&whole, "%s%s%s", outer, *outer ? "::" : "", dwarf_diename(scopes)) < 0)
		whole = NULL;
	free(outer);
	return whole;
}

/* The function, block or namespace that has the type; NULL: none is known. */
static Dwarf_Die *owner_of(Dwarf_Die *scopes, int n)
{
	while (n > 1 && dwarf_tag(scopes) == DW_TAG_lexical_block)
		scopes++, n--;
	return n ? scopes : NULL;
}

/* True if a function may be a lambda's operator(), constructor or destructor. */
static bool may_be_lambdas(Dwarf_Die *declaration)
{
	const char *name = dwarf_tag(declaration) == DW_TAG_subprogram ? dwarf_diename(declaration) : NULL;
	return name && (!strcmp(name, call) || strstr(name, constructor));
}

static char *make_name(Dwarf_Die *declaration, unsigned depth)
{
	Dwarf_Die *scopes = NULL;
	int n = may_be_lambdas(declaration) ? dwarf_getscopes_die(declaration, &scopes) : 0;
	Dwarf_Die *owner = n > 2 ? owner_of(scopes + 2, n - 2) : NULL;
	char *parameters = owner ? parameters_of(&scopes[1]) : NULL, *name = NULL;
	char *outer = parameters ? around_name(scopes + 2, n - 2, depth) : NULL;
	if (outer && asprintf(&name, "%s%s{lambda%s#%u}::%s", outer, *outer ? "::" : "", parameters,
	                      1 + count_before(owner, &scopes[1], 0), dwarf_diename(declaration)) < 0)
		name = NULL;
	free(parameters);
	free(outer);
	free(scopes);
	return name;
}

const char *lambda_name(struct lambda **known, Dwarf_Die *function)
{
	struct lambda *lambda;
	Dwarf_Die declaration = declaration_of(*function);
	if (!may_be_lambdas(&declaration))
		return NULL;
	HASH_FIND_PTR(*known, &declaration.addr, lambda);
	if (lambda || !(lambda = malloc(sizeof *lambda)))
		return lambda ? lambda->name : NULL;
	lambda->declaration = declaration.addr;
	lambda->name = make_name(&declaration, 0);
	HASH_ADD_PTR(*known, declaration, lambda);
	if (HASH_ADDED(lambda))
		return lambda->name;
	free(lambda->name);
	free(lambda);
	return NULL;
}

void lambda_names_free(struct lambda **known)
{
	struct lambda *lambda, *next;
	HASH_ITER(hh, *known, lambda, next)
	{
		HASH_DEL(*known, lambda);
		free(lambda->name);
		free(lambda);
	}
}
