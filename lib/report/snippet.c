/* Source lines; see snippet.h. */
#include "lib/report/snippet.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WIDTH = 100, FILE_MAX = 16 << 20 };

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

char *snippet(const char *file, uint32_t line)
{
	FILE *f = file && line ? open_regular(file) : NULL;
	if (!f)
		return NULL;
	char *text = NULL, *result = NULL;
	size_t capacity = 0;
	uint32_t at = 0;
	while (at < line && getline(&text, &capacity, f) >= 0)
		at++;
	if (at == line)
		result = trimmed(text);
	free(text);
	fclose(f);
	return result;
}
