/* What the commands on traces have in common. */
#ifndef CMD_COMMON_H
#define CMD_COMMON_H

#include "tracefmt/trace.h"

#include <stdio.h>

/* What is printed of a name or a path from a trace: a terminal can be sent it, and longer ones end in "...". */
struct cmd_text {
	char text[512];
};
struct cmd_text cmd_text(const char *text);

/* Warns on standard error if the trace was cut short. To be called when it has been read. */
void cmd_warn_incomplete(const struct rt_trace *trace);

/* "file:line:column", the location's text, "function", or the pc in hexadecimal; as much as is known. */
struct cmd_text cmd_position(const struct rt_trace *trace, uint64_t pc);

/* "queue.size", "queue.size+4", a lock's name, or the address in hexadecimal. */
struct cmd_text cmd_address(const struct rt_trace *trace, uint64_t addr);

/* One event, one line: number, thread, place in it, operation, object, position; then the text `end`. */
void cmd_print_event(const struct rt_trace *trace, const struct rt_event *e, const char *end);

#endif
