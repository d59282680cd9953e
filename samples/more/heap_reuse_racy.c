/* The racy twin of heap_reuse.c: the block is kept and used by both threads. */
#include <pthread.h>
#include <stdlib.h>

static int *kept;

static void *worker(void *arg)
{
	*kept = 1; /* @write */
	return arg;
}

int main(void)
{
	pthread_t t;

	kept = malloc(64);
	if (!kept)
		return 1;
	pthread_create(&t, NULL, worker, NULL);
	worker(NULL);
	pthread_join(t, NULL);
	free(kept);
	return 0;
}
