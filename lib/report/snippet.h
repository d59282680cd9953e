/* Lines of the recorded program's source, as far as this machine has it. */
#ifndef LIB_REPORT_SNIPPET_H
#define LIB_REPORT_SNIPPET_H

#include <stdint.h>

/* What is known of the files looked into, so that a line of a long file is not searched for from its start. */
struct snippets {
	struct snippet_file *files; /* NULL: none yet */
};

/*
 * Line `line` (from 1) of file, without its end and without the blanks that it begins with, cut to a length that fits a
 * screen. The caller frees it; NULL if it cannot be read. The name comes from a trace: only regular files are opened.
 */
char *snippet(struct snippets *s, const char *file, uint32_t line);
void snippets_release(struct snippets *s);

#endif
