/* The variables of a build by name; see variables.h. */
#include "lib/schedule/variables.h"

#include "lib/base/names.h"
#include "lib/base/set.h"
#include "lib/base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Those of a long array's elements that are beyond are not known by name. */
enum { VARIABLES_MOST = 1 << 16 };

struct variables {
	const struct rt_trace *trace;
	struct set seen; /* addresses */
	struct names names;
	uint64_t *addresses; /* by name; 0: several variables have it */
	size_t capacity;
};

struct variables *variables_create(const struct rt_trace *trace)
{
	struct variables *v = calloc(1, sizeof *v);
	if (v)
		v->trace = trace;
	return v;
}

void variables_free(struct variables *v)
{
	if (!v)
		return;
	set_release(&v->seen);
	names_release(&v->names);
	free(v->addresses);
	free(v);
}

/* "file:name"; its length, 0: it is too long to be one. */
static size_t key_of(const struct rt_variable *v, char *key, size_t size)
{
	const char *file = v->file ? v->file : "", *slash = strrchr(file, '/');
	int length = snprintf(key, size, "%s:%s", slash ? slash + 1 : file, v->name);
	return length > 0 && (size_t)length < size ? (size_t)length : 0;
}

enum { KEY_SIZE = 1024 };

bool variables_add(struct variables *v, uint64_t address)
{
	char key[KEY_SIZE];
	struct rt_variable found;
	uint32_t count = v->names.count, name;
	bool added;
	if (count >= VARIABLES_MOST)
		return true;
	if (!set_add(&v->seen, address, &added))
		return false;
	if (!added || !rt_trace_variable(v->trace, address, &found))
		return true;
	size_t length = key_of(&found, key, sizeof key);
	if (!length)
		return true;
	if (!vec_reserve(&v->addresses, &v->capacity, (uint64_t)count + 1, sizeof *v->addresses) ||
	    !names_intern(&v->names, key, length, &name))
		return false;
	if (name == count)
		v->addresses[name] = found.address;
	else if (v->addresses[name] != found.address)
		v->addresses[name] = 0;
	return true;
}

uint64_t variables_find(const struct variables *v, const struct rt_trace *other, uint64_t address)
{
	char key[KEY_SIZE];
	struct rt_variable found;
	uint32_t name;
	if (!rt_trace_variable(other, address, &found))
		return 0;
	size_t length = key_of(&found, key, sizeof key);
	if (!length || !names_find(&v->names, key, length, &name) || !v->addresses[name])
		return 0;
	return v->addresses[name] + (address - found.address);
}
