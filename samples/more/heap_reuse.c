/* Each thread has blocks of its own, which malloc hands out again and again at the same addresses: no race. */
#include <pthread.h>
#include <stdlib.h>

static void *worker(void *arg)
{
	for (int i = 0; i < 20; i++) {
		int *block = malloc(64);

		if (!block)
			abort();
		*block = i; /* @write */
		free(block);
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	/* One after the other and side by side. */
	for (int i = 0; i < 3; i++) {
		pthread_create(&t, NULL, worker, NULL);
		worker(NULL);
		pthread_join(t, NULL);
	}
	return 0;
}
