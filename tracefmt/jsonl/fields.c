/* Fields of JSON objects, checked; see parse.h. */
#include "lib/base/text.h"
#include "tracefmt/jsonl/parse.h"

#include "lib/base/vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct jsonl_quoted jsonl_quote(const char *text)
{
	struct jsonl_quoted q;
	rt_text_escape(q.text, sizeof q.text, text, strlen(text));
	return q;
}

const json_t *jsonl_get(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	return json_is_null(value) ? NULL : value;
}

bool jsonl_hex(const char *text, uint64_t *out)
{
	size_t n = strlen(text);
	if (n < 3 || n > 18 || text[0] != '0' || text[1] != 'x' || strspn(text + 2, "0123456789abcdefABCDEF") != n - 2)
		return false;
	*out = strtoull(text + 2, NULL, 16);
	return true;
}

/* A number from 0 to max, or the same in hexadecimal as a string. *out is not changed if the key is missing. */
enum rt_status jsonl_number(struct jsonl_parser *p, const json_t *object, const char *key, uint64_t max, uint64_t *out)
{
	const json_t *value = jsonl_get(object, key);
	uint64_t number;
	if (!value)
		return RT_OK;
	if (json_is_integer(value) && json_integer_value(value) >= 0)
		number = (uint64_t)json_integer_value(value);
	else if (!json_is_string(value) || !jsonl_hex(json_string_value(value), &number))
		return jsonl_fail(p, "'%s' is not a number (12 or \"0xc\")", key);
	if (number > max)
		return jsonl_fail(p, "'%s' is larger than %" PRIu64, key, max);
	*out = number;
	return RT_OK;
}

enum rt_status jsonl_line(struct jsonl_parser *p, const json_t *object, const char *key, uint32_t *out)
{
	uint64_t number = 0;
	enum rt_status status = jsonl_number(p, object, key, UINT32_MAX, &number);
	*out = (uint32_t)number;
	return status;
}

enum rt_status jsonl_text(struct jsonl_parser *p, const json_t *object, const char *key, const char **out)
{
	const json_t *value = jsonl_get(object, key);
	uint32_t index;
	*out = NULL;
	if (!value)
		return RT_OK;
	if (!json_is_string(value))
		return jsonl_fail(p, "'%s' is not a string", key);
	if (!names_intern(&p->j->strings, json_string_value(value), json_string_length(value), &index))
		return jsonl_no_memory(p);
	*out = names_text(&p->j->strings, index);
	return RT_OK;
}

enum rt_status jsonl_add_thread(struct jsonl_parser *p, const char *name, uint32_t *index)
{
	struct jsonl *j = p->j;
	if (!names_intern(&j->thread_names, name, strlen(name), index))
		return jsonl_no_memory(p);
	uint32_t count = j->trace.info.thread_count;
	if (*index < count)
		return RT_OK;
	uint32_t room = j->thread_room;
	if (!vec_reserve(&j->threads, &room, (uint64_t)count + 1, sizeof *j->threads) ||
	    !vec_reserve(&j->at, &j->thread_room, (uint64_t)count + 1, sizeof *j->at))
		return jsonl_no_memory(p);
	j->threads[count] = (struct rt_thread){.name = names_text(&j->thread_names, *index), .parent = count};
	j->at[count] = (struct jsonl_thread_at){0};
	j->trace.info.thread_count++;
	return RT_OK;
}

enum rt_status jsonl_thread(struct jsonl_parser *p, const json_t *value, const char *key, uint32_t *index)
{
	if (json_is_string(value))
		return jsonl_add_thread(p, json_string_value(value), index);
	if (!json_is_integer(value))
		return jsonl_fail(p, "'%s' is neither a thread's name nor its index", key);
	json_int_t number = json_integer_value(value);
	if (number < 0 || number >= p->j->trace.info.thread_count)
		return jsonl_fail(p, "thread %" JSON_INTEGER_FORMAT " is not in the header", number);
	*index = (uint32_t)number;
	return RT_OK;
}
