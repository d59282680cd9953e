/* The processes that this one has made, and those that they have made. */
#ifndef CMD_TRY_DESCENDANTS_H
#define CMD_TRY_DESCENDANTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What /proc says of a process. */
struct process_state {
	char state; /* 'T': stopped, 'Z': dead */
	pid_t parent;
	uint64_t ticks; /* of processor time */
};
/* By /proc/PID/stat. False: it is gone. */
bool process_look(const char *pid, struct process_state *to);

/* Kills all but one (0: all), by their numbers. One that has lost its parent is only among them if this process is a
 * subreaper. */
void descendants_kill(pid_t but);
/* Processor time of all but one, in ticks. It does not grow while all of them sleep. */
uint64_t descendants_ticks(pid_t but);

#endif
