/* The racy twin of barrier.c: the barrier between the phases is forgotten. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3 };

static pthread_barrier_t barrier;
int cells[THREADS], sums[THREADS];

static void *worker(void *index)
{
	int i = (int)(long)index;

	cells[i] = i;                                  /* @phase1 */
	sums[i] = cells[i] + cells[(i + 1) % THREADS]; /* @phase2 */
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	pthread_barrier_destroy(&barrier);
	printf("%d %d %d\n", sums[0], sums[1], sums[2]);
	return 0;
}
