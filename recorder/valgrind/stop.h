/* Where a thread that takes turns is stopped, before what it accesses: see stop.c. */
#ifndef RECORDER_VALGRIND_STOP_H
#define RECORDER_VALGRIND_STOP_H

#include "recorder/valgrind/place.h"
#include "recorder/valgrind/ring.h"

/* The thread takes turns from now on. arguments: those of RT_WATCH_TURNS. */
void stop_begin(struct guest *g, const UWord *arguments);
/*
 * The statement before which the instruction, whose statements begin at i, can be stopped. It is executed again behind
 * a stop: so it is stopped before it has accessed anything, or changed a register. Negative: it accesses nothing, or
 * threads take no turns.
 */
Int stop_statement(const struct place *p, const IRSB *from, Int i, const VexGuestLayout *layout);
/* Before the statement at i, for each access of the instruction whose address is known by then. */
void add_stops(struct place *p, const IRSB *from, Int i, const VexGuestLayout *layout);

#endif
