/*
 * Recording one process of a tree: its trace's name, its collector, its end.
 *
 * A forked child that executed another program before it created a thread leaves no trace: the events between fork and
 * exec are of no interest. Nor does a program that ran under the Valgrind tool because another one executed it, if it
 * created no thread.
 */
#include "recorder/collector/tree_parts.h"

#include "lib/base/clock.h"
#include "recorder/collector/find.h"
#include "recorder/collector/limits.h"
#include "recorder/collector/name.h"
#include "recorder/collector/resolve.h"
#include "recorder/collector/thread.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define REPLACED_MS 1000u /* time that an executed program has to start its recorder */
#define REPLACED_TOOL 10u /* factor under the Valgrind tool */

/* ---- Name and command ---- */

/*
 * A process may leave several traces, one for each program that it executed, and process numbers are reused. Whether an
 * earlier trace keeps its name is known soon: its process has executed another program, or is dead.
 */
static unsigned count_namesakes(struct process *p)
{
	const struct timespec moment = {0, 1000000};
	struct tree *t = p->tree;
	unsigned n = 0;
	for (size_t i = 1;; i++) {
		struct process *other = tree_process(t, i);
		if (other == p)
			return n;
		if (!atomic_load(&other->begun) || other->trace.pid != p->trace.pid)
			continue;
		while (!atomic_load(&other->settled)) {
			pthread_mutex_lock(&t->lock);
			if (other->collector)
				collector_wake(other->collector);
			pthread_mutex_unlock(&t->lock);
			nanosleep(&moment, NULL);
		}
		n += other->path != NULL;
	}
}

/* FIRST.PID or the pattern's name, then the same with .2 and so on. */
static enum rt_status name_for(struct process *p, char **name, struct rt_error *err)
{
	unsigned before = count_namesakes(p);
	const char *output = p->tree->options.output, *program = p->command ? p->command[0] : "program";
	char *base = NULL;
	enum rt_status status = RT_OK;
	if (name_has_process(output))
		status = name_expand(output, p->trace.pid, program, &base, err);
	else if (asprintf(&base, "%s.%ld", p->tree->first, (long)p->trace.pid) < 0)
		status = rt_error_set(err, RT_EMEMORY, "no memory for a path");
	if (status || !before) {
		*name = status ? NULL : base;
		return status;
	}
	if (asprintf(name, "%s.%u", base, before + 1) < 0) {
		*name = NULL;
		status = rt_error_set(err, RT_EMEMORY, "no memory for a path");
	}
	free(base);
	return status;
}

/* The tool's options are no part of the program's. They are between the launcher's name and the program. */
static void take_tool_out(char **command)
{
	size_t n = 0;
	while (command && command[n] && (n == 0 || command[n][0] == '-'))
		free(command[n++]);
	for (char **to = command; to; to++)
		if (!(*to = to[n]))
			break;
}

/* ---- Death ---- */

/* Sleeps until the process is dead, at most for this time. */
static bool is_dead(int pidfd, int milliseconds)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	return pidfd < 0 || poll(&p, 1, milliseconds) > 0;
}

struct watch {
	struct collector *collector;
	int pidfd;
	int enough; /* readable when the result is no longer needed */
};

static void *watch(void *arg)
{
	const struct watch *w = arg;
	struct pollfd p[] = {{.fd = w->enough, .events = POLLIN}, {.fd = w->pidfd, .events = POLLIN}};
	while (w->pidfd >= 0 && poll(p, 2, -1) <= 0)
		;
	collector_stop(w->collector);
	return NULL;
}

static bool has_successor(struct process *p)
{
	for (size_t i = 1;; i++) {
		struct process *other = tree_process(p->tree, i);
		if (!other)
			return false;
		if (other != p && atomic_load(&other->begun) && !atomic_load(&other->done) &&
		    other->trace.pid == p->trace.pid)
			return true;
	}
}

/* Between exec and the start of the recorder the process is on no list. */
static void await_successor(struct process *p, int pidfd)
{
	unsigned patience = REPLACED_MS / 10 * (p->tree->options.follows_plain ? REPLACED_TOOL : 1);
	for (unsigned i = 0; i < patience && !atomic_load(&p->tree->stop) && !has_successor(p); i++)
		if (is_dead(pidfd, 10))
			return;
}

/* ---- Recording ---- */

/* Later commands look for the positions by the modules, which the file has already. */
static void tell_unresolved(struct tree *t)
{
	struct rt_error err;
	rt_error_set(&err, RT_EMEMORY,
	             "too little memory for source positions%s; 'racetrace analyze' looks for them later",
	             limit_behind(ENOMEM));
	if (!atomic_exchange(&t->unresolved, true) && t->options.rings.tell)
		t->options.rings.tell(&err);
}

static enum rt_status finish(struct tree *t, struct collector *c, struct rt_writer *w, struct rt_writer_result *result,
                             struct rt_error *err)
{
	struct resolver *resolver = NULL;
	pthread_mutex_lock(&t->resolving);
	enum rt_status status = RT_EMEMORY;
	if (resolver_can_write(collector_modules(c), w, false))
		status = resolver_create(collector_modules(c), &t->atomics, &resolver, err);
	if (!status)
		status = resolver_write(resolver, w, false, err);
	if (!status)
		collector_name_hidden_atomics(c, resolver_hidden_atomics(resolver));
	if (status == RT_EMEMORY) {
		rt_writer_leave_out_symbols(w);
		tell_unresolved(t);
		*err = (struct rt_error){0};
		status = RT_OK;
	}
	resolver_free(resolver);
	pthread_mutex_unlock(&t->resolving);
	if (!status)
		return rt_writer_finish(w, result, err) ? limit_name(err, errno) : RT_OK;
	rt_writer_abort(w);
	return status;
}

struct finishing {
	struct tree *tree;
	struct collector *collector;
	struct rt_writer *writer;
	struct rt_writer_result *result;
	struct rt_error *err;
	enum rt_status status;
};

static void *finish_there(void *arg)
{
	struct finishing *f = arg;
	f->status = finish(f->tree, f->collector, f->writer, f->result, f->err);
	return NULL;
}

/* On a separate stack, as the caller's may be small. */
enum rt_status tree_finish(struct tree *t, struct collector *c, struct rt_writer *w, struct rt_writer_result *result,
                           struct rt_error *err)
{
	struct finishing f = {t, c, w, result, err, RT_OK};
	pthread_t thread;
	if (thread_create(&thread, THREAD_RESOLVES, finish_there, &f) != 0)
		return finish(t, c, w, result, err);
	pthread_join(thread, NULL);
	return f.status;
}

/* It goes on unrecorded. */
static void lose(struct process *p)
{
	int cause = errno;
	collector_abandon(p->collector);
	rt_error_set(&p->trace.error, RT_ESYSTEM, "cannot record process %ld any further: %s%s", (long)p->trace.pid,
	             strerror(cause), limit_behind(cause));
}

static enum rt_status collect(struct process *p, int pidfd, struct rt_writer *w, struct rt_error *err)
{
	struct watch watched = {p->collector, pidfd, eventfd(0, EFD_CLOEXEC)};
	pthread_t watcher;
	int failure = watched.enough < 0 ? errno : thread_create(&watcher, THREAD_WAITS, watch, &watched);
	if (failure) {
		errno = failure;
		lose(p);
		if (watched.enough >= 0)
			close(watched.enough);
		return p->trace.error.status;
	}
	enum rt_status status = collector_run(p->collector, p->in_proc, w, err);
	eventfd_write(watched.enough, 1);
	pthread_join(watcher, NULL);
	close(watched.enough);
	return status;
}

/*
 * True of a process without a second thread that has only executed another program, and of a program that is not
 * instrumented and that another one executed: a shell has many of those. Where programs preload the recorder most are
 * such, and the subshells that it forks.
 */
static bool is_of_no_interest(const struct process *p)
{
	const struct collector *c = p->collector;
	bool between = collector_forked(c) && collector_replaced(c);
	bool plain = (collector_watched(c) && !collector_forked(c)) || p->tree->shared->preload[0];
	return collector_threads(c) < 2 && (between || plain);
}

static enum rt_status record(struct process *p, int pidfd, struct rt_error *err)
{
	struct rt_writer_options options = {.command = (const char *const *)p->command,
	                                    .pid = (uint64_t)p->trace.pid,
	                                    .sync_only = collector_sync_only(p->collector),
	                                    .recording = true,
	                                    .exact = collector_control(p->collector) || collector_watched(p->collector),
	                                    .values = p->tree->options.rings.values || collector_watched(p->collector),
	                                    .binary = collector_watched(p->collector),
	                                    .ring = p->tree->options.ring,
	                                    .vary = p->tree->options.rings.vary};
	struct rt_writer *w;
	uint64_t began = now_ns();
	enum rt_status status = name_for(p, &p->path, err);
	if (!status && rt_writer_create(p->path, &options, &w, err))
		status = limit_name(err, errno);
	if (!status) {
		free(p->path);
		p->path = strdup(rt_writer_path(w));
	}
	if (!status && !p->path) {
		rt_writer_abort(w);
		status = rt_error_set(err, RT_EMEMORY, "no memory for a path");
	}
	if (status) {
		collector_abandon(p->collector);
		return status;
	}
	status = collect(p, pidfd, w, err);
	p->trace.result.duration_ns = now_ns() - began;
	p->trace.broken = collector_broken(p->collector);
	if (!status && is_of_no_interest(p)) {
		free(p->path);
		p->path = NULL;
	}
	atomic_store(&p->settled, true);
	if (status || !p->path) {
		rt_writer_abort(w);
		return status;
	}
	return finish(p->tree, p->collector, w, &p->trace.result, err);
}

/* The first of those that leave no trace is told at once; the others are counted. */
static void tell_unrecorded(struct process *p)
{
	struct tree *t = p->tree;
	if (!p->trace.error.status || p->trace.error.told)
		return;
	if (atomic_fetch_add(&t->unrecorded, 1))
		p->trace.error.told = true;
	else if (t->options.rings.tell)
		t->options.rings.tell(&p->trace.error);
}

static void *process_run(void *arg)
{
	struct process *p = arg;
	int pidfd = (int)syscall(SYS_pidfd_open, p->trace.pid, 0); /* ESRCH: it is dead already */
	bool watched = pidfd >= 0 || errno == ESRCH || p->gone;    /* the number may be a thread's by now */
	bool another = p->gone && ((pidfd >= 0 && !is_dead(pidfd, 0)) || p->tree->namespaces);
	if (another && pidfd >= 0) { /* it got the number now, or has it here */
		close(pidfd);
		pidfd = -1;
	}
	if (watched)
		record(p, pidfd, &p->trace.error);
	else
		lose(p);
	tell_unrecorded(p);
	atomic_store(&p->settled, true);
	if (collector_replaced(p->collector))
		await_successor(p, pidfd);
	p->over = collector_replaced(p->collector) || (watched && !another && is_dead(pidfd, 0));
	if (pidfd >= 0)
		close(pidfd);
	atomic_store(&p->done, true);
	tree_ring(p->tree);
	return NULL;
}

void process_begin(struct process *p)
{
	pid_t told = collector_told(p->collector), found = collector_find(p->collector);
	pid_t number = found ? process_number(found) : 0;
	p->trace.pid = number ? number : told;
	p->in_proc = found ? found : process_in_proc(told);
	p->gone = !found;
	if (found && number != told)
		atomic_store(&p->tree->namespaces, true);
	p->command = process_command(p->in_proc);
	if (collector_watched(p->collector))
		take_tool_out(p->command);
	atomic_store(&p->begun, true);
	errno = thread_create(&p->thread, THREAD_RESOLVES, process_run, p);
	if (!errno)
		return;
	lose(p);
	tell_unrecorded(p);
	p->joined = true;
	atomic_store(&p->settled, true);
	atomic_store(&p->done, true);
}

void process_reap(struct process *p)
{
	if (p->joined)
		return;
	pthread_join(p->thread, NULL);
	p->joined = true;
	pthread_mutex_lock(&p->tree->lock);
	if (p->over)
		collector_reclaim(p->collector);
	collector_free(p->collector);
	p->collector = NULL;
	pthread_mutex_unlock(&p->tree->lock);
}

void process_free(struct process *p)
{
	if (!p)
		return;
	collector_free(p->collector);
	process_command_free(p->command);
	free(p->path);
	free(p);
}
