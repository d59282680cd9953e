/* Text from a trace is bytes that anybody may have written: this makes it fit for JSON and for a terminal. */
#ifndef LIB_REPORT_UTF8_H
#define LIB_REPORT_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { UTF8_REPLACEMENT = 0xfffd };

/* Decodes one character at s (not at its end); returns its length in bytes. What is not UTF-8 is one byte, U+FFFD. */
size_t utf8_decode(const char *s, uint32_t *character);
typedef void utf8_put(char c, FILE *out);
/* Puts the bytes of s, but U+FFFD for what is not UTF-8, and an escape such as \x1b for what could steer a terminal or
 * turn the direction of writing. A tab is a space. */
void utf8_print(const char *s, utf8_put *put, FILE *out);

#endif
