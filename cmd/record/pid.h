/* racetrace record --pid: records a process that was started idle, for a while. And starting one: record --idle. */
#ifndef CMD_RECORD_PID_H
#define CMD_RECORD_PID_H

#include "cmd/record/options.h"

/* Each returns the exit status; record_idle returns only if the program cannot be executed. */
int record_pid(const struct record_options *options);
int record_idle(const struct record_options *options);

#endif
