#include "cmd/record/strategy.h"

#include "cmd/base/command.h"
#include "cmd/record/relations.h"
#include "recorder/control.h"

#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {STRATEGY_NATIVE, "random",   "noise",      "suspend",  "pct",
                                    "pos",           "coverage", "racefuzzer", "drfinder", NULL};
static const char *const patterns[] = {"race", "sequence", "deadlock", NULL}; /* by enum rt_pattern */

/* ---- Options ---- */

void strategy_take_name(struct argp_state *state, struct strategy_options *o, const char *name)
{
	o->name = names[cmd_word(state, "a strategy", names, name)];
}

void strategy_take_pattern(struct argp_state *state, struct strategy_options *o, const char *pattern)
{
	o->pattern = patterns[cmd_word(state, "a pattern", patterns, pattern)];
}

/* "ROLE/LOCATION:" or "ROLE/LOCATION=OBJECT:" in front of it; returns what is behind. */
static const char *read_role(const char *text, struct rt_place *to)
{
	unsigned role, location;
	unsigned long long object = 0;
	int n = 0;
	if (sscanf(text, "%u/%u=%llx:%n", &role, &location, &object, &n) == 3 && n && location != RT_GATE)
		to->object = object;
	else if (sscanf(text, "%u/-:%n", &role, &n) == 1 && n)
		location = RT_GATE;
	else if (sscanf(text, "%u/%u:%n", &role, &location, &n) != 2 || !n || location == RT_GATE)
		return text;
	to->role = role;
	to->location = location;
	return text + n;
}

static bool read_place(const char *text, struct rt_place *to)
{
	*to = (struct rt_place){0};
	const char *path = read_role(text, to), *plus = strrchr(path, '+'), *slash;
	if (!plus || plus[1] < '0' || plus[1] > '9' || to->role >= RT_ROLES_MAX ||
	    (to->location >= RT_ROLES_MAX && to->location != RT_GATE))
		return false;
	char *end;
	errno = 0;
	to->offset = strtoull(plus + 1, &end, 0);
	if (*end || errno)
		return false;
	for (slash = plus; slash > path && slash[-1] != '/'; slash--)
		;
	if (slash == plus || (size_t)(plus - slash) >= sizeof to->module)
		return false;
	memcpy(to->module, slash, (size_t)(plus - slash));
	return true;
}

void strategy_take_place(struct argp_state *state, struct strategy_options *o, const char *position)
{
	if (strcmp(position, "all") == 0) {
		o->everywhere = true;
		return;
	}
	struct rt_place *more =
	    o->place_count < RT_PLACES_MAX ? realloc(o->places, (o->place_count + 1) * sizeof *o->places) : NULL;
	if (!more)
		argp_error(state, "more than %u positions", o->place_count);
	o->places = more;
	if (!read_place(position, &o->places[o->place_count]))
		argp_error(state,
		           "'%s' is not a position: give MODULE+OFFSET, ROLE/LOCATION:MODULE+OFFSET, "
		           "ROLE/LOCATION=OBJECT:MODULE+OFFSET, "
		           "ROLE/-:MODULE+OFFSET or all",
		           position);
	o->place_count++;
}

void strategy_take_outcome(struct argp_state *state, struct strategy_options *o, const char *path)
{
	const char **more = realloc(o->learn, (o->learn_count + 1) * sizeof *o->learn);
	if (!more)
		argp_error(state, "no memory for an option");
	o->learn = more;
	o->learn[o->learn_count++] = path;
}

bool strategy_has_aims(const struct strategy_options *o)
{
	return o->pattern || o->place_count || o->everywhere || o->depth || o->learn_count;
}

void strategy_free(struct strategy_options *o)
{
	free(o->places);
	free(o->learn);
}

/* ---- Input ---- */

static uint32_t pattern_number(const char *pattern)
{
	uint32_t i = 0;
	while (pattern && patterns[i] && strcmp(patterns[i], pattern) != 0)
		i++;
	return i;
}

/* The outcomes of earlier runs. */
struct lessons {
	json_t **outcomes;
	struct relations relations;
	uint64_t steps;
};

static enum rt_status learn(const char *path, struct lessons *l, json_t **to, struct rt_error *err)
{
	json_error_t error;
	*to = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	const char *schema = json_string_value(json_object_get(*to, "schema"));
	if (!schema || strcmp(schema, "racetrace.outcome/1") != 0)
		return rt_error_set(err, RT_EINPUT, "%s: not an outcome that record --outcome wrote", path);
	l->steps = (uint64_t)json_integer_value(json_object_get(*to, "steps"));
	return relations_read(*to, &l->relations, err);
}

static enum rt_status learn_all(const struct strategy_options *o, struct lessons *l, struct rt_error *err)
{
	l->outcomes = calloc(o->learn_count + 1, sizeof(json_t *));
	if (!l->outcomes)
		return rt_error_set(err, RT_EMEMORY, "no memory for outcomes");
	for (uint32_t i = 0; i < o->learn_count; i++)
		if (learn(o->learn[i], l, &l->outcomes[i], err))
			return err->status;
	return RT_OK;
}

static void forget(const struct strategy_options *o, struct lessons *l)
{
	for (uint32_t i = 0; l->outcomes && i < o->learn_count; i++)
		json_decref(l->outcomes[i]);
	free(l->outcomes);
	relations_free(&l->relations);
}

static void *put(void *to, const void *from, size_t size)
{
	return size ? (char *)memcpy(to, from, size) + size : to;
}

static enum rt_status build(const struct strategy_options *o, const struct lessons *l, void **input, size_t *size,
                            struct rt_error *err)
{
	struct rt_aims head = {.pattern = pattern_number(o->pattern),
	                       .depth = o->depth,
	                       .steps = l->steps,
	                       .place_count = o->place_count,
	                       .everywhere = o->everywhere,
	                       .relation_count = l->relations.count,
	                       .module_count = l->relations.module_count};
	*size = rt_aims_size(&head);
	*input = malloc(*size);
	if (!*input)
		return rt_error_set(err, RT_EMEMORY, "no memory for positions");
	void *to = put(*input, &head, sizeof head);
	to = put(to, o->places, o->place_count * sizeof *o->places);
	to = put(to, l->relations.list, head.relation_count * sizeof *l->relations.list);
	put(to, l->relations.modules, head.module_count * sizeof *l->relations.modules);
	return RT_OK;
}

enum rt_status strategy_input(const struct strategy_options *o, void **input, size_t *size, struct rt_error *err)
{
	struct lessons lessons = {0};
	enum rt_status status = learn_all(o, &lessons, err);
	if (!status)
		status = build(o, &lessons, input, size, err);
	forget(o, &lessons);
	return status;
}
