/* The words that findings' sentences are made of; see finding_parts.h. */
#include "lib/report/deed.h"
#include "lib/report/finding_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void say(struct text *t, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int n = vsnprintf(t->at, t->room, format, arguments);
	va_end(arguments);
	size_t used = n < 0 ? 0 : (size_t)n < t->room ? (size_t)n : t->room - 1;
	t->at += used;
	t->room -= used;
}

const struct anomaly *finding_first(const struct report *r, const struct finding *f)
{
	return r->entries[f->entries[0]].anomaly;
}

struct finding_place finding_place_at(const struct report *r, const struct finding *f, uint32_t e)
{
	return (struct finding_place){.place = place_of(r, e),
	                              .op = model_op(r->analysis->model, e),
	                              .e = e,
	                              .guarded = f->guard.lock != MODEL_NONE &&
	                                         guard_is_held(r->analysis->model, e, f->guard.lock)};
}

bool finding_is_same_function(const struct finding_place *a, const struct finding_place *b)
{
	return place_function_key(&a->place) == place_function_key(&b->place);
}

void say_function(struct text *t, const struct finding_place *place)
{
	char name[PLACE_FUNCTION_MAX];
	place_function(&place->place, name);
	if (place->place.frame && place->place.frame->function)
		say(t, "`%s`", name);
	else if (place->place.frame && place->place.frame->text)
		say(t, "location %s", place->place.frame->text);
	else
		say(t, "a thread");
}

void say_other_function(struct text *t, const struct finding_place *named, const struct finding_place *other)
{
	if (finding_is_same_function(named, other))
		say(t, "another thread in ");
	say_function(t, other);
}

/* True if a line names this element of an array, as "slots[3]", and none that it computes. */
static bool names_element(const char *line, const char *element, size_t length)
{
	bool constant = false;
	size_t bracket = strcspn(element, "[") + 1;
	for (const char *at = line; (at = memmem(at, strlen(at), element, bracket)); at++) {
		constant = !strncmp(at, element, length);
		if (!constant)
			return false;
	}
	return constant;
}

/* True if the source lines of the anomaly's events are known, and none names this element alone. */
static bool is_computed(const struct report *r, const struct anomaly *a, const char *element, size_t length)
{
	bool known = false, named = false;
	for (uint32_t i = 0; i < a->event_count; i++) {
		struct place place = place_of(r, a->events[i]);
		char *line = place_line(r, &place);
		known |= line != NULL;
		named |= line && names_element(line, element, length);
		free(line);
	}
	return known && !named;
}

/* Cuts the indices of the elements that the run met at, where the source has variables: "ring.slots[].next" of
 * "ring.slots[3].next", "text" of "text[0]". */
static void cut_indices(const struct report *r, const struct anomaly *a, char *name)
{
	for (char *at = strchr(name, '['); at; at = strchr(at + 1, '[')) {
		size_t length = strcspn(at, "]") + 1;
		const char *own = at;
		while (own > name && own[-1] != '.')
			own--;
		if (!at[length - 1] || !is_computed(r, a, own, (size_t)(at - own) + length))
			continue;
		size_t kept = strspn(at + length, "[]0123456789") < strlen(at + length) ? 1 : 0;
		memmove(at + kept, at + length - kept, strlen(at + length - kept) + 1);
		at -= !kept;
	}
}

/* What begins with __ or _M is no member of the program's: of `std::locale` it is the locale. */
static void say_global(const struct report *r, const struct anomaly *a, struct text *t, const char *name)
{
	char known[SUBJECT_NAME_MAX];
	snprintf(known, sizeof known, "%s", name);
	subject_cut_reserved(known);
	cut_indices(r, a, known);
	say(t, "`%s`", known);
}

/* "the stream from main (copy.c:12)": what fopen allocates is known by the line that opens it. */
static bool say_stream(const struct report *r, struct text *t, const struct subject *s)
{
	const struct description *alloc =
	    s->block.alloc && !s->block.mapped ? description_of(r->descriptions, s->block.alloc) : NULL;
	struct place place = alloc ? place_of_stack(r, alloc->stack, alloc->stack_count) : (struct place){0};
	if (!alloc || !deed_is_stream(r, &place))
		return false;
	char name[PLACE_FUNCTION_MAX];
	place_function(&place, name);
	say(t, "the stream from %s (%s:%" PRIu32 ")", name, subject_basename(place.frame->file), place.frame->line);
	return true;
}

void say_variable(const struct report *r, struct text *t, const struct finding *f)
{
	const struct anomaly *a = finding_first(r, f);
	struct subject s;
	const char *of;
	int descriptor = deed_descriptor(r, a->events[0]);
	if (deed_is_vtable(r, a))
		say(t, "the vtable pointer of ");
	if (descriptor >= 0)
		say(t, "descriptor %d", descriptor);
	else if (f->member[0] && !f->pointed)
		say(t, "`%s`", f->member);
	else if (f->written[0])
		say(t, f->pointed ? "the memory at `%s`" : "`%s`", f->written);
	else if (f->called[0])
		say(t, "what `%s` returns", f->called);
	else if (!subject_of(r, a, &s) || !s.name[0])
		say(t, "memory");
	else if (s.module)
		say(t, "the memory at `%s`", s.name);
	else if (!strcmp(s.kind, "global") || !strcmp(s.kind, "unknown") || s.shared)
		say_global(r, a, t, s.name);
	else if (!strcmp(s.kind, "tls") && s.address && (of = strstr(s.name, " of thread ")) && s.size)
		say(t, "`%.*s`%s", (int)(of - s.name), s.name, of);
	else if (!strcmp(s.kind, "stack"))
		say(t, "a variable on the %s", s.name);
	else if (!say_stream(r, t, &s))
		say(t, "the %s", s.name);
}

void say_lock(struct text *t, const char *name)
{
	if (name[0])
		say(t, "`%s`", name);
	else
		say(t, "the lock");
}

void say_place(struct text *t, const struct place *place)
{
	if (place->frame && place->frame->file)
		say(t, " at %s:%" PRIu32, subject_basename(place->frame->file), place->frame->line);
}
