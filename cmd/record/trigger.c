/* When the trace is written; see trigger.h. */
#include "cmd/record/trigger.h"

#include "cmd/analyze/cache.h"
#include "cmd/base/command.h"
#include "cmd/base/library.h"
#include "lib/report/level.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* "SEGV", "SIGSEGV" or "11". -1: there is no such signal. */
static int signal_of(const char *text)
{
	const char *name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
	char *end;
	long number = strtol(text, &end, 10);
	if (*text && !*end)
		return number > 0 && number < NSIG ? (int)number : -1;
	for (int i = 1; i < NSIG; i++) {
		const char *known = sigabbrev_np(i);
		if (known && strcmp(known, name) == 0)
			return i;
	}
	return -1;
}

static int status_of(const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);
	return *text && !*end && number >= 0 && number <= 255 ? (int)number : -1;
}

static int level_of(const char *text)
{
	for (int i = 0; i < LEVELS; i++)
		if (strcmp(text, finding_level_name((enum finding_level)i)) == 0)
			return i;
	return -1;
}

bool trigger_parse(const char *text, struct trigger *out)
{
	static const struct {
		const char *name;
		struct trigger trigger;
	} any[] = {{"failure", {TRIGGER_FAILURE, -1}},
	           {"exit", {TRIGGER_EXIT, -1}},
	           {"signal", {TRIGGER_SIGNAL, -1}},
	           {"finding", {TRIGGER_FINDING, LEVEL_ERROR}}};
	for (size_t i = 0; i < sizeof any / sizeof *any; i++)
		if (strcmp(text, any[i].name) == 0) {
			*out = any[i].trigger;
			return true;
		}
	if (strncmp(text, "exit=", 5) == 0)
		*out = (struct trigger){TRIGGER_EXIT, status_of(text + 5)};
	else if (strncmp(text, "signal=", 7) == 0)
		*out = (struct trigger){TRIGGER_SIGNAL, signal_of(text + 7)};
	else if (strncmp(text, "finding=", 8) == 0)
		*out = (struct trigger){TRIGGER_FINDING, level_of(text + 8)};
	else
		return false;
	return out->value >= 0;
}

bool trigger_fires(const struct trigger *t, enum rt_exit_kind kind, int value)
{
	bool killed = kind == RT_EXIT_SIGNAL;
	switch (t->kind) {
	case TRIGGER_FAILURE:
		return killed || value != 0;
	case TRIGGER_EXIT:
		return !killed && (t->value < 0 ? value != 0 : value == t->value);
	case TRIGGER_SIGNAL:
		return killed && (t->value < 0 || value == t->value);
	case TRIGGER_FINDING:
	case TRIGGER_NONE:
		break;
	}
	return true;
}

/* In the child. What the analysis cannot do it says on standard error. */
static void become_analysis(char *const *argv)
{
	sigset_t none;
	int nothing = open("/dev/null", O_RDWR);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(nothing, STDOUT_FILENO) >= 0)
		execv(argv[0], argv);
	_exit(EXIT_INPUT);
}

static enum rt_status analyze(char *const *argv, int *status, struct rt_error *err)
{
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		become_analysis(argv);
	while (pid > 0 && waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			pid = -1;
	return pid > 0 ? RT_OK : rt_error_set(err, RT_ESYSTEM, "cannot run an analysis: %s", strerror(errno));
}

/* *found: there is a finding of the level or above. */
static enum rt_status finds(const struct trigger *t, char *const *traces, size_t n, bool *found, struct rt_error *err)
{
	const char *const options[] = {"analyze",   "--format",
	                               "text",      "--allow-incomplete",
	                               "--fail-on", finding_level_name((enum finding_level)t->value),
	                               "--"};
	enum { OPTIONS = sizeof options / sizeof *options };
	int ended = 0;
	char *self, **argv = calloc(n + OPTIONS + 2, sizeof *argv);
	if (!argv)
		return rt_error_set(err, RT_EMEMORY, "no memory for an analysis");
	enum rt_status status = library_own_path(&self, err);
	if (status) {
		free(argv);
		return status;
	}
	argv[0] = self;
	memcpy(argv + 1, options, sizeof options);
	memcpy(argv + 1 + OPTIONS, traces, n * sizeof *argv);
	status = analyze(argv, &ended, err);
	free(argv);
	free(self);
	if (status)
		return status;
	int code = WIFEXITED(ended) ? WEXITSTATUS(ended) : EXIT_INPUT;
	*found = code == EXIT_FOUND;
	/* EXIT_INCOMPLETE: it was interrupted. */
	return code == EXIT_FOUND || code == EXIT_CLEAN
	           ? RT_OK
	           : rt_error_set(err, RT_EINPUT, "the analysis for --trigger failed: '%s' is kept", traces[0]);
}

bool trigger_keeps(const struct trigger *t, char *const *traces, size_t n)
{
	struct rt_error err = {0};
	bool found = false;
	if (finds(t, traces, n, &found, &err)) {
		cmd_fail(&err);
		return true;
	}
	for (size_t i = 0; i < n && !found; i++) {
		unlink(traces[i]);
		cmd_cache_remove(traces[i]);
	}
	if (!found)
		fprintf(stderr, "racetrace: no trace is written: an analysis has found nothing that --trigger names\n");
	return found;
}
