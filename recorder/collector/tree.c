/*
 * A thread (the acceptor) makes channels ahead, and sees which process has started in one. Each process then has a
 * thread that collects, resolves and writes, and another that sleeps until the process is dead.
 *
 * A forked child that executed another program before it created a thread leaves no trace: the events between fork and
 * exec are of no interest. Nor does a program that ran under the Valgrind tool because another one executed it, if it
 * created no thread.
 */
#include "recorder/collector/tree.h"

#include "lib/base/clock.h"
#include "lib/base/vec.h"
#include "recorder/channel.h"
#include "recorder/collector/confine.h"
#include "recorder/collector/limits.h"
#include "recorder/collector/name.h"
#include "recorder/collector/resolve.h"
#include "recorder/collector/thread.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define AHEAD 4u              /* channels made in advance */
#define PROCESSES_MAX 100000u /* in one recording; more run unrecorded */
#define REPLACED_MS 1000u     /* time that an executed program has to start its recorder */
#define REPLACED_TOOL 10u     /* factor under the Valgrind tool */
#define FORKED_NS 2000000000u /* and that a forked child has, once all others are gone */
#define BEAT_MS 500           /* rt_tree.beat */

struct process {
	struct tree *tree;
	struct collector *collector;
	struct tree_trace trace;
	char *path;
	char **command;
	pthread_t thread;
	_Atomic bool begun;
	_Atomic bool settled; /* path is what it will be */
	_Atomic bool done;
	bool joined;
	bool gone; /* no process had its channel any more when it was searched for */
	bool over; /* dead or another program when the trace was done: no process uses the channel */
};

struct tree {
	struct tree_options options;
	char *first; /* the first process's trace */
	int fd;
	struct rt_tree *shared;
	struct process **processes; /* under lock: moves */
	size_t count, capacity;
	pthread_mutex_t lock;
	pthread_mutex_t resolving;   /* elfutils is not thread-safe */
	struct hidden_cache atomics; /* under resolving */
	pthread_t acceptor;
	bool started;
	_Atomic bool stop;
	_Atomic bool namespaces; /* the number of some process differs between its namespace and this one */
	bool full;               /* no more channels can be made */
	int notify;              /* of the file; negative: none */
	bool said;               /* that a process runs unrecorded, in a sandbox */
};

static void ring(struct tree *t)
{
	atomic_fetch_add(&t->shared->bell, 1);
	syscall(SYS_futex, &t->shared->bell, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void sleep_on_bell(struct tree *t, uint32_t seen, unsigned milliseconds)
{
	struct timespec timeout = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
	syscall(SYS_futex, &t->shared->bell, FUTEX_WAIT, seen, &timeout, NULL, 0);
}

static struct process *process_at(struct tree *t, size_t i)
{
	pthread_mutex_lock(&t->lock);
	struct process *p = i < t->count ? t->processes[i] : NULL;
	pthread_mutex_unlock(&t->lock);
	return p;
}

/* ---- Making channels ---- */

static void process_free(struct process *p)
{
	if (!p)
		return;
	collector_free(p->collector);
	for (char **word = p->command; word && *word; word++)
		free(*word);
	free(p->command);
	free(p->path);
	free(p);
}

/* Makes one more channel. */
static enum rt_status extend(struct tree *t, struct rt_error *err)
{
	struct process *p = calloc(1, sizeof *p);
	if (!p)
		return rt_error_set(err, RT_EMEMORY, "no memory for a process");
	p->tree = t;
	enum rt_status status = collector_create(t->fd, (uint32_t)t->count, &t->options.rings, &p->collector, err);
	if (status) {
		process_free(p);
		return status;
	}
	pthread_mutex_lock(&t->lock);
	bool room = vec_reserve(&t->processes, &t->capacity, t->count + 1, sizeof(struct process *));
	if (room)
		t->processes[t->count++] = p;
	pthread_mutex_unlock(&t->lock);
	if (room)
		return RT_OK;
	process_free(p);
	return rt_error_set(err, RT_EMEMORY, "no memory for a process");
}

/* ---- Processes in a sandbox ---- */

/* Those that run unrecorded tell it by closing the file, which they have opened for reading only (channel.h). */
static void watch_file(struct tree *t)
{
	char name[64];
	snprintf(name, sizeof name, "/proc/self/fd/%d", t->fd);
	t->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (t->notify >= 0)
		inotify_add_watch(t->notify, name, IN_CLOSE_NOWRITE);
}

static void say_sandboxed(struct tree *t)
{
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n = t->notify >= 0 ? read(t->notify, events, sizeof events) : -1;
	struct rt_error error = {0};
	if (t->said)
		return;
	if (n > 0)
		rt_error_set(&error, RT_ESYSTEM, "a program that was executed in a seccomp sandbox runs unrecorded");
	else if (atomic_load(&t->shared->lost))
		rt_error_set(&error, RT_ESYSTEM, "a process that was forked in a seccomp sandbox runs unrecorded");
	else if (atomic_load(&t->shared->hidden))
		rt_error_set(&error, RT_ESYSTEM,
		             "a program that was executed where /proc is not mounted runs unrecorded");
	t->said = error.status != RT_OK;
	if (t->said && t->options.rings.tell)
		t->options.rings.tell(&error);
}

enum rt_status tree_create(const struct tree_options *options, struct tree **out, struct rt_error *err)
{
	struct tree *t = calloc(1, sizeof *t);
	if (!t)
		return rt_error_set(err, RT_EMEMORY, "no memory for the collector");
	t->options = *options;
	t->fd = t->notify = -1;
	pthread_mutex_init(&t->lock, NULL);
	pthread_mutex_init(&t->resolving, NULL);
	enum rt_status status = collector_file(&t->fd, err);
	if (!status)
		status = extend(t, err);
	if (status) {
		tree_free(t);
		return status;
	}
	t->shared = collector_tree(t->processes[0]->collector);
	t->shared->made = t->shared->taken = 1;
	t->shared->collector_pid = getpid();
	t->shared->collector_fd = t->fd;
	t->shared->follows_plain = options->follows_plain;
	t->shared->filters = confine_own();
	struct stat st;
	t->shared->pid_namespace = stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
	watch_file(t);
	if (options->folder && strlen(options->folder) < RT_FOLDER_SIZE && !strpbrk(options->folder, ":'")) {
		memcpy(t->shared->folder, options->folder, strlen(options->folder) + 1);
		if (getrandom(&t->shared->nonce, sizeof t->shared->nonce, 0) < 0)
			t->shared->nonce = now_ns();
		t->shared->nonce |= 1;
	}
	*out = t;
	return RT_OK;
}

int tree_fd(const struct tree *t)
{
	return t->fd;
}

struct collector *tree_first(const struct tree *t)
{
	return t->processes[0]->collector;
}

/* ---- One process ---- */

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
		struct process *other = process_at(t, i);
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

/* Its command line, NULL-terminated; NULL if that cannot be read. */
static char **command_of(pid_t pid)
{
	char name[64], *word = NULL, **command = NULL;
	size_t size = 0, n = 0, room = 0;
	snprintf(name, sizeof name, "/proc/%ld/cmdline", (long)pid);
	FILE *f = fopen(name, "re");
	while (f && getdelim(&word, &size, '\0', f) > 0) {
		if (!vec_reserve(&command, &room, n + 2, sizeof *command))
			break;
		command[n] = strdup(word);
		command[++n] = NULL;
	}
	free(word);
	if (f)
		fclose(f);
	return command;
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
		struct process *other = process_at(p->tree, i);
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

static enum rt_status finish(struct tree *t, struct collector *c, struct rt_writer *w, struct rt_writer_result *result,
                             struct rt_error *err)
{
	struct resolver *resolver = NULL;
	pthread_mutex_lock(&t->resolving);
	enum rt_status status = resolver_create(collector_modules(c), &t->atomics, &resolver, err);
	if (!status)
		status = resolver_write(resolver, w, false, err);
	if (!status)
		collector_name_hidden_atomics(c, resolver_hidden_atomics(resolver));
	resolver_free(resolver);
	pthread_mutex_unlock(&t->resolving);
	if (!status)
		return rt_writer_finish(w, result, err);
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
	enum rt_status status = collector_run(p->collector, p->trace.pid, w, err);
	eventfd_write(watched.enough, 1);
	pthread_join(watcher, NULL);
	close(watched.enough);
	return status;
}

/*
 * True of a process without a second thread that has only executed another program, and of a program that is not
 * instrumented and that another one executed: a shell has many of those.
 */
static bool is_of_no_interest(const struct collector *c)
{
	bool between = collector_forked(c) && collector_replaced(c);
	return collector_threads(c) < 2 && (between || (!collector_forked(c) && collector_watched(c)));
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
	if (!status)
		status = rt_writer_create(p->path, &options, &w, err);
	if (!status && strcmp(p->path, rt_writer_path(w)) != 0) {
		free(p->path);
		p->path = strdup(rt_writer_path(w));
	}
	if (status) {
		collector_abandon(p->collector);
		return status;
	}
	status = collect(p, pidfd, w, err);
	p->trace.result.duration_ns = now_ns() - began;
	p->trace.broken = collector_broken(p->collector);
	if (!status && is_of_no_interest(p->collector)) {
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

static void *process_run(void *arg)
{
	struct process *p = arg;
	int pidfd = (int)syscall(SYS_pidfd_open, p->trace.pid, 0); /* ESRCH: it is dead already */
	bool watched = pidfd >= 0 || errno == ESRCH;
	bool another = p->gone && ((pidfd >= 0 && !is_dead(pidfd, 0)) || p->tree->namespaces);
	if (another && pidfd >= 0) { /* it got the number now, or has it here */
		close(pidfd);
		pidfd = -1;
	}
	if (watched)
		record(p, pidfd, &p->trace.error);
	else
		lose(p);
	if (p->trace.error.status && p->tree->options.rings.tell && !p->trace.error.told)
		p->tree->options.rings.tell(&p->trace.error);
	atomic_store(&p->settled, true);
	if (collector_replaced(p->collector))
		await_successor(p, pidfd);
	p->over = collector_replaced(p->collector) || (watched && !another && is_dead(pidfd, 0));
	if (pidfd >= 0)
		close(pidfd);
	atomic_store(&p->done, true);
	ring(p->tree);
	return NULL;
}

/* ---- The acceptor ---- */

static void begin(struct process *p)
{
	pid_t told = collector_told(p->collector), found = collector_find(p->collector);
	p->trace.pid = found ? found : told;
	p->gone = !found;
	if (found && found != told)
		atomic_store(&p->tree->namespaces, true);
	p->command = command_of(p->trace.pid);
	if (collector_watched(p->collector))
		take_tool_out(p->command);
	atomic_store(&p->begun, true);
	errno = thread_create(&p->thread, THREAD_RESOLVES, process_run, p);
	if (!errno)
		return;
	lose(p);
	p->joined = true;
	atomic_store(&p->settled, true);
	atomic_store(&p->done, true);
}

/* Frees the channel; the trace's facts stay. */
static void reap(struct process *p)
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

/* No more channels can be made: once the existing ones are used, further processes run unrecorded. */
static void fill_up(struct tree *t, struct rt_error *error)
{
	rt_error_context(error, "cannot record more than %zu processes at once", t->count);
	if (t->options.rings.tell)
		t->options.rings.tell(error);
}

static void look_around(struct tree *t)
{
	uint32_t taken = atomic_load(&t->shared->taken);
	while (!t->full && t->count < (size_t)taken + AHEAD) {
		struct rt_error error = {0};
		t->full = t->count >= PROCESSES_MAX
		              ? rt_error_set(&error, RT_ESYSTEM, "%u processes were recorded", PROCESSES_MAX)
		              : extend(t, &error);
		if (!t->full)
			atomic_store(&t->shared->made, (uint32_t)t->count);
		else
			fill_up(t, &error);
	}
	if (t->full && taken > t->count)
		atomic_store(&t->shared->over, 1); /* no process waits for a channel */
	for (size_t i = 1; i < t->count; i++) {
		struct process *p = t->processes[i];
		if (!atomic_load(&p->begun) && collector_started(p->collector))
			begin(p);
		if (atomic_load(&p->done))
			reap(p);
	}
}

static void *run_acceptor(void *arg)
{
	struct tree *t = arg;
	for (;;) {
		uint32_t bell = atomic_load(&t->shared->bell);
		bool stop = atomic_load(&t->stop);
		atomic_fetch_add(&t->shared->beat, 1);
		if (t->shared->nonce)
			look_around(t);
		say_sandboxed(t);
		if (stop)
			return NULL;
		sleep_on_bell(t, bell, BEAT_MS);
	}
}

enum rt_status tree_start(struct tree *t, const char *first, struct rt_error *err)
{
	t->first = strdup(first);
	if (!t->first)
		return rt_error_set(err, RT_EMEMORY, "no memory for a path");
	int failure = thread_create(&t->acceptor, THREAD_WAITS, run_acceptor, t);
	if (failure)
		return rt_error_set(err, RT_ESYSTEM, "cannot make a thread: %s%s", strerror(failure),
		                    limit_behind(failure));
	t->started = true;
	return RT_OK;
}

/* ---- The end ---- */

/* The processes whose traces are not written yet; or only those that are still recorded. */
static size_t count_processes(struct tree *t, bool recorded, pid_t *pids, size_t n)
{
	size_t alive = 0;
	for (size_t i = 1;; i++) {
		struct process *p = process_at(t, i);
		if (!p)
			return alive;
		if (!atomic_load(&p->begun) || atomic_load(&p->done) || (recorded && atomic_load(&p->settled)))
			continue;
		if (alive < n)
			pids[alive] = p->trace.pid;
		alive++;
	}
}

size_t tree_alive(struct tree *t, pid_t *pids, size_t n)
{
	return count_processes(t, true, pids, n);
}

static bool is_busy(struct tree *t)
{
	return count_processes(t, false, NULL, 0) > 0;
}

/* True if a child is about to join. One that was killed before never does. */
static bool is_expected(struct tree *t)
{
	uint64_t until = now_ns() + FORKED_NS;
	while (atomic_load(&t->shared->forking) && now_ns() < until) {
		uint32_t bell = atomic_load(&t->shared->bell);
		if (is_busy(t))
			return true;
		sleep_on_bell(t, bell, 10);
	}
	return is_busy(t);
}

bool tree_wait(struct tree *t, unsigned milliseconds)
{
	uint32_t bell = atomic_load(&t->shared->bell);
	if (!t->started || !t->shared->nonce || (!is_busy(t) && !is_expected(t)))
		return false;
	sleep_on_bell(t, bell, milliseconds);
	return true;
}

void tree_abandon(struct tree *t)
{
	atomic_store(&t->shared->over, 1);
	pthread_mutex_lock(&t->lock);
	for (size_t i = 1; i < t->count; i++)
		if (t->processes[i]->collector)
			collector_abandon(t->processes[i]->collector);
	pthread_mutex_unlock(&t->lock);
}

static void stop(struct tree *t)
{
	if (!t->started)
		return;
	t->started = false;
	tree_abandon(t);
	atomic_store(&t->stop, true);
	ring(t);
	pthread_join(t->acceptor, NULL);
	for (size_t i = 1; i < t->count; i++) {
		struct process *p = t->processes[i];
		if (p->collector) /* also if no process has started yet */
			collector_abandon(p->collector);
		if (atomic_load(&p->begun))
			reap(p);
	}
}

void tree_end(struct tree *t, void (*f)(const struct tree_trace *trace, void *arg), void *arg)
{
	stop(t);
	for (size_t i = 1; i < t->count; i++) {
		struct process *p = t->processes[i];
		p->trace.path = p->path;
		if (atomic_load(&p->begun))
			f(&p->trace, arg);
	}
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	stop(t);
	for (size_t i = t->count; i-- > 0;) /* the first one has the data that all share */
		process_free(t->processes[i]);
	free(t->processes);
	free(t->first);
	if (t->fd >= 0)
		close(t->fd);
	if (t->notify >= 0)
		close(t->notify);
	pthread_mutex_destroy(&t->lock);
	pthread_mutex_destroy(&t->resolving);
	hidden_cache_release(&t->atomics);
	free(t);
}
