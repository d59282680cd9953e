/* Text from a trace in reports; see utf8.h. */
#include "lib/report/utf8.h"

#include "tracefmt/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t utf8_decode(const char *s, uint32_t *character)
{
	size_t n = rt_text_character(s, strnlen(s, 4), character);
	if (n)
		return n;
	*character = UTF8_REPLACEMENT;
	return 1;
}

char *utf8_printable(const char *s)
{
	char *out = malloc(strlen(s) * 10 + 1), *to = out; /* the longest replacement of a byte: \U000e0001 */
	if (!out)
		return NULL;
	while (*s) {
		uint32_t c;
		size_t n = utf8_decode(s, &c);
		if (c == '\t')
			*to++ = ' ';
		else if (rt_text_steers(c))
			to += sprintf(to, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
		else if (c == UTF8_REPLACEMENT)
			to = stpcpy(to, "\xef\xbf\xbd");
		else
			to = mempcpy(to, s, n);
		s += n;
	}
	*to = '\0';
	return out;
}
