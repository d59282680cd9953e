/*
 * Lines of the recorded program's source, as far as this machine has it. File names come from traces of any source: a
 * file is opened only if it has not changed since the recording, by the digest in the trace, or if it is below a folder
 * that the user named.
 */
#ifndef LIB_TRACE_SNIPPET_H
#define LIB_TRACE_SNIPPET_H

#include "tracefmt/trace.h"

/* The files read so far, so that a line of a long file is not searched for from its start. */
struct snippets {
	const struct rt_trace *trace; /* borrowed; NULL: none */
	const char *root;             /* --source-root, an absolute path without links; NULL: none. Borrowed */
	struct snippet_file *files;   /* NULL: none yet */
	bool no_memory;               /* lines are missing for lack of memory */
};

/*
 * Line `line` (from 1) of file, without its end and its leading blanks, cut to the width of a screen. The caller frees
 * it; NULL if it cannot or may not be read.
 */
char *snippet(struct snippets *s, const char *file, uint32_t line);
/* The same; of a line that is too long, the part around a column (from 1; 0: its beginning). */
char *snippet_around(struct snippets *s, const char *file, uint32_t line, uint32_t column);
/* The same with its leading blanks. */
char *snippet_indented(struct snippets *s, const char *file, uint32_t line);
/* The same with its leading blanks and of any length, so that columns are right. */
char *snippet_whole(struct snippets *s, const char *file, uint32_t line);
void snippets_release(struct snippets *s);

#endif
