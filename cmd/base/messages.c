/* Standard error; see messages.h. */
#include "cmd/base/messages.h"

#include "lib/base/text.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Writes as much as can be written. A failure cannot be reported anywhere. */
static void put(const char *text, size_t n)
{
	while (n) {
		ssize_t k = write(STDERR_FILENO, text, n);
		if (k <= 0)
			return;
		text += k;
		n -= (size_t)k;
	}
}

/* Puts text in place of the terminal's last line. */
static void put_line(const char *text)
{
	static const char begin[] = "\r", end[] = "\033[K";
	put(begin, sizeof begin - 1);
	put(text, strlen(text));
	put(end, sizeof end - 1);
}

static atomic_bool line_shown; /* progress, on the terminal's last line */

static ssize_t write_escaped(void *cookie, const char *text, size_t size)
{
	(void)cookie;
	if (atomic_exchange(&line_shown, false))
		put_line("");
	size_t plain = 0; /* bytes before text[i] that need no escape and are not written yet */
	for (size_t i = 0; i < size;) {
		uint32_t c;
		size_t n = rt_text_character(text + i, size - i, &c);
		if (n && (c == '\n' || c == '\t' || !rt_text_steers(c))) {
			i += n;
			plain += n;
			continue;
		}
		put(text + i - plain, plain);
		plain = 0;
		for (size_t end = i + (n ? n : 1); i < end; i++) {
			char escape[8];
			put(escape, (size_t)snprintf(escape, sizeof escape, "\\x%02x", (unsigned char)text[i]));
		}
	}
	put(text + size - plain, plain);
	return (ssize_t)size;
}

void messages_init(void)
{
	FILE *escaped = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_escaped});
	if (!escaped)
		return;
	setvbuf(escaped, NULL, _IOLBF, BUFSIZ);
	stderr = escaped;
}

void messages_progress(const char *text)
{
	fflush(stderr);
	put_line(text ? text : "");
	atomic_store(&line_shown, text != NULL);
}
