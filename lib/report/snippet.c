/* Source lines; see snippet.h. */
#include "lib/report/snippet.h"

#include "lib/trace/vec.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

enum { WIDTH = 100, FILE_MAX = 16 << 20, STRIDE = 64 };

/* Where every STRIDE-th line of a file begins, from its first on. */
struct snippet_file {
	char *name; /* as traces have it */
	char *path; /* of what is opened; NULL: nothing */
	long *offsets;
	uint32_t count; /* 0: it cannot be read */
	UT_hash_handle hh;
};

static FILE *open_regular(const char *file)
{
	struct stat st;
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	FILE *f = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= FILE_MAX ? fdopen(fd, "r") : NULL;
	if (!f)
		close(fd);
	return f;
}

static char *trimmed(char *text)
{
	text += strspn(text, " \t");
	size_t n = strcspn(text, "\r\n");
	if (n > WIDTH)
		n = WIDTH;
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		n--;
	return n ? strndup(text, n) : NULL;
}

/* The path of the file below the root; NULL: it is not there. The caller frees it. */
static char *below_root(const char *root, const char *name)
{
	char *joined = NULL;
	size_t n = strlen(root);
	if (*name != '/' && asprintf(&joined, "%s/%s", root, name) < 0)
		return NULL;
	char *path = realpath(joined ? joined : name, NULL);
	free(joined);
	if (path && strncmp(path, root, n) == 0 && (path[n] == '/' || root[n - 1] == '/'))
		return path;
	free(path);
	return NULL;
}

/* True if the file is what it was when the trace was recorded. */
static bool is_as_recorded(const struct rt_trace *trace, const char *name)
{
	size_t n;
	uint64_t digest;
	const struct rt_text_file *files = rt_trace_text_files(trace, &n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(files[i].path, name))
			return rt_text_file_digest(name, &digest) && digest == files[i].digest;
	return false;
}

static void find_lines(struct snippet_file *file)
{
	FILE *f = file->path ? open_regular(file->path) : NULL;
	char *text = NULL;
	size_t size = 0;
	uint32_t capacity = 0, line = 0;
	for (long at = 0; f && at >= 0; line++) {
		if (line % STRIDE == 0) {
			if (!vec_reserve(&file->offsets, &capacity, (uint64_t)file->count + 1, sizeof *file->offsets))
				break;
			file->offsets[file->count++] = at;
		}
		ssize_t n = getline(&text, &size, f);
		at = n < 0 ? -1 : at + n;
	}
	free(text);
	if (f)
		fclose(f);
}

static struct snippet_file *file_create(const struct snippets *s, const char *name)
{
	struct snippet_file *file = calloc(1, sizeof *file);
	if (file && (file->name = strdup(name)) != NULL) {
		if (s->root)
			file->path = below_root(s->root, name);
		if (!file->path && s->trace && is_as_recorded(s->trace, name))
			file->path = strdup(name);
		find_lines(file);
		return file;
	}
	free(file);
	return NULL;
}

static const struct snippet_file *find_file(struct snippets *s, const char *name)
{
	struct snippet_file *file;
	HASH_FIND_STR(s->files, name, file);
	if (!file && (file = file_create(s, name)) != NULL)
		HASH_ADD_KEYPTR(hh, s->files, file->name, strlen(file->name), file);
	return file;
}

char *snippet(struct snippets *s, const char *file, uint32_t line)
{
	const struct snippet_file *known = file && line-- ? find_file(s, file) : NULL;
	FILE *f = known && line / STRIDE < known->count ? open_regular(known->path) : NULL;
	if (!f)
		return NULL;
	char *text = NULL, *result = NULL;
	size_t size = 0;
	bool read = fseek(f, known->offsets[line / STRIDE], SEEK_SET) == 0;
	for (uint32_t i = 0; i <= line % STRIDE && read; i++)
		read = getline(&text, &size, f) >= 0;
	if (read)
		result = trimmed(text);
	free(text);
	fclose(f);
	return result;
}

void snippets_release(struct snippets *s)
{
	struct snippet_file *file, *next;
	HASH_ITER(hh, s->files, file, next)
	{
		HASH_DELETE(hh, s->files, file);
		free(file->name);
		free(file->path);
		free(file->offsets);
		free(file);
	}
}
