#include "cmd/record/relations.h"

#include "cmd/record/lock_type.h"

#include "lib/base/vec.h"
#include "lib/trace/modules.h"
#include "tracefmt/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Writing ---- */

json_t *relations_offset(const struct rt_trace *trace, uint64_t pc)
{
	const struct rt_module *m = module_at(trace, pc);
	return m ? json_sprintf("%s+0x%" PRIx64, m->path, pc - m->start) : NULL;
}

/*
 * What the lock is: the name of the variable, or of the member; elements of one array are alike if the lock is a member
 * of the element. A lock's own members do not matter.
 */
static json_t *type_json(const struct rt_trace *trace, uint64_t lock)
{
	struct rt_variable v;
	char name[sizeof v.name];
	size_t n = 0;
	if (!rt_trace_variable(trace, lock, &v) || !v.name[0])
		return NULL;
	char *own = strstr(v.name, ".__"); /* the C library's structures */
	if (own)
		*own = '\0';
	const char *last = strrchr(v.name, '.');
	for (const char *p = v.name; *p; p++) {
		bool index = *p == '[' && last && p < last;
		name[n++] = *p;
		if (index && strchr(p, ']'))
			p = strchr(p, ']') - 1;
	}
	name[n] = '\0';
	return json_string(name);
}

static const char *const kinds[] = {[RT_LOCK_STATIC] = "static", [RT_LOCK_HEAP] = "heap", [RT_LOCK_MADE] = "made"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Adds what the lock is a member of, or else the name of the variable. False without memory. */
static bool add_type(json_t *relation, const struct rt_trace *trace, const struct rt_lock *lock,
                     struct lock_types *types)
{
	const struct rt_module *module = module_at(trace, lock->at);
	struct lock_type type;
	json_t *name = NULL;
	bool heap = lock->kind == RT_LOCK_HEAP;
	if (heap && module && lock_type_of_block(types, module, lock->at, lock->block, lock->offset, &type)) {
		json_t *to = json_object_get(relation, "lock");
		if (json_object_set_new(to, "offset", json_integer((json_int_t)type.offset)) != 0 ||
		    json_object_set_new(to, "element", json_integer((json_int_t)type.element)) != 0)
			return false;
		name = json_string(type.name);
	} else if (lock->kind == RT_LOCK_STATIC) {
		name = module && lock_type_of_variable(types, module, lock->at, &type) ? json_string(type.name)
		                                                                       : type_json(trace, lock->at);
	}
	return !name || json_object_set_new(relation, "type", name) == 0;
}

static json_t *relation_json(const struct rt_trace *trace, const struct rt_may_trigger *r, struct lock_types *types)
{
	json_t *function = relations_offset(trace, r->function), *at = relations_offset(trace, r->lock.at);
	if (function && r->lock.kind == RT_LOCK_UNKNOWN) {
		json_decref(at);
		return json_pack("{s:o, s:n}", "function", function, "lock");
	}
	if (!function || !at || r->lock.kind >= KINDS) {
		json_decref(function);
		json_decref(at);
		return NULL;
	}
	json_t *relation = json_pack("{s:o, s:{s:s, s:o, s:I}}", "function", function, "lock", "kind",
	                             kinds[r->lock.kind], "at", at, "offset", (json_int_t)r->lock.offset);
	if (relation && !add_type(relation, trace, &r->lock, types)) {
		json_decref(relation);
		return NULL;
	}
	return relation;
}

json_t *relations_json(const struct rt_trace *trace, const struct rt_control *control)
{
	uint64_t n = atomic_load(&control->relation_count);
	json_t *list = json_array();
	struct lock_types types = {0};
	for (uint64_t i = 0; i < n && i < RT_RELATIONS_MAX; i++) {
		json_t *relation = relation_json(trace, &control->relations[i], &types);
		if (relation)
			json_array_append_new(list, relation);
	}
	lock_types_release(&types);
	return list;
}

/* ---- Reading ---- */

/* Number of a module with this name; a new one if there is none yet. */
static uint32_t module_number(struct relations *r, const char *name, size_t length)
{
	uint32_t i = 0;
	while (i < r->module_count && (strncmp(r->modules[i].name, name, length) != 0 || r->modules[i].name[length]))
		i++;
	if (i < r->module_count)
		return i;
	if (length >= sizeof r->modules->name ||
	    !vec_reserve(&r->modules, &r->module_room, (uint64_t)i + 1, sizeof *r->modules))
		return RT_NO_MODULE;
	r->modules[i] = (struct rt_module_name){0};
	memcpy(r->modules[i].name, name, length);
	return r->module_count++;
}

static uint32_t type_number(struct relations *r, const char *name)
{
	uint32_t i = 0;
	while (i < r->type_count && strcmp(r->types[i], name) != 0)
		i++;
	if (i == r->type_count) {
		if (!vec_reserve(&r->types, &r->type_room, (uint64_t)i + 1, sizeof *r->types))
			return 0;
		r->types[r->type_count++] = name;
	}
	return i + 1;
}

/* "PATH/MODULE+OFFSET" */
static bool read_offset(struct relations *r, const json_t *text, uint32_t *module, uint64_t *offset)
{
	const char *s = json_string_value(text), *plus = s ? strrchr(s, '+') : NULL;
	if (!plus)
		return false;
	const char *name = plus;
	while (name > s && name[-1] != '/')
		name--;
	*module = module_number(r, name, (size_t)(plus - name));
	*offset = strtoull(plus + 1, NULL, 0);
	return *module != RT_NO_MODULE;
}

static bool read_lock(struct relations *r, const json_t *lock, struct rt_may_trigger *to)
{
	const char *kind = json_string_value(json_object_get(lock, "kind"));
	uint32_t i = 1;
	while (kind && i < KINDS && strcmp(kinds[i], kind) != 0)
		i++;
	if (!kind || i == KINDS || !read_offset(r, json_object_get(lock, "at"), &to->lock_module, &to->lock.at))
		return false;
	to->lock.kind = i;
	to->lock.offset = (uint64_t)json_integer_value(json_object_get(lock, "offset"));
	to->lock.block = (uint64_t)json_integer_value(json_object_get(lock, "element"));
	return true;
}

static bool read_relation(struct relations *r, const json_t *from, struct rt_may_trigger *to)
{
	const json_t *lock = json_object_get(from, "lock");
	const char *type = json_string_value(json_object_get(from, "type"));
	*to = (struct rt_may_trigger){.function_module = RT_NO_MODULE, .lock_module = RT_NO_MODULE};
	if (!read_offset(r, json_object_get(from, "function"), &to->function_module, &to->function) ||
	    (!json_is_null(lock) && !read_lock(r, lock, to)))
		return false;
	to->lock.type = type ? type_number(r, type) : 0;
	return true;
}

enum rt_status relations_read(const json_t *outcome, struct relations *r, struct rt_error *err)
{
	const json_t *list = json_object_get(outcome, "relations"), *from;
	size_t i;
	json_array_foreach(list, i, from)
	{
		if (!vec_reserve(&r->list, &r->room, (uint64_t)r->count + 1, sizeof *r->list))
			return rt_error_set(err, RT_EMEMORY, "no memory for relations");
		if (read_relation(r, from, &r->list[r->count]))
			r->count++;
	}
	return RT_OK;
}

void relations_free(struct relations *r)
{
	free(r->list);
	free(r->modules);
	free(r->types);
}
