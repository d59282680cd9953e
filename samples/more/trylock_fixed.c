/* The race-free twin of trylock.c: without the lock, nothing is changed. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;

static void *worker(void *arg)
{
	while (pthread_mutex_trylock(&lock) != 0)
		usleep(1000);
	counter++; /* @count */
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, worker, NULL);
	pthread_create(&t2, NULL, worker, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	printf("counter %d\n", counter);
	return 0;
}
