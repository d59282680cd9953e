/* Threads that are not joined: they are still at work when main ends, and so is what it leaves behind. */
#include <pthread.h>
#include <stdlib.h>

static int jobs;
volatile int left;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused)
{
#ifdef FIXED
	pthread_mutex_lock(&mutex);
#endif
	jobs--; // @work
#ifdef FIXED
	pthread_mutex_unlock(&mutex);
#endif
	return unused;
}

/* Runs at exit, beside them. */
static void finish(void)
{
	pthread_mutex_lock(&mutex);
	left = jobs; // @finish
	pthread_mutex_unlock(&mutex);
}

int main(void)
{
	pthread_t t;
	atexit(finish);
	jobs = 2;
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, work, NULL);
		pthread_detach(t);
	}
#ifndef FIXED
	if (jobs < 0) // @look
		exit(1);
#endif
	return 0;
}
