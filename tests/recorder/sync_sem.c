/* Semaphores, unnamed and named. */
#include "named.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static sem_t s;

// expect main.1: sem-wait s, sem-post s
static void *worker(void *unused)
{
	MUST(sem_wait(&s) == 0);
	MUST(sem_post(&s) == 0);
	return unused;
}

int main(void)
{
	pthread_t t;
	char path[64];
	struct timespec past = {0, 1}, realtime, monotonic;
	clock_gettime(CLOCK_REALTIME, &realtime), clock_gettime(CLOCK_MONOTONIC, &monotonic);
	realtime.tv_sec += 10, monotonic.tv_sec += 10;
	NAME(s);

	// expect main: sem-init s=2, sem-wait s, sem-wait s+timed
	MUST(sem_init(&s, 0, 2) == 0 && sem_wait(&s) == 0 && sem_trywait(&s) == 0);
	MUST(sem_trywait(&s) == -1 && errno == EAGAIN);
	MUST(sem_timedwait(&s, &past) == -1 && errno == ETIMEDOUT);
	MUST(sem_clockwait(&s, CLOCK_MONOTONIC, &past) == -1 && errno == ETIMEDOUT);

	// expect main: sem-post s
	MUST(pthread_create(&t, NULL, worker, NULL) == 0);
	MUST(sem_post(&s) == 0);
	MUST(pthread_join(t, NULL) == 0);
	// expect main: sem-wait s+timed, sem-post s, sem-wait s+timed
	MUST(sem_timedwait(&s, &realtime) == 0 && sem_post(&s) == 0);
	MUST(sem_clockwait(&s, CLOCK_MONOTONIC, &monotonic) == 0);

	/* A post that fails is none. */
	// expect main: sem-init s=2147483647
	MUST(sem_init(&s, 0, SEM_VALUE_MAX) == 0);
	MUST(sem_post(&s) == -1 && errno == EOVERFLOW);
	MUST(sem_init(&s, 0, SEM_VALUE_MAX + 1u) == -1);

	// expect main: sem-init named=3, sem-wait named+timed, sem-post named
	snprintf(path, sizeof path, "/racetrace-test-%d", (int)getpid());
	sem_t *named = sem_open(path, O_CREAT | O_EXCL, 0600, 3);
	if (named == SEM_FAILED && (errno == ENOSYS || errno == EACCES || errno == ENOENT))
		return 77; /* no shared memory here */
	MUST(named != SEM_FAILED);
	NAME_AT(named, "named");
	MUST(sem_open(path, O_CREAT, 0600, 9) == named); /* it is the same one, and not new */
	MUST(sem_unlink(path) == 0);
	MUST(sem_wait(named) == 0 && sem_close(named) == 0 && sem_post(named) == 0 && sem_close(named) == 0);
	MUST(sem_open(path, 0) == SEM_FAILED);
	return 0;
}
