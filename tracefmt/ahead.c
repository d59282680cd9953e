/* Reading ahead; see ahead.h. A ring of batches: the thread fills those that the caller has done with. */
#include "tracefmt/ahead.h"
#include "tracefmt/source.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { BATCHES = 8, BATCH = 1024, STACK = 1 << 18 };

struct batch {
	enum rt_status status;
	struct rt_error err;
	size_t count;
	struct rt_event events[BATCH];
};

struct rt_ahead {
	struct rt_trace *trace;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	uint64_t filled, taken; /* numbers of batches; the last one taken is the caller's */
	bool stop;
	struct batch batches[BATCHES];
};

/* Waits for a batch that is no one's. False: none is wanted. */
static bool await_room(struct rt_ahead *a)
{
	pthread_mutex_lock(&a->mutex);
	while (!a->stop && a->filled >= a->taken + BATCHES - 1)
		pthread_cond_wait(&a->changed, &a->mutex);
	bool wanted = !a->stop;
	pthread_mutex_unlock(&a->mutex);
	return wanted;
}

static void *read_all(void *arg)
{
	struct rt_ahead *a = arg;
	for (bool more = true; more && await_room(a);) {
		struct batch *b = &a->batches[a->filled % BATCHES];
		b->count = 0;
		b->status = a->trace->source->read(a->trace, b->events, BATCH, &b->count, &b->err);
		more = !b->status && b->count;
		pthread_mutex_lock(&a->mutex);
		a->filled++;
		pthread_cond_signal(&a->changed);
		pthread_mutex_unlock(&a->mutex);
	}
	return NULL;
}

/* Signals are for the caller's threads. */
static bool start_thread(struct rt_ahead *a)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	if (pthread_attr_init(&attributes))
		return false;
	sigfillset(&all);
	pthread_attr_setstacksize(&attributes, STACK);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool started = !pthread_create(&a->thread, &attributes, read_all, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return started;
}

struct rt_ahead *rt_ahead_start(struct rt_trace *trace)
{
	size_t count;
	struct rt_ahead *a = trace->source->ahead ? calloc(1, sizeof *a) : NULL;
	if (!a)
		return NULL;
	/* Symbols are parsed when they are first asked for, by what reads the file, too. */
	rt_trace_frames(trace, 0, &count);
	a->trace = trace;
	pthread_mutex_init(&a->mutex, NULL);
	pthread_cond_init(&a->changed, NULL);
	if (start_thread(a))
		return a;
	free(a);
	return NULL;
}

enum rt_status rt_ahead_read(struct rt_ahead *a, struct rt_event **events, size_t *got, struct rt_error *err)
{
	pthread_mutex_lock(&a->mutex);
	while (a->filled == a->taken)
		pthread_cond_wait(&a->changed, &a->mutex);
	struct batch *b = &a->batches[a->taken++ % BATCHES];
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->mutex);
	*events = b->events;
	*got = b->count;
	if (b->status && err)
		*err = b->err;
	if (b->status)
		return b->status;
	if (b->count && a->trace->watcher)
		a->trace->watcher(b->events[b->count - 1].number, a->trace->watcher_arg);
	return RT_OK;
}

void rt_ahead_stop(struct rt_ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->mutex);
	a->stop = true;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->mutex);
	pthread_join(a->thread, NULL);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->mutex);
	free(a);
}
