/* Names of traces; see name.h. */
#include "recorder/collector/name.h"

#include "lib/base/memory_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool name_has_process(const char *pattern)
{
	for (const char *p = pattern; (p = strchr(p, '%')) && p[1]; p += 2)
		if (p[1] == 'p')
			return true;
	return false;
}

static void put_time(FILE *out)
{
	char text[32] = "";
	struct tm local;
	time_t now = time(NULL);
	if (localtime_r(&now, &local))
		strftime(text, sizeof text, "%Y%m%d-%H%M%S", &local);
	fputs(text, out);
}

/* Writes the value of the variable in "{VAR}"; returns the end, NULL if the text has another form. */
static const char *put_variable(FILE *out, const char *text)
{
	const char *end = *text == '{' ? strchr(text, '}') : NULL;
	char *variable = end ? strndup(text + 1, (size_t)(end - text) - 1) : NULL;
	const char *value = variable && *variable ? getenv(variable) : "";
	fputs(value ? value : "", out);
	free(variable);
	return end && end > text + 1 ? end + 1 : NULL;
}

/* Writes the replacement of the sequence at p; returns its end, NULL if it is invalid. */
static const char *put_sequence(FILE *out, const char *p, pid_t pid, const char *program)
{
	const char *slash = strrchr(program, '/');
	switch (p[1]) {
	case 'p':
		fprintf(out, "%ld", (long)pid);
		return p + 2;
	case 'n':
		fputs(slash ? slash + 1 : program, out);
		return p + 2;
	case 't':
		put_time(out);
		return p + 2;
	case 'q':
		return put_variable(out, p + 2);
	case '%':
		putc('%', out);
		return p + 2;
	default:
		return NULL;
	}
}

enum rt_status name_expand(const char *pattern, pid_t pid, const char *program, char **name, struct rt_error *err)
{
	struct rt_bytes bytes = {0};
	FILE *out = rt_memory_file(&bytes);
	const char *p = pattern;
	*name = NULL;
	if (!out)
		return rt_error_set(err, RT_EMEMORY, "no memory for a path");
	while (p && *p) {
		if (*p == '%')
			p = put_sequence(out, p, pid, program);
		else
			putc(*p++, out);
	}
	bool whole = putc('\0', out) != EOF;
	whole = fclose(out) == 0 && whole;
	if (whole && p) {
		*name = (char *)bytes.data;
		return RT_OK;
	}
	rt_bytes_release(&bytes);
	if (p)
		return rt_error_set(err, RT_EMEMORY, "no memory for a path");
	return rt_error_set(err, RT_EUSAGE, "cannot name the trace by '%s': a %% is followed by p, n, t, q{VAR} or %%",
	                    pattern);
}
