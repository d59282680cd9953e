/* Untrusted text; see text.h. UTF-8 is RFC 3629's: shortest forms only, no surrogates, up to U+10FFFF. */
#include "lib/base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

size_t rt_text_character(const char *text, size_t length, uint32_t *c)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *s = (const unsigned char *)text;
	if (length == 0)
		return 0;
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
	if (n == 0 || n > length)
		return 0;
	uint32_t value = n == 1 ? s[0] : s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (s[i] & 0x3f);
	}
	if (value < least[n] || (value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff)
		return 0;
	if (c)
		*c = value;
	return n;
}

bool rt_text_steers(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	       (c >= 0xe0000 && c <= 0xe007f);
}

char *rt_text_escape(char *out, size_t size, const char *text, size_t length)
{
	static const char more[] = "...";
	size_t at = 0, fits = 0; /* fits: where `more` can still be appended */
	for (size_t i = 0; i < length;) {
		uint32_t c;
		size_t n = rt_text_character(text + i, length - i, &c);
		bool plain = n && !rt_text_steers(c);
		size_t take = n ? n : 1, need = plain ? n : 4 * take;
		if (at + need >= size) {
			snprintf(out + fits, size - fits, "%s", more);
			return out;
		}
		for (size_t k = 0; k < take; k++, i++) {
			if (plain)
				out[at++] = text[i];
			else
				at += (size_t)snprintf(out + at, size - at, "\\x%02x", (unsigned char)text[i]);
		}
		if (at + sizeof more <= size)
			fits = at;
	}
	out[at] = '\0';
	return out;
}

bool rt_text_ends_in(const char *text, size_t length, const char *suffix)
{
	size_t n = strlen(suffix);
	return length > n && !memcmp(text + length - n, suffix, n);
}
