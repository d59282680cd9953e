/*
 * JSON for the formats that are made of it (json.c, sarif.c), written as it comes, on one line, spaced as jansson does.
 * A report can be hundreds of megabytes of it: to make values first and to write them then took ten times as long.
 */
#ifndef LIB_REPORT_JSON_WRITER_H
#define LIB_REPORT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_writer {
	FILE *out;
	bool more;   /* the object or array that is open has something in it: a comma comes first */
	bool failed; /* what was written is not whole; set by the caller, too. Failed writes show on the stream alone */
};

/*
 * Each writes one value: the member `key` of the object that is open or, where key is NULL, an element of the array or
 * the whole value. Keys are written as they are.
 */
void jw_object(struct json_writer *w, const char *key);
void jw_object_end(struct json_writer *w);
void jw_array(struct json_writer *w, const char *key);
void jw_array_end(struct json_writer *w);
/* What is not UTF-8 is U+FFFD. NULL is null. */
void jw_text(struct json_writer *w, const char *key, const char *s);
/* An empty text is null, too. */
void jw_text_or_null(struct json_writer *w, const char *key, const char *s);
void jw_integer(struct json_writer *w, const char *key, int64_t n);
/* Above INT64_MAX it is that. */
void jw_number(struct json_writer *w, const char *key, uint64_t n);
/* 0 is null. */
void jw_number_or_null(struct json_writer *w, const char *key, uint64_t n);
/* A text: 0x1f. */
void jw_hex(struct json_writer *w, const char *key, uint64_t n);
/* To four digits; 0, or from 0.0001 to 9999. */
void jw_real(struct json_writer *w, const char *key, double n);
void jw_bool(struct json_writer *w, const char *key, bool b);
void jw_null(struct json_writer *w, const char *key);
/* The value is what the caller writes to the stream next. */
void jw_value(struct json_writer *w, const char *key);

#endif
