/* The racy twin of neighbours.c: one thread counts in its neighbour's byte as well. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4 };

char bytes[THREADS];

static void *worker(void *byte)
{
	++*(char *)byte; /* @count */
	if (byte == &bytes[0])
		++bytes[1]; /* @neighbour */
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, worker, &bytes[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%d %d %d %d\n", bytes[0], bytes[1], bytes[2], bytes[3]);
	return 0;
}
