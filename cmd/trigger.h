/* The ends of a program for which `racetrace record --trigger` writes the trace. */
#ifndef CMD_TRIGGER_H
#define CMD_TRIGGER_H

#include "tracefmt/trace.h"

#include <stdbool.h>

struct trigger {
	enum { TRIGGER_NONE, TRIGGER_FAILURE, TRIGGER_EXIT, TRIGGER_SIGNAL } kind;
	int value; /* of EXIT and SIGNAL: the status or signal; -1: any that is not 0, or any signal */
};

/* "failure", "exit", "exit=3", "signal", "signal=SEGV". False: it is none of these. */
bool trigger_parse(const char *text, struct trigger *out);
/* True if the program's end is such a one; without a trigger each is. */
bool trigger_fires(const struct trigger *t, enum rt_exit_kind kind, int value);

#endif
