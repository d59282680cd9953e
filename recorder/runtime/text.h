/* Text without the C library's functions, which the recorder interposes; for signal handlers and forked children. */
#ifndef RECORDER_RUNTIME_TEXT_H
#define RECORDER_RUNTIME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t rt_length(const char *s);
bool rt_same(const char *a, const char *b);
/* What is behind the last slash of a path. */
const char *rt_file_name(const char *path);
/* Write what they are given, in decimal if it is a number, and a zero at its end; return where that is. */
char *rt_append_text(char *to, const char *text);
char *rt_append_number(char *to, uint64_t n);
/* The value in an environment's entry "NAME=value", or NULL. */
char *rt_value_of(char *entry, const char *name);
/* Contents of a file of /proc, as far as they fit, with a zero behind. False: it cannot be read, or is empty. */
bool rt_read_file(const char *name, char *to, size_t size);
/*
 * Calls `each` with the names in a folder, but for those that begin with a dot, until it is false. True if it was true
 * of all; false also if the folder cannot be read.
 */
bool rt_each_entry(const char *folder, bool (*each)(const char *name, const void *with), const void *with);
/* The first entry of that name in an environment, or NULL. */
char **rt_entry_of(char *const *environment, const char *name);

#endif
