/*
 * A thread (the acceptor) makes channels ahead, and sees which process has started in one. Each process then has a
 * thread that collects, resolves and writes, and another that sleeps until the process is dead (process.c).
 */
#include "recorder/collector/tree_parts.h"

#include "lib/base/clock.h"
#include "lib/base/vec.h"
#include "recorder/collector/confine.h"
#include "recorder/collector/find.h"
#include "recorder/collector/limits.h"
#include "recorder/collector/thread.h"
#include "recorder/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define AHEAD 4u              /* channels made in advance */
#define PROCESSES_MAX 100000u /* in one recording; more run unrecorded */
#define FORKED_NS 2000000000u /* time that a forked child has to join, once all others are gone */
#define BEAT_MS 500           /* rt_tree.beat */

void tree_ring(struct tree *t)
{
	atomic_fetch_add(&t->shared->bell, 1);
	syscall(SYS_futex, &t->shared->bell, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void sleep_on_bell(struct tree *t, uint32_t seen, unsigned milliseconds)
{
	struct timespec timeout = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
	syscall(SYS_futex, &t->shared->bell, FUTEX_WAIT, seen, &timeout, NULL, 0);
}

struct process *tree_process(struct tree *t, size_t i)
{
	pthread_mutex_lock(&t->lock);
	struct process *p = i < t->count ? t->processes[i] : NULL;
	pthread_mutex_unlock(&t->lock);
	return p;
}

/* ---- Making channels ---- */

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

/* What Valgrind refused, and how the program is recorded nevertheless. */
static void describe_refusal(uint32_t why, uint64_t what, struct rt_error *error)
{
	enum { GIGABYTE_BITS = 30, EVEX = 0x62, SHOWN = 6 };
	const uint8_t *byte = (const uint8_t *)&what;
	char bytes[3 * SHOWN + 1] = "";
	for (int i = 0; i < SHOWN; i++)
		snprintf(bytes + (ptrdiff_t)3 * i, 4, "%02x ", byte[i]);
	if (why == RT_REFUSED_MAPPING)
		rt_error_set(error, RT_ESYSTEM,
		             "Valgrind, under which a program has 128 GB of addresses, refused to map %" PRIu64
		             " GB: have the program reserve less, or build it with gcc -fsanitize=thread",
		             what >> GIGABYTE_BITS);
	else
		rt_error_set(error, RT_ESYSTEM,
		             "Valgrind does not know an instruction (%s%s), and the program got SIGILL: build it with "
		             "%s, or with gcc -fsanitize=thread",
		             bytes, byte[0] == EVEX ? "of AVX-512" : "…",
		             byte[0] == EVEX ? "-mno-avx512f" : "-march=x86-64");
}

static void say_unrecorded(struct tree *t)
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
	else if (atomic_load(&t->shared->refused))
		describe_refusal(t->shared->refused, t->shared->refused_what, &error);
	else if (atomic_load(&t->shared->alone) == RT_FILE_ADDRESS)
		rt_error_set(&error, RT_ESYSTEM,
		             "'%s' is built with -fsanitize=address and runs unrecorded: build it without",
		             t->shared->alone_name);
	else if (atomic_load(&t->shared->alone) == RT_FILE_STATIC)
		rt_error_set(&error, RT_ESYSTEM, "'%s' is statically linked and runs unrecorded: link it dynamically",
		             t->shared->alone_name);
	else if (atomic_load(&t->shared->alone) == RT_FILE_TRACED)
		rt_error_set(&error, RT_ESYSTEM,
		             "'%s' is run by a debugger, which would see Valgrind in its place, and runs unrecorded: "
		             "record it without",
		             t->shared->alone_name);
	else if (atomic_load(&t->shared->alone))
		rt_error_set(&error, RT_ESYSTEM, "'%s' is a 32-bit program and runs unrecorded: build it for x86-64",
		             t->shared->alone_name);
	t->said = error.status != RT_OK;
	if (t->said && t->options.rings.tell)
		t->options.rings.tell(&error);
}

enum rt_status tree_attach(const struct tree_options *options, pid_t pid, struct tree **out, struct rt_error *err)
{
	struct tree *t = calloc(1, sizeof *t);
	struct process *p = calloc(1, sizeof *p);
	if (!t || !p || !vec_reserve(&t->processes, &t->capacity, 1, sizeof(struct process *))) {
		free(t);
		free(p);
		return rt_error_set(err, RT_EMEMORY, "no memory for the collector");
	}
	t->options = *options;
	t->fd = t->notify = -1;
	pthread_mutex_init(&t->lock, NULL);
	pthread_mutex_init(&t->resolving, NULL);
	t->processes[t->count++] = p;
	p->tree = t;
	enum rt_status status = collector_attach(pid, &options->rings, &t->fd, &p->collector, err);
	if (status) {
		tree_free(t);
		return status;
	}
	t->shared = collector_tree(p->collector);
	t->shared->nonce = 0; /* the processes that it makes are not recorded with it */
	t->shared->collector_pid = getpid();
	*out = t;
	return RT_OK;
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
	t->shared->collector_pid = process_in_proc(getpid());
	t->shared->collector_fd = t->fd;
	t->shared->follows_plain = options->follows_plain;
	if (options->shell && strlen(options->shell) < RT_SHELL_SIZE)
		memcpy(t->shared->shell, options->shell, strlen(options->shell) + 1);
	t->shared->filters = confine_own();
	struct stat st;
	t->shared->pid_namespace = stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
	watch_file(t);
	if (options->folder && strlen(options->folder) < RT_FOLDER_SIZE && !strpbrk(options->folder, ":'")) {
		memcpy(t->shared->folder, options->folder, strlen(options->folder) + 1);
		if (options->preload)
			snprintf(t->shared->preload, sizeof t->shared->preload, "/%s", options->preload);
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

/* ---- The acceptor ---- */

/* No more channels can be made: once the existing ones are used, further processes run unrecorded. */
static void fill_up(struct tree *t, struct rt_error *error)
{
	rt_error_context(error, "cannot record more than %zu processes at once", t->count);
	if (t->options.rings.tell)
		t->options.rings.tell(error);
}

static void make_ahead(struct tree *t, uint32_t taken)
{
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
}

static void look_around(struct tree *t)
{
	uint32_t taken = atomic_load(&t->shared->taken);
	/* Under a limit of memory no channel is made while positions are resolved: that was tried with what is free
	 * now. */
	bool limited = *limit_behind(ENOMEM);
	if (!limited || pthread_mutex_trylock(&t->resolving) == 0) {
		make_ahead(t, taken);
		if (limited)
			pthread_mutex_unlock(&t->resolving);
	}
	if (t->full && taken > t->count)
		atomic_store(&t->shared->over, 1); /* no process waits for a channel */
	for (size_t i = 1; i < t->count; i++) {
		struct process *p = t->processes[i];
		if (!atomic_load(&p->begun) && collector_started(p->collector))
			process_begin(p);
		if (atomic_load(&p->done))
			process_reap(p);
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
		say_unrecorded(t);
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
		struct process *p = tree_process(t, i);
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

size_t tree_unrecorded(struct tree *t)
{
	return atomic_load(&t->unrecorded);
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
	tree_ring(t);
	pthread_join(t->acceptor, NULL);
	for (size_t i = 1; i < t->count; i++) {
		struct process *p = t->processes[i];
		if (p->collector) /* also if no process has started yet */
			collector_abandon(p->collector);
		if (atomic_load(&p->begun))
			process_reap(p);
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
