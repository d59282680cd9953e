/*
 * Repeated pieces of a report, made once. Reports are mostly stacks, and a format writes the frames of a program
 * counter always the same.
 */
#ifndef LIB_REPORT_PIECES_H
#define LIB_REPORT_PIECES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct pieces {
	struct piece *all; /* NULL: not made yet */
};

typedef void pieces_make(FILE *out, uint64_t pc, const void *arg);

/* Writes the piece of a program counter to out; calls make the first time. False without memory. */
bool pieces_write(struct pieces *p, uint64_t pc, pieces_make *make, const void *arg, FILE *out);
/* Frees them; others can be made then. */
void pieces_release(struct pieces *p);

#endif
