/* Names for the STD exporter; see names.h. */
#include "tracefmt/std/names.h"

#include "lib/base/text.h"
#include "lib/base/vec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 1024 };

/* True if the character would end a field, or a terminal acts on it; if the source is not STD, also if RAPID splits at
 * it. */
static bool is_unfit(const struct std_names *names, uint32_t c)
{
	return c == '|' || rt_text_steers(c) || (!names->verbatim && (c == '(' || c == ')'));
}

/* Copies text; replaces each unfit character by '_'. */
void std_name_text(const struct std_names *names, char *out, size_t size, const char *text)
{
	size_t at = 0;
	while (*text) {
		uint32_t c;
		size_t n = rt_text_character(text, strnlen(text, 4), &c), take = n ? n : 1;
		bool unfit = !n || is_unfit(names, c);
		if (at + take >= size)
			break;
		if (unfit)
			out[at++] = '_';
		else
			at += (size_t)((char *)mempcpy(out + at, text, take) - (out + at));
		text += take;
	}
	out[at] = '\0';
}

/* Interns text, with a number appended if another object has this name. False without memory. */
static bool unique(struct names *taken, const char *text, uint32_t *index)
{
	char numbered[NAME_ROOM + 16];
	uint32_t before = taken->count;
	if (!names_intern(taken, text, strlen(text), index))
		return false;
	for (uint32_t n = 2; *index < before; n++) {
		int length = snprintf(numbered, sizeof numbered, "%s#%u", text, n);
		if (!names_intern(taken, numbered, (size_t)length, index))
			return false;
	}
	return true;
}

bool std_names_init(struct std_names *names, const struct rt_trace *trace)
{
	const struct rt_trace_info *info = rt_trace_info(trace);
	char name[NAME_ROOM];
	*names = (struct std_names){.trace = trace, .verbatim = info->format && !strcmp(info->format, "std")};
	names->thread_names = calloc(info->thread_count + 1u, sizeof *names->thread_names);
	bool good = names->thread_names != NULL;
	for (uint32_t i = 0; good && i < info->thread_count; i++) {
		std_name_text(names, name, sizeof name, info->threads[i].name);
		good = unique(&names->threads, name[0] ? name : "T", &names->thread_names[i]);
	}
	return good;
}

bool std_names_cells(struct std_names *names, const struct cells *cells)
{
	names->cells = cells;
	names->cell_names = calloc(cells->count + 1, sizeof *names->cell_names);
	return names->cell_names != NULL;
}

void std_names_release(struct std_names *names)
{
	free(names->thread_names);
	free(names->cell_names);
	free(names->object_names);
	names_release(&names->threads);
	names_release(&names->variables);
	names_release(&names->locks);
	names_release(&names->objects);
}

const char *std_name_thread(const struct std_names *names, uint32_t thread)
{
	return names_text(&names->threads, names->thread_names[thread]);
}

/* The trace's name of the address; "" if it has none. */
static void known_name(const struct std_names *names, uint64_t address, bool lock, char *out, size_t size)
{
	struct rt_variable v;
	const char *object = lock ? rt_trace_object_name(names->trace, address) : NULL;
	out[0] = '\0';
	if (object) {
		std_name_text(names, out, size, object);
	} else if (rt_trace_variable(names->trace, address, &v)) {
		/* A lock is named without the C library's member at its beginning: "queue.mutex.__data.__lock". */
		char *inside = lock ? strstr(v.name, ".__") : NULL;
		if (inside)
			*inside = '\0';
		std_name_text(names, out, size, v.name);
		size_t length = strlen(out);
		if (address != v.address)
			snprintf(out + length, size - length, "+%" PRIu64, address - v.address);
	}
}

const char *std_name_cell(struct std_names *names, size_t cell)
{
	struct std_cell_name *entry = &names->cell_names[cell];
	uint32_t generation = cells_generation(names->cells, cell);
	char name[NAME_ROOM];
	if (!entry->name || entry->generation != generation) {
		known_name(names, names->cells->cuts[cell], false, name, sizeof name);
		if (!name[0])
			snprintf(name, sizeof name, "V%u", ++names->unnamed_variables);
		uint32_t index;
		if (!unique(&names->variables, name, &index))
			return NULL;
		*entry = (struct std_cell_name){index + 1, generation};
	}
	return names_text(&names->variables, entry->name - 1);
}

#define NO_NAME UINT32_MAX

/* The index of an object's entry in object_names; *new: it has no name yet. False without memory. */
static bool object_entry(struct std_names *names, uint64_t kind, uint64_t address, uint64_t thread, uint32_t *index,
                         bool *new)
{
	const uint64_t key[] = {kind, address, thread};
	if (!names_intern(&names->objects, (const char *)key, sizeof key, index))
		return false;
	if (*index < names->object_room) {
		*new = names->object_names[*index] == NO_NAME;
		return true;
	}
	uint32_t before = names->object_room;
	if (!vec_reserve(&names->object_names, &names->object_room, (uint64_t)*index + 1, sizeof *names->object_names))
		return false;
	memset(names->object_names + before, 0xff, (names->object_room - before) * sizeof *names->object_names);
	*new = true;
	return true;
}

const char *std_name_lock(struct std_names *names, enum std_lock kind, uint64_t address, uint32_t thread)
{
	char name[NAME_ROOM], whole[NAME_ROOM];
	uint32_t index = 0;
	bool new = false;
	/* A cell's lock has the cell's generation: its name is derived from the cell's. */
	uint64_t about = kind == STD_READER   ? thread
	                 : kind == STD_ATOMIC ? cells_generation(names->cells, (size_t)address)
	                                      : 0;
	if (!object_entry(names, kind, address, about, &index, &new))
		return NULL;
	if (!new)
		return names_text(&names->locks, names->object_names[index]);
	if (kind == STD_ATOMIC) {
		const char *cell = std_name_cell(names, (size_t)address);
		if (!cell)
			return NULL;
		snprintf(whole, sizeof whole, "atomic:%.1000s", cell);
	} else {
		known_name(names, address, true, name, sizeof name);
		const char *lock = NULL;
		if (kind == STD_READER && !(lock = std_name_lock(names, STD_LOCK, address, 0)))
			return NULL;
		if (kind == STD_READER)
			snprintf(whole, sizeof whole, "%.500s:%.500s", lock, std_name_thread(names, thread));
		else if (name[0])
			snprintf(whole, sizeof whole, "%s", name);
		else
			snprintf(whole, sizeof whole, "L%u", ++names->unnamed_locks);
	}
	return unique(&names->locks, whole, &names->object_names[index])
	           ? names_text(&names->locks, names->object_names[index])
	           : NULL;
}

const char *std_name_message(struct std_names *names, uint64_t address)
{
	enum { MESSAGE = STD_ATOMIC + 1 };
	char whole[NAME_ROOM];
	uint32_t index = 0;
	bool new = false;
	if (!object_entry(names, MESSAGE, address, 0, &index, &new))
		return NULL;
	if (!new)
		return names_text(&names->variables, names->object_names[index]);
	const char *lock = std_name_lock(names, STD_ORDER, address, 0);
	if (!lock)
		return NULL;
	snprintf(whole, sizeof whole, "order:%.1000s", lock);
	return unique(&names->variables, whole, &names->object_names[index])
	           ? names_text(&names->variables, names->object_names[index])
	           : NULL;
}
