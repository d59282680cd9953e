/*
 * The programs here do one kind of synchronisation each, in every way there is. They name their objects on standard
 * output, and comments say what is to be recorded of the named objects, thread by thread:
 *
 *   // expect THREAD: OP OBJECT[=ARG][+FLAG...], ...
 *
 * Several such lines of one thread are read as one. "// options: OPTIONS" are the compiler's. Checked by
 * tests/cli/t_sync.sh.
 */
#ifndef TESTS_RECORDER_NAMED_H
#define TESTS_RECORDER_NAMED_H

#include <stdio.h>
#include <unistd.h>

/* A fatal check that does not depend on NDEBUG. */
#define MUST(condition)                                                                                                \
	((condition) ? (void)0                                                                                         \
	             : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), fflush(stderr), _exit(9)))

#define NAME_AT(pointer, name) printf("%#lx %s\n", (unsigned long)(pointer), name)
#define NAME(object) NAME_AT(&(object), #object)

#endif
