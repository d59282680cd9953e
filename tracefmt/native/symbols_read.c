/* Parses and looks up positions, variables and names; see symbols.h and docs/trace-format.md. */
#include "tracefmt/native/symbols.h"

#include "lib/base/free.h"
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"

#include <inttypes.h>
#include <stdio.h>

enum { DEPTH_MAX = 32, OVERLAP_MAX = 8 };

struct position {
	uint64_t pc;
	size_t first, count; /* frames */
};
struct type {
	uint64_t size, count;
	size_t first, member_count; /* members */
};
struct variable {
	uint64_t address, size;
	const char *name, *file;
	uint32_t type, line;
};
struct object {
	uint64_t addr;
	const char *name;
};

struct rt_symbols {
	char *text;
	const char **strings; /* [0] is NULL */
	size_t string_count;  /* with [0] */
	struct position *positions;
	struct rt_frame *frames;
	struct type *types;
	struct rt_member *members;
	struct variable *variables;
	struct object *objects;
	struct rt_module *modules;
	struct rt_text_file *text_files;
	size_t text_file_count;
	struct rt_update *updates;
	size_t update_count;
	struct rt_declared *declared;
	size_t declared_count;
	size_t module_count;
	struct rt_hidden_atomic *atomics;
	size_t atomic_count;
	size_t position_count, frame_count, type_count, member_total, variable_count, object_count;
	size_t frame_cap, member_cap;
	bool no_memory;
};

void rt_symbols_free(struct rt_symbols *s)
{
	if (!s)
		return;
	free_all(s->text, s->strings, s->positions, s->frames, s->types, s->members, s->variables, s->objects,
	         s->modules, s->text_files, s->atomics, s->updates, s->declared, s);
}

/* An array for as many items as the next count says, which take at least `least` coded bytes each. */
static void *take_array(struct rt_symbols *s, struct rt_cursor *c, size_t least, size_t item, size_t *count)
{
	*count = rt_cursor_count(c, least);
	void *array = calloc(*count + 1, item);
	if (!array) {
		c->bad = s->no_memory = true;
		*count = 0;
	}
	return array;
}

/* Makes room for n more items of a growing array. */
static bool grow(struct rt_symbols *s, void *array, size_t *cap, size_t count, size_t n, size_t item)
{
	s->no_memory |= !vec_reserve(array, cap, count + n, item);
	return !s->no_memory;
}

static void parse_strings(struct rt_symbols *s, struct rt_cursor *c)
{
	s->text = malloc(rt_cursor_left(c) + 1);
	s->strings = take_array(s, c, 1, sizeof *s->strings, &s->string_count);
	if (!s->text || c->bad) {
		s->no_memory |= !s->text;
		c->bad = true;
		return;
	}
	char *out = s->text;
	s->string_count++;
	for (size_t i = 1; i < s->string_count; i++) {
		uint64_t n = rt_cursor_varint(c);
		const uint8_t *p = rt_cursor_take(c, n);
		if (!p)
			return;
		s->strings[i] = out;
		memcpy(out, p, (size_t)n); /* fits: length byte and bytes were there; NUL takes the length's place */
		out += n;
		*out++ = '\0';
	}
}

static const char *take_string(const struct rt_symbols *s, struct rt_cursor *c)
{
	uint64_t i = rt_cursor_varint(c);
	if (i >= s->string_count) {
		c->bad = true;
		return NULL;
	}
	return s->strings[i];
}

static uint32_t take_u32(struct rt_cursor *c)
{
	uint64_t v = rt_cursor_varint(c);
	return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

/* A type's number, stored plus one. Which types exist is known later, so lookups check it. */
static uint32_t take_type(struct rt_cursor *c)
{
	uint32_t v = take_u32(c);
	return v ? v - 1 : RT_NO_TYPE;
}

static void parse_positions(struct rt_symbols *s, struct rt_cursor *c)
{
	uint64_t pc = 0;
	s->positions = take_array(s, c, 2, sizeof *s->positions, &s->position_count);
	for (size_t i = 0; i < s->position_count && !c->bad; i++) {
		pc += rt_cursor_varint(c);
		size_t n = rt_cursor_count(c, 7);
		if (!grow(s, &s->frames, &s->frame_cap, s->frame_count, n, sizeof *s->frames)) {
			c->bad = true;
			return;
		}
		s->positions[i] = (struct position){pc, s->frame_count, n};
		for (size_t k = 0; k < n; k++) {
			struct rt_frame *f = &s->frames[s->frame_count++];
			f->function = take_string(s, c);
			f->file = take_string(s, c);
			f->module = take_string(s, c);
			f->text = take_string(s, c);
			f->line = take_u32(c);
			f->column = take_u32(c);
			f->pc = pc + (uint64_t)rt_unzigzag(rt_cursor_varint(c));
		}
	}
}

static void parse_types(struct rt_symbols *s, struct rt_cursor *c)
{
	s->types = take_array(s, c, 4, sizeof *s->types, &s->type_count);
	for (size_t i = 0; i < s->type_count && !c->bad; i++) {
		struct type *t = &s->types[i];
		rt_cursor_varint(c); /* key: the number */
		t->size = rt_cursor_varint(c);
		t->count = rt_cursor_varint(c);
		t->member_count = rt_cursor_count(c, 3);
		t->first = s->member_total;
		if (!grow(s, &s->members, &s->member_cap, s->member_total, t->member_count, sizeof *s->members)) {
			c->bad = true;
			return;
		}
		for (size_t k = 0; k < t->member_count; k++) {
			struct rt_member *m = &s->members[s->member_total++];
			m->name = take_string(s, c);
			m->offset = rt_cursor_varint(c);
			m->type = take_type(c);
		}
	}
}

static void parse_variables(struct rt_symbols *s, struct rt_cursor *c)
{
	uint64_t address = 0;
	s->variables = take_array(s, c, 6, sizeof *s->variables, &s->variable_count);
	for (size_t i = 0; i < s->variable_count && !c->bad; i++) {
		struct variable *v = &s->variables[i];
		v->address = address += rt_cursor_varint(c);
		v->name = take_string(s, c);
		v->size = rt_cursor_varint(c);
		v->type = take_type(c);
		v->file = take_string(s, c);
		v->line = take_u32(c);
	}
}

static void parse_objects(struct rt_symbols *s, struct rt_cursor *c)
{
	uint64_t addr = 0;
	s->objects = take_array(s, c, 2, sizeof *s->objects, &s->object_count);
	for (size_t i = 0; i < s->object_count && !c->bad; i++) {
		s->objects[i].addr = addr += rt_cursor_varint(c);
		s->objects[i].name = take_string(s, c);
	}
}

static void parse_modules(struct rt_symbols *s, struct rt_cursor *c)
{
	uint64_t start = 0;
	s->modules = take_array(s, c, 4, sizeof *s->modules, &s->module_count);
	for (size_t i = 0; i < s->module_count && !c->bad; i++) {
		struct rt_module *m = &s->modules[i];
		m->start = start += rt_cursor_varint(c);
		m->end = rt_cursor_varint(c);
		rt_cursor_varint(c); /* file offset */
		m->path = take_string(s, c);
		if (!m->path)
			m->path = "";
	}
}

/* A file of format version 1.0 does not have this table. */
static void parse_plain(struct rt_symbols *s, struct rt_cursor *c)
{
	uint64_t start = 0;
	size_t first = 0, n = rt_cursor_left(c) ? rt_cursor_count(c, 2) : 0;
	for (; n && !c->bad; n--) {
		start += rt_cursor_varint(c);
		const char *path = take_string(s, c);
		while (first < s->module_count && s->modules[first].start < start)
			first++;
		for (size_t i = first; i < s->module_count && s->modules[i].start == start; i++)
			s->modules[i].plain |= s->modules[i].path == path;
	}
}

/* Not before version 1.2. */
static void parse_atomics(struct rt_symbols *s, struct rt_cursor *c)
{
	uint64_t start = 0;
	if (!rt_cursor_left(c))
		return;
	s->atomics = take_array(s, c, 7, sizeof *s->atomics, &s->atomic_count);
	for (size_t i = 0; i < s->atomic_count && !c->bad; i++) {
		struct rt_hidden_atomic *a = &s->atomics[i];
		a->start = start += rt_cursor_varint(c);
		a->end = start + rt_cursor_varint(c);
		a->from = start + rt_cursor_varint(c);
		a->until = start + rt_cursor_varint(c);
		a->function = take_string(s, c);
		a->module = take_string(s, c);
		uint64_t bits = rt_cursor_varint(c);
		a->may_lock = bits & 1;
		a->orders_nothing = bits & 2;
		a->reads_nothing = bits & 4;
		a->writes_nothing = bits & 8;
	}
}

/* May be missing. */
static void parse_text_files(struct rt_symbols *s, struct rt_cursor *c)
{
	if (!rt_cursor_left(c))
		return;
	s->text_files = take_array(s, c, 3, sizeof *s->text_files, &s->text_file_count);
	for (size_t i = 0; i < s->text_file_count && !c->bad; i++) {
		rt_cursor_varint(c); /* number */
		s->text_files[i].path = take_string(s, c);
		s->text_files[i].digest = rt_cursor_varint(c);
		if (!s->text_files[i].path)
			s->text_files[i].path = "";
	}
}

/* Not before version 1.8. */
static void parse_updates(struct rt_symbols *s, struct rt_cursor *c)
{
	uint64_t pc = 0;
	if (!rt_cursor_left(c))
		return;
	s->updates = take_array(s, c, 2, sizeof *s->updates, &s->update_count);
	for (size_t i = 0; i < s->update_count && !c->bad; i++) {
		s->updates[i].read = pc += rt_cursor_varint(c);
		s->updates[i].write = pc + rt_cursor_varint(c);
	}
}

static const char *take_text(const struct rt_symbols *s, struct rt_cursor *c)
{
	const char *text = take_string(s, c);
	return text ? text : "";
}

/* Not before version 1.16. */
static void parse_declared(struct rt_symbols *s, struct rt_cursor *c)
{
	if (!rt_cursor_left(c))
		return;
	s->declared = take_array(s, c, 5, sizeof *s->declared, &s->declared_count);
	for (size_t i = 0; i < s->declared_count && !c->bad; i++) {
		struct rt_declared *d = &s->declared[i];
		rt_cursor_varint(c); /* number */
		uint64_t kind = rt_cursor_varint(c);
		d->kind = kind < RT_DECLARED_KINDS ? (enum rt_declared_kind)kind : RT_DECLARED_KINDS;
		d->of = take_text(s, c);
		d->name = take_text(s, c);
		d->type = take_text(s, c);
	}
	if (!c->bad && s->declared_count)
		qsort(s->declared, s->declared_count, sizeof *s->declared, rt_declared_compare);
}

enum rt_status rt_symbols_parse(const uint8_t *data, size_t n, struct rt_symbols **out)
{
	struct rt_symbols *s = calloc(1, sizeof *s);
	if (!s)
		return RT_EMEMORY;
	struct rt_cursor c = rt_cursor_make(data, n);
	parse_strings(s, &c);
	if (!c.bad)
		parse_positions(s, &c);
	if (!c.bad)
		parse_types(s, &c);
	if (!c.bad)
		parse_variables(s, &c);
	if (!c.bad)
		parse_objects(s, &c);
	if (!c.bad)
		parse_modules(s, &c);
	if (!c.bad)
		parse_plain(s, &c);
	if (!c.bad)
		parse_atomics(s, &c);
	if (!c.bad)
		parse_text_files(s, &c);
	if (!c.bad)
		parse_updates(s, &c);
	if (!c.bad)
		parse_declared(s, &c);
	if (c.bad) {
		enum rt_status status = s->no_memory ? RT_EMEMORY : RT_EINPUT;
		rt_symbols_free(s);
		return status;
	}
	*out = s;
	return RT_OK;
}

static uint64_t key_at(const void *array, size_t i, size_t item)
{
	uint64_t key;
	memcpy(&key, (const char *)array + i * item, sizeof key);
	return key;
}

/*
 * Number of items of a sorted array whose key, the item's first field, is at most key. Keys are sums of distances, so a
 * damaged file can make them wrap round: lookups then miss, nothing worse.
 */
static size_t upper_bound(const void *array, size_t count, size_t item, uint64_t key)
{
	return lower_bound(i, 0, count, key_at(array, i, item) <= key);
}

const struct rt_frame *rt_symbols_frames(const struct rt_symbols *s, uint64_t pc, size_t *count)
{
	*count = 0;
	if (!s)
		return NULL;
	size_t i = upper_bound(s->positions, s->position_count, sizeof *s->positions, pc);
	if (!i || s->positions[i - 1].pc != pc || !s->positions[i - 1].count)
		return NULL;
	*count = s->positions[i - 1].count;
	return &s->frames[s->positions[i - 1].first];
}

const char *rt_symbols_object(const struct rt_symbols *s, uint64_t addr)
{
	if (!s)
		return NULL;
	size_t i = upper_bound(s->objects, s->object_count, sizeof *s->objects, addr);
	return i && s->objects[i - 1].addr == addr ? s->objects[i - 1].name : NULL;
}

const struct rt_text_file *rt_symbols_text_files(const struct rt_symbols *s, size_t *count)
{
	*count = s ? s->text_file_count : 0;
	return s ? s->text_files : NULL;
}

void rt_symbols_set_builds(struct rt_symbols *s, const struct rt_loaded *loaded, size_t count)
{
	for (size_t i = 0; i < s->module_count; i++)
		for (size_t k = 0; k < count; k++)
			if (!strcmp(s->modules[i].path, loaded[k].path))
				s->modules[i].build_id = loaded[k].build_id;
}

const struct rt_module *rt_symbols_modules(const struct rt_symbols *s, size_t *count)
{
	*count = s ? s->module_count : 0;
	return s ? s->modules : NULL;
}

const struct rt_hidden_atomic *rt_symbols_hidden_atomics(const struct rt_symbols *s, size_t *count)
{
	*count = s ? s->atomic_count : 0;
	return s ? s->atomics : NULL;
}

const struct rt_update *rt_symbols_updates(const struct rt_symbols *s, size_t *count)
{
	*count = s ? s->update_count : 0;
	return s ? s->updates : NULL;
}

const struct rt_declared *rt_symbols_declared(const struct rt_symbols *s, size_t *count)
{
	*count = s ? s->declared_count : 0;
	return s ? s->declared : NULL;
}

static const struct type *get_type(const struct rt_symbols *s, uint32_t type)
{
	return type < s->type_count ? &s->types[type] : NULL;
}

/* The member that covers offset: the last one that begins at or before it and, if its size is known, reaches it. */
static const struct rt_member *find_member(const struct rt_symbols *s, const struct type *t, uint64_t offset)
{
	const struct rt_member *best = NULL;
	for (size_t i = 0; i < t->member_count; i++) {
		const struct rt_member *m = &s->members[t->first + i];
		const struct type *of = get_type(s, m->type);
		if (m->offset > offset || (of && of->size && offset - m->offset >= of->size))
			continue;
		if (!best || m->offset > best->offset)
			best = m;
	}
	return best;
}

/* Descends from the variable in *out, of type `type`, to the innermost member at offset. */
static void name_member(const struct rt_symbols *s, uint32_t type, uint64_t offset, struct rt_variable *out)
{
	size_t used = strlen(out->name);
	const struct type *t;
	for (unsigned depth = 0; depth < DEPTH_MAX && (t = get_type(s, type)) && t->member_count; depth++) {
		const struct rt_member *m;
		const struct type *of;
		char step[sizeof out->name];
		uint64_t skipped;
		step[0] = '\0';
		if (t->count) {
			m = &s->members[t->first];
			of = get_type(s, m->type);
			if (!of || !of->size || offset / of->size >= t->count)
				return;
			skipped = offset / of->size * of->size;
			snprintf(step, sizeof step, "[%" PRIu64 "]", offset / of->size);
		} else {
			m = find_member(s, t, offset);
			if (!m)
				return;
			of = get_type(s, m->type);
			skipped = m->offset;
			if (m->name)
				snprintf(step, sizeof step, ".%s", m->name);
		}
		size_t n = strlen(step);
		if (used + n >= sizeof out->name)
			return;
		memcpy(out->name + used, step, n + 1);
		used += n;
		out->address += skipped;
		out->size = of ? of->size : 0;
		offset -= skipped;
		type = m->type;
	}
}

bool rt_symbols_variable(const struct rt_symbols *s, uint64_t addr, struct rt_variable *out)
{
	if (!s)
		return false;
	size_t i = upper_bound(s->variables, s->variable_count, sizeof *s->variables, addr);
	/* Variables hardly overlap: a few steps back find the enclosing ones. */
	for (size_t k = 0; i && k < OVERLAP_MAX; k++, i--) {
		const struct variable *v = &s->variables[i - 1];
		uint64_t offset = addr - v->address;
		if (!v->name || offset >= (v->size ? v->size : 1))
			continue;
		snprintf(out->name, sizeof out->name, "%s", v->name);
		out->address = v->address;
		out->size = v->size;
		out->file = v->file;
		out->line = v->line;
		name_member(s, v->type, offset, out);
		return true;
	}
	return false;
}
