/* The race-free twin of rwlock.c: who writes takes the write lock. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int hits;

static void *worker(void *arg)
{
	pthread_rwlock_wrlock(&lock);
	hits++; /* @write */
	usleep(10000);
	pthread_rwlock_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, worker, NULL);
	pthread_create(&t2, NULL, worker, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	printf("%d hits\n", hits);
	return 0;
}
