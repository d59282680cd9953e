/*
 * JSON values for the formats that are made of them (json.c, sarif.c), and writing them one at a time.
 */
#ifndef LIB_REPORT_JSON_VALUE_H
#define LIB_REPORT_JSON_VALUE_H

#include "lib/report/utf8.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Every helper gives a new reference, which a NULL (no memory) turns into a failed write: json_pack-like calls take it.
 */

static inline json_t *text(const char *s)
{
	if (!s)
		return json_null();
	char *clean = utf8_clean(s);
	json_t *result = clean ? json_string(clean) : NULL;
	free(clean);
	return result;
}

static inline json_t *text_or_null(const char *s)
{
	return text(s && *s ? s : NULL);
}

static inline json_t *number(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static inline json_t *number_or_null(uint64_t n)
{
	return n ? number(n) : json_null();
}

static inline json_t *hex(uint64_t n)
{
	char digits[24];
	snprintf(digits, sizeof digits, "0x%" PRIx64, n);
	return json_string(digits);
}

/* Sets a member; a failure empties *object, which the writer notices. */
static inline void set(json_t **object, const char *key, json_t *value)
{
	if (*object && (!value || json_object_set_new(*object, key, value) == 0) && value)
		return;
	json_decref(*object);
	*object = NULL;
}

static inline void push(json_t **array, json_t *value)
{
	if (*array && value && json_array_append_new(*array, value) == 0)
		return;
	json_decref(*array);
	*array = NULL;
}

/* jansson writes a few bytes at a time: stdio's lock would cost more than the rest. */
static inline int dump_part(const char *part, size_t n, void *out)
{
	return fwrite_unlocked(part, 1, n, out) == n ? 0 : -1;
}

/* Writes "key": value (or the value alone) and drops the reference. A failed write shows on the stream. */
static inline bool member(FILE *out, const char *key, json_t *value, const char *end)
{
	if (!value)
		return false;
	if (key)
		fprintf(out, "\"%s\": ", key);
	bool written =
	    json_dump_callback(value, dump_part, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(4)) == 0 || ferror(out);
	json_decref(value);
	fputs(end, out);
	return written;
}

#endif
