/* Runs that end; see runner.h. The keeper's side first, then the caller's. */
#include "cmd/try/runner.h"

#include "cmd/try/descendants.h"
#include "lib/base/clock.h"
#include "lib/base/input.h"
#include "lib/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

/* ---- The keeper ---- */

/* A stream of the program: what comes through the pipe. */
struct stream {
	int fd; /* -1: it has ended */
	struct run_output *output;
	XXH64_state_t *digest;
};

struct keeper {
	pid_t main; /* argv's own process; 0: it has ended */
	int signals;
	struct stream streams[2];
	struct run_end *end;
	uint64_t began;
};

/* Reads what is there. False: nothing is. */
static bool stream_read(struct stream *s)
{
	static char buffer[1 << 16];
	ssize_t got = s->fd < 0 ? -1 : read(s->fd, buffer, sizeof buffer);
	if (got <= 0) {
		if (s->fd >= 0 && (got == 0 || (errno != EAGAIN && errno != EINTR))) {
			close(s->fd);
			s->fd = -1;
		}
		return false;
	}
	struct run_output *o = s->output;
	size_t room = sizeof o->text - o->kept, n = (size_t)got < room ? (size_t)got : room;
	memcpy(o->text + o->kept, buffer, n);
	o->kept += (uint32_t)n;
	o->bytes += (uint64_t)got;
	if (s->digest)
		XXH64_update(s->digest, buffer, (size_t)got);
	return true;
}

/* Takes note of children that have ended. False: there are no children any more. */
static bool reap(struct keeper *k)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, WNOHANG);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return pid == 0;
		if (pid != k->main)
			continue;
		k->main = 0;
		if (k->end->kind == RUN_EXITED) {
			k->end->kind = WIFSIGNALED(status) ? RUN_SIGNALED : RUN_EXITED;
			k->end->value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
		}
	}
}

/* Waits for output and signals, at most until a time. True: it is told to end. */
static bool look(struct keeper *k, uint64_t until)
{
	uint64_t now = now_ns();
	struct pollfd fds[3] = {{.fd = k->signals, .events = POLLIN},
	                        {.fd = k->streams[0].fd, .events = POLLIN},
	                        {.fd = k->streams[1].fd, .events = POLLIN}};
	struct signalfd_siginfo signal;
	bool told = false;
	poll(fds, 3, until > now ? (int)((until - now) / 1000000u + 1) : 0);
	while (read(k->signals, &signal, sizeof signal) == (ssize_t)sizeof signal)
		told |= signal.ssi_signo != SIGCHLD;
	for (int i = 0; i < 2; i++)
		stream_read(&k->streams[i]);
	return told;
}

enum { MILLISECOND = 1000000, STEP_MS = 20, NOT_PREPARED = 125 };

/* Everything but the run's own process is killed, again and again, until that has ended; then so is that. */
static void wind_up(struct keeper *k, unsigned grace_ms)
{
	uint64_t until = now_ns() + (uint64_t)grace_ms * MILLISECOND;
	while (k->main && now_ns() < until) {
		descendants_kill(k->main);
		look(k, now_ns() + STEP_MS * MILLISECOND);
		reap(k);
	}
}

/* Bytes of a file; 0 if there is none. */
static uint64_t size_of(const char *path)
{
	struct stat st;
	return path && stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void keep(struct keeper *k, const struct run_options *o)
{
	uint64_t limit = (uint64_t)o->timeout_ms * MILLISECOND, until = k->began + limit, late = until - limit / 4;
	uint64_t before = UINT64_MAX; /* bytes when it is late */
	bool told = false;
	while (reap(k), k->main && !told && now_ns() < until) {
		if (before == UINT64_MAX && now_ns() >= late)
			before = size_of(o->growing);
		told = look(k, before == UINT64_MAX ? late : until);
	}
	if (k->main) {
		k->end->kind = told ? RUN_INTERRUPTED : RUN_TIMEOUT;
		k->end->grew = size_of(o->growing) > before;
		wind_up(k, told ? 0 : o->grace_ms);
	}
	k->end->duration_ns = now_ns() - k->began;
	/* What each kill leaves without a parent becomes a child of this process, so the end comes. */
	while (reap(k)) {
		descendants_kill(0);
		look(k, now_ns() + STEP_MS * MILLISECOND);
	}
	for (int i = 0; i < 2; i++) {
		while (stream_read(&k->streams[i]))
			;
		k->streams[i].output->digest = k->streams[i].digest ? XXH64_digest(k->streams[i].digest) : 0;
	}
}

bool runner_prepare(const char *command)
{
	enum { CANNOT_RUN = 127 };
	int status = -1;
	pid_t pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);
		if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0)
			execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(CANNOT_RUN);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status != 0)
		dprintf(STDERR_FILENO, "racetrace: the command of --before failed: '%s'\n", command);
	return status == 0;
}

/* The input that is kept: its path as given, and a path by which each run can open it. */
static struct {
	const char *path;
	char name[32];
} kept;

enum rt_status runner_keep_input(const char *path, struct rt_error *err)
{
	struct stat st;
	int fd;
	if (!path || (strcmp(path, "-") != 0 && (stat(path, &st) != 0 || !S_ISFIFO(st.st_mode))))
		return RT_OK;
	enum rt_status status = rt_input_open(path, &fd, err);
	if (status)
		return status;
	snprintf(kept.name, sizeof kept.name, "/proc/%d/fd/%d", (int)getpid(), fd);
	kept.path = path;
	return RT_OK;
}

/* In the program's process to be. */
static void become(const struct run_options *o, const int pipes[2], const sigset_t *mask, int report)
{
	const char *path = !o->input ? "/dev/null" : o->input == kept.path ? kept.name : o->input;
	int input = open(path, O_RDONLY);
	bool ready = input >= 0 && dup2(input, STDIN_FILENO) >= 0;
	if (ready && !o->terminal)
		ready = dup2(pipes[0], STDOUT_FILENO) >= 0 && dup2(pipes[1], STDERR_FILENO) >= 0;
	if (input > STDERR_FILENO)
		close(input);
	setsid();
	/* What this program ignores, the other one need not. */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (ready && o->before && !runner_prepare(o->before))
		_exit(NOT_PREPARED);
	if (ready)
		execvp(o->argv[0], o->argv);
	int reason = errno;
	(void)!write(report, &reason, sizeof reason);
	_exit(127);
}

/* True if the program runs; otherwise end says why not. */
static bool launch(struct keeper *k, const struct run_options *o, const sigset_t *mask)
{
	int out[2] = {-1, -1}, err[2] = {-1, -1}, report[2], reason = 0;
	bool ready = pipe2(report, O_CLOEXEC) == 0;
	if (ready && !o->terminal)
		ready = pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0;
	k->main = ready ? fork() : -1;
	if (k->main == 0)
		become(o, (const int[2]){out[1], err[1]}, mask, report[1]);
	reason = k->main < 0 ? errno : 0;
	if (ready) {
		close(report[1]);
		if (k->main > 0 && read(report[0], &reason, sizeof reason) != (ssize_t)sizeof reason)
			reason = 0;
		close(report[0]);
	}
	close(out[1]);
	close(err[1]);
	k->streams[0].fd = out[0];
	k->streams[1].fd = err[0];
	for (int i = 0; i < 2 && !o->terminal; i++)
		fcntl(k->streams[i].fd, F_SETFL, O_NONBLOCK);
	if (!reason)
		return true;
	k->end->kind = RUN_NOT_STARTED;
	k->end->value = reason;
	return false;
}

/* What a keeper hears. */
static const int heard[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT};

/* The keeper's whole life. It begins with the signals that it hears blocked; mask is the caller's own. */
static void keeper_main(const struct run_options *o, pid_t parent, sigset_t mask, int report)
{
	struct keeper k = {.end = calloc(1, sizeof *k.end), .began = now_ns(), .signals = -1};
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof heard / sizeof *heard; i++) {
		sigaddset(&set, heard[i]);
		sigdelset(&mask, heard[i]);
	}
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	k.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (!k.end || k.signals < 0 || getppid() != parent)
		_exit(1);
	for (int i = 0; i < 2; i++) {
		k.streams[i] =
		    (struct stream){.fd = -1, .output = i ? &k.end->err : &k.end->out, .digest = XXH64_createState()};
		if (k.streams[i].digest)
			XXH64_reset(k.streams[i].digest, 0);
	}
	if (launch(&k, o, &mask))
		keep(&k, o);
	_exit(rt_write_all(report, k.end, sizeof *k.end) ? 0 : 1);
}

/* ---- The caller ---- */

struct runner {
	pid_t keeper; /* 0: it was waited for */
	int report;
	size_t got;         /* bytes of end */
	struct run_end end; /* NOT_STARTED until it has come whole */
	bool ended;
};

/* Forks the keeper. A signal that comes before the keeper listens waits for that: the handler that it has from its
 * parent would take it. */
static pid_t keeper_fork(const struct run_options *options, const int report[2])
{
	pid_t self = getpid(), pid;
	sigset_t set, mask;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof heard / sizeof *heard; i++)
		sigaddset(&set, heard[i]);
	sigprocmask(SIG_BLOCK, &set, &mask);
	pid = fork();
	if (pid == 0) {
		close(report[0]);
		keeper_main(options, self, mask, report[1]);
	}
	int reason = errno;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	errno = reason;
	return pid;
}

enum rt_status runner_start(const struct run_options *options, struct runner **out, struct rt_error *err)
{
	struct runner *r = calloc(1, sizeof *r);
	int report[2];
	if (!r)
		return rt_error_set(err, RT_EMEMORY, "no memory for a run");
	if (pipe2(report, O_CLOEXEC) != 0) {
		free(r);
		return rt_error_set(err, RT_ESYSTEM, "cannot make a pipe: %s", strerror(errno));
	}
	r->keeper = keeper_fork(options, report);
	close(report[1]);
	if (r->keeper < 0) {
		enum rt_status status = rt_error_set(err, RT_ESYSTEM, "cannot make a process: %s", strerror(errno));
		close(report[0]);
		free(r);
		return status;
	}
	fcntl(report[0], F_SETFL, O_NONBLOCK);
	r->report = report[0];
	*out = r;
	return RT_OK;
}

int runner_fd(const struct runner *r)
{
	return r->report;
}

const struct run_end *runner_ended(struct runner *r)
{
	while (!r->ended) {
		ssize_t n = read(r->report, (char *)&r->end + r->got, sizeof r->end - r->got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return NULL;
		if (n > 0 && (r->got += (size_t)n) < sizeof r->end)
			continue;
		r->ended = true;
		if (r->got < sizeof r->end) /* the keeper has died */
			r->end = (struct run_end){.kind = RUN_NOT_STARTED, .value = ECHILD};
	}
	return &r->end;
}

const struct run_end *runner_wait(struct runner *r)
{
	const struct run_end *end;
	while (!(end = runner_ended(r))) {
		struct pollfd fd = {.fd = r->report, .events = POLLIN};
		poll(&fd, 1, -1);
	}
	return end;
}

const char *run_own_line(const struct run_end *end, size_t *length)
{
	static const char own[] = "racetrace: ";
	const char *at = end->err.text, *last = at + end->err.kept;
	while (at < last) {
		const char *stop = memchr(at, '\n', (size_t)(last - at));
		size_t n = (size_t)((stop ? stop : last) - at);
		if (n >= sizeof own && !memcmp(at, own, sizeof own - 1)) {
			*length = n - (sizeof own - 1);
			return at + sizeof own - 1;
		}
		at += n + 1;
	}
	return NULL;
}

void runner_free(struct runner *r)
{
	if (!r)
		return;
	if (!runner_ended(r))
		kill(r->keeper, SIGTERM);
	while (waitpid(r->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	close(r->report);
	free(r);
}
