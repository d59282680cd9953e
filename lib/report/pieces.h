/*
 * Pieces of a report that come again and again, made once. Reports are mostly stacks, and what a format writes of one
 * program counter's frames is always the same.
 */
#ifndef LIB_REPORT_PIECES_H
#define LIB_REPORT_PIECES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct pieces {
	struct piece *all; /* NULL: none yet */
};

typedef void pieces_make(FILE *out, uint64_t pc, const void *arg);

/* Writes the piece of a program counter to out; make is asked for it the first time. False: no memory. */
bool pieces_write(struct pieces *p, uint64_t pc, pieces_make *make, const void *arg, FILE *out);
void pieces_release(struct pieces *p);

#endif
