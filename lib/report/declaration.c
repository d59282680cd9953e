/*
 * Types by the text of the source. A trace has the types of variables with a fixed address; those of parameters and
 * locals, by which a line reaches a heap block, are only in the source. What is not declared plainly is not known.
 */
#include "lib/report/declaration.h"

#include "lib/base/name.h"
#include "lib/trace/own_code.h"
#include "lib/trace/snippet.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 100 }; /* above a use */

/* True if a word in front of a name is no type with members. */
static bool is_no_type(const char *word)
{
	static const char *const words[] = {"auto",   "return",   "delete", "new",      "case",     "goto",
	                                    "else",   "typename", "const",  "void",     "volatile", "char",
	                                    "int",    "long",     "short",  "unsigned", "signed",   "float",
	                                    "double", "throw",    "bool",   "sizeof",   "and",      "or"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(word, words[i]))
			return true;
	return !*word || isdigit((unsigned char)*word);
}

/* True if a declaration may begin at the type, which other words of it may precede: no "n = a * to". */
static bool may_begin(const char *line, const char *type)
{
	while (type > line && (type[-1] == ' ' || type[-1] == '\t'))
		type--;
	return type == line || strchr("(,;{", type[-1]) || is_in_name(type[-1]);
}

/* The word that ends before `at`, behind stars, references and const. False: nothing is between. */
static bool word_before(const char *line, const char *at, char word[EXPRESSION_MAX])
{
	const char *end = at;
	for (;;) {
		while (end > line && strchr("*& \t", end[-1]))
			end--;
		if (end - line < 6 || memcmp(end - 5, "const", 5) != 0 || is_in_name(end[-6]))
			break;
		end -= 5;
	}
	const char *begin = end;
	while (begin > line && (is_in_name(begin[-1]) || begin[-1] == ':'))
		begin--;
	if (end == at || end - begin >= EXPRESSION_MAX || !may_begin(line, begin))
		return false;
	snprintf(word, EXPRESSION_MAX, "%.*s", (int)(end - begin), begin);
	return true;
}

bool declaration_type(const char *line, const char *name, char type[EXPRESSION_MAX])
{
	size_t n = strlen(name);
	for (const char *at = line; n && (at = strstr(at, name)); at += n) {
		const char *behind = at + n + strspn(at + n, " \t");
		if ((at > line && is_in_name(at[-1])) || is_in_name(at[n]) || !*behind ||
		    !strchr(",)=;:[{(", *behind) || (behind[0] == '=' && behind[1] == '=') ||
		    (behind[0] == ':' && behind[1] == ':'))
			continue;
		if (word_before(line, at, type) && !is_no_type(type))
			return true;
	}
	return false;
}

/* Width of the blanks that a line begins with. */
static size_t indentation(const char *line)
{
	size_t n = 0;
	for (; *line == ' ' || *line == '\t'; line++)
		n += *line == '\t' ? 8 : 1;
	return n;
}

static bool is_end(const char *text)
{
	return *text == '}' && !text[1 + strspn(text + 1, "}; \t\r")];
}

/* The type of a variable of the place's function; false: it is not declared above as one. */
static bool type_above(const struct report *r, const struct rt_frame *frame, const char *name,
                       char type[EXPRESSION_MAX])
{
	size_t least = SIZE_MAX;
	for (uint32_t line = frame->line; line && line + LINES_MAX > frame->line; line--) {
		char *text = snippet_whole(r->sources, frame->file, line);
		size_t indent = text ? indentation(text) : 0;
		bool blank = !text || !text[strspn(text, " \t\r")], known = text && declaration_type(text, name, type);
		/* The end of what is above the function, or of a class; no "} else {". */
		bool ends = !blank && indent < least && is_end(text + strspn(text, " \t"));
		bool begins = text && !known && frame->function && expression_begins(text, frame->function, name) >= 0;
		free(text);
		if (known && !ends)
			return true;
		if (ends || begins)
			return false;
		least = !blank && indent < least ? indent : least;
	}
	return false;
}

/* The class of a member function: "Account" of "bank::Account::pay(int)". False: it is none, or a lambda. */
static bool class_of(const struct place *place, char type[EXPRESSION_MAX])
{
	char name[PLACE_FUNCTION_MAX];
	place_function(place, name);
	name[strcspn(name, "( ")] = '\0';
	char *last = NULL;
	for (char *at = name; (at = strstr(at, "::")); at += 2)
		last = at;
	if (!last)
		return false;
	*last = '\0';
	const char *from = strrchr(name, ':') ? strrchr(name, ':') + 1 : name;
	if (!isalpha((unsigned char)*from) && *from != '_')
		return false;
	snprintf(type, EXPRESSION_MAX, "%.*s", (int)strcspn(from, "<"), from);
	return true;
}

bool declaration_member(const struct report *r, const struct place *place, const char *written,
                        char member[EXPRESSION_MAX])
{
	char base[EXPRESSION_MAX], type[EXPRESSION_MAX];
	size_t n = 0;
	while (is_in_name(written[n]))
		n++;
	const char *rest = written + n + (written[n] == '.' ? 1 : !strncmp(written + n, "->", 2) ? 2 : 0);
	size_t end = 0;
	while (is_in_name(rest[end]))
		end++;
	/* One step from a variable: of longer ways the types between are not known. */
	if (!n || rest == written + n || !end || (rest[end] && rest[end] != '[') || !place->frame ||
	    !place->frame->file)
		return false;
	snprintf(base, sizeof base, "%.*s", (int)n, written);
	if (!strcmp(base, "this") ? !class_of(place, type) : !type_above(r, place->frame, base, type))
		return false;
	const char *last = strrchr(type, ':') ? strrchr(type, ':') + 1 : type;
	return snprintf(member, EXPRESSION_MAX, "%s::%s", last, rest) < EXPRESSION_MAX;
}

bool declaration_of_lock(const struct report *r, const struct description *acquire, const char *written,
                         char member[EXPRESSION_MAX])
{
	enum { CALLERS_MAX = 4 };
	unsigned own = 0;
	for (size_t i = 0; acquire && i < acquire->stack_count && own < CALLERS_MAX; i++) {
		size_t n = 0;
		const struct rt_frame *frames = rt_trace_frames(r->analysis->trace, acquire->stack[i], &n);
		for (size_t k = 0; k < n && own < CALLERS_MAX; k++) {
			if (frame_is_library(&frames[k]))
				continue;
			own++;
			const struct place place = {.frame = &frames[k], .pc = acquire->stack[i]};
			char *line = place_line(r, &place);
			bool names = line && strstr(line, written);
			free(line);
			if (names)
				return declaration_member(r, &place, written, member);
		}
	}
	return false;
}
