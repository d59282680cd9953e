/*
 * Several traces at once; see many.h. Each thread of a crew takes the next trace, and makes its report. The
 * main thread is one of them; it also adds the reports to the merge, each when all earlier ones are there. What is too
 * large for a thread's share of the memory is analyzed again by the main thread, with all of it, while the others wait.
 */
#include "cmd/analyze/many.h"

#include "cmd/analyze/job.h"
#include "cmd/base/common.h"
#include "cmd/base/memory.h"
#include "cmd/base/progress.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct task {
	struct analyze_job job;
	bool done;
	enum rt_status status;
	struct rt_error err;
};

struct crew {
	struct analyze_settings *s;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct task *tasks;
	size_t count, next; /* the first that is not begun */
	size_t added;       /* to the merge, or found to be in error */
	size_t read;        /* of them, those without an error */
	uint32_t size;      /* threads */
	uint32_t busy;      /* of them, those in a task */
	bool paused, ended;
	size_t done;
};

/* Number of tasks that may be begun beyond those that were added: their reports take memory. */
static size_t ahead(const struct crew *c)
{
	return (size_t)c->size * 2;
}

static bool may_begin(const struct crew *c)
{
	return c->next < c->count && c->next < c->added + ahead(c) && !c->paused && !c->ended &&
	       !(c->next && analyze_interrupted());
}

/* Takes and makes the next task. The lock is held, but not meanwhile. */
static void make_next(struct crew *c)
{
	struct task *t = &c->tasks[c->next++];
	c->busy++;
	pthread_mutex_unlock(&c->lock);
	t->status = analyze_job_open(&t->job, &t->err);
	if (!t->status)
		t->status = analyze_job_run(&t->job, &t->err);
	pthread_mutex_lock(&c->lock);
	c->busy--;
	t->done = true;
	progress_count(++c->done, c->count);
	pthread_cond_broadcast(&c->changed);
}

static void *work(void *crew)
{
	struct crew *c = crew;
	pthread_mutex_lock(&c->lock);
	while (!c->ended) {
		if (may_begin(c))
			make_next(c);
		else
			pthread_cond_wait(&c->changed, &c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* True once the task is done; false if an interrupt came before it was begun. */
static bool await(struct crew *c, size_t i)
{
	pthread_mutex_lock(&c->lock);
	while (!c->tasks[i].done && !(c->next <= i && !may_begin(c))) {
		if (may_begin(c))
			make_next(c);
		else
			pthread_cond_wait(&c->changed, &c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return c->tasks[i].done;
}

static void set_paused(struct crew *c, bool paused)
{
	pthread_mutex_lock(&c->lock);
	c->paused = paused;
	while (paused && c->busy)
		pthread_cond_wait(&c->changed, &c->lock);
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

/* Makes a task that did not fit beside others with all of the memory, by windows if need be. */
static void make_alone(struct crew *c, struct task *t, struct merge *merge)
{
	set_paused(c, true);
	if (c->size > 1) {
		t->job.max_memory = c->s->max_memory;
		t->status = analyze_job_run(&t->job, &t->err);
	}
	if (t->status == RT_ELARGE && analyze_by_windows(c->s))
		t->status = analyze_job_windows(&t->job, merge, &t->err);
	set_paused(c, false);
}

/* Adds a task that is done. Its error is printed, if it is one of the trace; *failed. */
static enum rt_status add(struct crew *c, struct task *t, struct merge *merge, bool *failed, struct rt_error *err)
{
	if (t->job.trace)
		cmd_warn(t->job.trace);
	if (t->job.trace && (t->status == RT_ELARGE || t->status == RT_EMEMORY))
		make_alone(c, t, merge);
	if (t->status == RT_EUSAGE || t->status == RT_EINTERNAL) {
		*err = t->err;
		return t->status;
	}
	if (t->status) {
		if (!strstr(t->err.message, t->job.path))
			rt_error_context(&t->err, "'%s'", t->job.path);
		fprintf(stderr, "racetrace: %s\n", t->err.message);
		if (t->job.windows)
			fprintf(stderr, "racetrace: the report is about %zu windows of '%s'\n", t->job.windows,
			        t->job.path);
		*failed = true;
		return RT_OK;
	}
	c->read++;
	c->s->incomplete |= t->job.lacks;
	if (t->job.report)
		analyze_job_tell(&t->job);
	cmd_warn_incomplete(t->job.trace);
	if (!t->job.report)
		return RT_OK; /* the windows are there already */
	struct report *r = t->job.report;
	t->job.report = NULL;
	t->job.trace = NULL; /* they are the merge's */
	return merge_add(merge, &(struct merge_source){.name = t->job.path}, r, NULL, err);
}

/* Adds all tasks. *added: number of those that were. */
static enum rt_status add_all(struct crew *c, struct merge *merge, bool *failed, struct rt_error *err)
{
	enum rt_status status = RT_OK;
	for (size_t i = 0; i < c->count && !status && await(c, i); i++) {
		status = add(c, &c->tasks[i], merge, failed, err);
		analyze_job_release(&c->tasks[i].job);
		pthread_mutex_lock(&c->lock);
		c->added = i + 1;
		pthread_cond_broadcast(&c->changed);
		pthread_mutex_unlock(&c->lock);
	}
	if (!status && c->added < c->count) {
		fprintf(stderr, "racetrace: interrupted: the report is about %zu of %zu traces\n", c->read, c->count);
		c->s->incomplete = true;
	}
	if (!status && !merge_any_report(merge)) {
		*err = (struct rt_error){.status = RT_EINPUT, .told = true};
		status = RT_EINPUT;
	}
	return status;
}

/* Starts the other threads; as many as can be, if not all can. Returns their number. */
static uint32_t start(struct crew *c, pthread_t *threads)
{
	uint32_t n = 0;
	while (n + 1 < c->size && !pthread_create(&threads[n], NULL, work, c))
		n++;
	return n;
}

static void end(struct crew *c, const pthread_t *threads, uint32_t count)
{
	pthread_mutex_lock(&c->lock);
	c->ended = true;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	for (uint32_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

enum rt_status analyze_many(struct analyze_settings *s, struct merge *merge, bool *failed, struct rt_error *err)
{
	uint32_t jobs = s->analysis.jobs ? s->analysis.jobs : 1;
	size_t count = s->traces.count;
	struct crew c = {.s = s,
	                 .lock = PTHREAD_MUTEX_INITIALIZER,
	                 .changed = PTHREAD_COND_INITIALIZER,
	                 .tasks = calloc(count, sizeof *c.tasks),
	                 .count = count,
	                 .size = count < jobs ? (uint32_t)count : jobs};
	pthread_t *threads = calloc(c.size, sizeof *threads);
	enum rt_status status =
	    c.tasks && threads ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory to analyze %zu traces", count);
	if (!status) {
		uint64_t share = c.size > 1 ? cmd_allowed_memory(s->max_memory) / c.size : s->max_memory;
		/* A process that one of several threads makes has what the others hold at that moment, for ever. */
		uint32_t processes = c.size > 1 ? 1 : jobs;
		for (size_t i = 0; i < count; i++)
			c.tasks[i].job = (struct analyze_job){.s = s,
			                                      .path = s->traces.paths[i],
			                                      .max_memory = share,
			                                      .processes = processes,
			                                      .one_of_several = true};
		progress_begin();
		progress_step("analyzing traces", 1, 1);
		progress_count(0, count);
		uint32_t started = start(&c, threads);
		status = add_all(&c, merge, failed, err);
		end(&c, threads, started);
		progress_end();
		for (size_t i = 0; i < c.next; i++)
			analyze_job_release(&c.tasks[i].job);
	}
	free(c.tasks);
	free(threads);
	return status;
}
