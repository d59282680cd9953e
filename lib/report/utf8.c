/* Text from a trace in reports; see utf8.h. */
#include "lib/report/utf8.h"

#include "lib/base/text.h"

#include <stdio.h>
#include <string.h>

size_t utf8_decode(const char *s, uint32_t *character)
{
	size_t n = rt_text_character(s, strnlen(s, 4), character);
	if (n)
		return n;
	*character = UTF8_REPLACEMENT;
	return 1;
}

/* The longest replacement of a character, with its end: \U000e0001. */
enum { REPLACEMENT_MAX = 11 };

void utf8_print(const char *s, utf8_put *put, FILE *out)
{
	while (*s) {
		char replacement[REPLACEMENT_MAX];
		const char *put_this = replacement;
		uint32_t c;
		size_t n = utf8_decode(s, &c), length;
		if (c == '\t')
			strcpy(replacement, " ");
		else if (rt_text_steers(c))
			snprintf(replacement, sizeof replacement,
			         c < 0x100     ? "\\x%02x"
			         : c < 0x10000 ? "\\u%04x"
			                       : "\\U%08x",
			         c);
		else if (c == UTF8_REPLACEMENT)
			strcpy(replacement, "\xef\xbf\xbd");
		else
			put_this = s;
		length = put_this == s ? n : strlen(replacement);
		for (size_t i = 0; i < length; i++)
			put(put_this[i], out);
		s += n;
	}
}

static void put_byte(char c, FILE *out)
{
	putc(c, out);
}

void utf8_write(const char *s, FILE *out)
{
	utf8_print(s, put_byte, out);
}
