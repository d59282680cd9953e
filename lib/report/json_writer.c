/* Streaming JSON; see json_writer.h. One thread writes a report: stdio's locks would cost more than all the rest. */
#include "lib/report/json_writer.h"

#include "lib/base/text.h"
#include "lib/report/utf8.h"

#include <inttypes.h>
#include <string.h>

static void put(struct json_writer *w, const char *text)
{
	fputs_unlocked(text, w->out);
}

void jw_value(struct json_writer *w, const char *key)
{
	if (w->more)
		put(w, ", ");
	w->more = true;
	if (!key)
		return;
	putc_unlocked('"', w->out);
	put(w, key);
	put(w, "\": ");
}

static void open_container(struct json_writer *w, const char *key, char bracket)
{
	jw_value(w, key);
	putc_unlocked(bracket, w->out);
	w->more = false;
}

static void close_container(struct json_writer *w, char bracket)
{
	putc_unlocked(bracket, w->out);
	w->more = true;
}

void jw_object(struct json_writer *w, const char *key)
{
	open_container(w, key, '{');
}

void jw_object_end(struct json_writer *w)
{
	close_container(w, '}');
}

void jw_array(struct json_writer *w, const char *key)
{
	open_container(w, key, '[');
}

void jw_array_end(struct json_writer *w)
{
	close_container(w, ']');
}

/* Number of bytes of characters that need no escape. */
static size_t plain_length(const char *s)
{
	size_t n = 0;
	while ((unsigned char)s[n] >= 0x20 && (unsigned char)s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

/* Writes the one character at s, which needs an escape; returns its length. */
static size_t put_special(struct json_writer *w, const char *s)
{
	static const char letters[][2] = {{'"', '"'},  {'\\', '\\'}, {'\b', 'b'}, {'\f', 'f'},
	                                  {'\n', 'n'}, {'\r', 'r'},  {'\t', 't'}};
	uint32_t c;
	if ((unsigned char)*s >= 0x7f) {
		size_t n = utf8_decode(s, &c);
		if (c == UTF8_REPLACEMENT)
			put(w, "\xef\xbf\xbd");
		else if (rt_text_steers(c) && c > 0xffff)
			fprintf(w->out, "\\u%04X\\u%04X", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
		else if (rt_text_steers(c))
			fprintf(w->out, "\\u%04X", c);
		else
			fwrite_unlocked(s, 1, n, w->out);
		return n;
	}
	for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
		if (*s == letters[i][0]) {
			putc_unlocked('\\', w->out);
			putc_unlocked(letters[i][1], w->out);
			return 1;
		}
	fprintf(w->out, "\\u%04X", (unsigned char)*s);
	return 1;
}

void jw_text(struct json_writer *w, const char *key, const char *s)
{
	if (!s) {
		jw_null(w, key);
		return;
	}
	jw_value(w, key);
	putc_unlocked('"', w->out);
	while (*s) {
		size_t n = plain_length(s);
		fwrite_unlocked(s, 1, n, w->out);
		s += n ? n : put_special(w, s);
	}
	putc_unlocked('"', w->out);
}

void jw_text_or_null(struct json_writer *w, const char *key, const char *s)
{
	jw_text(w, key, s && *s ? s : NULL);
}

void jw_integer(struct json_writer *w, const char *key, int64_t n)
{
	jw_value(w, key);
	fprintf(w->out, "%" PRId64, n);
}

void jw_number(struct json_writer *w, const char *key, uint64_t n)
{
	jw_integer(w, key, n > INT64_MAX ? INT64_MAX : (int64_t)n);
}

void jw_number_or_null(struct json_writer *w, const char *key, uint64_t n)
{
	if (n)
		jw_number(w, key, n);
	else
		jw_null(w, key);
}

void jw_hex(struct json_writer *w, const char *key, uint64_t n)
{
	jw_value(w, key);
	fprintf(w->out, "\"0x%" PRIx64 "\"", n);
}

void jw_real(struct json_writer *w, const char *key, double n)
{
	char digits[32];
	snprintf(digits, sizeof digits, "%.4g", n);
	char *comma = strchr(digits, ','); /* independent of the locale */
	if (comma)
		*comma = '.';
	jw_value(w, key);
	put(w, digits);
	if (!strpbrk(digits, ".e"))
		put(w, ".0");
}

void jw_bool(struct json_writer *w, const char *key, bool b)
{
	jw_value(w, key);
	put(w, b ? "true" : "false");
}

void jw_null(struct json_writer *w, const char *key)
{
	jw_value(w, key);
	put(w, "null");
}
