/*
 * What the events of a finding do; see deed.h. pthread_mutex_destroy is an event that writes the mutex, and
 * pthread_mutex_lock reads it, as close and read do of a descriptor: people call that destroying, using and closing.
 */
#include "lib/report/deed.h"

#include "lib/report/declaration.h"
#include "lib/report/waiting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True if the event is a call on an object that programs synchronise with or on a descriptor, not an access. */
static bool is_call(const struct report *r, uint32_t e)
{
	const struct model *m = r->analysis->model;
	return rt_op_is_access(model_op(m, e)) && m->sites[m->events[e].site].flags & RT_F_OBJECT;
}

/* The recorder has a byte for each descriptor, in a variable without a declaration in the trace. */
int deed_descriptor(const struct report *r, uint32_t e)
{
	const struct description *d = is_call(r, e) ? report_event(r, e) : NULL;
	struct rt_variable variable;
	if (!d || !rt_trace_variable(r->analysis->trace, d->event.addr, &variable) || variable.file ||
	    strcmp(variable.name, "descriptor") != 0)
		return -1;
	return (int)(d->event.addr - variable.address);
}

/* True if the event's source line has the word. */
static bool line_has(const struct report *r, uint32_t e, const char *word)
{
	struct place place = place_of(r, e);
	char *line = place_line(r, &place);
	bool has = line && strcasestr(line, word);
	free(line);
	return has;
}

/* True if the source line calls one of the functions at the place. The list ends with NULL. */
static bool calls_one_of(const struct report *r, const struct place *place, const char *const *functions)
{
	char name[EXPRESSION_MAX];
	char *line = place_line(r, place);
	bool called = line && expression_called(line, place->frame->column, name);
	free(line);
	while (called && *functions && strcmp(name, *functions) != 0)
		functions++;
	return called && *functions;
}

static bool closes_stream(const struct report *r, uint32_t e)
{
	static const char *const closing[] = {"fclose", "pclose", NULL};
	struct place place = place_of(r, e);
	return calls_one_of(r, &place, closing);
}

bool deed_is_stream(const struct report *r, const struct place *allocated)
{
	static const char *const opening[] = {"fopen",     "fopen64",        "fdopen",   "popen", "tmpfile",
	                                      "tmpfile64", "open_memstream", "fmemopen", NULL};
	return calls_one_of(r, allocated, opening);
}

const struct deed_words deed_lives[LIVES] = {
    [LIFE_FREES] = {"frees", "free"},
    [LIFE_CLOSES] = {"closes", "close"},
    [LIFE_BEGINS] = {"initialises", "destroy"},
    [LIFE_ENDS] = {"destroys", "destroy"},
    [LIFE_EITHER] = {"initialises or destroys", "destroy"},
};

enum deed_life deed_life(const struct report *r, uint32_t e)
{
	const struct description *d = report_event(r, e);
	if (d && d->event.flags & RT_F_FREE)
		return LIFE_FREES;
	if (rt_op_writes(model_op(r->analysis->model, e)) && closes_stream(r, e))
		return LIFE_CLOSES;
	if (!is_call(r, e) || !rt_op_writes(model_op(r->analysis->model, e)))
		return LIFE_NONE;
	if (deed_descriptor(r, e) >= 0)
		return LIFE_CLOSES;
	return line_has(r, e, "destroy") ? LIFE_ENDS : line_has(r, e, "init") ? LIFE_BEGINS : LIFE_EITHER;
}

/* The part of a chain of names behind the last '.' or '->', without an index: "slots" of "ring->slots[to.next]". False:
 * it is one name. */
static bool member_of(const char *name, char member[EXPRESSION_MAX])
{
	const char *from = NULL;
	int depth = 0;
	for (const char *c = name; *c; c++) {
		depth += *c == '[' ? 1 : *c == ']' ? -1 : 0;
		if (!depth && (*c == '.' || *c == '>'))
			from = c + 1;
	}
	if (from)
		snprintf(member, EXPRESSION_MAX, "%.*s", (int)strcspn(from, "["), from);
	return from != NULL;
}

/* The element that was accessed in place of the index that the line has: "slots[3].used" of "slots[i].used". */
static void name_element(const struct subject *s, char name[EXPRESSION_MAX])
{
	char own[EXPRESSION_MAX];
	size_t base = strcspn(name, "["), index = strcspn(s->name + strcspn(s->name, "["), "]");
	const char *behind = strchr(name, ']');
	if (!behind || !name[base] || strncmp(name, s->name, base + 1) != 0 ||
	    memchr(name + base + 1, '[', (size_t)(behind - name) - base - 1))
		return;
	if (snprintf(own, sizeof own, "%.*s%s", (int)(base + index), s->name, behind) < EXPRESSION_MAX)
		snprintf(name, EXPRESSION_MAX, "%s", own);
}

/* What the event's line accesses, and the member that this is: "slots[i].used" and "used". A member of the function's
 * own object is "Slot::used". False: it is not known, or no member. */
static bool names_member(const struct report *r, uint32_t e, const struct subject *global, char name[EXPRESSION_MAX],
                         char member[EXPRESSION_MAX])
{
	struct place place = place_of(r, e);
	char *line = is_call(r, e) ? NULL : place_line(r, &place), own[EXPRESSION_MAX];
	uint32_t column = line ? place.frame->column : 0;
	bool known = column && (rt_op_writes(model_op(r->analysis->model, e)) ? expression_assigned(line, column, name)
	                                                                      : expression_member(line, column, name));
	bool alone = line && (!known || !member_of(name, member));
	free(line);
	if (alone && (known ? declaration_member(r, &place, name, own) : declaration_alone(r, &place, name, own))) {
		const char *last = strrchr(own, ':');
		snprintf(member, EXPRESSION_MAX, "%s", last ? last + 1 : own);
		memcpy(name, own, sizeof own);
		return true;
	}
	if (known && !alone && global)
		name_element(global, name);
	return known && !alone;
}

bool deed_names_members(const struct report *r, const struct anomaly *a, char names[2][EXPRESSION_MAX])
{
	char member[2][EXPRESSION_MAX];
	struct subject s;
	if (a->event_count != 2)
		return false;
	bool global = subject_of(r, a, &s) && !strcmp(s.kind, "global");
	for (int i = 0; i < 2; i++)
		if (!names_member(r, a->events[i], global ? &s : NULL, names[i], member[i]))
			return false;
	/* One that is part of the other is no other member: s.inner, s.inner.x. */
	return !expression_has(names[0], member[1]) && !expression_has(names[1], member[0]);
}

bool deed_is_vtable(const struct report *r, const struct anomaly *a)
{
	for (uint32_t i = 0; a->kind == ANOMALY_RACE && i < a->event_count; i++) {
		const struct description *d = report_event(r, a->events[i]);
		if (d && d->event.flags & RT_F_VPTR && !(d->event.flags & RT_F_FREE) && rt_op_writes(d->event.op))
			return true;
	}
	return false;
}

bool deed_is_profile(const struct report *r, const struct anomaly *a)
{
	static const char prefix[] = "__gcov";
	struct subject s;
	bool of_one = a->kind == ANOMALY_RACE || a->kind == ANOMALY_ATOMICITY;
	return of_one && subject_of(r, a, &s) && !strncmp(s.name, prefix, sizeof prefix - 1) &&
	       s.name[sizeof prefix - 1] >= '0' && s.name[sizeof prefix - 1] <= '9';
}

/* True if the column of the line, counted from 1, is in the condition of a `while`. */
static bool is_in_while(const char *line, uint32_t column)
{
	static const char word[] = "while";
	const size_t length = sizeof word - 1;
	bool is = false;
	for (const char *at = line; (at = strstr(at, word)) && (size_t)(at - line) + length < column; at += length) {
		size_t between = column - 1 - (size_t)(at - line) - length;
		bool whole = (at == line || strchr(" \t};{", at[-1])) && (at[length] == ' ' || at[length] == '(');
		is = whole && strcspn(at + length, ";{") >= between;
	}
	return is;
}

bool deed_waits(const struct report *r, const struct finding *f, uint32_t e)
{
	enum { FEW = 2 }; /* writes of a flag; looks at what is no flag, as of a list's next element */
	struct subject s;
	struct place place = place_of(r, e);
	unsigned op = model_op(r->analysis->model, e);
	if (!rt_op_reads(op) || rt_op_writes(op) || model_lockset_of(r->analysis->model, e) || f->uses.writes > FEW ||
	    !subject_of(r, r->entries[f->entries[0]].anomaly, &s) ||
	    (strcmp(s.kind, "global") != 0 && f->uses.accesses <= f->uses.writes + FEW))
		return false;
	char *line = place_line(r, &place);
	bool waits = line && is_in_while(line, place.frame->column);
	free(line);
	return waits;
}

const char *deed_kind(const struct report *r, const struct finding_place *place)
{
	const struct description *d = report_event(r, place->e);
	if (d && d->event.flags & RT_F_FREE)
		return "frees";
	if (place->op == RT_OP_ALLOC)
		return "allocates";
	if (d && waiting_op(d))
		return "waits";
	if (rt_op_reads(place->op) && rt_op_writes(place->op))
		return "updates";
	if (rt_op_writes(place->op))
		return "writes";
	if (rt_op_reads(place->op))
		return "reads";
	return "acquires";
}

const char *finding_does(const struct report *r, const struct finding_place *place)
{
	enum deed_life life = deed_life(r, place->e);
	const char *kind = deed_kind(r, place);
	if (life)
		return deed_lives[life].does;
	if (is_call(r, place->e))
		return "uses";
	return place->reads && !strcmp(kind, "writes") ? "reads and writes" : kind;
}

const char *deed_operation(enum rt_op op)
{
	static const char *const words[] = {
	    [RT_OP_ATOMIC_LOAD] = "atomic load",
	    [RT_OP_ATOMIC_STORE] = "atomic store",
	    [RT_OP_ATOMIC_RMW] = "atomic update",
	    [RT_OP_ATOMIC_CAS] = "atomic exchange",
	    [RT_OP_ATOMIC_CAS_FAIL] = "failed atomic exchange",
	    [RT_OP_ACQUIRE_SHARED] = "acquire as a reader",
	    [RT_OP_WAIT_BEGIN] = "begin of a wait",
	    [RT_OP_WAIT_END] = "end of a wait",
	    [RT_OP_BARRIER_ARRIVE] = "arrival",
	    [RT_OP_BARRIER_LEAVE] = "departure",
	    [RT_OP_SEM_INIT] = "initialisation",
	    [RT_OP_SEM_POST] = "post",
	    [RT_OP_SEM_WAIT] = "wait",
	    [RT_OP_ONCE_BEGIN] = "begin of an initialisation",
	    [RT_OP_ONCE_END] = "end of an initialisation",
	    [RT_OP_ONCE_SEEN] = "wait for an initialisation",
	    [RT_OP_FORK] = "creation of a thread",
	    [RT_OP_ALLOC] = "allocation",
	};
	return op < sizeof words / sizeof *words && words[op] ? words[op] : rt_op_name(op);
}
