/* Gathers and stores positions, variables, names and modules; see symbols.h and docs/trace-format.md. */
#include "tracefmt/native/symbols.h"

#include "lib/base/hash.h"
#include "lib/base/vec.h"

#include <stdlib.h>

/* A numbered string; 0 is NULL. */
struct interned {
	UT_hash_handle hh;
	uint32_t number;
	char text[];
};

/* An entry of a table: its key and its coded bytes. Tables are stored in the order of their keys. */
struct entry {
	uint64_t key;
	size_t start, len;
};
struct table {
	struct entry *entries;
	size_t count, cap;
	struct rt_bytes bytes;
};

struct rt_symbol_table {
	struct interned *strings;
	uint32_t string_count;
	struct rt_bytes text; /* the strings in the order of their numbers: length, bytes */
	struct table positions, variables, objects, modules, types, plain, atomics, text_files, updates, declared;
	bool failed;
};

struct rt_symbol_table *rt_symbol_table_create(void)
{
	return calloc(1, sizeof(struct rt_symbol_table));
}

static void table_release(struct table *t)
{
	free(t->entries);
	rt_bytes_release(&t->bytes);
}

void rt_symbol_table_free(struct rt_symbol_table *t)
{
	if (!t)
		return;
	struct interned *s, *next;
	HASH_ITER(hh, t->strings, s, next)
	{
		HASH_DEL(t->strings, s);
		free(s);
	}
	rt_bytes_release(&t->text);
	table_release(&t->positions);
	table_release(&t->variables);
	table_release(&t->objects);
	table_release(&t->modules);
	table_release(&t->types);
	table_release(&t->plain);
	table_release(&t->text_files);
	table_release(&t->updates);
	table_release(&t->declared);
	table_release(&t->atomics);
	free(t);
}

/* Number of a string, 0 for NULL; t->failed without memory. */
static uint32_t intern(struct rt_symbol_table *t, const char *text)
{
	if (!text)
		return 0;
	size_t n = strlen(text);
	struct interned *s;
	HASH_FIND(hh, t->strings, text, n, s);
	if (s)
		return s->number;
	s = calloc(1, sizeof *s + n + 1);
	if (!s) {
		t->failed = true;
		return 0;
	}
	memcpy(s->text, text, n);
	s->number = ++t->string_count;
	HASH_ADD_KEYPTR(hh, t->strings, s->text, n, s);
	if (!HASH_ADDED(s)) {
		free(s);
		t->failed = true;
		return 0;
	}
	rt_bytes_varint(&t->text, n);
	rt_bytes_add(&t->text, text, n);
	return s->number;
}

/* Opens an entry: its bytes follow, up to entry_end. */
static void entry_begin(struct rt_symbol_table *symbols, struct table *t, uint64_t key)
{
	if (!vec_reserve(&t->entries, &t->cap, (uint64_t)t->count + 1, sizeof *t->entries)) {
		symbols->failed = true;
		return;
	}
	t->entries[t->count++] = (struct entry){key, t->bytes.len, 0};
}

static bool entry_end(struct rt_symbol_table *symbols, struct table *t)
{
	symbols->failed |= t->bytes.failed || symbols->text.failed;
	if (symbols->failed)
		return false;
	struct entry *e = &t->entries[t->count - 1];
	e->len = t->bytes.len - e->start;
	return true;
}

bool rt_symbol_table_position(struct rt_symbol_table *t, uint64_t pc, const struct rt_frame *frames, size_t n)
{
	struct rt_bytes *b = &t->positions.bytes;
	entry_begin(t, &t->positions, pc);
	rt_bytes_varint(b, n);
	for (size_t i = 0; i < n; i++) {
		const struct rt_frame *f = &frames[i];
		rt_bytes_varint(b, intern(t, f->function));
		rt_bytes_varint(b, intern(t, f->file));
		rt_bytes_varint(b, intern(t, f->module));
		rt_bytes_varint(b, intern(t, f->text));
		rt_bytes_varint(b, f->line);
		rt_bytes_varint(b, f->column);
		rt_bytes_varint(b, rt_zigzag((int64_t)(f->pc - pc)));
	}
	return entry_end(t, &t->positions);
}

bool rt_symbol_table_type(struct rt_symbol_table *t, const struct rt_type *type, uint32_t *index)
{
	struct rt_bytes *b = &t->types.bytes;
	*index = (uint32_t)t->types.count;
	entry_begin(t, &t->types, t->types.count);
	rt_bytes_varint(b, type->size);
	rt_bytes_varint(b, type->count);
	rt_bytes_varint(b, type->member_count);
	for (size_t i = 0; i < type->member_count; i++) {
		const struct rt_member *m = &type->members[i];
		rt_bytes_varint(b, intern(t, m->name));
		rt_bytes_varint(b, m->offset);
		rt_bytes_varint(b, m->type == RT_NO_TYPE ? 0 : (uint64_t)m->type + 1);
	}
	return entry_end(t, &t->types);
}

bool rt_symbol_table_variable(struct rt_symbol_table *t, const char *name, uint64_t address, uint64_t size,
                              uint32_t type, const char *file, uint32_t line)
{
	struct rt_bytes *b = &t->variables.bytes;
	entry_begin(t, &t->variables, address);
	rt_bytes_varint(b, intern(t, name));
	rt_bytes_varint(b, size);
	rt_bytes_varint(b, type == RT_NO_TYPE ? 0 : (uint64_t)type + 1);
	rt_bytes_varint(b, intern(t, file));
	rt_bytes_varint(b, line);
	return entry_end(t, &t->variables);
}

bool rt_symbol_table_object(struct rt_symbol_table *t, uint64_t addr, const char *name)
{
	entry_begin(t, &t->objects, addr);
	rt_bytes_varint(&t->objects.bytes, intern(t, name));
	return entry_end(t, &t->objects);
}

bool rt_symbol_table_module(struct rt_symbol_table *t, uint64_t start, uint64_t end, uint64_t offset, const char *path,
                            bool plain)
{
	struct rt_bytes *b = &t->modules.bytes;
	entry_begin(t, &t->modules, start);
	rt_bytes_varint(b, end);
	rt_bytes_varint(b, offset);
	rt_bytes_varint(b, intern(t, path));
	if (!entry_end(t, &t->modules) || !plain)
		return !t->failed;
	entry_begin(t, &t->plain, start);
	rt_bytes_varint(&t->plain.bytes, intern(t, path));
	return entry_end(t, &t->plain);
}

bool rt_symbol_table_hidden_atomic(struct rt_symbol_table *t, const struct rt_hidden_atomic *a)
{
	struct rt_bytes *b = &t->atomics.bytes;
	entry_begin(t, &t->atomics, a->start);
	rt_bytes_varint(b, a->end - a->start);
	rt_bytes_varint(b, a->from - a->start);
	rt_bytes_varint(b, a->until - a->start);
	rt_bytes_varint(b, intern(t, a->function));
	rt_bytes_varint(b, intern(t, a->module));
	rt_bytes_varint(b, (a->may_lock ? 1 : 0) | (a->orders_nothing ? 2 : 0) | (a->reads_nothing ? 4 : 0) |
	                       (a->writes_nothing ? 8 : 0));
	return entry_end(t, &t->atomics);
}

bool rt_symbol_table_text_file(struct rt_symbol_table *t, const char *path, uint64_t digest)
{
	entry_begin(t, &t->text_files, t->text_files.count);
	rt_bytes_varint(&t->text_files.bytes, intern(t, path));
	rt_bytes_varint(&t->text_files.bytes, digest);
	return entry_end(t, &t->text_files);
}

bool rt_symbol_table_update(struct rt_symbol_table *t, const struct rt_update *u)
{
	entry_begin(t, &t->updates, u->read);
	rt_bytes_varint(&t->updates.bytes, u->write - u->read);
	return entry_end(t, &t->updates);
}

bool rt_symbol_table_declared(struct rt_symbol_table *t, const struct rt_declared *d)
{
	struct rt_bytes *b = &t->declared.bytes;
	entry_begin(t, &t->declared, t->declared.count);
	rt_bytes_varint(b, d->kind);
	rt_bytes_varint(b, *d->of ? intern(t, d->of) : 0);
	rt_bytes_varint(b, *d->name ? intern(t, d->name) : 0);
	rt_bytes_varint(b, *d->type ? intern(t, d->type) : 0);
	return entry_end(t, &t->declared);
}

/* By key; entries of one key in the order in which they were added, so that the result does not depend on qsort. */
static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* A table: count, then each entry: key as distance from the last one, bytes. */
static void table_write(struct table *t, struct rt_bytes *out)
{
	if (t->count)
		qsort(t->entries, t->count, sizeof *t->entries, compare_entries);
	rt_bytes_varint(out, t->count);
	uint64_t last = 0;
	for (size_t i = 0; i < t->count; i++) {
		const struct entry *e = &t->entries[i];
		rt_bytes_varint(out, e->key - last);
		rt_bytes_add(out, t->bytes.data + e->start, e->len);
		last = e->key;
	}
}

bool rt_symbol_table_write(struct rt_symbol_table *t, struct rt_bytes *out)
{
	rt_bytes_varint(out, t->string_count);
	rt_bytes_add(out, t->text.data, t->text.len);
	table_write(&t->positions, out);
	table_write(&t->types, out);
	table_write(&t->variables, out);
	table_write(&t->objects, out);
	table_write(&t->modules, out);
	table_write(&t->plain, out);
	table_write(&t->atomics, out);
	table_write(&t->text_files, out);
	table_write(&t->updates, out);
	table_write(&t->declared, out);
	return !t->failed && !out->failed;
}
