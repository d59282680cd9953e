/* Text from a trace may hold any bytes: this escapes it for JSON and for a terminal. */
#ifndef LIB_REPORT_UTF8_H
#define LIB_REPORT_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { UTF8_REPLACEMENT = 0xfffd };

/* Decodes one character at s (not at its end); returns its length in bytes. A byte that is not UTF-8 becomes U+FFFD. */
size_t utf8_decode(const char *s, uint32_t *character);
typedef void utf8_put(char c, FILE *out);
/* Puts the bytes of s. What is not UTF-8 becomes U+FFFD; characters that could steer a terminal or turn the writing
 * direction become an escape such as \x1b; a tab becomes a space. */
void utf8_print(const char *s, utf8_put *put, FILE *out);
/* The same, as they are. */
void utf8_write(const char *s, FILE *out);

#endif
