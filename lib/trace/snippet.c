/* Source lines; see snippet.h. */
#include "lib/trace/snippet.h"

#include "lib/base/hash.h"
#include "lib/base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WIDTH = 100, FILE_MAX = 16 << 20, STRIDE = 64 };

/* Where every STRIDE-th line of a file begins. */
struct snippet_file {
	char *name; /* as traces name it */
	char *path; /* of the opened file; NULL: none */
	long *offsets;
	uint32_t count; /* 0: it cannot be read */
	UT_hash_handle hh;
};

static void file_free(struct snippet_file *file)
{
	free(file->name);
	free(file->path);
	free(file->offsets);
	free(file);
}

static FILE *open_regular(struct snippets *s, const char *file)
{
	struct stat st;
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	errno = 0;
	FILE *f = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= FILE_MAX ? fdopen(fd, "r") : NULL;
	if (!f) {
		s->no_memory |= errno == ENOMEM;
		close(fd);
	}
	return f;
}

enum shape { TRIMMED, INDENTED, WHOLE };

/* NULL: no line is left, or no memory. */
static char *trimmed(struct snippets *s, char *text, enum shape shape)
{
	text += shape == TRIMMED ? strspn(text, " \t") : 0;
	size_t n = strcspn(text, "\r\n");
	if (n > WIDTH && shape != WHOLE)
		n = WIDTH;
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		n--;
	char *line = n ? strndup(text, n) : NULL;
	s->no_memory |= n && !line;
	return line;
}

/* The path of the file below the root; NULL if it is not there. The caller frees it. */
static char *below_root(struct snippets *s, const char *name)
{
	const char *root = s->root;
	char *joined = NULL;
	size_t n = strlen(root);
	if (*name != '/' && asprintf(&joined, "%s/%s", root, name) < 0) {
		s->no_memory = true;
		return NULL;
	}
	errno = 0;
	char *path = realpath(joined ? joined : name, NULL);
	s->no_memory |= !path && errno == ENOMEM;
	free(joined);
	if (path && strncmp(path, root, n) == 0 && (path[n] == '/' || root[n - 1] == '/'))
		return path;
	free(path);
	return NULL;
}

/* True if the file has not changed since the trace was recorded. */
static bool is_as_recorded(struct snippets *s, const char *name)
{
	size_t n;
	uint64_t digest;
	const struct rt_text_file *files = rt_trace_text_files(s->trace, &n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(files[i].path, name)) {
			errno = 0;
			bool known = rt_text_file_digest(name, &digest);
			s->no_memory |= !known && errno == ENOMEM;
			return known && digest == files[i].digest;
		}
	return false;
}

static void find_lines(struct snippets *s, struct snippet_file *file)
{
	FILE *f = file->path ? open_regular(s, file->path) : NULL;
	char *text = NULL;
	size_t size = 0;
	uint32_t capacity = 0, line = 0;
	errno = 0;
	for (long at = 0; f && at >= 0; line++) {
		if (line % STRIDE == 0) {
			if (!vec_reserve(&file->offsets, &capacity, (uint64_t)file->count + 1, sizeof *file->offsets)) {
				s->no_memory = true;
				break;
			}
			file->offsets[file->count++] = at;
		}
		ssize_t n = getline(&text, &size, f);
		s->no_memory |= n < 0 && errno == ENOMEM;
		at = n < 0 ? -1 : at + n;
	}
	free(text);
	if (f)
		fclose(f);
}

static struct snippet_file *file_create(struct snippets *s, const char *name)
{
	struct snippet_file *file = calloc(1, sizeof *file);
	if (file && (file->name = strdup(name)) != NULL) {
		if (s->root)
			file->path = below_root(s, name);
		if (!file->path && s->trace && is_as_recorded(s, name)) {
			file->path = strdup(name);
			s->no_memory |= !file->path;
		}
		find_lines(s, file);
		return file;
	}
	free(file);
	s->no_memory = true;
	return NULL;
}

static const struct snippet_file *find_file(struct snippets *s, const char *name)
{
	struct snippet_file *file;
	HASH_FIND_STR(s->files, name, file);
	if (!file && (file = file_create(s, name)) != NULL)
		HASH_ADD_KEYPTR(hh, s->files, file->name, strlen(file->name), file);
	if (!file || HASH_ADDED(file))
		return file;
	file_free(file);
	s->no_memory = true;
	return NULL;
}

static char *find_line(struct snippets *s, const char *file, uint32_t line, enum shape shape)
{
	const struct snippet_file *known = file && line-- ? find_file(s, file) : NULL;
	FILE *f = known && line / STRIDE < known->count ? open_regular(s, known->path) : NULL;
	if (!f)
		return NULL;
	char *text = NULL, *result = NULL;
	size_t size = 0;
	errno = 0;
	bool read = fseek(f, known->offsets[line / STRIDE], SEEK_SET) == 0;
	for (uint32_t i = 0; i <= line % STRIDE && read; i++) {
		read = getline(&text, &size, f) >= 0;
		s->no_memory |= !read && errno == ENOMEM;
	}
	if (read)
		result = trimmed(s, text, shape);
	free(text);
	fclose(f);
	return result;
}

char *snippet(struct snippets *s, const char *file, uint32_t line)
{
	return find_line(s, file, line, TRIMMED);
}

char *snippet_around(struct snippets *s, const char *file, uint32_t line, uint32_t column)
{
	enum { BEFORE = WIDTH / 2 };
	static const char dots[] = "... ";
	char *whole = find_line(s, file, line, WHOLE);
	size_t length = whole ? strlen(whole) : 0, start = column > BEFORE ? column - BEFORE : 0;
	/* What is before the column is left out as far as needed, up to a blank. */
	if (length > WIDTH && start + WIDTH > length)
		start = length - WIDTH;
	while (start && start < length && whole[start - 1] != ' ')
		start++;
	size_t blanks = strspn(whole ? whole : "", " \t");
	if (length - blanks <= WIDTH || start <= blanks || start >= length) {
		free(whole);
		return snippet(s, file, line);
	}
	char *text = NULL;
	if (asprintf(&text, "%s%s", dots, whole + start) < 0)
		text = NULL;
	char *line_part = text ? trimmed(s, text, TRIMMED) : NULL;
	s->no_memory |= !text;
	free(text);
	free(whole);
	return line_part;
}

char *snippet_indented(struct snippets *s, const char *file, uint32_t line)
{
	return find_line(s, file, line, INDENTED);
}

char *snippet_whole(struct snippets *s, const char *file, uint32_t line)
{
	return find_line(s, file, line, WHOLE);
}

void snippets_release(struct snippets *s)
{
	struct snippet_file *file, *next;
	HASH_ITER(hh, s->files, file, next)
	{
		HASH_DELETE(hh, s->files, file);
		file_free(file);
	}
}
