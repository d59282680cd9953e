/* What the commands on traces have in common. */
#ifndef CMD_BASE_COMMON_H
#define CMD_BASE_COMMON_H

#include "tracefmt/trace.h"

#include <argp.h>
#include <stdio.h>

/* What to give where a trace is missing; see cmd_need_argument. */
#define CMD_TRACE_HINT "'racetrace record PROGRAM' writes trace.zst"

/* The options that say how a trace is read; its input is a struct rt_trace_options. */
extern const struct argp cmd_trace_argp;

/*
 * Of a command whose only argument is a trace: what is not an option of its own, in its parser; and the parser's
 * children.
 */
error_t cmd_parse_input(int key, char *arg, struct argp_state *state, const char **path,
                        struct rt_trace_options *options);
extern const struct argp_child cmd_input_children[];

/* Opens a trace, prints its warnings to standard error. */
enum rt_status cmd_open_trace(const char *path, const struct rt_trace_options *options, struct rt_trace **out,
                              struct rt_error *err);
/* The same of a file of that path that is open for reading, and stays open. */
enum rt_status cmd_open_trace_of(FILE *file, const char *path, const struct rt_trace_options *options,
                                 struct rt_trace **out, struct rt_error *err);
/* Opens a trace; prints nothing. */
enum rt_status cmd_open_quietly(const char *path, const struct rt_trace_options *options, struct rt_trace **out,
                                struct rt_error *err);
/* Prints the warnings of a trace that was opened otherwise. */
void cmd_warn(const struct rt_trace *trace);

/* A name or a path from a trace, escaped for a terminal; a longer one ends in "...". */
struct cmd_text {
	char text[512];
};
struct cmd_text cmd_text(const char *text);

/* Warns on standard error if the trace was cut short. To be called after it was read. */
void cmd_warn_incomplete(const struct rt_trace *trace);

/* "file:line:column", the location's text, "function", or the pc in hexadecimal; as much as is known. */
struct cmd_text cmd_position(const struct rt_trace *trace, uint64_t pc);

/* "queue.size", "queue.size+4", a lock's name, or the address in hexadecimal. */
struct cmd_text cmd_address(const struct rt_trace *trace, uint64_t addr);

/* One event, one line: number, thread, place in it, operation, object, position; then the text `end`. */
void cmd_print_event(const struct rt_trace *trace, const struct rt_event *e, const char *end);

/* True if the file begins as JSON does, and not as a trace in JSON lines. The file is read from its beginning again. */
bool cmd_holds_script(FILE *file);

struct report_format;
/* The report's format of that name; an unknown one ends the program with a message that lists the names. */
const struct report_format *cmd_report_format(const struct argp_state *state, const char *name);

#endif
