/* Parsing JSON lines, internals: fields of an object (fields.c), the header (header.c), lines
 * (parse.c). */
#ifndef TRACEFMT_JSONL_PARSE_H
#define TRACEFMT_JSONL_PARSE_H

#include "lib/base/lines.h"
#include "tracefmt/jsonl/jsonl.h"

#include <inttypes.h>
#include <jansson.h>

struct jsonl_parser {
	struct jsonl *j;
	struct lines lines;
	struct rt_error *err;
	uint64_t declared_events; /* by the header; UINT64_MAX: not given */
	uint32_t declared_threads;
	bool declared_lost;
};

/* These set a message that names the line; the status is not RT_OK. Inline, so that static analyzers see that. */
static inline enum rt_status jsonl_place(struct jsonl_parser *p)
{
	rt_error_context(p->err, "'%s' line %" PRIu64, p->lines.path, p->lines.number);
	return RT_EINPUT;
}

static inline enum rt_status jsonl_no_memory(struct jsonl_parser *p)
{
	rt_error_set(p->err, RT_EMEMORY, "no memory for line %" PRIu64 " of '%s'", p->lines.number, p->lines.path);
	return RT_EMEMORY;
}

#define jsonl_fail(p, ...) (rt_error_set((p)->err, RT_EINPUT, __VA_ARGS__), jsonl_place(p))

/* Most characters of a text from the file in a message. */
struct jsonl_quoted {
	char text[80];
};
struct jsonl_quoted jsonl_quote(const char *text);

/* NULL and JSON's null are the same: missing. Borrowed. */
const json_t *jsonl_get(const json_t *object, const char *key);
/* "0x" and up to 16 hexadecimal digits. */
bool jsonl_hex(const char *text, uint64_t *out);
/* A number from 0 to max, or the same in hexadecimal as a string. *out is not changed if the key is missing. */
enum rt_status jsonl_number(struct jsonl_parser *p, const json_t *object, const char *key, uint64_t max, uint64_t *out);
/* The same for a line or column; 0 if the key is missing. */
enum rt_status jsonl_line(struct jsonl_parser *p, const json_t *object, const char *key, uint32_t *out);
/* A text, kept as long as the trace; NULL if the key is missing. */
enum rt_status jsonl_text(struct jsonl_parser *p, const json_t *object, const char *key, const char **out);

/* A thread by its name; added if it is new. */
enum rt_status jsonl_add_thread(struct jsonl_parser *p, const char *name, uint32_t *index);
/* A thread by name or by index; key is for the message. */
enum rt_status jsonl_thread(struct jsonl_parser *p, const json_t *value, const char *key, uint32_t *index);

/* The first line. */
enum rt_status jsonl_header(struct jsonl_parser *p, const json_t *header);

#endif
