/* JSON Schema; see schema.h. Each keyword is a function of the schema's member and the value. */
#include "tests/unit/schema.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

struct checker {
	json_t *root;
	char path[512];
	char *why;
	size_t size;
};

static bool check(struct checker *c, json_t *schema, json_t *value);

static bool fail(struct checker *c, const char *what, const char *detail)
{
	snprintf(c->why, c->size, "%s: %s %s", c->path[0] ? c->path : "/", what, detail);
	return false;
}

/* Checks a part of the value, named in the path for messages. */
static bool check_at(struct checker *c, const char *name, json_t *schema, json_t *value)
{
	size_t used = strlen(c->path);
	snprintf(c->path + used, sizeof c->path - used, "/%s", name);
	bool ok = check(c, schema, value);
	c->path[used] = '\0';
	return ok;
}

static bool is_type(const char *type, json_t *v)
{
	return (!strcmp(type, "object") && json_is_object(v)) || (!strcmp(type, "array") && json_is_array(v)) ||
	       (!strcmp(type, "string") && json_is_string(v)) || (!strcmp(type, "integer") && json_is_integer(v)) ||
	       (!strcmp(type, "number") && json_is_number(v)) || (!strcmp(type, "boolean") && json_is_boolean(v)) ||
	       (!strcmp(type, "null") && json_is_null(v));
}

static bool check_type(struct checker *c, json_t *schema, json_t *word, json_t *value)
{
	(void)schema;
	size_t i;
	json_t *type;
	if (json_is_string(word))
		return is_type(json_string_value(word), value) || fail(c, "is not", json_string_value(word));
	json_array_foreach(word, i, type)
	{
		if (is_type(json_string_value(type), value))
			return true;
	}
	return fail(c, "is of no allowed", "type");
}

static bool check_enum(struct checker *c, json_t *schema, json_t *word, json_t *value)
{
	(void)schema;
	size_t i;
	json_t *allowed;
	json_array_foreach(word, i, allowed)
	{
		if (json_equal(allowed, value))
			return true;
	}
	return fail(c, "is none of the", "enum");
}

static bool check_const(struct checker *c, json_t *schema, json_t *word, json_t *value)
{
	(void)schema;
	return json_equal(word, value) || fail(c, "is not the", "const");
}

static bool check_required(struct checker *c, json_t *schema, json_t *word, json_t *value)
{
	(void)schema;
	size_t i;
	json_t *name;
	if (!json_is_object(value))
		return true;
	json_array_foreach(word, i, name)
	{
		if (!json_object_get(value, json_string_value(name)))
			return fail(c, "lacks", json_string_value(name));
	}
	return true;
}

static bool check_properties(struct checker *c, json_t *schema, json_t *word, json_t *value)
{
	(void)schema;
	const char *name;
	json_t *part;
	json_object_foreach(value, name, part)
	{
		json_t *property = json_object_get(word, name);
		if (property && !check_at(c, name, property, part))
			return false;
	}
	return true;
}

static bool check_additional(struct checker *c, json_t *schema, json_t *word, json_t *value)
{
	json_t *known = json_object_get(schema, "properties"), *part;
	const char *name;
	json_object_foreach(value, name, part)
	{
		if (json_object_get(known, name))
			continue;
		if (json_is_false(word))
			return fail(c, "has the unknown member", name);
		if (!check_at(c, name, word, part))
			return false;
	}
	return true;
}

static bool check_items(struct checker *c, json_t *schema, json_t *word, json_t *value)
{
	(void)schema;
	size_t i;
	json_t *item;
	json_array_foreach(value, i, item)
	{
		char name[24];
		snprintf(name, sizeof name, "%zu", i);
		if (!check_at(c, name, word, item))
			return false;
	}
	return true;
}

static bool check_min_items(struct checker *c, json_t *schema, json_t *word, json_t *value)
{
	(void)schema;
	return !json_is_array(value) || (json_int_t)json_array_size(value) >= json_integer_value(word) ||
	       fail(c, "has too few", "items");
}

static bool check_max_items(struct checker *c, json_t *schema, json_t *word, json_t *value)
{
	(void)schema;
	return !json_is_array(value) || (json_int_t)json_array_size(value) <= json_integer_value(word) ||
	       fail(c, "has too many", "items");
}

static bool check_minimum(struct checker *c, json_t *schema, json_t *word, json_t *value)
{
	(void)schema;
	return !json_is_number(value) || json_number_value(value) >= json_number_value(word) ||
	       fail(c, "is too", "small");
}

static bool check_maximum(struct checker *c, json_t *schema, json_t *word, json_t *value)
{
	(void)schema;
	return !json_is_number(value) || json_number_value(value) <= json_number_value(word) ||
	       fail(c, "is too", "large");
}

static bool check_pattern(struct checker *c, json_t *schema, json_t *word, json_t *value)
{
	(void)schema;
	regex_t regex;
	if (!json_is_string(value))
		return true;
	if (regcomp(&regex, json_string_value(word), REG_EXTENDED | REG_NOSUB))
		return fail(c, "cannot compile", json_string_value(word));
	bool ok = regexec(&regex, json_string_value(value), 0, NULL, 0) == 0;
	regfree(&regex);
	return ok || fail(c, "does not match", json_string_value(word));
}

static bool check_ref(struct checker *c, json_t *schema, json_t *word, json_t *value)
{
	(void)schema;
	const char *ref = json_string_value(word);
	json_t *target =
	    strncmp(ref, "#/$defs/", 8) ? NULL : json_object_get(json_object_get(c->root, "$defs"), ref + 8);
	return target ? check(c, target, value) : fail(c, "refers to the unknown", ref);
}

static bool check_nothing(struct checker *c, json_t *schema, json_t *word, json_t *value)
{
	(void)c, (void)schema, (void)word, (void)value;
	return true;
}

static bool check(struct checker *c, json_t *schema, json_t *value)
{
	static const struct {
		const char *word;
		bool (*check)(struct checker *c, json_t *schema, json_t *word, json_t *value);
	} keywords[] = {
	    {"type", check_type},
	    {"enum", check_enum},
	    {"const", check_const},
	    {"required", check_required},
	    {"properties", check_properties},
	    {"additionalProperties", check_additional},
	    {"items", check_items},
	    {"minItems", check_min_items},
	    {"maxItems", check_max_items},
	    {"maxItems", check_max_items},
	    {"minimum", check_minimum},
	    {"maximum", check_maximum},
	    {"pattern", check_pattern},
	    {"$ref", check_ref},
	    {"$schema", check_nothing},
	    {"$id", check_nothing},
	    {"$defs", check_nothing},
	    {"title", check_nothing},
	    {"description", check_nothing},
	};
	const char *word;
	json_t *argument;
	json_object_foreach(schema, word, argument)
	{
		size_t i = 0;
		while (i < sizeof keywords / sizeof *keywords && strcmp(keywords[i].word, word) != 0)
			i++;
		if (i == sizeof keywords / sizeof *keywords)
			return fail(c, "the checker does not know", word);
		if (!keywords[i].check(c, schema, argument, value))
			return false;
	}
	return true;
}

bool schema_check(json_t *schema, json_t *value, char *why, size_t size)
{
	struct checker c = {.root = schema, .why = why, .size = size};
	return check(&c, schema, value);
}
