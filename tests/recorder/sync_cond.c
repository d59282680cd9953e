/* Conditions: a wait releases the mutex and acquires it again without events of its own, however it ends. */
#include "named.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, checking;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, waiting;

// expect main.1: acquire m, wait-begin c=m, wait-end c=m, release m
static void *wait_once(void *unused)
{
	pthread_mutex_lock(&m);
	waiting = 1;
	MUST(pthread_cond_wait(&c, &m) == 0);
	MUST(ready == 1);
	pthread_mutex_unlock(&m);
	return unused;
}

static void unlock(void *mutex)
{
	pthread_mutex_unlock(mutex);
}

// expect main.2: acquire m, wait-begin c=m, wait-end c=m, release m
static void *wait_to_be_cancelled(void *unused)
{
	pthread_mutex_lock(&m);
	waiting = 1;
	pthread_cleanup_push(unlock, &m);
	pthread_cond_wait(&c, &m);
	MUST(!"woken");
	pthread_cleanup_pop(1);
	return unused;
}

/* Returns with m held, when the thread waits. */
static void until_waiting(void)
{
	for (;;) {
		usleep(1000);
		if (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST))
			return;
	}
}

// expect main.3: acquire m, wait-begin c=m, wait-end c=m+timed+signalled, release m
static void *wait_a_while(void *until)
{
	pthread_mutex_lock(&m);
	waiting = 1;
	MUST(pthread_cond_timedwait(&c, &m, until) == 0);
	pthread_mutex_unlock(&m);
	return NULL;
}

int main(void)
{
	pthread_t t;
	void *value;
	struct timespec past = {0, 1}, invalid = {0, 1000000000}, realtime;
	pthread_mutexattr_t a;
	clock_gettime(CLOCK_REALTIME, &realtime);
	realtime.tv_sec += 100;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&checking, &a);
	NAME(m), NAME(c), NAME(checking);

	// expect main: acquire m, signal c, release m
	MUST(pthread_create(&t, NULL, wait_once, NULL) == 0);
	until_waiting();
	pthread_mutex_lock(&m);
	ready = 1;
	MUST(pthread_cond_signal(&c) == 0);
	pthread_mutex_unlock(&m);
	MUST(pthread_join(t, NULL) == 0);

	// expect main: acquire m, release m
	waiting = 0;
	MUST(pthread_create(&t, NULL, wait_to_be_cancelled, NULL) == 0);
	until_waiting();
	pthread_mutex_lock(&m);
	MUST(pthread_cancel(t) == 0);
	pthread_mutex_unlock(&m);
	MUST(pthread_join(t, &value) == 0 && value == PTHREAD_CANCELED);

	// expect main: acquire m, broadcast c, release m
	waiting = 0;
	MUST(pthread_create(&t, NULL, wait_a_while, &realtime) == 0);
	until_waiting();
	pthread_mutex_lock(&m);
	MUST(pthread_cond_broadcast(&c) == 0);
	pthread_mutex_unlock(&m);
	MUST(pthread_join(t, NULL) == 0);

	// expect main: acquire m, wait-begin c=m, wait-end c=m+timed+timeout
	pthread_mutex_lock(&m);
	MUST(pthread_cond_timedwait(&c, &m, &past) == ETIMEDOUT);
	// expect main: wait-begin c=m, wait-end c=m+timed+timeout, release m
	MUST(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
	/* Refused: nothing was released. */
	MUST(pthread_cond_timedwait(&c, &m, &invalid) == EINVAL);
	MUST(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &invalid) == EINVAL);
	MUST(pthread_cond_clockwait(&c, &m, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
	MUST(pthread_cond_timedwait(&c, &checking, &past) == EPERM);
	pthread_mutex_unlock(&m);
	return 0;
}
