/* Each thread is handed the address of the loop variable instead of its value. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3 };

int sum[THREADS];

static void *worker(void *arg)
{
	int i = (int)*(long *)arg; /* @read */

	if (i < THREADS)
		sum[i] = 1; /* @slot */
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];
	long i;

	for (i = 0; i < THREADS; i++) /* @next */
		pthread_create(&t[i], NULL, worker, &i);
	for (int k = 0; k < THREADS; k++)
		pthread_join(t[k], NULL);
	printf("%d %d %d\n", sum[0], sum[1], sum[2]);
	return 0;
}
