/* racetrace record --pid and --idle; see pid.h. */
#include "cmd/record/pid.h"

#include "cmd/base/command.h"
#include "cmd/base/library.h"
#include "cmd/record/common.h"
#include "lib/base/clock.h"
#include "recorder/channel.h"
#include "recorder/collector/find.h"
#include "recorder/collector/limits.h"
#include "recorder/collector/program.h"
#include "recorder/collector/tree.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

struct session {
	const struct record_options *options;
	struct tree *tree;
	struct collector *collector; /* borrowed from the tree */
	char **command;
	char *path;
	pid_t in_proc; /* find.h */
	int pidfd, signals;
	_Atomic bool dead; /* the process has ended */
};

/* What ends the recording comes to a descriptor. */
static enum rt_status take_signals(struct session *s, struct rt_error *err)
{
	sigset_t set, file;
	record_block_ends(&set);
	sigemptyset(&file);
	sigaddset(&file, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &file, NULL); /* the trace reaches its size limit as an error of write */
	s->signals = signalfd(-1, &set, SFD_CLOEXEC);
	return s->signals >= 0 ? RT_OK : rt_error_set(err, RT_ESYSTEM, "cannot wait for signals: %s", strerror(errno));
}

/* Waits for the end: a signal, the process's death, the time, or that of the collector itself. */
static void *await_end(void *arg)
{
	struct session *s = arg;
	uint64_t until = now_ns() + s->options->time_ms * 1000000;
	struct pollfd fds[] = {{.fd = s->signals, .events = POLLIN}, {.fd = s->pidfd, .events = POLLIN}};
	enum { LONG_MS = 1 << 30 };
	for (int n = 0; n <= 0;) {
		uint64_t now = now_ns();
		if (s->options->time_ms && now >= until)
			break;
		uint64_t left = s->options->time_ms ? (until - now) / 1000000 + 1 : LONG_MS;
		n = poll(fds, 2, left < LONG_MS ? (int)left : LONG_MS);
	}
	s->dead = fds[1].revents != 0;
	collector_stop(s->collector);
	return NULL;
}

static enum rt_status collect(struct session *s, struct rt_writer *w, struct rt_error *err)
{
	pthread_t waiter;
	int failure = pthread_create(&waiter, NULL, await_end, s);
	if (failure)
		return rt_error_set(err, RT_ESYSTEM, "cannot make a thread: %s%s", strerror(failure),
		                    limit_behind(failure));
	collector_begin(s->collector);
	fprintf(stderr, "racetrace: recording process %ld%s\n", (long)s->options->pid,
	        s->options->time_ms ? "" : " (an interrupt ends the recording)");
	enum rt_status status = collector_run(s->collector, s->in_proc, w, err);
	kill(getpid(), SIGTERM); /* blocked: ends the waiter, if that waits */
	pthread_join(waiter, NULL);
	return status;
}

static enum rt_status record(struct session *s, struct rt_writer_result *result, struct rt_error *err)
{
	const struct record_options *o = s->options;
	struct tree_options tree = {.rings = {.tell = record_tell_error}, .output = o->output, .ring = o->ring};
	struct rt_writer *w = NULL;
	enum rt_status status;
	if (!limit_allows_collector())
		return rt_error_set(err, RT_ESYSTEM, "cannot record process %ld: too little memory to write a trace%s",
		                    (long)o->pid, limit_behind(EAGAIN));
	if ((status = take_signals(s, err)) || (status = tree_attach(&tree, o->pid, &s->tree, err)))
		return status;
	s->pidfd = (int)syscall(SYS_pidfd_open, o->pid, 0);
	if (s->pidfd < 0)
		return rt_error_set(err, RT_ESYSTEM, "cannot record process %ld: %s", (long)o->pid, strerror(errno));
	limit_raise();
	unsetenv("DEBUGINFOD_URLS"); /* a recording must not wait for the network */
	s->collector = tree_first(s->tree);
	s->in_proc = process_in_proc(o->pid);
	s->command = process_command(s->in_proc);
	uint64_t began = now_ns();
	struct rt_writer_options options = {
	    .command = (const char *const *)s->command, .pid = (uint64_t)o->pid, .recording = true, .ring = o->ring};
	status = record_create_trace(o->output, s->command ? s->command[0] : "program", &options, &w, &s->path, err);
	if (!status)
		status = tree_start(s->tree, s->path, err);
	if (!status)
		status = collect(s, w, err);
	result->duration_ns = now_ns() - began;
	if (!status)
		return tree_finish(s->tree, s->collector, w, result, err);
	rt_writer_abort(w);
	return status;
}

static void say_end(const struct session *s, const struct rt_writer_result *result)
{
	long pid = (long)s->options->pid;
	if (collector_replaced(s->collector))
		fprintf(stderr, "racetrace: process %ld has executed another program: the recording ends\n", pid);
	else if (s->dead)
		fprintf(stderr, "racetrace: process %ld has ended\n", pid);
	if (!collector_threads(s->collector))
		fprintf(stderr, "racetrace: '%s' is empty: no thread of process %ld did anything meanwhile\n", s->path,
		        pid);
	record_say_broken(collector_broken(s->collector));
	if (s->options->verbose)
		record_say_counts(s->path, result);
	bool kept = s->options->trigger.kind != TRIGGER_FINDING || trigger_keeps(&s->options->trigger, &s->path, 1);
	if (kept && isatty(STDERR_FILENO))
		record_say_trace(s->path);
}

int record_pid(const struct record_options *options)
{
	struct session s = {.options = options, .pidfd = -1, .signals = -1};
	struct rt_writer_result result = {0};
	struct rt_error err = {0};
	int exit_status = EXIT_CLEAN;
	if (record(&s, &result, &err))
		exit_status = cmd_fail(&err);
	else
		say_end(&s, &result);
	tree_free(s.tree);
	process_command_free(s.command);
	free(s.path);
	if (s.pidfd >= 0)
		close(s.pidfd);
	if (s.signals >= 0)
		close(s.signals);
	return exit_status;
}

/* ---- Starting a program idle ---- */

/* The recorder stands in for the program's runtime library, and for that of what the program executes. */
static enum rt_status set_environment(const char *folder, struct rt_error *err)
{
	const char *old = getenv("LD_LIBRARY_PATH");
	char *path;
	if (asprintf(&path, "%s%s%s", folder, old && *old ? ":" : "", old && *old ? old : "") < 0)
		return rt_error_set(err, RT_EMEMORY, "no memory for a path");
	int failure = setenv("LD_LIBRARY_PATH", path, 1) || setenv(RT_IDLE_ENV, RT_IDLE_WORD, 1) ? errno : 0;
	free(path);
	return failure ? rt_error_set(err, RT_EMEMORY, "no memory for the environment") : RT_OK;
}

int record_idle(const struct record_options *options)
{
	char *program = NULL, *soname = NULL, *folder = NULL;
	bool plain = false;
	int reason = 0;
	struct rt_error err = {0};
	enum rt_status status = program_find(options->command[0], &program, &reason, &err);
	if (!status)
		status = program_inspect(program, &soname, &plain, &err);
	if (!status)
		status = library_folder(false, &folder, &err);
	if (!status)
		status = set_environment(folder, &err);
	if (!status) {
		execv(program, options->command);
		reason = errno;
		rt_error_set(&err, RT_ESYSTEM, "cannot execute '%s': %s", program, strerror(reason));
	}
	free(program);
	free(soname);
	free(folder);
	int exit_status = cmd_fail(&err);
	return !reason ? exit_status : reason == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}
