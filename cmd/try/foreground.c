/* A run in the foreground; see foreground.h. */
#include "cmd/try/foreground.h"

#include "cmd/try/descendants.h"
#include "lib/base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000000, STEP_MS = 100, NOTICE_MS = 5000, ASLEEP_MS = 1000, GRACE_MS = 5000, CANNOT_RUN = 3 };

static const int heard[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD};

struct foreground {
	pid_t main;
	const char *name;
	struct foreground_end *end;
	uint64_t began, limit; /* ns; limit 0: none */
	uint64_t told;         /* when it was first told to end; 0: it was not */
	uint64_t looked, ticks;
	bool noticed, forced, awaited;
};

/* True: the run itself has ended. */
static bool reap(struct foreground *f)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, WNOHANG);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return false;
		if (pid == f->main) {
			f->end->status = status;
			return true;
		}
	}
}

static void tell(struct foreground *f, int signal, bool pass_on)
{
	if (f->told) { /* a second time */
		f->forced = true;
		return;
	}
	f->told = now_ns();
	f->end->signal = signal;
	if (pass_on)
		kill(f->main, signal);
}

/* Waits for a moment, and does what a signal says that comes. */
static void listen(struct foreground *f, const sigset_t *set)
{
	const struct timespec step = {.tv_nsec = STEP_MS * MS};
	siginfo_t info;
	int signal = sigtimedwait(set, &info, &step);
	if (signal > 0 && signal != SIGCHLD)
		tell(f, signal, info.si_code <= 0); /* of a process, not of the terminal */
}

/* Says once that the program runs on, whether it does anything, and what ends it. */
static void notice(struct foreground *f, uint64_t now)
{
	if (f->noticed || f->told || now - f->began < (uint64_t)(NOTICE_MS - ASLEEP_MS) * MS)
		return;
	if (!f->looked) {
		f->looked = now;
		f->ticks = descendants_ticks(f->main);
	}
	if (now - f->began < (uint64_t)NOTICE_MS * MS || now - f->looked < (uint64_t)ASLEEP_MS * MS)
		return;
	f->noticed = true;
	bool asleep = descendants_ticks(f->main) == f->ticks;
	fprintf(stderr, "racetrace: '%s' still runs after %d s%s; an interrupt ends it%s, and then comes the report\n",
	        f->name, NOTICE_MS / 1000, asleep ? ", and sleeps" : "", f->limit ? "" : ", as --time does");
}

/* Without an end after it was told so: only a person sends a second signal. */
static void insist(struct foreground *f)
{
	if (!f->told || f->forced || now_ns() - f->told < (uint64_t)GRACE_MS * MS)
		return;
	if (f->end->signal != SIGINT && f->end->signal != SIGQUIT)
		f->forced = true;
	else if (!f->awaited)
		fprintf(stderr, "racetrace: '%s' has not ended; a second interrupt kills it\n", f->name);
	f->awaited = true;
}

static void attend(struct foreground *f, const sigset_t *set)
{
	uint64_t killed = 0;
	while (!reap(f)) {
		listen(f, set);
		uint64_t now = now_ns();
		if (f->limit && !f->told && now - f->began >= f->limit)
			tell(f, SIGTERM, true);
		notice(f, now);
		insist(f);
		if (!f->forced)
			continue;
		killed = killed ? killed : now;
		descendants_kill(f->main);
		if (now - killed > (uint64_t)GRACE_MS * MS)
			kill(f->main, SIGKILL);
	}
	/* What each kill leaves without a parent becomes a child of this process, so the end comes. */
	while (waitpid(-1, NULL, WNOHANG) >= 0) {
		descendants_kill(0);
		listen(f, set);
	}
}

enum rt_status foreground_run(char *const *argv, const char *name, uint64_t limit_ms, struct foreground_end *end,
                              struct rt_error *err)
{
	struct foreground f = {.name = name, .end = end, .began = now_ns(), .limit = limit_ms * MS};
	sigset_t set, mask;
	*end = (struct foreground_end){0};
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof heard / sizeof *heard; i++)
		sigaddset(&set, heard[i]);
	sigprocmask(SIG_BLOCK, &set, &mask);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	f.main = fork();
	if (f.main == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		signal(SIGXFSZ, SIG_DFL); /* which this program ignores */
		sigprocmask(SIG_SETMASK, &mask, NULL);
		execv(argv[0], argv);
		_exit(CANNOT_RUN);
	}
	int reason = errno;
	if (f.main > 0)
		attend(&f, &set);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return f.main > 0 ? RT_OK : rt_error_set(err, RT_ESYSTEM, "cannot make a process: %s", strerror(reason));
}
