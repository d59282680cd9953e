/*
 * Crawler: workers fetch pages, a manager cancels those that take too long. After Hedc and Weblech in PECAN's Table 1.
 *
 * The bugs: the manager looks whether the task has a worker, gives it one more chance, and then tells that worker to
 * stop, under a lock that no worker takes when it leaves the task: in between the task may have lost its worker, and
 * Hedc's manager throws a NullPointerException. The count of pages is kept without a lock as well. That each page is
 * fetched once is right: the frontier has its lock.
 *
 * In the recorded run the manager cancels the task before a worker leaves it, and one worker follows the other.
 */
#include "run.h"

#include <sched.h>

enum { PAGES = 256 };

struct worker {
	int stop;
};

struct task {
	pthread_mutex_t lock;
	struct worker *worker;
};

struct frontier {
	pthread_mutex_t lock;
	int next;
};

static struct worker worker;
struct task task = {PTHREAD_MUTEX_INITIALIZER, &worker};
struct frontier frontier = {PTHREAD_MUTEX_INITIALIZER, 0};
long fetched;

static int next_page(struct frontier *f)
{
	int page;

	pthread_mutex_lock(&f->lock);
	page = f->next++;
	pthread_mutex_unlock(&f->lock);
	return page % PAGES;
}

static void cancel(int thread, int round)
{
	(void)thread;
	pthread_mutex_lock(&task.lock);
	if (task.worker) { /* @look */
		sched_yield();
		struct worker *w = task.worker; /* @use */
		if (w)
			w->stop = 1;
		else if (!round)
			puts("ERROR: no worker to stop");
	}
	pthread_mutex_unlock(&task.lock);
}

static void fetch(int thread, int round)
{
	int page;

	(void)thread;
	(void)round;
	task.worker = &worker; /* @begin */
	page = next_page(&frontier);
	task.worker = NULL;   /* @leave */
	fetched += page >= 0; /* @fetch */
}

int main(int argc, char **argv)
{
	static part *const parts[] = {cancel, fetch, fetch};

	run(argc, argv, parts, 3, 3);
	printf("%ld fetched, %s\n", fetched, worker.stop ? "stopped" : "not stopped");
	return 0;
}
