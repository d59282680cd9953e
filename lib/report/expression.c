/* Assignments and locks in a line of source; see expression.h. */
#include "lib/report/expression.h"

#include "lib/base/name.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

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
		while (is_in_name(*at))
			at++;
		if (*at == '[') {
			if (!(at = past_brackets(at)))
				return NULL;
		} else if (at[0] == '-' && at[1] == '>' && is_in_name(at[2])) {
			at += 2;
		} else if (at[0] == '.' && is_in_name(at[1])) {
			at++;
		} else if (at[0] == ':' && at[1] == ':' && is_in_name(at[2])) {
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
		while (at > line && is_in_name(at[-1]))
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

/* True if what begins there is what a pointer of another type points to: p of "*(int *)p". */
static bool is_cast_and_read(const char *line, const char *begin)
{
	bool cast = false;
	while (begin > line && begin[-1] == ')') {
		int depth = 0;
		do {
			begin--;
			depth += *begin == ')' ? 1 : *begin == '(' ? -1 : 0;
		} while (begin > line && depth);
		cast = !depth;
	}
	return cast && begin > line && begin[-1] == '*';
}

static bool take(const char *line, const char *begin, const char *end, char name[EXPRESSION_MAX])
{
	if (!begin || !end || end <= begin || !(isalpha((unsigned char)*begin) || *begin == '_'))
		return false;
	if (begin > line && begin[-1] == '*' && (begin - 1 == line || !is_in_name(begin[-2])))
		begin--;
	size_t n = (size_t)(end - begin), star = is_cast_and_read(line, begin);
	if (n + star >= EXPRESSION_MAX)
		return false;
	name[0] = '*';
	memcpy(name + star, begin, n);
	name[n + star] = '\0';
	return true;
}

/* The operand of the operator at `at`: on its left, or for ++x on its right. */
static bool operand(const char *line, const char *at, char name[EXPRESSION_MAX])
{
	const char *end = at;
	while (end > line && isspace((unsigned char)end[-1]))
		end--;
	bool step = !strncmp(at, "++", 2) || !strncmp(at, "--", 2);
	if (end > line && (is_in_name(end[-1]) || end[-1] == ']'))
		return take(line, chain_begin(line, end), end, name);
	return step && take(line, at + 2, chain_end(at + 2), name);
}

/* The chain that begins here, if an assignment follows it or a step is before it: also in a condition's bracket. */
static bool assigned_here(const char *line, const char *at, char name[EXPRESSION_MAX])
{
	while (*at == '*' || *at == '(')
		at++;
	if (!strncmp(at, "++", 2) || !strncmp(at, "--", 2))
		return take(line, at + 2, chain_end(at + 2), name);
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

bool expression_member(const char *line, uint32_t column, char name[EXPRESSION_MAX])
{
	if (!column || column > strlen(line))
		return false;
	const char *at = line + column - 1, *end = NULL;
	if (at[0] == '-' && at[1] == '>' && is_in_name(at[2]))
		end = at + 2;
	else if (at[0] == '.' && is_in_name(at[1]))
		end = at + 1;
	else if (at[0] == '[')
		return past_brackets(at) && take(line, chain_begin(line, at), past_brackets(at), name);
	while (end && is_in_name(*end))
		end++;
	return end && take(line, chain_begin(line, at), end, name);
}

/* Takes an argument of a call as it is written, from `at` to the comma or bracket behind it. */
static bool take_argument(const char *at, char name[EXPRESSION_MAX])
{
	size_t n = 0;
	int depth = 0;
	at += strspn(at, " \t");
	for (; at[n]; n++) {
		if (!depth && (at[n] == ',' || at[n] == ')'))
			break;
		if (!is_in_name(at[n]) && !strchr("()[]->.&+* :", at[n]))
			return false;
		depth += strchr("([", at[n]) ? 1 : strchr(")]", at[n]) ? -1 : 0;
	}
	if (!at[n] || !n || n >= EXPRESSION_MAX || !(isalpha((unsigned char)*at) || strchr("_&*", *at)))
		return false;
	memcpy(name, at, n);
	name[n] = '\0';
	return true;
}

/* The comma behind the first argument; NULL: it is not on this line. */
static const char *past_argument(const char *at)
{
	int depth = 0;
	for (; *at; at++) {
		depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
		if (depth < 0)
			return NULL;
		if (!depth && *at == ',')
			return at + 1;
	}
	return NULL;
}

/* The name of the call at the column: C's columns are of its first letter, C++'s of its bracket. NULL: none. */
static const char *call_at(const char *line, uint32_t column)
{
	if (!column || column > strlen(line))
		return NULL;
	const char *at = line + column - 1;
	while (line[column - 1] == '(' && at > line && is_in_name(at[-1]))
		at--;
	return at > line && is_in_name(at[-1]) ? NULL : at;
}

bool expression_copied(const char *line, uint32_t column, bool writes, char name[EXPRESSION_MAX])
{
	static const char *const copying[] = {"memcpy",  "memmove", "memset",  "mempcpy", "strcpy",
	                                      "strncpy", "strcat",  "strncat", "sprintf", "snprintf"};
	enum { READING = 2 }; /* the first ones read their second argument */
	const char *at = call_at(line, column);
	for (size_t i = 0; at && i < (writes ? sizeof copying / sizeof *copying : READING); i++) {
		size_t n = strlen(copying[i]);
		if (strncmp(at, copying[i], n) != 0 || at[n] != '(')
			continue;
		const char *argument = writes ? at + n + 1 : past_argument(at + n + 1);
		return argument && take_argument(argument, name);
	}
	return false;
}

/* The bracket that opens the arguments of the only call whose name speaks of a lock; NULL: none, or several. */
static const char *arguments_of_lock(const char *line)
{
	const char *found = NULL;
	for (const char *at = line; *at; at++) {
		if (strncasecmp(at, "lock", 4) != 0)
			continue;
		size_t n = strcspn(at, "([);"); /* behind it are arguments, unless it is an array of locks */
		at += 3;
		if (at[n - 3] != '(' || at[n - 2] == ')')
			continue;
		if (found && found != at + n - 3)
			return NULL;
		found = at + n - 3;
	}
	return found;
}

/* The first argument behind the bracket that opens here. */
static bool argument(const char *line, const char *at, char name[EXPRESSION_MAX])
{
	int depth = 0; /* of "&(pool->lock)" */
	at++;
	for (; isspace((unsigned char)*at) || *at == '&' || *at == '('; at++)
		depth += *at == '(';
	const char *end = chain_end(at), *next = end;
	for (; next && (isspace((unsigned char)*next) || (depth && *next == ')')); next++)
		depth -= *next == ')';
	return next && !depth && (*next == ')' || *next == ',') && take(line, at, end, name);
}

/* True if the argument behind the bracket is a variable as it is. */
static bool is_variable(const char *at)
{
	at += 1 + strspn(at + 1, " \t");
	while (is_in_name(*at))
		at++;
	return *at == ')' || *at == ',';
}

/* True if the name has a part that is used of locks, and is not of a way to lock: "std::defer_lock". */
static bool speaks_of_lock(const char *name)
{
	static const char *const words[] = {"lock", "mutex", "mtx"};
	size_t n = strlen(name);
	if (n > 5 && !strcmp(name + n - 5, "_lock") &&
	    (strstr(name, "defer") || strstr(name, "adopt") || strstr(name, "try")))
		return false;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasestr(name, words[i]))
			return true;
	return false;
}

/* What is in front of the argument that is locked: the first one, unless another alone is called a lock, as in
 * "LOCK_MUTEX(result, env, env->mutex)". NULL: there is none. */
static const char *before_lock(const char *line)
{
	const char *first = arguments_of_lock(line);
	char name[EXPRESSION_MAX];
	for (const char *at = first; at; at = past_argument(at + 1), at -= at != NULL)
		if (argument(line, at, name) && speaks_of_lock(name))
			return at;
	return first;
}

bool expression_locked(const char *line, char name[EXPRESSION_MAX])
{
	const char *at = before_lock(line);
	return at && argument(line, at, name);
}

bool expression_locks_pointer(const char *line)
{
	const char *at = arguments_of_lock(line), *name = at;
	while (name && name > line && is_in_name(name[-1]))
		name--;
	/* The name before the bracket is that of a call, not of a variable: "std::lock_guard<std::mutex> guard(m)". */
	const char *before = name;
	while (before && before > line && isspace((unsigned char)before[-1]))
		before--;
	bool declares = before && before != name && before > line && (is_in_name(before[-1]) || before[-1] == '>');
	return at && !declares && is_variable(at) && before_lock(line) == at;
}

bool expression_passed(const char *line, const char *function, char name[EXPRESSION_MAX], bool *handed)
{
	const char *found = NULL, *bracket = strchr(function, '(');
	size_t n = bracket ? (size_t)(bracket - function) : strlen(function);
	for (size_t i = n; i; i--) /* of "queue::enter" the line has the last part */
		if (function[i - 1] == ':') {
			function += i;
			n -= i;
			break;
		}
	for (const char *at = line; n && (at = strchr(at, *function)) != NULL; at++) {
		bool whole = (at == line || !is_in_name(at[-1])) && !strncmp(at, function, n) && !is_in_name(at[n]);
		if (!whole || at[n + strspn(at + n, " ")] != '(')
			continue;
		if (found)
			return false;
		found = at + n + strspn(at + n, " ");
	}
	*handed = found && is_variable(found);
	return found && argument(line, found, name);
}

/* Where the whole word is in the text; NULL: nowhere. */
static const char *word_in(const char *text, const char *word, size_t length)
{
	for (const char *at = text; length && (at = strchr(at, *word)) != NULL; at++)
		if ((at == text || !is_in_name(at[-1])) && !strncmp(at, word, length) && !is_in_name(at[length]))
			return at;
	return NULL;
}

/* Without the object that a member function is called for, which all its members have. */
static bool without_this(char name[EXPRESSION_MAX])
{
	static const char own[] = "this->";
	if (!strncmp(name, own, sizeof own - 1))
		memmove(name, name + sizeof own - 1, strlen(name + sizeof own - 1) + 1);
	return true;
}

/* True if a function of this name locks, and that is all. */
static bool is_locking(const char *name, size_t n)
{
	static const char *const words[] = {"lock", "acquire", "enter", "readlock", "writelock", "lock_shared"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (n == strlen(words[i]) && !strncasecmp(name, words[i], n))
			return true;
	return false;
}

bool expression_receiver(const char *line, const char *function, char name[EXPRESSION_MAX])
{
	size_t length = strcspn(function, "(<"), n;
	const char *last = function + length, *at = line;
	while (last > function && last[-1] != ':')
		last--;
	n = (size_t)(function + length - last);
	bool constructs = last - function >= (ptrdiff_t)n + 2 && !strncmp(last - n - 2, last, n) &&
	                  (last - n - 2 == function || last[-(ptrdiff_t)n - 3] == ':') && speaks_of_lock(function);
	if (!n || (!constructs && !is_locking(last, n)) || !(at = word_in(line, last, n)) || word_in(at + n, last, n))
		return false;
	const char *end = at + n;
	if (constructs) {
		end += strspn(end, " \t");
		while (is_in_name(*end))
			end++;
		return *end == '(' && argument(line, end, name) && without_this(name);
	}
	end = at > line && at[-1] == '.' ? at - 1 : at - line >= 2 && at[-1] == '>' && at[-2] == '-' ? at - 2 : NULL;
	return end && at[n] == '(' && take(line, chain_begin(line, end), end, name) && without_this(name);
}

/* The only place of the word, or of an operator, in the line; NULL: none, or several. */
static const char *only(const char *line, const char *word, size_t n, bool whole)
{
	const char *at = whole ? word_in(line, word, n) : strstr(line, word);
	return at && !(whole ? word_in(at + n, word, n) : strstr(at + n, word)) ? at : NULL;
}

/* The chain that ends here or, behind a call ("get()->values"), its last member. */
static bool take_end(const char *line, const char *end, char name[EXPRESSION_MAX])
{
	const char *last = end;
	while (last > line && is_in_name(last[-1]))
		last--;
	return (take(line, chain_begin(line, end), end, name) || take(line, last, end, name)) && without_this(name);
}

/* What "for (auto &x : values)" goes through. */
static bool ranged_over(const char *line, char name[EXPRESSION_MAX])
{
	const char *at = word_in(line, "for", 3), *colon = at ? strstr(at, " : ") : NULL;
	const char *end = colon ? chain_end(colon + 3) : NULL;
	return end && *end == ')' && take(line, colon + 3, end, name) && without_this(name);
}

bool expression_called_for(const char *line, const char *function, char name[EXPRESSION_MAX])
{
	static const char operator[] = "operator";
	const char *last = function + strlen(function), *at;
	while (last > function && last[-1] != ':')
		last--;
	size_t n = strcspn(last, "(<");
	const char *sign = last + sizeof operator- 1;
	if (!strncmp(last, operator, sizeof operator- 1) && *sign && !is_in_name(*sign)) {
		at = *sign == '['   ? only(line, "[", 1, false)
		     : *sign == '(' ? NULL
		                    : only(line, sign, strlen(sign), false);
		return at && (*sign == '[' ? take_end(line, at, name) : operand(line, at, name) && without_this(name));
	}
	at = n ? only(line, last, n, true) : NULL;
	if (!at || at == line || at[n + strspn(at + n, " ")] != '(')
		return (!strcmp(last, "begin") || !strcmp(last, "end")) && ranged_over(line, name);
	if (at[-1] == '.')
		return take_end(line, at - 1, name);
	return at - line > 2 && at[-1] == '>' && at[-2] == '-' && take_end(line, at - 2, name);
}

bool expression_has(const char *text, const char *word)
{
	return word_in(text, word, strlen(word)) != NULL;
}

int expression_begins(const char *line, const char *function, const char *name)
{
	const char *bracket = strchr(function, '(');
	size_t n = bracket ? (size_t)(bracket - function) : strlen(function), length = strlen(line);
	while (length && isspace((unsigned char)line[length - 1]))
		length--;
	for (size_t i = n; i; i--) /* of "queue::enter" the line has the last part */
		if (function[i - 1] == ':') {
			function += i;
			n -= i;
			break;
		}
	const char *at = isspace((unsigned char)*line) ? NULL : word_in(line, function, n);
	if (!at || at[n + strspn(at + n, " ")] != '(' || !length || line[length - 1] == ';')
		return -1;
	/* Parameters on further lines are not seen. */
	return expression_has(at + n, name) ? 1 : strchr(at + n, ')') ? 0 : -1;
}

/* True if the text up to `end` has letters, of which none is small. */
static bool is_macro(const char *at, const char *end)
{
	bool letters = false;
	for (; at < end; at++) {
		if (islower((unsigned char)*at))
			return false;
		letters |= isupper((unsigned char)*at) != 0;
	}
	return letters;
}

/* The call that a macro's arguments, from `at` on, have, but for one of a variant with _r; false: none, or several. */
static bool called_in(const char *at, char name[EXPRESSION_MAX])
{
	char other[EXPRESSION_MAX];
	int depth = 0;
	name[0] = '\0';
	for (const char *begin = at; *at; begin = at) {
		while (is_in_name(*at))
			at++;
		size_t n = (size_t)(at - begin);
		bool called = n && *at == '(' && !is_macro(begin, at) && !(n > 2 && !strncmp(at - 2, "_r", 2));
		if (called && take(begin, begin, at, other)) {
			if (name[0] && strcmp(name, other) != 0)
				return false;
			memcpy(name, other, EXPRESSION_MAX);
		}
		depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
		if (!*at || !depth)
			break;
		at++;
	}
	return name[0] != '\0';
}

bool expression_called(const char *line, uint32_t column, char name[EXPRESSION_MAX])
{
	const char *at = call_at(line, column), *end = at;
	while (at && is_in_name(*end))
		end++;
	if (at && *end == '(' && is_macro(at, end))
		return called_in(end, name);
	return at && *end == '(' && take(line, at, end, name);
}

bool expression_macro(const char *line, uint32_t column, char name[EXPRESSION_MAX])
{
	const char *at = call_at(line, column), *end = at;
	while (at && is_in_name(*end))
		end++;
	return at && *end == '(' && is_macro(at, end) && end[1 + strspn(end + 1, " ")] == '&' &&
	       argument(line, end, name);
}

/* True if the name, up to its bracket, is that of a member function of std::atomic. */
static bool is_atomic_member(const char *name)
{
	static const char *const members[] = {"load",   "store",       "exchange", "compare_exchange_",
	                                      "fetch_", "test_and_set"};
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		size_t n = strlen(members[i]);
		if (!strncmp(name, members[i], n) && (name[n] == '(' || members[i][n - 1] == '_'))
			return true;
	}
	return false;
}

bool expression_atomic(const char *line, char name[EXPRESSION_MAX])
{
	static const char *const families[] = {"atomic_", "__atomic_", "__sync_"};
	char other[EXPRESSION_MAX];
	bool known = false;
	for (const char *at = line; *at; at++) {
		if (!is_in_name(*at) || (at > line && is_in_name(at[-1])))
			continue;
		const char *end = at, *dot = NULL;
		bool of_family = false, has = false;
		while (is_in_name(*end))
			end++;
		for (size_t i = 0; i < sizeof families / sizeof *families; i++)
			of_family |= !strncmp(at, families[i], strlen(families[i]));
		if (at > line && at[-1] == '.')
			dot = at - 1;
		else if (at - line >= 2 && at[-1] == '>' && at[-2] == '-')
			dot = at - 2;
		if (*end == '(' && of_family)
			has = argument(line, end, other);
		else if (*end == '(' && dot && is_atomic_member(at))
			has = take(line, chain_begin(line, dot), dot, other);
		if (!has)
			continue;
		if (known && strcmp(name, other) != 0)
			return false;
		memcpy(name, other, sizeof other);
		known = true;
	}
	return known;
}

bool expression_freed(const char *line, char name[EXPRESSION_MAX])
{
	bool handed;
	if (expression_passed(line, "free", name, &handed))
		return true;
	const char *at = strstr(line, "delete");
	if (!at || (at > line && is_in_name(at[-1])) || strstr(at + 1, "delete"))
		return false;
	at += sizeof "delete" - 1;
	at += strspn(at, " []");
	const char *end = chain_end(at);
	return end && *end == ';' && take(line, at, end, name);
}
