/* Provers in several processes; see jobs.h. */
#include "lib/prove/jobs.h"

#include "lib/anomaly/goal.h"
#include "lib/base/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The result for an anomaly as a process sends it; the schedule's steps and the needs follow. */
struct found {
	enum verdict verdict;
	enum witness_kind witness;
	uint32_t events[ANOMALY_EVENTS_MAX];
	uint32_t uncertain, first_uncertain, substitutes, substitute, left_out;
	struct reasons reasons; /* their details are texts that existed before the fork */
	const char *guess;      /* a constant text of the program, at the same address in all processes */
	bool scheduled;
	uint32_t steps, needs, need_total; /* their number */
	uint64_t schedule_events;
	struct prove_counts before, after;
};

struct job {
	pid_t pid;
	int pipe; /* -1: closed */
};

struct jobs {
	struct provers *provers;
	size_t next; /* anomaly */
	uint32_t count;
	struct job items[];
};

static bool receive_all(int fd, void *data, size_t size)
{
	char *at = data;
	while (size) {
		ssize_t n = read(fd, at, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

/* Process k: decides every count-th anomaly, beginning with the k-th. */
static void work(struct provers *p, const struct jobs_task *task, uint32_t k, uint32_t count, int fd)
{
	struct rt_error err;
	for (size_t i = k; i < task->count; i += count) {
		struct anomaly *a = &task->list->items[task->order[i]];
		struct found f;
		memset(&f, 0, sizeof f);
		f.before = *provers_counts(p);
		if (task->decide(p, a, &err))
			return; /* left to the parent, which can report the error */
		f.after = *provers_counts(p);
		f.verdict = a->verdict;
		f.witness = a->witness;
		memcpy(f.events, a->events, sizeof f.events);
		f.uncertain = a->uncertain;
		f.first_uncertain = a->first_uncertain;
		f.substitutes = a->substitutes;
		f.substitute = a->substitute;
		f.left_out = a->left_out;
		f.guess = a->guess;
		f.reasons = a->reasons;
		if (a->schedule) {
			f.scheduled = true;
			f.steps = a->schedule->count;
			f.schedule_events = a->schedule->events;
		}
		f.needs = a->need_count;
		f.need_total = a->need_total;
		if (!rt_write_all(fd, &f, sizeof f) ||
		    (f.steps && !rt_write_all(fd, a->schedule->steps, f.steps * sizeof *a->schedule->steps)) ||
		    !rt_write_all(fd, a->needs, f.needs * sizeof *a->needs))
			return;
		if (a->schedule)
			schedule_release(a->schedule);
	}
}

struct jobs *jobs_start(struct provers *p, const struct jobs_task *task, uint32_t count)
{
	struct jobs *j = calloc(1, sizeof *j + count * sizeof *j->items);
	if (!j)
		return NULL;
	j->provers = p;
	for (; j->count < count; j->count++) {
		int ends[2];
		if (pipe(ends) != 0)
			break;
		pid_t pid = fork();
		if (pid < 0) {
			close(ends[0]);
			close(ends[1]);
			break;
		}
		if (!pid) {
			close(ends[0]);
			for (uint32_t i = 0; i < j->count; i++)
				close(j->items[i].pipe);
			work(p, task, j->count, count, ends[1]);
			_exit(0);
		}
		close(ends[1]);
		j->items[j->count] = (struct job){pid, ends[0]};
	}
	if (j->count == count)
		return j;
	jobs_end(j);
	return NULL;
}

void jobs_end(struct jobs *j)
{
	for (uint32_t i = 0; j && i < j->count; i++) {
		if (j->items[i].pipe >= 0)
			close(j->items[i].pipe);
		while (waitpid(j->items[i].pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(j);
}

static bool take_schedule(struct anomaly *a, const struct found *f, int fd)
{
	struct schedule *s = calloc(1, sizeof *s);
	if (s)
		s->steps = malloc(((size_t)f->steps + 1) * sizeof *s->steps);
	if (!s || !s->steps || !receive_all(fd, s->steps, f->steps * sizeof *s->steps)) {
		if (s)
			schedule_release(s);
		free(s);
		return false;
	}
	s->count = f->steps;
	s->events = f->schedule_events;
	a->schedule = s;
	return true;
}

static bool take_needs(struct anomaly *a, const struct found *f, int fd)
{
	a->need_count = f->needs;
	a->need_total = f->need_total;
	a->needs = f->needs ? malloc(f->needs * sizeof *a->needs) : NULL;
	return !f->needs || (a->needs && receive_all(fd, a->needs, f->needs * sizeof *a->needs));
}

/* Drops results that were taken. */
static void drop(struct anomaly *a)
{
	if (a->schedule)
		schedule_release(a->schedule);
	free(a->schedule);
	free(a->needs);
	a->schedule = NULL;
	a->needs = NULL;
	a->need_count = a->need_total = 0;
}

static bool receive(struct job *job, struct anomaly *a, struct found *f)
{
	if (job->pipe >= 0 && receive_all(job->pipe, f, sizeof *f) &&
	    (!f->scheduled || take_schedule(a, f, job->pipe)) && take_needs(a, f, job->pipe))
		return true;
	drop(a);
	/* It ended early: the rest of its part is decided here. */
	if (job->pipe >= 0)
		close(job->pipe);
	job->pipe = -1;
	return false;
}

bool jobs_take(struct jobs *j, struct anomaly *a)
{
	struct found f;
	if (!receive(&j->items[j->next++ % j->count], a, &f))
		return false;
	if (!provers_add(j->provers, &f.before, &f.after)) {
		drop(a);
		return false;
	}
	a->verdict = f.verdict;
	a->witness = f.witness;
	memcpy(a->events, f.events, sizeof f.events);
	a->uncertain = f.uncertain;
	a->first_uncertain = f.first_uncertain;
	a->substitutes = f.substitutes;
	a->substitute = f.substitute;
	a->left_out = f.left_out;
	a->guess = f.guess;
	a->reasons = f.reasons;
	return true;
}
