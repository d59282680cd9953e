/* Provers in several processes; see jobs.h. */
#include "lib/prove/jobs.h"

#include "lib/prove/provers.h"
#include "lib/prove/result.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Process k: decides every count-th anomaly, beginning with the k-th. */
static void work(struct provers *p, const struct jobs_task *task, uint32_t k, uint32_t count, int fd)
{
	struct rt_error err;
	for (size_t i = k; i < task->count; i += count) {
		struct anomaly *a = &task->list->items[task->order[i]];
		struct prove_counts before = *provers_counts(p);
		if (task->decide(p, a, &err))
			return; /* left to the parent, which can report the error */
		if (!result_write(fd, a, &before, provers_counts(p)))
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
		/* It may search for long before it writes, which would fail. */
		kill(j->items[i].pid, SIGKILL);
		while (waitpid(j->items[i].pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(j);
}

bool jobs_take(struct jobs *j, struct anomaly *a)
{
	struct job *job = &j->items[j->next++ % j->count];
	struct result r;
	if (job->pipe < 0)
		return false;
	if (!result_read(job->pipe, j->provers->m, &r)) {
		/* It ended early: the rest of its part is decided here. */
		close(job->pipe);
		job->pipe = -1;
		return false;
	}
	if (!provers_add(j->provers, &r.before, &r.after)) {
		result_release(&r);
		return false;
	}
	result_apply(&r, a);
	return true;
}
