/* Text from a trace is untrusted: this escapes it for a terminal, an error message or a text format. */
#ifndef LIB_BASE_TEXT_H
#define LIB_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Length in bytes of the well-formed UTF-8 character that text[0..length) begins with, and the character in *c (which
 * may be NULL); 0 if it begins with none.
 */
size_t rt_text_character(const char *text, size_t length, uint32_t *c);

/* True if a terminal or a page acts on the character: control characters of both sets, line separators, characters that
 * change or hide the writing direction. */
bool rt_text_steers(uint32_t c);

/*
 * Writes text[0..length) to out (size bytes, NUL-terminated, size > 0); characters that steer and bytes that are not
 * UTF-8 become \xNN. A text that does not fit ends in "...". Returns out.
 */
char *rt_text_escape(char *out, size_t size, const char *text, size_t length);

/* True if text[0..length) ends in the suffix, with something before it. */
bool rt_text_ends_in(const char *text, size_t length, const char *suffix);

#endif
