/* Progress; see progress.h. A thread prints it, so that it goes on while a step is long. */
#include "cmd/base/progress.h"

#include "cmd/base/messages.h"
#include "tracefmt/trace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 2000, PERIOD_MS = 250 };

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool running, end;
	_Atomic(const char *) doing;
	atomic_uint number, steps;
	atomic_size_t done, count;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

static void print(unsigned milliseconds)
{
	char text[160];
	const char *doing = atomic_load(&progress.doing);
	size_t done = atomic_load(&progress.done), count = atomic_load(&progress.count);
	if (!doing)
		return;
	unsigned steps = atomic_load(&progress.steps);
	int n = steps > 1
	            ? snprintf(text, sizeof text, "%s (step %u of %u)", doing, atomic_load(&progress.number), steps)
	            : snprintf(text, sizeof text, "%s", doing);
	if (count && n > 0)
		n += snprintf(text + n, sizeof text - (size_t)n, ", %zu of %zu", done, count);
	snprintf(text + n, sizeof text - (size_t)n, ", %u s ...", milliseconds / 1000);
	messages_progress(text);
}

static void *show(void *unused)
{
	bool shown = false;
	pthread_mutex_lock(&progress.lock);
	for (unsigned ms = PERIOD_MS; !progress.end; ms += PERIOD_MS) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += PERIOD_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&progress.ended, &progress.lock, &until);
		if (progress.end || ms < PATIENCE_MS)
			continue;
		print(ms);
		shown = true;
	}
	pthread_mutex_unlock(&progress.lock);
	if (shown)
		messages_progress(NULL);
	return unused;
}

void progress_begin(void)
{
	if (progress.running || !isatty(STDERR_FILENO))
		return;
	progress.end = false;
	progress_step(NULL, 0, 0);
	progress.running = pthread_create(&progress.thread, NULL, show, NULL) == 0;
}

void progress_step(const char *doing, unsigned number, unsigned count)
{
	atomic_store(&progress.done, 0);
	atomic_store(&progress.count, 0);
	atomic_store(&progress.number, number);
	atomic_store(&progress.steps, count);
	atomic_store(&progress.doing, doing);
}

void progress_count(size_t done, size_t count)
{
	atomic_store_explicit(&progress.done, done, memory_order_relaxed);
	atomic_store_explicit(&progress.count, count, memory_order_relaxed);
}

void progress_begin_reading(void)
{
	progress_begin();
	progress_step("reading the trace", 1, 1);
}

void progress_begin_copying(void)
{
	struct stat st;
	if (!isatty(STDOUT_FILENO) && !(fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode)))
		progress_begin_reading();
}

static void count_events(uint64_t number, void *trace)
{
	progress_count(number, rt_trace_info(trace)->events);
}

void progress_watch(struct rt_trace *trace)
{
	if (progress.running)
		rt_trace_watch(trace, count_events, trace);
}

void progress_end(void)
{
	if (!progress.running)
		return;
	pthread_mutex_lock(&progress.lock);
	progress.end = true;
	pthread_cond_signal(&progress.ended);
	pthread_mutex_unlock(&progress.lock);
	pthread_join(progress.thread, NULL);
	progress.running = false;
}
