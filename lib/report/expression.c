/* Assignments and locks in a line of source; see expression.h. */
#include "lib/report/expression.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Length of the assignment operator here; 0: none. */
static size_t operator_at(const char *at)
{
	static const char *const operators[] = {
	    "<<=", ">>=", "++", "--", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^="};
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (!strncmp(at, operators[i], strlen(operators[i])))
			return strlen(operators[i]);
	return at[0] == '=' && at[1] != '=';
}

/* True if '=' or the like at `at` belongs to a comparison. */
static bool is_comparison(const char *line, const char *at)
{
	return *at == '=' && at > line && strchr("=!<>", at[-1]);
}

/* The end of the brackets that open here; NULL: not on this line. */
static const char *past_brackets(const char *at)
{
	int depth = 0;
	for (; *at; at++) {
		depth += *at == '[' ? 1 : *at == ']' ? -1 : 0;
		if (!depth)
			return at + 1;
	}
	return NULL;
}

/* The end of a chain of names, members and elements. */
static const char *chain_end(const char *at)
{
	for (;;) {
		while (is_name(*at))
			at++;
		if (*at == '[') {
			if (!(at = past_brackets(at)))
				return NULL;
		} else if (at[0] == '-' && at[1] == '>' && is_name(at[2])) {
			at += 2;
		} else if (at[0] == '.' && is_name(at[1])) {
			at++;
		} else if (at[0] == ':' && at[1] == ':' && is_name(at[2])) {
			at += 2;
		} else {
			return at;
		}
	}
}

/* The beginning of the chain that ends here. */
static const char *chain_begin(const char *line, const char *end)
{
	const char *at = end;
	for (;;) {
		if (at > line && at[-1] == ']') {
			int depth = 0;
			do {
				at--;
				depth += *at == ']' ? 1 : *at == '[' ? -1 : 0;
			} while (at > line && depth);
			if (depth)
				return NULL;
			continue;
		}
		while (at > line && is_name(at[-1]))
			at--;
		if (at - line >= 2 && at[-1] == '>' && at[-2] == '-')
			at -= 2;
		else if (at > line && at[-1] == '.')
			at--;
		else if (at - line >= 2 && at[-1] == ':' && at[-2] == ':')
			at -= 2;
		else
			return at;
	}
}

static bool take(const char *line, const char *begin, const char *end, char name[EXPRESSION_MAX])
{
	if (!begin || !end || end <= begin || !(isalpha((unsigned char)*begin) || *begin == '_'))
		return false;
	if (begin > line && begin[-1] == '*' && (begin - 1 == line || !is_name(begin[-2])))
		begin--;
	size_t n = (size_t)(end - begin);
	if (n >= EXPRESSION_MAX)
		return false;
	memcpy(name, begin, n);
	name[n] = '\0';
	return true;
}

/* The operand of the operator at `at`: on its left, or for ++x on its right. */
static bool operand(const char *line, const char *at, char name[EXPRESSION_MAX])
{
	const char *end = at;
	while (end > line && isspace((unsigned char)end[-1]))
		end--;
	bool step = !strncmp(at, "++", 2) || !strncmp(at, "--", 2);
	if (end > line && (is_name(end[-1]) || end[-1] == ']'))
		return take(line, chain_begin(line, end), end, name);
	return step && take(line, at + 2, chain_end(at + 2), name);
}

/* The chain that begins here, if an assignment follows it. */
static bool assigned_here(const char *line, const char *at, char name[EXPRESSION_MAX])
{
	while (*at == '*' || *at == '(')
		at++;
	const char *end = chain_end(at), *next = end;
	while (next && isspace((unsigned char)*next))
		next++;
	return next && operator_at(next) && take(line, at, end, name);
}

/* The only assignment of the line, outside of strings. */
static bool only_one(const char *line, char name[EXPRESSION_MAX])
{
	const char *found = NULL;
	char quote = 0;
	for (const char *at = line; *at; at++) {
		if (quote) {
			at += *at == '\\' && at[1];
			quote = *at == quote ? 0 : quote;
			continue;
		}
		quote = *at == '"' || *at == '\'' ? *at : 0;
		if (at[0] == '/' && (at[1] == '/' || at[1] == '*'))
			break;
		size_t n = is_comparison(line, at) ? 0 : operator_at(at);
		if (!n)
			continue;
		if (found)
			return false;
		found = at;
		at += n - 1;
	}
	return found && operand(line, found, name);
}

bool expression_assigned(const char *line, uint32_t column, char name[EXPRESSION_MAX])
{
	if (!column)
		return only_one(line, name);
	if (column > strlen(line))
		return false;
	const char *at = line + column - 1;
	if (operator_at(at) && !is_comparison(line, at))
		return operand(line, at, name);
	return assigned_here(line, at, name);
}

/* The bracket that opens the arguments of the only call whose name speaks of a lock; NULL: none, or several. */
static const char *arguments_of_lock(const char *line)
{
	const char *found = NULL;
	for (const char *at = line; *at; at++) {
		if (strncasecmp(at, "lock", 4) != 0)
			continue;
		size_t n = strcspn(at, "(;");
		if (at[n] != '(')
			break;
		if (found && found != at + n)
			return NULL;
		found = at + n;
		at += 3;
	}
	return found;
}

bool expression_locked(const char *line, char name[EXPRESSION_MAX])
{
	const char *at = arguments_of_lock(line);
	if (!at)
		return false;
	at++;
	while (isspace((unsigned char)*at) || *at == '&')
		at++;
	const char *end = chain_end(at), *next = end;
	while (next && isspace((unsigned char)*next))
		next++;
	return next && (*next == ')' || *next == ',') && take(line, at, end, name);
}
