/* racetrace: finds the subcommand and calls it. */
#include "cmd/base/command.h"
#include "cmd/base/defaults.h"
#include "cmd/base/library.h"
#include "cmd/base/messages.h"
#include "cmd/base/output.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
    /* In the order of use; each with its own --help. */
    {"run", cmd_run, "record, analyze and replay a program in one go"},
    {"explore", cmd_explore, "run a program many times, each time with another order of its threads"},
    {"record", cmd_record, "run a program and write its trace"},
    {"analyze", cmd_analyze, "report the concurrency bugs that a trace allows"},
    {"merge", cmd_merge, "make one report of the parts of a divided analysis"},
    {"schedule", cmd_schedule, "print or check the schedule of an anomaly"},
    {"replay", cmd_replay, "run the program with the schedules of anomalies"},
    {"guards", cmd_guards, "print which lock guards which variable"},
    {"diff", cmd_diff, "compare the findings of two reports"},
    {"suppress", cmd_suppress, "write suppressions of a report's findings"},
    {"info", cmd_info, "describe a trace"},
    {"dump", cmd_dump, "print the events of a trace"},
    {"convert", cmd_convert, "write a trace in another format"},
    {NULL, NULL, NULL},
};

static void help(FILE *to)
{
	fputs("Usage: racetrace COMMAND [OPTION...] [ARGUMENT...]\n\nCommands:\n", to);
	for (const struct command *c = commands; c->name; c++)
		fprintf(to, "  %-9s %s\n", c->name, c->summary);
	fputs("\nTo build a program with Clang (GCC needs only -fsanitize=thread):\n"
	      "  --cflags  print the compiler's flags\n"
	      "  --libs    print the linker's flags\n",
	      to);
	fputs("\n'racetrace help COMMAND' and 'racetrace COMMAND -h' describe a command; -V prints the version.\n", to);
}

int cmd_fail(const struct rt_error *err)
{
	if (!err->told)
		fprintf(stderr, "racetrace: %s\n", err->message);
	return err->status == RT_EUSAGE ? EXIT_USAGE : EXIT_INPUT;
}

void cmd_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *options)
{
	static char help[] = "--help";
	argp_err_exit_status = EXIT_USAGE;
	for (int i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "-h"))
			argv[i] = help;
	struct rt_error err = {0};
	if (defaults_add(argp, &argc, &argv, &err))
		exit(cmd_fail(&err));
	if (!argp_parse(argp, argc, argv, flags, NULL, options))
		return;
	fputs("racetrace: no memory to read the options\n", stderr);
	exit(EXIT_INPUT);
}

uint32_t cmd_number(struct argp_state *state, const char *what, const char *text, uint32_t min, uint32_t max)
{
	char *end;
	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	if (errno || *end || end == text || *text == '-' || n < min || n > max)
		argp_error(state, "%s must be a number from %" PRIu32 " to %" PRIu32 ", not '%s'", what, min, max,
		           text);
	return (uint32_t)n;
}

uint64_t cmd_size(const char *text)
{
	static const char units[] = "KMGT";
	char *end;
	errno = 0;
	uint64_t size = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	bool good = *text >= '0' && *text <= '9' && !errno && (unit ? !end[1] : !*end) && size <= UINT64_MAX >> shift;
	return good ? size << shift : 0;
}

unsigned cmd_word(struct argp_state *state, const char *what, const char *const *words, const char *given)
{
	char list[256] = "";
	for (unsigned i = 0; words[i]; i++) {
		if (!strcmp(words[i], given))
			return i;
		snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", words[i]);
	}
	argp_error(state, "'%s' is not %s: there are %s", given, what, list);
	exit(argp_err_exit_status);
}

int cmd_name(struct argp_state *state, const char *what, const char *name, size_t length, cmd_name_at *at)
{
	char list[256] = "";
	for (int i = 0; at(i); i++) {
		if (strlen(at(i)) == length && !memcmp(at(i), name, length))
			return i;
		snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", at(i));
	}
	argp_error(state, "'%.*s' is not %s: there are %s", (int)length, name, what, list);
	exit(argp_err_exit_status);
}

uint32_t cmd_names(struct argp_state *state, const char *what, const char *list, cmd_name_at *at)
{
	uint32_t set = 0;
	for (;;) {
		size_t length = strcspn(list, ",");
		set |= UINT32_C(1) << cmd_name(state, what, list, length, at);
		if (!list[length])
			return set;
		list += length + 1;
	}
}

uint32_t cmd_jobs(struct argp_state *state, const char *text)
{
	return cmd_number(state, "the number of jobs", text, 1, 1024);
}

uint64_t cmd_time_ms(struct argp_state *state, const char *what, const char *text, bool zero)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"min", 60000}, {"h", 3600000}};
	enum { UNITS = sizeof units / sizeof *units };
	const double longest = 1000000000; /* about twelve days */
	size_t digits = strspn(text, "0123456789.");
	char *end;
	double n = strtod(text, &end), ms = -1;
	for (size_t i = 0; i < UNITS && digits && end == text + digits; i++)
		if (!strcmp(end, units[i].unit))
			ms = n * units[i].ms;
	if (!(ms >= 1 || (zero && ms == 0)) || ms > longest) /* less than a millisecond is no time */
		argp_error(state, "%s must be a number of seconds, or of ms, s, m or h ('500ms', '2m')%s, not '%s'",
		           what, zero ? ", or 0" : "", text);
	return (uint64_t)ms;
}

uint32_t cmd_timeout_ms(struct argp_state *state, const char *text)
{
	return (uint32_t)cmd_time_ms(state, "the time of a run", text, false);
}

int cmd_parse_program(int key, struct argp_state *state, char ***command)
{
	char hint[128];
	switch (key) {
	case ARGP_KEY_ARGS:
		*command = state->argv + state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		snprintf(hint, sizeof hint, "'%s PROGRAM' runs one", state->name);
		cmd_need_argument(state, NULL, "program", hint);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void cmd_take_argument(struct argp_state *state, const char **path, const char *arg)
{
	if (*path)
		argp_error(state, "too many arguments: '%s'", arg);
	*path = arg;
}

void cmd_need_argument(struct argp_state *state, const char *path, const char *what, const char *hint)
{
	if (!path)
		argp_error(state, "no %s given: %s", what, hint);
}

static int run(const struct command *command, int argc, char **argv)
{
	char name[64];
	snprintf(name, sizeof name, "racetrace %s", command->name);
	argv[1] = name;
	/*
	 * A file size limit then makes write fail, and children can be waited for, though they were ignored before.
	 * A recorded program keeps its own handling of both signals.
	 */
	if (command->run != cmd_record) {
		signal(SIGXFSZ, SIG_IGN);
		signal(SIGCHLD, SIG_DFL);
	}
	return command->run(argc - 1, argv + 1);
}

/* Output that could not be written (a full disk) is an error; a reader that closed the pipe is not. */
static int flushed(int status)
{
	bool before = ferror(stdout) != 0;
	if (fflush(stdout) == 0 && !before)
		return status;
	if (before)
		errno = cmd_output_failure(STDOUT_FILENO);
	if (errno != EPIPE)
		fprintf(stderr, "racetrace: cannot write to standard output: %s\n", strerror(errno));
	return status > EXIT_FOUND ? status : EXIT_INPUT;
}

/* Number of characters to change, insert or leave out between two words, at most `most` + 1. */
static size_t distance(const char *a, const char *b, size_t most)
{
	if (!*a || !*b)
		return strlen(a) + strlen(b);
	if (*a == *b)
		return distance(a + 1, b + 1, most);
	if (!most)
		return 1;
	size_t change = distance(a + 1, b + 1, most - 1), insert = distance(a, b + 1, most - 1),
	       leave = distance(a + 1, b, most - 1);
	size_t least = change < insert ? change : insert;
	return 1 + (least < leave ? least : leave);
}

/* The command that a word was meant to be; NULL: none is near. */
static const struct command *nearest(const char *word)
{
	enum { NEAR = 2 };
	const struct command *best = NULL;
	size_t least = NEAR + 1;
	for (const struct command *c = commands; c->name; c++) {
		size_t d =
		    strlen(word) > 1 && !strncmp(c->name, word, strlen(word)) ? 0 : distance(word, c->name, NEAR);
		if (d < least && d < strlen(c->name)) {
			least = d;
			best = c;
		}
	}
	return best;
}

static const struct command *find(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(name, c->name))
			return c;
	return NULL;
}

static int unknown(const char *name)
{
	const struct command *meant = nearest(name);
	if (meant)
		fprintf(stderr, "racetrace: '%s' is not a command: did you mean '%s'\n", name, meant->name);
	else
		fprintf(stderr, "racetrace: '%s' is not a command: see 'racetrace --help'\n", name);
	return EXIT_USAGE;
}

/* `racetrace help COMMAND` is `racetrace COMMAND --help`. */
static int help_on(const char *name)
{
	static char option[] = "--help";
	const struct command *command = find(name);
	char *argv[] = {NULL, NULL, option, NULL};
	return command ? flushed(run(command, 3, argv)) : unknown(name);
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
	return !strcmp(word, a) || !strcmp(word, b);
}

int main(int argc, char **argv)
{
	messages_init();
	if (argc < 2) {
		help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "help") && argc > 2)
		return help_on(argv[2]);
	if (is_one_of(argv[1], "--help", "-h") || !strcmp(argv[1], "help")) {
		help(stdout);
		return flushed(EXIT_CLEAN);
	}
	if (is_one_of(argv[1], "--version", "-V")) {
		puts("racetrace " RT_VERSION);
		return flushed(EXIT_CLEAN);
	}
	if (!strcmp(argv[1], "--cflags"))
		return flushed(library_print_cflags());
	if (!strcmp(argv[1], "--libs"))
		return flushed(library_print_libs());
	const struct command *command = find(argv[1]);
	return command ? flushed(run(command, argc, argv)) : unknown(argv[1]);
}
