/* Text from a trace is bytes that anybody may have written: this makes it fit for JSON and for a terminal. */
#ifndef LIB_REPORT_UTF8_H
#define LIB_REPORT_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum { UTF8_REPLACEMENT = 0xfffd };

/* Decodes one character at s (not at its end); returns its length in bytes. What is not UTF-8 is one byte, U+FFFD. */
size_t utf8_decode(const char *s, uint32_t *character);
/* A copy in which what is not UTF-8 is U+FFFD, and what could steer a terminal or turn the direction of writing is an
 * escape such as \x1b. A tab is a space. The caller frees it; NULL without memory. */
char *utf8_printable(const char *s);

#endif
