/*
 * Updates by their positions. The write of p->x -= n or p->x++ is at the operator, and the read in what it changes,
 * which is all that is between them. The write of x = x + n is at the assignment, and the read to the right of it. `if
 * (!x) x = 1;` reads first, to the left. What a macro expands to is all at its name, whatever it is: nothing is an
 * update there.
 */
#include "lib/search/update.h"

#include "lib/base/name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* True if a name that stands for something else begins there: a call, or a word alone. */
static bool is_macro(const char *line, uint32_t column)
{
	const char *p = column && column <= strlen(line) ? line + column - 1 : "";
	if (!is_in_name(*p))
		return false;
	while (is_in_name(*p))
		p++;
	while (isspace((unsigned char)*p))
		p++;
	return *p == '(' || *p == ';' || *p == '\0';
}

static bool decides(const char *line)
{
	return strchr(line, '?') || strstr(line, "&&") || strstr(line, "||");
}

/* True if an operator that reads what it writes is there: x++, x -= n. */
static bool is_operator(const char *line, uint32_t column)
{
	const char *p = column && column <= strlen(line) ? line + column - 1 : "";
	if ((p[0] == '+' || p[0] == '-') && p[1] == p[0])
		return true;
	size_t n = (p[0] == '<' || p[0] == '>') && p[1] == p[0] ? 2 : 1;
	return *p && strchr("+-*/%&|^<>", *p) && p[n] == '=' && (n == 2 || !strchr("<>", *p));
}

/* True if there is nothing from one column to the other but what may name a variable: p->a[i].x, (*p). */
static bool is_variable(const char *line, uint32_t from, uint32_t to)
{
	int depth = 0;
	for (const char *p = line + from - 1; from < to; from++, p++) {
		depth += (*p == '(' || *p == '[') - (*p == ')' || *p == ']');
		bool arrow = (p[0] == '-' && p[1] == '>') || (p[0] == '>' && p > line && p[-1] == '-');
		if (depth < 0 || (!is_in_name(*p) && !arrow && !(*p && strchr(" \t.*()[]", *p))))
			return false;
	}
	return true;
}

static bool is_update(const char *line, uint32_t read, uint32_t write)
{
	if (!line)
		return read == write;
	if (read < write)
		return is_operator(line, write) && read && is_variable(line, read, write);
	return read == write ? !is_macro(line, read) : read > write && !decides(line);
}

bool update_is_one(const struct model *m, struct snippets *source, uint32_t read, uint32_t write)
{
	size_t n1, n2;
	const struct rt_frame *f1 = rt_trace_frames(m->trace, m->sites[m->events[read].site].pc, &n1),
	                      *f2 = rt_trace_frames(m->trace, m->sites[m->events[write].site].pc, &n2);
	if (!n1 || !n2 || !f1->line || f1->line != f2->line || !f1->file || !f2->file ||
	    strcmp(f1->file, f2->file) != 0)
		return false;
	char *line = snippet_whole(source, f1->file, f1->line);
	bool one = is_update(line, f1->column, f2->column);
	free(line);
	return one;
}
