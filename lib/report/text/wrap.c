/* Lines broken at a terminal's width; see wrap.h. */
#include "lib/report/text/wrap.h"

#include "lib/report/utf8.h"

#include <string.h>
#include <sys/types.h>

enum { FURTHER = 3, HEADLINE = 5, LEAST = 20 }; /* indent of what continues a line, or a headline; least columns */

/* Length of the sequence that sets a style here; 0: none begins. */
static size_t style_at(const char *at, size_t length)
{
	const char *end = length > 2 && at[0] == '\033' ? memchr(at, 'm', length) : NULL;
	return end ? (size_t)(end - at) + 1 : 0;
}

/* Bytes of the text that fit into the columns, up to a blank; all where it has none. */
static size_t fitting(const char *text, size_t length, uint32_t columns)
{
	size_t blank = 0, next = 0;
	uint32_t used = 0;
	for (size_t i = 0; i < length; i = next) {
		uint32_t character;
		size_t style = style_at(text + i, length - i);
		next = i + (style ? style : utf8_decode(text + i, &character));
		if (text[i] == ' ' && i && text[i - 1] != ' ' && (used <= columns || !blank))
			blank = i;
		used += !style;
		if (used > columns && blank)
			return blank;
	}
	return length;
}

static void put_line(const struct wrap *w)
{
	const char *rest = (const char *)w->line.data;
	size_t length = w->line.len, lead = 0;
	while (lead < length && rest[lead] == ' ')
		lead++;
	uint32_t indent = lead ? (uint32_t)lead + FURTHER : HEADLINE, columns = w->width;
	bool breaks = !w->whole && w->width >= indent + LEAST;
	while (length) {
		size_t n = breaks ? lead + fitting(rest + lead, length - lead, columns - (uint32_t)lead) : length;
		fwrite(rest, 1, n, w->to);
		for (; n < length && rest[n] == ' '; n++)
			;
		rest += n;
		length -= n;
		lead = 0;
		columns = w->width - indent;
		if (length)
			fprintf(w->to, "\n%*s", (int)indent, "");
	}
}

static ssize_t add(void *wrap, const char *data, size_t size)
{
	struct wrap *w = wrap;
	for (size_t i = 0; i < size; i++) {
		if (data[i] != '\n') {
			rt_bytes_add(&w->line, data + i, 1);
			continue;
		}
		put_line(w);
		putc('\n', w->to);
		w->line.len = 0;
	}
	return w->line.failed || ferror(w->to) ? 0 : (ssize_t)size;
}

static int finish(void *wrap)
{
	struct wrap *w = wrap;
	put_line(w);
	bool failed = w->line.failed;
	rt_bytes_release(&w->line);
	return failed ? -1 : 0;
}

FILE *wrap_open(struct wrap *w)
{
	FILE *file = fopencookie(w, "w", (cookie_io_functions_t){.write = add, .close = finish});
	if (file)
		setvbuf(file, NULL, _IONBF, 0); /* `whole` is that of the line at hand */
	return file;
}
