/* Fortran's members and elements; see fortran.h. */
#include "lib/report/fortran.h"

#include "lib/base/name.h"

#include <string.h>
#include <strings.h>

bool fortran_is_source(const char *file)
{
	static const char *const endings[] = {".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08", ".f18"};
	const char *end = file ? strrchr(file, '.') : NULL;
	for (size_t i = 0; end && i < sizeof endings / sizeof *endings; i++)
		if (!strcasecmp(end, endings[i]))
			return true;
	return false;
}

/* The bracket that closes the one here; NULL: not on this line. */
static char *closing(char *at)
{
	int depth = 0;
	for (; *at; at++) {
		depth += *at == '(' || *at == '[' ? 1 : *at == ')' || *at == ']' ? -1 : 0;
		if (!depth)
			return at;
	}
	return NULL;
}

void fortran_to_c(char *line)
{
	char *end;
	for (char *at = line; *at; at++) {
		if (*at == '!') { /* a comment */
			*at = '\0';
			return;
		}
		if (*at == '%')
			*at = '.';
		else if (at[0] == '/' && at[1] == '=')
			*at = '!', at++;
		else if (*at == '(' && at > line && is_in_name(at[-1]) && (end = closing(at))) {
			*at = '[';
			*end = ']';
		}
	}
}

void fortran_from_c(char *name)
{
	for (char *at = name; *at; at++)
		*at = *at == '.' ? '%' : *at == '[' ? '(' : *at == ']' ? ')' : *at;
}
