/* Subcommands: a file or a folder each, and a line of commands[] (main.c), which drives dispatch, help, completion. */
#ifndef CMD_BASE_COMMAND_H
#define CMD_BASE_COMMAND_H

#include "lib/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Exit statuses of the tool itself. EXIT_INCOMPLETE: nothing was found, but the trace is incomplete. */
enum { EXIT_CLEAN = 0, EXIT_FOUND = 1, EXIT_USAGE = 2, EXIT_INPUT = 3, EXIT_INCOMPLETE = 4 };

/* Each gets argv with argv[0] = "racetrace NAME" and returns an exit status. */
int cmd_record(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_explore(int argc, char **argv);
int cmd_analyze(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_schedule(int argc, char **argv);
int cmd_guards(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_suppress(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_convert(int argc, char **argv);

/* Prints "racetrace: MESSAGE" to standard error, unless that was printed before. Returns the exit status that belongs
 * to the error. */
int cmd_fail(const struct rt_error *err);

struct argp;
struct argp_state;
/* Reads the options. A wrong one ends the program with a message and EXIT_USAGE; so do those below with a
 * state. */
void cmd_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *options);
/* The number that an option's argument holds, min to max. what: "the number of threads", for the message. */
uint32_t cmd_number(struct argp_state *state, const char *what, const char *text, uint32_t min, uint32_t max);
/* Number of bytes that an option's argument says: "512M", with K, M, G or T. 0: it is not a size. */
uint64_t cmd_size(const char *text);
/* Milliseconds that an option's argument says: "20" and "0.5" are seconds, "500ms" and "2m" have a unit. At most about
 * twelve days. zero: 0 is allowed, else 1 is the least. */
uint64_t cmd_time_ms(struct argp_state *state, const char *what, const char *text, bool zero);
/* Index of the word in a list that ends with NULL. what: "a strategy", for the message, which lists the words:
 * docs/racetrace.bash reads it. */
unsigned cmd_word(struct argp_state *state, const char *what, const char *const *words, const char *given);
typedef const char *cmd_name_at(int i); /* NULL behind the last one */
/* The same of names that are no list: the index of the one of that length. */
int cmd_name(struct argp_state *state, const char *what, const char *name, size_t length, cmd_name_at *at);
/* A comma-separated list of such names as a set of bits, by index; never empty. */
uint32_t cmd_names(struct argp_state *state, const char *what, const char *list, cmd_name_at *at);
/* What the options --jobs and --timeout (in milliseconds) say, of each command that has them. */
uint32_t cmd_jobs(struct argp_state *state, const char *text);
uint32_t cmd_timeout_ms(struct argp_state *state, const char *text);
/* Of a command whose arguments are a program's command line: what is not an option of its own, in its parser. */
int cmd_parse_program(int key, struct argp_state *state, char ***command);
/* Sets *path to the command's one argument. */
void cmd_take_argument(struct argp_state *state, const char **path, const char *arg);
/* Requires that *path was given. what: "trace"; hint: what to give. */
void cmd_need_argument(struct argp_state *state, const char *path, const char *what, const char *hint);

#endif
