/* The result is read after the join: no race, and no lock needed. */
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
	pthread_join(t, NULL);
	seen = result; /* @read */
	printf("%d\n", seen);
	return 0;
}
