/*
 * The ways in which a thread ends and is waited for; and one that cannot be made, of which the trace says nothing.
 * Main ends by pthread_exit, before the last of the others.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static void *returns(void *value)
{
	return value;
}

static void *exits(void *value)
{
	pthread_exit(value);
}

static void *waits(void *value)
{
	for (;;)
		pause();
	return value;
}

static int c11(void *value)
{
	return *(int *)value;
}

static void *last(void *value)
{
	usleep(50000);
	printf("expect fork 8\nexpect begin 9\nexpect end 9\nexpect join 6\nexpect detach 1\nexpect threads 9\n");
	fflush(stdout);
	return value;
}

int main(void)
{
	struct timespec soon;
	pthread_attr_t impossible;
	pthread_t thread;
	void *value;
	int seven = 7, result;
	thrd_t t;

	assert(pthread_create(&thread, NULL, returns, &seven) == 0 && pthread_join(thread, &value) == 0);
	assert(value == &seven);
	assert(pthread_create(&thread, NULL, exits, &seven) == 0 && pthread_join(thread, &value) == 0);
	assert(value == &seven);
	assert(pthread_create(&thread, NULL, waits, NULL) == 0);
	assert(pthread_tryjoin_np(thread, NULL) == EBUSY);
	assert(pthread_setname_np(thread, "waits") == 0);
	assert(pthread_cancel(thread) == 0 && pthread_join(thread, &value) == 0 && value == PTHREAD_CANCELED);
	assert(pthread_create(&thread, NULL, returns, NULL) == 0);
	while (pthread_tryjoin_np(thread, NULL) == EBUSY)
		sched_yield();
	assert(pthread_create(&thread, NULL, returns, NULL) == 0);
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec += 20;
	assert(pthread_timedjoin_np(thread, NULL, &soon) == 0);
	assert(thrd_create(&t, c11, &seven) == thrd_success && thrd_join(t, &result) == thrd_success && result == 7);

	pthread_attr_init(&impossible);
	pthread_attr_setstacksize(&impossible, (size_t)1 << 60);
	assert(pthread_create(&thread, &impossible, returns, NULL) != 0);
	pthread_attr_destroy(&impossible);

	assert(pthread_create(&thread, NULL, returns, NULL) == 0 && pthread_detach(thread) == 0);
	assert(pthread_create(&thread, NULL, last, NULL) == 0);
	pthread_exit(NULL);
}
