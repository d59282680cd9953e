/* When `racetrace record --trigger` writes the trace: for some ends of the program, or for what an analysis finds. */
#ifndef CMD_RECORD_TRIGGER_H
#define CMD_RECORD_TRIGGER_H

#include "tracefmt/trace.h"

#include <stdbool.h>

struct trigger {
	enum { TRIGGER_NONE, TRIGGER_FAILURE, TRIGGER_EXIT, TRIGGER_SIGNAL, TRIGGER_FINDING } kind;
	int value; /* of EXIT and SIGNAL: the status or signal; -1: any that is not 0, or any signal. Of FINDING the
	              level */
};

/* "failure", "exit", "exit=3", "signal", "signal=SEGV", "finding", "finding=warning". False: it is none of these. */
bool trigger_parse(const char *text, struct trigger *out);
/* True if the program's end is such a one; without a trigger, and with that of a finding, each is. */
bool trigger_fires(const struct trigger *t, enum rt_exit_kind kind, int value);

/*
 * With the trigger of a finding: has the traces analyzed as one report, by `racetrace analyze`. If there is no finding
 * of the level or above they are removed, which a message says. True if they are kept, as where that cannot be decided.
 */
bool trigger_keeps(const struct trigger *t, char *const *traces, size_t n);

#endif
