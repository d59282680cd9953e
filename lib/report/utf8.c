/* UTF-8 for reports; see utf8.h. Well-formed as in the Unicode standard, table 3-7: no surrogates, no long forms. */
#include "lib/report/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t utf8_decode(const char *s, uint32_t *character)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *u = (const unsigned char *)s;
	size_t n = u[0] < 0x80 ? 1 : u[0] >> 5 == 6 ? 2 : u[0] >> 4 == 14 ? 3 : u[0] >> 3 == 30 ? 4 : 0;
	*character = UTF8_REPLACEMENT;
	if (n == 0)
		return 1;
	uint32_t c = n == 1 ? u[0] : u[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (u[i] >> 6 != 2)
			return 1;
		c = c << 6 | (u[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 1;
	*character = c;
	return n;
}

/* Control characters of both sets, line separators, and what turns or hides the direction of writing. */
static bool steers(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	       (c >= 0xe0000 && c <= 0xe007f);
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
		else if (steers(c))
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
