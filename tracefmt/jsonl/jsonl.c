/*
 * The source for JSON lines (docs/jsonl-format.md). The file is parsed once and its events are kept decoded: parsing in
 * every pass would cost more than the memory.
 */
#include "tracefmt/jsonl/jsonl.h"

#include "lib/base/free.h"
#include "lib/base/hash.h"
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct jsonl_position {
	uint64_t pc;
	UT_hash_handle hh;
	size_t count;
	struct rt_frame frames[];
};

struct jsonl_object {
	uint64_t address;
	const char *name;
	UT_hash_handle hh;
};

/* Deeper nesting of variables does not come from a program. */
enum { NESTING = 64 };

bool jsonl_add_position(struct jsonl *j, uint64_t pc, const struct rt_frame *frames, size_t n)
{
	struct jsonl_position *position;
	HASH_FIND(hh, j->positions, &pc, sizeof pc, position);
	if (position) /* the first one counts */
		return true;
	position = calloc(1, sizeof *position + n * sizeof *frames);
	if (!position)
		return false;
	position->pc = pc;
	position->count = n;
	memcpy(position->frames, frames, n * sizeof *frames);
	HASH_ADD(hh, j->positions, pc, sizeof pc, position);
	if (HASH_ADDED(position))
		return true;
	free(position);
	return false;
}

bool jsonl_add_object(struct jsonl *j, uint64_t address, const char *name)
{
	struct jsonl_object *object;
	HASH_FIND(hh, j->objects, &address, sizeof address, object);
	if (object)
		return true;
	object = calloc(1, sizeof *object);
	if (!object)
		return false;
	object->address = address;
	object->name = name;
	HASH_ADD(hh, j->objects, address, sizeof address, object);
	if (HASH_ADDED(object))
		return true;
	free(object);
	return false;
}

bool jsonl_add_variable(struct jsonl *j, const struct jsonl_variable *variable, uint32_t *index)
{
	if (j->variable_count == UINT32_MAX)
		return false;
	if (!vec_reserve(&j->variables, &j->variable_room, (uint64_t)j->variable_count + 1, sizeof *j->variables))
		return false;
	*index = (uint32_t)j->variable_count;
	j->variables[j->variable_count++] = *variable;
	return true;
}

static uint64_t end_of(const struct jsonl_variable *v)
{
	return v->address + (v->size ? v->size : 1);
}

static int by_address(const void *a, const void *b)
{
	const struct jsonl_variable *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->size == y->size ? 0 : x->size > y->size ? -1 : 1;
}

/* Sorts, and links each variable to the nearest earlier one that reaches beyond its start. */
static void sort_variables(struct jsonl *j)
{
	if (j->variable_count)
		qsort(j->variables, j->variable_count, sizeof *j->variables, by_address);
	for (size_t i = 0; i < j->variable_count; i++) {
		uint32_t around = (uint32_t)i; /* the one before, from 1 */
		while (around && end_of(&j->variables[around - 1]) <= j->variables[i].address)
			around = j->variables[around - 1].around;
		j->variables[i].around = around;
	}
}

/* True if the text begins with an object in braces. */
static bool jsonl_probe(const unsigned char *start, size_t n)
{
	size_t i = 0;
	while (i < n && (start[i] == ' ' || start[i] == '\t'))
		i++;
	return i < n && start[i] == '{' && !memchr(start, '\0', n);
}

static void jsonl_free(struct rt_trace *trace)
{
	struct jsonl *j = (struct jsonl *)trace;
	struct jsonl_position *position = j->positions, *next_position;
	HASH_CLEAR(hh, j->positions);
	for (; position; position = next_position) {
		next_position = position->hh.next;
		free(position);
	}
	struct jsonl_object *object = j->objects, *next_object;
	HASH_CLEAR(hh, j->objects);
	for (; object; object = next_object) {
		next_object = object->hh.next;
		free(object);
	}
	free_all(j->events, j->threads, j->at, j->named, j->variables, j->command, j->modules, j->text_files,
	         j->atomics, j->updates, j->declared);
	names_release(&j->strings);
	names_release(&j->thread_names);
	names_release(&j->names);
	names_release(&j->locations);
	free(j);
}

static enum rt_status jsonl_open(int fd, const char *path, const struct rt_trace_options *options,
                                 struct rt_trace **out, struct rt_error *err)
{
	(void)options;
	struct jsonl *j = calloc(1, sizeof *j);
	if (!j) {
		close(fd);
		return rt_error_set(err, RT_EMEMORY, "no memory to open '%s'", path);
	}
	enum rt_status status = jsonl_parse(j, fd, path, err);
	if (status) {
		jsonl_free(&j->trace);
		return status;
	}
	sort_variables(j);
	*out = &j->trace;
	return RT_OK;
}

static enum rt_status jsonl_rewind(struct rt_trace *trace, struct rt_error *err)
{
	(void)err;
	((struct jsonl *)trace)->next = 0;
	return RT_OK;
}

/* Hands the event on, if it is selected. */
static void jsonl_take(struct jsonl *j, const struct rt_event *e, uint64_t mask, struct rt_event *events,
                       size_t *filled)
{
	struct jsonl_thread_at *at = &j->at[e->thread];
	at->gap |= e->gap;
	if (!(mask >> e->op & 1))
		return;
	events[*filled] = *e;
	events[(*filled)++].gap = at->gap;
	at->gap = false;
}

static enum rt_status jsonl_read(struct rt_trace *trace, struct rt_event *events, size_t n, size_t *got,
                                 struct rt_error *err)
{
	(void)err;
	struct jsonl *j = (struct jsonl *)trace;
	size_t filled = 0;
	for (; filled < n && j->next < j->count; j->next++)
		jsonl_take(j, &j->events[j->next], trace->mask, events, &filled);
	*got = filled;
	return RT_OK;
}

static const struct rt_frame *jsonl_frames(const struct rt_trace *trace, uint64_t pc, size_t *count)
{
	const struct jsonl *j = (const struct jsonl *)trace;
	struct jsonl_position *position;
	HASH_FIND(hh, j->positions, &pc, sizeof pc, position);
	*count = position ? position->count : 0;
	return position ? position->frames : NULL;
}

/* The innermost variable around addr. */
static bool jsonl_variable(const struct rt_trace *trace, uint64_t addr, struct rt_variable *out)
{
	const struct jsonl *j = (const struct jsonl *)trace;
	/* Number of variables that begin at addr or before. */
	size_t low = lower_bound(i, 0, j->variable_count, j->variables[i].address <= addr);
	for (unsigned depth = 0; low && depth < NESTING; depth++) {
		const struct jsonl_variable *v = &j->variables[low - 1];
		if (addr < end_of(v)) {
			*out = (struct rt_variable){
			    .address = v->address, .size = v->size, .file = v->file, .line = v->line};
			snprintf(out->name, sizeof out->name, "%s", v->name);
			return true;
		}
		low = v->around;
	}
	return false;
}

static const struct rt_module *jsonl_modules(const struct rt_trace *trace, size_t *count)
{
	const struct jsonl *j = (const struct jsonl *)trace;
	*count = j->module_count;
	return j->modules;
}

static const struct rt_hidden_atomic *jsonl_hidden_atomics(const struct rt_trace *trace, size_t *count)
{
	const struct jsonl *j = (const struct jsonl *)trace;
	*count = j->atomic_count;
	return j->atomics;
}

static const struct rt_update *jsonl_updates(const struct rt_trace *trace, size_t *count)
{
	const struct jsonl *j = (const struct jsonl *)trace;
	*count = j->update_count;
	return j->updates;
}

static const struct rt_declared *jsonl_declared(const struct rt_trace *trace, size_t *count)
{
	const struct jsonl *j = (const struct jsonl *)trace;
	*count = j->declared_count;
	return j->declared;
}

static const struct rt_text_file *jsonl_text_files(const struct rt_trace *trace, size_t *count)
{
	const struct jsonl *j = (const struct jsonl *)trace;
	*count = j->text_file_count;
	return j->text_files;
}

static const char *jsonl_object_name(const struct rt_trace *trace, uint64_t addr)
{
	const struct jsonl *j = (const struct jsonl *)trace;
	struct jsonl_object *object;
	HASH_FIND(hh, j->objects, &addr, sizeof addr, object);
	return object ? object->name : NULL;
}

const struct rt_source rt_source_jsonl = {
    .name = "jsonl",
    .probe = jsonl_probe,
    .open = jsonl_open,
    .free = jsonl_free,
    .rewind = jsonl_rewind,
    .read = jsonl_read,
    .frames = jsonl_frames,
    .variable = jsonl_variable,
    .object_name = jsonl_object_name,
    .modules = jsonl_modules,
    .text_files = jsonl_text_files,
    .hidden_atomics = jsonl_hidden_atomics,
    .updates = jsonl_updates,
    .declared = jsonl_declared,
};
