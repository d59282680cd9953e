/* racetrace: finds the subcommand and calls it. */
#include "cmd/command.h"
#include "cmd/library.h"
#include "cmd/messages.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
    /* In the order of use; each with its own --help. */
    {"record", cmd_record, "run a program and write its trace"},
    {"analyze", cmd_analyze, "what could have gone wrong in a recorded run"},
    {"schedule", cmd_schedule, "the run that shows an anomaly; or judge one"},
    {"info", cmd_info, "what is in a trace"},
    {"dump", cmd_dump, "the events of a trace, as text or JSON lines"},
    {"convert", cmd_convert, "a trace in another format"},
    {NULL, NULL, NULL},
};

static void help(FILE *to)
{
	fputs("Usage: racetrace COMMAND [OPTION...] [ARGUMENT...]\n\nCommands:\n", to);
	for (const struct command *c = commands; c->name; c++)
		fprintf(to, "  %-9s %s\n", c->name, c->summary);
	fputs("\nFor programs that Clang builds (GCC's need nothing):\n"
	      "  --cflags  what to compile with\n"
	      "  --libs    what to link with\n",
	      to);
	fputs("\n'racetrace COMMAND --help' tells more of each.\n", to);
}

int cmd_fail(const struct rt_error *err)
{
	if (!err->told)
		fprintf(stderr, "racetrace: %s\n", err->message);
	return err->status == RT_EUSAGE ? EXIT_USAGE : EXIT_INPUT;
}

void cmd_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *options)
{
	argp_err_exit_status = EXIT_USAGE;
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

static int run(const struct command *command, int argc, char **argv)
{
	char name[64];
	snprintf(name, sizeof name, "racetrace %s", command->name);
	argv[1] = name;
	/* A file that may not grow is an error of write. What is recorded keeps its own way. */
	if (command->run != cmd_record)
		signal(SIGXFSZ, SIG_IGN);
	return command->run(argc - 1, argv + 1);
}

/* What was printed must have arrived: a full disk is an error, a reader that went away is not ours to report. */
static int flushed(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno != EPIPE)
		fprintf(stderr, "racetrace: cannot write to standard output: %s\n", strerror(errno));
	return status > EXIT_FOUND ? status : EXIT_INPUT;
}

int main(int argc, char **argv)
{
	messages_init();
	if (argc < 2) {
		help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		help(stdout);
		return flushed(EXIT_CLEAN);
	}
	if (!strcmp(argv[1], "--version")) {
		puts("racetrace " RT_VERSION);
		return flushed(EXIT_CLEAN);
	}
	if (!strcmp(argv[1], "--cflags"))
		return flushed(library_print_cflags());
	if (!strcmp(argv[1], "--libs"))
		return flushed(library_print_libs());
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(argv[1], c->name))
			return flushed(run(c, argc, argv));
	fprintf(stderr, "racetrace: '%s' is not a command: see 'racetrace --help'\n", argv[1]);
	return EXIT_USAGE;
}
