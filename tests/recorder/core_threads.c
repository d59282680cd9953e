/* Many threads at once and many in turn: each is forked, begins, writes its cell, ends and is joined, once. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static short cells[100000];
static pthread_barrier_t barrier;
static pthread_key_t key;
static int rounds;

static void *work(void *cell)
{
	*(short *)cell = 1;
	if (rounds == 0)
		pthread_barrier_wait(&barrier);
	pthread_setspecific(key, cell);
	return NULL;
}

/* Key destructors belong to the thread: what they write must come before its END. */
static void at_end(void *cell)
{
	*(volatile short *)cell = 2;
}

static void start(pthread_t *thread, int i)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	if (pthread_create(thread, &attr, work, &cells[i]) != 0)
		abort();
	pthread_attr_destroy(&attr);
}

int main(int argc, char **argv)
{
	int n = atoi(argv[2]);
	pthread_t *threads = calloc((size_t)n, sizeof *threads);

	(void)argc;
	rounds = argv[1][0] == 't'; /* "turn" or "once" */
	pthread_barrier_init(&barrier, NULL, (unsigned)n + 1);
	pthread_key_create(&key, at_end);
	for (int i = 0; i < n; i++) {
		start(&threads[i], i);
		if (rounds)
			pthread_join(threads[i], NULL);
	}
	if (!rounds) {
		pthread_barrier_wait(&barrier);
		for (int i = 0; i < n; i++)
			pthread_join(threads[i], NULL);
	}
	free(threads);
	printf("expect fork %d\nexpect join %d\nexpect begin %d\nexpect end %d\nexpect write2 %d\nexpect threads %d\n",
	       n, n, n + 1, n, 2 * n, n + 1);
	return 0;
}
