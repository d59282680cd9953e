/*
 * A thread pool: workers take jobs from a list under a mutex and add up results and the count of what is done under
 * the same mutex; the submitting thread waits for the count. No race.
 */
#include <pthread.h>
#include <stdio.h>

enum { WORKERS = 3, JOBS = 12 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
static int jobs[JOBS], submitted, closing;
int done, sum;

static void *worker(void *arg)
{
	pthread_mutex_lock(&mutex);
	for (;;) {
		int job;

		while (!submitted && !closing)
			pthread_cond_wait(&work, &mutex);
		if (!submitted)
			break;
		job = jobs[--submitted];
		pthread_mutex_unlock(&mutex);
		job *= job;
		pthread_mutex_lock(&mutex);
		sum += job;
		done++; /* @done */
		pthread_cond_signal(&finished);
	}
	pthread_mutex_unlock(&mutex);
	return arg;
}

int main(void)
{
	pthread_t t[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < JOBS; i++) {
		pthread_mutex_lock(&mutex);
		jobs[submitted++] = i;
		pthread_cond_signal(&work);
		pthread_mutex_unlock(&mutex);
	}
	pthread_mutex_lock(&mutex);
	while (done < JOBS) /* @wait */
		pthread_cond_wait(&finished, &mutex);
	closing = 1;
	pthread_cond_broadcast(&work);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(t[i], NULL);
	printf("sum = %d\n", sum);
	return sum != 506;
}
