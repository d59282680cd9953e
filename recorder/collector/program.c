/*
 * Starts the program and waits for it. A thread (the keeper) waits for signals, forwards them, and reports when the
 * program is dead. So no signal handler runs in this process, and the collector's own thread gets no signals.
 */
#include "recorder/collector/program.h"

#include "recorder/channel.h"
#include "recorder/collector/confine.h"
#include "recorder/collector/find.h"
#include "recorder/collector/limits.h"
#include "recorder/collector/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Forwarded, unless the terminal (the kernel) sent it: the whole group has then got it. */
static const int forwarded[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

static void kept_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	sigaddset(set, SIGPIPE);
	sigaddset(set, SIGXFSZ); /* the trace reaches its size limit as an error of write */
	for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
		sigaddset(set, forwarded[i]);
}

static bool is_forwarded(int signal)
{
	for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
		if (forwarded[i] == signal)
			return true;
	return false;
}

static bool is_dead(pid_t pid)
{
	siginfo_t info = {0};
	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

static void *keep(void *arg)
{
	struct program *p = arg;
	sigset_t set;
	/* If it is once not known whether the program is dead, this is checked again after so long. */
	const struct timespec moment = {1, 0};
	kept_signals(&set);
	while (!is_dead(p->pid)) {
		siginfo_t info;
		int signal = sigtimedwait(&set, &info, &moment);
		bool sent =
		    signal > 0 && (info.si_code == SI_USER || info.si_code == SI_QUEUE || info.si_code == SI_TKILL);
		if (sent && is_forwarded(signal))
			kill(p->pid, signal);
	}
	p->ended(p->arg);
	return NULL;
}

/* ---- The child's side ---- */

/* A tool is started by Valgrind's launcher otherwise: which it is told, and where its other files are. */
static bool set_tool_environment(const char *tool, const char *launcher)
{
	char *folder = strdup(tool);
	if (!folder)
		return false;
	*strrchr(folder, '/') = '\0';
	bool ok =
	    setenv("VALGRIND_LIB", folder, 1) == 0 && setenv("VALGRIND_LAUNCHER", launcher ? launcher : tool, 1) == 0;
	free(folder);
	return ok;
}

/* Numbers of one width: where the program's stack begins depends on it, and so does what a seed repeats. With the old
 * LD_PRELOAD, "-" if it was not set: the recorder restores it before the program sees it. See channel.h. */
static bool set_environment(const struct program_start *start)
{
	const char *preload = getenv("LD_PRELOAD");
	char *channel, *list;
	if (asprintf(&channel, "%010d:%010ld:%010" PRIu32 ":%s", start->channel, (long)process_in_proc(getppid()),
	             confine_own(), preload ? preload : "-") < 0 ||
	    asprintf(&list, "%s%s%s", start->preload, preload && *preload ? ":" : "", preload ? preload : "") < 0)
		return false;
	/* By turns libgomp's threads are to sleep where they wait, not to spin. */
	if (start->same_addresses && !getenv("OMP_WAIT_POLICY") && setenv("GOMP_SPINCOUNT", "0", 0) != 0)
		return false;
	return setenv(RT_CHANNEL_ENV, channel, 1) == 0 && setenv("LD_PRELOAD", list, 1) == 0 &&
	       (!start->tool || set_tool_environment(start->tool, start->launcher));
}

/* Waits for the byte to start; if the pipe is closed without one, there is nothing to do. */
static bool is_started(int gate)
{
	char word;
	ssize_t n;
	do
		n = read(gate, &word, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

static void child(const struct program *p, const struct program_start *start, int gate, int report)
{
	int failure = 0;
	if (fcntl(start->channel, F_SETFD, 0) != 0 || !set_environment(start))
		failure = errno;
	if (!is_started(gate))
		_exit(0);
	sigaction(SIGCHLD, &p->old_child, NULL);
	sigprocmask(SIG_SETMASK, &p->old_mask, NULL);
	if (start->same_addresses) /* where it is forbidden, addresses differ between runs */
		personality((unsigned long)personality(UINT32_MAX) | ADDR_NO_RANDOMIZE);
	if (!failure) {
		execv(start->path, start->argv);
		failure = errno;
	}
	ssize_t written = write(report, &failure, sizeof failure);
	_exit(written > 0 ? 126 : 127);
}

/* ---- The parent's side ---- */

static void close_pipe(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

static enum rt_status spawn(struct program *p, const struct program_start *start, struct rt_error *err)
{
	int gate[2], report[2];
	if (pipe2(gate, O_CLOEXEC) != 0)
		return rt_error_set(err, RT_ESYSTEM, "cannot make a pipe: %s%s", strerror(errno), limit_behind(errno));
	if (pipe2(report, O_CLOEXEC) != 0) {
		int failure = errno;
		close_pipe(gate);
		return rt_error_set(err, RT_ESYSTEM, "cannot make a pipe: %s%s", strerror(failure),
		                    limit_behind(failure));
	}
	p->pid = fork();
	if (p->pid == 0) {
		close(gate[1]);
		child(p, start, gate[0], report[1]);
	}
	int failure = p->pid < 0 ? errno : 0;
	/* The program keeps its own. A thread's stack may be more than what is left of the soft limit. */
	if (!failure)
		limit_raise();
	close(gate[0]);
	close(report[1]);
	p->gate = gate[1];
	p->report = report[0];
	if (!failure && (failure = thread_create(&p->keeper, THREAD_WAITS, keep, p)) != 0) {
		kill(p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
	}
	if (!failure)
		return RT_OK;
	close(p->gate);
	close(p->report);
	return rt_error_set(err, RT_ESYSTEM, "cannot make a process: %s%s", strerror(failure), limit_behind(failure));
}

enum rt_status program_prepare(struct program *p, const struct program_start *start, struct rt_error *err)
{
	sigset_t set;
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigaction(SIGCHLD, &standard, &p->old_child); /* if ignored, the program could not be waited for */
	kept_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, &p->old_mask);
	enum rt_status status = spawn(p, start, err);
	if (status)
		pthread_sigmask(SIG_SETMASK, &p->old_mask, NULL);
	return status;
}

/* The errno of a failed execve; 0 when the pipe was closed by a successful one. */
static int exec_failure(int report)
{
	int failure = 0;
	ssize_t n;
	do
		n = read(report, &failure, sizeof failure);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof failure ? failure : 0;
}

enum rt_status program_go(struct program *p, int *reason, struct rt_error *err)
{
	*reason = 0;
	if (write(p->gate, "!", 1) != 1)
		return rt_error_set(err, RT_ESYSTEM, "cannot start the program: %s", strerror(errno));
	*reason = exec_failure(p->report);
	return *reason ? rt_error_set(err, RT_ESYSTEM, "cannot execute: %s", strerror(*reason)) : RT_OK;
}

enum rt_status program_wait(struct program *p, int *status, struct rt_error *err)
{
	close(p->gate);
	pthread_join(p->keeper, NULL);
	close(p->report);
	for (int tries = 0; tries < 2; tries++)
		if (waitpid(p->pid, status, 0) == p->pid)
			return RT_OK;
	return rt_error_set(err, RT_ESYSTEM, "cannot wait for the program: %s", strerror(errno));
}

void program_end_like(int signal_number)
{
	sigset_t set;
	struct rlimit none = {0, 0};
	setrlimit(RLIMIT_CORE, &none); /* the program has left its own core, if any */
	signal(signal_number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	raise(signal_number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
