/* The lock is tried, and the counter changed whether it was taken or not. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;

static void *worker(void *arg)
{
	bool locked = pthread_mutex_trylock(&lock) == 0;

	counter++;     /* @count */
	usleep(40000); /* the other finds it taken */
	if (locked)
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
