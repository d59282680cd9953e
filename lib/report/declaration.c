/*
 * Types of parameters and locals, by which a line reaches a heap block. A trace has them of functions with debug
 * information (rt_trace_declared). Without, they are only in the text of the source: what is not declared plainly is
 * not known.
 */
#include "lib/report/declaration.h"

#include "lib/base/lower_bound.h"
#include "lib/base/name.h"
#include "lib/base/text.h"
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

/* ---- By debug information ---- */

/* NULL: it is not known. */
static const struct rt_declared *find(const struct report *r, enum rt_declared_kind kind, const char *of,
                                      const char *name)
{
	size_t n;
	const struct rt_declared key = {kind, of, name, ""}, *d = rt_trace_declared(r->analysis->trace, &n);
	size_t at = lower_bound(i, 0, n, rt_declared_compare(&d[i], &key) < 0);
	return at < n && !rt_declared_compare(&d[at], &key) ? &d[at] : NULL;
}

/* The member of a class, or of one that it inherits from; NULL: it has none of that name. */
static const struct rt_declared *find_member(const struct report *r, const char *class, const char *name)
{
	enum { ABOVE_MAX = 8 };
	for (unsigned i = 0; *class && i < ABOVE_MAX; i++) {
		const struct rt_declared *d = find(r, RT_DECLARED_MEMBER, class, name),
		                         *base = d ? NULL : find(r, RT_DECLARED_MEMBER, class, "");
		if (d || !base)
			return d;
		class = base->type;
	}
	return NULL;
}

/* A way from a variable to a member: the class behind the last pointer, and what it takes from there. */
struct way {
	char text[2 * EXPRESSION_MAX]; /* "Account::balance" */
	const char *class;             /* that of what the way has reached; "": none is known */
	bool inside;                   /* the way has reached a member */
	bool named;                    /* it has a name: it is within a global variable */
};

static void add_text(struct way *w, const char *text, size_t n)
{
	size_t used = strlen(w->text);
	snprintf(w->text + used, sizeof w->text - used, "%.*s", (int)n, text);
}

/* One step to a member; behind a pointer, and from a variable, the class begins anew. */
static bool step(const struct report *r, struct way *w, const char *name, size_t n, bool pointer)
{
	char member[EXPRESSION_MAX];
	snprintf(member, sizeof member, "%.*s", (int)n, name);
	const struct rt_declared *d = n < sizeof member ? find_member(r, w->class, member) : NULL;
	if (!d)
		return false;
	if (pointer || !w->inside) {
		w->text[0] = '\0';
		add_text(w, d->of, strcspn(d->of, "<"));
		add_text(w, "::", 2);
	} else {
		add_text(w, ".", 1);
	}
	add_text(w, member, n);
	w->class = d->type;
	w->inside = true;
	w->named &= !pointer;
	return true;
}

/* Where the way begins: a variable of the function, a member of its object, or a global variable. */
static bool set_out(const struct report *r, const char *function, const char *name, size_t n, struct way *w)
{
	char base[EXPRESSION_MAX];
	*w = (struct way){.class = ""};
	snprintf(base, sizeof base, "%.*s", (int)n, name);
	const struct rt_declared *d = find(r, RT_DECLARED_LOCAL, function, base),
	                         *object = d ? NULL : find(r, RT_DECLARED_LOCAL, function, "this");
	w->class = object ? object->type : "";
	if (object && step(r, w, base, n, true))
		return true;
	d = d ? d : find(r, RT_DECLARED_GLOBAL, "", base);
	w->class = d ? d->type : "";
	w->named = d && d->kind == RT_DECLARED_GLOBAL;
	return *w->class != '\0';
}

/* The end of the brackets that open at `at`, if what they have is plain. */
static size_t brackets(const char *at)
{
	size_t n = 1 + strcspn(at + 1, "[]");
	return at[n] == ']' ? n + 1 : 0;
}

static bool member_by_debug(const struct report *r, const struct place *place, const char *written,
                            char member[EXPRESSION_MAX])
{
	struct way w;
	const char *at = written;
	size_t n = 0;
	while (is_in_name(at[n])) {
		n++;
		if (at[n] == ':' && at[n + 1] == ':') { /* names have nothing of what is around them */
			at += n + 2;
			n = 0;
		}
	}
	if (!n || n >= EXPRESSION_MAX || !place->frame->function || !set_out(r, place->frame->function, at, n, &w))
		return false;
	for (at += n; *at; at += n) {
		bool pointer = !strncmp(at, "->", 2);
		if (*at == '[') {
			if (!(n = brackets(at)))
				return false;
			if (w.inside)
				add_text(&w, at, n);
			continue;
		}
		at += pointer ? 2 : *at == '.';
		for (n = 0; is_in_name(at[n]);)
			n++;
		if (!n || !step(r, &w, at, n, pointer))
			return false;
	}
	return w.inside && !w.named && snprintf(member, EXPRESSION_MAX, "%s", w.text) < EXPRESSION_MAX;
}

/* ---- The members of what a line names ---- */

bool declaration_member(const struct report *r, const struct place *place, const char *written,
                        char member[EXPRESSION_MAX])
{
	if (place->frame && member_by_debug(r, place, written, member))
		return true;
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

bool declaration_alone(const struct report *r, const struct place *place, char name[EXPRESSION_MAX],
                       char member[EXPRESSION_MAX])
{
	char *line = place_line(r, place);
	size_t at = line && place->frame->column ? place->frame->column - 1 : SIZE_MAX, n = 0;
	if (line && at < strlen(line) && !(at && is_in_name(line[at - 1])))
		while (is_in_name(line[at + n]))
			n++;
	if (n && n < EXPRESSION_MAX)
		snprintf(name, EXPRESSION_MAX, "%.*s", (int)n, line + at);
	free(line);
	return n && n < EXPRESSION_MAX && declaration_member(r, place, name, member);
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

/* The lock's name as the line that takes it has it, and by the type that it is a member of. False: that is not known.
 */
static bool held_member(const struct report *r, const struct held_lock *held, char written[SUBJECT_NAME_MAX],
                        char member[EXPRESSION_MAX])
{
	place_held_name(r, held, written);
	return written[0] && declaration_of_lock(r, place_taken(r, held), written, member);
}

void declaration_held(const struct report *r, const struct held_lock *held, char written[SUBJECT_NAME_MAX],
                      char words[SUBJECT_NAME_MAX])
{
	char member[EXPRESSION_MAX];
	bool known = held_member(r, held, written, member);
	snprintf(words, SUBJECT_NAME_MAX, "%s", known ? member : written);
}

bool declaration_at_place(const struct report *r, const struct held_lock *held, char text[SUBJECT_NAME_MAX])
{
	char written[SUBJECT_NAME_MAX], member[EXPRESSION_MAX];
	if (!held_member(r, held, written, member))
		return false;
	const char *own = !strncmp(written, "this->", strlen("this->")) ? written + strlen("this->") : written;
	bool same = rt_text_ends_in(member, strlen(member), own);
	int n = snprintf(text, SUBJECT_NAME_MAX, same ? "%s" : "%s (%s)", member, written);
	return n < SUBJECT_NAME_MAX;
}
