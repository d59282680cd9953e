/* The racy twin of fork_join.c: the result is read before the join. */
#include <pthread.h>
#include <stdio.h>

int result;

static void *worker(void *arg)
{
	result = 42; /* @write */
	return arg;
}

int main(void)
{
	pthread_t t;
	int seen;

	pthread_create(&t, NULL, worker, NULL);
	seen = result; /* @read */
	pthread_join(t, NULL);
	printf("%d\n", seen);
	return 0;
}
