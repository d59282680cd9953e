/* Reader-writer locks, and streams, which are locks too. */
#include "named.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static const struct timespec past;

/* Nothing: it is held for writing. */
static void *attempts(void *unused)
{
	MUST(pthread_rwlock_tryrdlock(&rw) == EBUSY);
	MUST(pthread_rwlock_trywrlock(&rw) == EBUSY);
	MUST(pthread_rwlock_timedrdlock(&rw, &past) == ETIMEDOUT);
	MUST(pthread_rwlock_timedwrlock(&rw, &past) == ETIMEDOUT);
	MUST(pthread_rwlock_clockrdlock(&rw, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
	MUST(pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
	MUST(ftrylockfile(stderr) != 0);
	return unused;
}

// expect main.2: acquire-shared rw, release rw
static void *read_beside(void *unused)
{
	MUST(pthread_rwlock_trywrlock(&rw) == EBUSY);
	MUST(pthread_rwlock_rdlock(&rw) == 0 && pthread_rwlock_unlock(&rw) == 0);
	return unused;
}

static void in_thread(void *(*routine)(void *))
{
	pthread_t t;
	MUST(pthread_create(&t, NULL, routine, NULL) == 0);
	MUST(pthread_join(t, NULL) == 0);
}

int main(void)
{
	struct timespec realtime, monotonic;
	clock_gettime(CLOCK_REALTIME, &realtime), clock_gettime(CLOCK_MONOTONIC, &monotonic);
	realtime.tv_sec += 10, monotonic.tv_sec += 10;
	NAME(rw);
	NAME_AT(stderr, "stream");

	// expect main: acquire rw, acquire stream, release stream, release rw
	MUST(pthread_rwlock_wrlock(&rw) == 0);
	MUST(pthread_rwlock_rdlock(&rw) == EDEADLK);
	flockfile(stderr);
	MUST(ftrylockfile(stderr) == 0);
	in_thread(attempts);
	funlockfile(stderr);
	funlockfile(stderr);
	MUST(pthread_rwlock_unlock(&rw) == 0);

	// expect main: acquire stream+timed, release stream
	MUST(ftrylockfile(stderr) == 0);
	funlockfile(stderr);

	// expect main: acquire-shared rw, release rw
	MUST(pthread_rwlock_rdlock(&rw) == 0 && pthread_rwlock_rdlock(&rw) == 0 && pthread_rwlock_tryrdlock(&rw) == 0);
	in_thread(read_beside);
	MUST(pthread_rwlock_unlock(&rw) == 0 && pthread_rwlock_unlock(&rw) == 0 && pthread_rwlock_unlock(&rw) == 0);

	// expect main: acquire-shared rw+timed, release rw, acquire-shared rw+timed, release rw
	MUST(pthread_rwlock_tryrdlock(&rw) == 0 && pthread_rwlock_unlock(&rw) == 0);
	MUST(pthread_rwlock_timedrdlock(&rw, &realtime) == 0 && pthread_rwlock_unlock(&rw) == 0);
	// expect main: acquire-shared rw+timed, release rw
	MUST(pthread_rwlock_clockrdlock(&rw, CLOCK_MONOTONIC, &monotonic) == 0 && pthread_rwlock_unlock(&rw) == 0);
	// expect main: acquire rw+timed, release rw, acquire rw+timed, release rw, acquire rw+timed, release rw
	MUST(pthread_rwlock_trywrlock(&rw) == 0 && pthread_rwlock_unlock(&rw) == 0);
	MUST(pthread_rwlock_timedwrlock(&rw, &realtime) == 0 && pthread_rwlock_unlock(&rw) == 0);
	MUST(pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, &monotonic) == 0 && pthread_rwlock_unlock(&rw) == 0);
	return 0;
}
