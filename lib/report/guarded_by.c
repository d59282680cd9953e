/* GUARDED_BY attributes in sources; see guarded_by.h. */
#include "lib/report/guarded_by.h"

#include "lib/base/hash.h"
#include "lib/base/input.h"
#include "lib/base/json_memory.h"
#include "lib/base/name.h"
#include "lib/base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES_MAX = 20000, LINE_MAX_BYTES = 4096, FOLDERS_MAX = 256, DEPTH_MAX = 64 };

struct annotation_seen {
	char *path;
	UT_hash_handle hh;
};

struct annotation_reader {
	struct guarded_by_list *out;
	struct annotation_seen *seen;
	size_t files;
	const char *folders[FOLDERS_MAX]; /* of the present command: -I */
	size_t folder_count;
	const char *directory;
	bool no_memory;
};

/* --- one line --- */

static char *copy(struct annotation_reader *r, const char *text, size_t length)
{
	char *own = strndup(text, length);
	r->no_memory |= !own;
	return own;
}

/* The end of the declared name before `at`: past array bounds and what introduces the attribute. */
static const char *declared_end(const char *line, const char *at)
{
	for (;;) {
		static const char *const before[] = {"__attribute__((", "[[clang::", "[["};
		const char *begin = at;
		while (at > line && isspace((unsigned char)at[-1]))
			at--;
		for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
			size_t n = strlen(before[i]);
			if ((size_t)(at - line) >= n && !memcmp(at - n, before[i], n)) {
				at -= n;
				break;
			}
		}
		if (at > line && at[-1] == ']') {
			while (at > line && at[-1] != '[')
				at--;
			at -= at > line;
		}
		if (at == begin)
			return at;
	}
}

/* The last name in the text: "mu" of "&this->mu". */
static bool last_name(const char *text, size_t length, const char **name, size_t *size)
{
	while (length && !is_in_name(text[length - 1]))
		length--;
	size_t begin = length;
	while (begin && is_in_name(text[begin - 1]))
		begin--;
	*name = text + begin;
	*size = length - begin;
	return *size && !isdigit((unsigned char)text[begin]);
}

/* An attribute whose name ends at the parenthesis. */
static void add_attribute(struct annotation_reader *r, const char *file, uint32_t number, const char *line,
                          const char *parenthesis)
{
	static const char word[] = "guarded_by";
	const char *name = parenthesis, *variable, *lock, *end = strchr(parenthesis, ')');
	size_t variable_length, lock_length;
	while (name > line && is_in_name(name[-1]))
		name--;
	size_t length = (size_t)(parenthesis - name);
	if (!end || length < sizeof word - 1 ||
	    strncasecmp(parenthesis - (sizeof word - 1), word, sizeof word - 1) != 0 || !strncasecmp(name, "pt_", 3) ||
	    strcasestr(line, "_pt_guarded_by"))
		return;
	const char *declared = declared_end(line, name);
	if (!last_name(line, (size_t)(declared - line), &variable, &variable_length) ||
	    !last_name(parenthesis + 1, (size_t)(end - parenthesis - 1), &lock, &lock_length))
		return;
	if (!vec_reserve(&r->out->items, &r->out->capacity, (uint64_t)r->out->count + 1, sizeof *r->out->items)) {
		r->no_memory = true;
		return;
	}
	struct guarded_by *a = &r->out->items[r->out->count++];
	*a = (struct guarded_by){.line = number};
	a->file = copy(r, file, strlen(file));
	a->variable = copy(r, variable, variable_length);
	a->lock = copy(r, lock, lock_length);
}

static void read_file(struct annotation_reader *r, const char *path, unsigned depth);

static void include(struct annotation_reader *r, const char *file, const char *name, size_t length, unsigned depth)
{
	const char *slash = strrchr(file, '/');
	for (size_t i = 0; i <= r->folder_count; i++) {
		char *path = NULL;
		int n = i == 0
		            ? asprintf(&path, "%.*s%.*s", slash ? (int)(slash + 1 - file) : 0, file, (int)length, name)
		            : asprintf(&path, "%s%s%s/%.*s", r->folders[i - 1][0] == '/' ? "" : r->directory,
		                       r->folders[i - 1][0] == '/' ? "" : "/", r->folders[i - 1], (int)length, name);
		bool known = n >= 0 && access(path, R_OK) == 0;
		r->no_memory |= n < 0;
		if (known)
			read_file(r, path, depth + 1);
		if (n >= 0)
			free(path);
		if (known)
			return;
	}
}

static void read_line(struct annotation_reader *r, const char *file, uint32_t number, char *line, unsigned depth)
{
	const char *at = line + strspn(line, " \t");
	if (*at == '#') {
		at += 1 + strspn(at + 1, " \t");
		const char *quote = !strncmp(at, "include", 7) ? strchr(at, '"') : NULL;
		const char *end = quote ? strchr(quote + 1, '"') : NULL;
		if (end)
			include(r, file, quote + 1, (size_t)(end - quote - 1), depth);
		return;
	}
	char *comment = strstr(line, "//");
	if (comment)
		*comment = '\0';
	for (const char *p = line; (p = strchr(p, '(')) && !r->no_memory; p++)
		add_attribute(r, file, number, line, p);
}

static bool is_new(struct annotation_reader *r, const char *path)
{
	struct annotation_seen *s;
	char *real = realpath(path, NULL);
	if (!real)
		return false;
	HASH_FIND_STR(r->seen, real, s);
	if (s || r->files == FILES_MAX) {
		free(real);
		return false;
	}
	if ((s = calloc(1, sizeof *s))) {
		s->path = real;
		HASH_ADD_KEYPTR(hh, r->seen, s->path, strlen(s->path), s);
		if (HASH_ADDED(s)) {
			r->files++;
			return true;
		}
	}
	r->no_memory = true;
	free(real);
	free(s);
	return false;
}

static void read_file(struct annotation_reader *r, const char *path, unsigned depth)
{
	char line[LINE_MAX_BYTES];
	if (depth > DEPTH_MAX || !is_new(r, path))
		return;
	FILE *f = fopen(path, "re");
	uint32_t number = 1;
	bool whole = true;
	while (f && !r->no_memory && fgets(line, sizeof line, f)) {
		bool ends = strchr(line, '\n');
		if (whole)
			read_line(r, path, number, line, depth);
		number += ends;
		whole = ends;
	}
	if (f)
		fclose(f);
}

/* --- the database --- */

static void add_folder(struct annotation_reader *r, const char *folder)
{
	if (folder && *folder && r->folder_count < FOLDERS_MAX)
		r->folders[r->folder_count++] = folder;
}

/* The command's words, NULL-terminated; its text is cut up. */
static void take_words(struct annotation_reader *r, char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		static const char *const options[] = {"-I", "-iquote", "-isystem"};
		for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
			size_t length = strlen(options[k]);
			if (strncmp(words[i], options[k], length) != 0)
				continue;
			add_folder(r, words[i][length] ? words[i] + length : i + 1 < n ? words[i + 1] : NULL);
			break;
		}
	}
}

static void read_entry(struct annotation_reader *r, json_t *entry)
{
	enum { WORDS = 4096 };
	char *words[WORDS], *text = NULL, *state = NULL, *path = NULL;
	size_t n = 0;
	const char *file = json_string_value(json_object_get(entry, "file"));
	const char *command = json_string_value(json_object_get(entry, "command"));
	json_t *arguments = json_object_get(entry, "arguments");
	r->directory = json_string_value(json_object_get(entry, "directory"));
	r->directory = r->directory ? r->directory : ".";
	r->folder_count = 0;
	if (!file)
		return;
	if (command && (text = copy(r, command, strlen(command))))
		for (char *word = strtok_r(text, " \t\n\"'", &state); word && n < WORDS;
		     word = strtok_r(NULL, " \t\n\"'", &state))
			words[n++] = word;
	for (size_t i = 0; i < json_array_size(arguments) && n < WORDS; i++) {
		const char *word = json_string_value(json_array_get(arguments, i));
		if (word)
			words[n++] = (char *)(uintptr_t)word;
	}
	take_words(r, words, n);
	if (asprintf(&path, "%s%s%s", file[0] == '/' ? "" : r->directory, file[0] == '/' ? "" : "/", file) < 0) {
		r->no_memory = true;
		path = NULL;
	}
	if (path)
		read_file(r, path, 0);
	free(path);
	free(text);
}

enum rt_status guarded_by_read(const char *path, struct guarded_by_list *out, struct rt_error *err)
{
	struct annotation_reader r = {.out = out};
	json_error_t error;
	*out = (struct guarded_by_list){0};
	FILE *f = rt_input_stream(path);
	if (!f)
		return rt_error_set(err, RT_EUSAGE, "cannot open '%s': %s", path, strerror(errno));
	rt_json_memory_watch();
	json_t *database = json_loadf(f, 0, &error);
	fclose(f);
	if (rt_json_memory_failed()) { /* some allocations are done without silently */
		json_decref(database);
		return rt_error_set(err, RT_EMEMORY, "no memory for the attributes of '%s'", path);
	}
	if (!json_is_array(database)) {
		json_decref(database);
		return rt_error_set(err, RT_EUSAGE, "'%s' is not a compile database: a JSON array of commands", path);
	}
	for (size_t i = 0; i < json_array_size(database) && !r.no_memory; i++)
		read_entry(&r, json_array_get(database, i));
	json_decref(database);
	struct annotation_seen *s, *next;
	HASH_ITER(hh, r.seen, s, next)
	{
		HASH_DELETE(hh, r.seen, s);
		free(s->path);
		free(s);
	}
	return r.no_memory ? rt_error_set(err, RT_EMEMORY, "no memory for the attributes of '%s'", path) : RT_OK;
}

void guarded_by_release(struct guarded_by_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].file);
		free(list->items[i].variable);
		free(list->items[i].lock);
	}
	free(list->items);
	*list = (struct guarded_by_list){0};
}

/* --- comparison --- */

/* True if the word is one of the components of the name: "valid" of "cache.entries[].valid". */
static bool has_component(const char *name, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = name; (at = strstr(at, word)); at++)
		if ((at == name || !is_in_name(at[-1])) && !is_in_name(at[length]))
			return true;
	return false;
}

uint64_t guarded_by_held(const struct guard_row *row, const struct guarded_by *attribute)
{
	for (uint32_t i = 0; i < row->lock_count; i++)
		if (has_component(row->locks[i].name, attribute->lock))
			return row->locks[i].held;
	return 0;
}

const struct guard_row *guarded_by_row(const struct guard_table *t, const struct guarded_by *attribute)
{
	const struct guard_row *best = NULL;
	bool best_holds = false;
	for (size_t i = 0; i < t->count; i++) {
		const struct guard_row *row = &t->rows[i];
		if (strcmp(row->kind, "global") != 0 || !has_component(row->name, attribute->variable))
			continue;
		bool holds = guarded_by_held(row, attribute);
		if (!best || holds > best_holds || (holds == best_holds && row->of > best->of)) {
			best = row;
			best_holds = holds;
		}
	}
	return best;
}
