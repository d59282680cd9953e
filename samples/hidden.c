/*
 * A race that one run hides: the lock's hand-over puts the two accesses of `ready` in order, though it protects
 * neither. ThreadSanitizer and Helgrind say nothing of a run in which `publish` comes first, as here; another run has
 * the race.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready, jobs, published;

static void *publish(void *arg)
{
	jobs = 3;
	ready = 1; /* @publish */
	pthread_mutex_lock(&lock);
	published++;
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *consume(void *arg)
{
	usleep(20000); /* after publish, in this run */
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	if (ready)                         /* @consume */
		printf("%d jobs\n", jobs); /* @jobs */
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, publish, NULL);
	pthread_create(&threads[1], NULL, consume, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
