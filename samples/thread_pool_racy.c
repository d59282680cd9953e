/* The racy twin of thread_pool.c: workers count what they have done without the mutex. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { WORKERS = 3, JOBS = 12 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int left = JOBS;
int done;

static void *worker(void *arg)
{
	for (;;) {
		int job;

		pthread_mutex_lock(&mutex);
		job = left ? left-- : 0;
		pthread_mutex_unlock(&mutex);
		if (!job)
			return arg;
		usleep(1000); /* the job */
		done++;       /* @done */
	}
}

int main(void)
{
	pthread_t t[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(t[i], NULL);
	printf("done = %d\n", done);
	return 0;
}
