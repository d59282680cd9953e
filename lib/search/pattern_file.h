/* Users' patterns, read from text; the language is in docs/racetrace-patterns.5. */
#ifndef LIB_SEARCH_PATTERN_FILE_H
#define LIB_SEARCH_PATTERN_FILE_H

#include "lib/anomaly/pattern.h"

struct pattern_list {
	struct pattern *items; /* ends with a NULL name; the names are the list's */
	uint32_t count, capacity;
};

/* Adds the patterns of a file. Errors (RT_EUSAGE for malformed text) name the file, the line and the column. */
enum rt_status pattern_list_read(struct pattern_list *l, const char *path, struct rt_error *err);
/* The same for text in memory; `path` is for messages. */
enum rt_status pattern_list_parse(struct pattern_list *l, const char *text, size_t length, const char *path,
                                  struct rt_error *err);
void pattern_list_release(struct pattern_list *l);

#endif
