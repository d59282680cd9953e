/* Neighbours in one array, one byte each, one thread each: no race, however close. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4 };

char bytes[THREADS];

static void *worker(void *byte)
{
	++*(char *)byte; /* @count */
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
