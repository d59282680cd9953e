#include "lib/analysis/statement.h"

#include <ctype.h>
#include <string.h>

enum { NAME = 64 };

static bool is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(name, *list))
			return true;
	return false;
}

/* A name, with what follows it. True if it may stand for a call. */
static bool may_call(const char *name, const char *behind)
{
	static const char *const before_paren[] = {"if", "while", "for", "switch", "return", "sizeof", "case", NULL};
	bool lower = false;
	while (*behind == ' ' || *behind == '\t')
		behind++;
	if (*behind == '(' && !is_one_of(name, before_paren))
		return true;
	for (const char *p = name; *p; p++)
		lower |= islower((unsigned char)*p) != 0;
	return (!lower && strlen(name) > 1) || strstr(name, "atomic") || strstr(name, "Atomic");
}

static const char *skip_quoted(const char *p)
{
	char quote = *p++;
	while (*p && *p != quote)
		p += p[0] == '\\' && p[1] ? 2 : 1;
	return *p ? p + 1 : p;
}

static bool is_comment(const char *p)
{
	return p[0] == '/' && (p[1] == '/' || p[1] == '*');
}

/* Behind a comment that ends on the line; NULL: it does not, or nothing follows. */
static const char *skip_comment(const char *p)
{
	const char *end = p[1] == '*' ? strstr(p + 2, "*/") : NULL;
	return end ? end + 2 : NULL;
}

/* The last character that is in no comment; 0: there is none. */
static char last_of_code(const char *p)
{
	char last = 0;
	while (p && *p) {
		if (is_comment(p)) {
			p = skip_comment(p);
			continue;
		}
		last = isspace((unsigned char)*p) ? last : *p;
		p = *p == '"' || *p == '\'' ? skip_quoted(p) : p + 1;
	}
	return last;
}

/* True if it begins with a name without small letters, as those of macros are. */
static bool begins_with_macro(const char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	size_t n = 0;
	while (isupper((unsigned char)p[n]) || p[n] == '_' || (n && isdigit((unsigned char)p[n])))
		n++;
	return n > 1 && !isalnum((unsigned char)p[n]);
}

enum statement_above statement_above(const char *line)
{
	char last = last_of_code(line);
	const char *first = line + strspn(line, " \t");
	if (last == ';' || last == '{' || last == '}' || last == ':')
		return ABOVE_ENDS;
	if (strcasestr(line, "atomic") || begins_with_macro(line))
		return ABOVE_ATOMIC;
	return last == ')' || (*first == '#' && last != '\\') ? ABOVE_ENDS : ABOVE_GOES_ON;
}

bool statement_is_plain(const char *line)
{
	char name[NAME], last = 0;
	int depth = 0;
	for (const char *p = line; p && *p;) {
		if (is_comment(p)) {
			p = skip_comment(p);
			continue;
		}
		if (isspace((unsigned char)*p)) {
			p++;
			continue;
		}
		last = *p;
		if (isalpha((unsigned char)*p) || *p == '_') {
			size_t n = 0;
			for (; isalnum((unsigned char)*p) || *p == '_'; p++)
				if (n + 1 < NAME)
					name[n++] = *p;
			name[n] = '\0';
			if (may_call(name, p))
				return false;
			continue;
		}
		if (*p == '#')
			return false;
		depth += (*p == '(') - (*p == ')');
		if (depth < 0)
			return false;
		p = *p == '"' || *p == '\'' ? skip_quoted(p) : p + 1;
	}
	return depth == 0 && (last == ';' || last == '{' || last == '}' || last == ')');
}
