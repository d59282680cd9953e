/* What findings call their variables; see finding_variable.h. */
#include "lib/report/finding_variable.h"

#include "lib/report/declaration.h"
#include "lib/report/fortran.h"

#include <stdlib.h>
#include <string.h>

/* What the source line of an event names as what it accesses. *pointed: what a call is given points there. */
static bool named_at(const struct joining *j, uint32_t e, bool writes, char name[EXPRESSION_MAX], bool *pointed)
{
	struct place place = place_of(j->r, e);
	char *line = place_line(j->r, &place), member[EXPRESSION_MAX];
	uint32_t column = place_column(&place);
	const struct description *d = report_event(j->r, e);
	bool frees = d && d->event.flags & RT_F_FREE;
	bool copied = line && expression_copied(line, column, writes, name);
	/* A member is mostly an array. */
	*pointed = copied && (strchr(name, '+') || (!strstr(name, "->") && !strchr(name, '.')));
	bool known = copied || (line && ((frees && expression_freed(line, name)) ||
	                                 (!writes && expression_member(line, column, name)) ||
	                                 expression_macro(line, column, name) ||
	                                 (rt_op_is_atomic(model_op(j->m, e)) && expression_atomic(line, name))));
	free(line);
	return known || (!place.callee && declaration_alone(j->r, &place, name, member));
}

/* The function of another module that the source line calls at an access. */
static bool called_at(const struct joining *j, uint32_t e, char name[EXPRESSION_MAX])
{
	struct place place = place_of(j->r, e);
	char *line = place_line(j->r, &place);
	bool known = line && expression_called(line, place_column(&place), name);
	free(line);
	return known;
}

/* What is freed is known by what the line frees, not by a part of it that another line accesses. */
static bool name_freed(const struct joining *j, const struct anomaly *a, char name[EXPRESSION_MAX])
{
	bool known = false;
	for (uint32_t i = 0; i < a->event_count && !known; i++) {
		const struct description *d = report_event(j->r, a->events[i]);
		known = d && d->event.flags & RT_F_FREE && place_freed(j->r, d, name);
	}
	return known;
}

/*
 * Memory without a name of its own is a heap block's, or what a lambda or an OpenMP region shares. It is known by what
 * the source line of a write assigns to or, where none says it, by what a line reads or copies, or whose member
 * function of a library it calls.
 */
static void name_written(const struct joining *j, struct finding *f)
{
	const struct anomaly *a = j->r->entries[f->entries[0]].anomaly;
	struct subject s;
	if (!subject_of(j->r, a, &s) || (!strcmp(s.kind, "global") && !subject_is_common(&s)) ||
	    !strcmp(s.kind, "tls") || s.shared || name_freed(j, a, f->written) || joining_written(j, a, f->written))
		return;
	bool known = false;
	for (uint32_t i = 0; i < a->event_count && !known; i++)
		known = rt_op_writes(model_op(j->m, a->events[i])) &&
		        named_at(j, a->events[i], true, f->written, &f->pointed);
	for (uint32_t i = 0; i < a->event_count && !known; i++)
		known = rt_op_is_access(model_op(j->m, a->events[i])) &&
		        named_at(j, a->events[i], false, f->written, &f->pointed);
	for (uint32_t i = 0; i < a->event_count && !known; i++) {
		struct place place = place_of(j->r, a->events[i]);
		known = place_called_for(j->r, &place, f->written);
	}
	if (!known)
		f->written[0] = '\0';
	/* A call that reads may be one that is given what another has returned. */
	for (uint32_t i = 0; i < 2 * a->event_count && !known && !s.name[0]; i++) {
		uint32_t e = a->events[i % a->event_count];
		known = rt_op_writes(model_op(j->m, e)) == (i < a->event_count) && called_at(j, e, f->called);
	}
}

/* By whose place the member is named is left to chance; its type is one. */
static void name_member(const struct joining *j, struct finding *f)
{
	const struct anomaly *a = j->r->entries[f->entries[0]].anomaly;
	for (uint32_t i = 0; i < a->event_count && f->written[0] && !f->member[0]; i++) {
		struct place place = place_of(j->r, a->events[i]);
		char *line = place_line(j->r, &place), called_for[EXPRESSION_MAX];
		bool named = line ? strstr(line, f->written) != NULL
		                  : place_called_for(j->r, &place, called_for) && !strcmp(called_for, f->written);
		if (!named || !declaration_member(j->r, &place, f->written, f->member))
			f->member[0] = '\0';
		free(line);
	}
}

void finding_name_variable(const struct joining *j, struct finding *f)
{
	struct place place = place_of(j->r, j->r->entries[f->entries[0]].anomaly->events[0]);
	name_written(j, f);
	name_member(j, f);
	if (place.frame && fortran_is_source(place.frame->file)) {
		fortran_from_c(f->written);
		fortran_from_c(f->member);
	}
}
