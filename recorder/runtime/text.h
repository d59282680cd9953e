/* Text without the C library's functions, which the recorder interposes; for signal handlers and forked children. */
#ifndef RECORDER_RUNTIME_TEXT_H
#define RECORDER_RUNTIME_TEXT_H

#include <stddef.h>
#include <stdint.h>

size_t rt_length(const char *s);
/* Write what they are given, in decimal if it is a number, and a zero at its end; return where that is. */
char *rt_append_text(char *to, const char *text);
char *rt_append_number(char *to, uint64_t n);
/* The value in an environment's entry "NAME=value", or NULL. */
char *rt_value_of(char *entry, const char *name);

#endif
