/*
 * JSON for json.c and sarif.c, written directly to a stream, on one line, spaced as jansson does. A report can have
 * hundreds of megabytes: building values first took ten times as long.
 */
#ifndef LIB_REPORT_JSON_WRITER_H
#define LIB_REPORT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_writer {
	FILE *out;
	bool more;   /* the open object or array is not empty: a comma comes first */
	bool failed; /* the output is incomplete; the caller may set it, too. Failed writes show in the stream only */
};

/*
 * Each writes one value: the member `key` of the open object or, if key is NULL, an element of the array or the whole
 * value. Keys are written unescaped.
 */
void jw_object(struct json_writer *w, const char *key);
void jw_object_end(struct json_writer *w);
void jw_array(struct json_writer *w, const char *key);
void jw_array_end(struct json_writer *w);
/* Bytes that are not UTF-8 become U+FFFD. NULL becomes null. */
void jw_text(struct json_writer *w, const char *key, const char *s);
/* An empty text becomes null, too. */
void jw_text_or_null(struct json_writer *w, const char *key, const char *s);
void jw_integer(struct json_writer *w, const char *key, int64_t n);
/* A number above INT64_MAX becomes INT64_MAX. */
void jw_number(struct json_writer *w, const char *key, uint64_t n);
/* 0 becomes null. */
void jw_number_or_null(struct json_writer *w, const char *key, uint64_t n);
/* As text: "0x1f". */
void jw_hex(struct json_writer *w, const char *key, uint64_t n);
/* With four digits; 0, or from 0.0001 to 9999. */
void jw_real(struct json_writer *w, const char *key, double n);
void jw_bool(struct json_writer *w, const char *key, bool b);
void jw_null(struct json_writer *w, const char *key);
/* The caller then writes the value to the stream. */
void jw_value(struct json_writer *w, const char *key);

#endif
