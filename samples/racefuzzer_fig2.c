/*
 * Figure 2 of "Race Directed Random Testing of Concurrent Programs" (Sen 2008, RaceFuzzer): a race between 8 and 10
 * that ordinary runs keep far apart, with a critical section of each thread in between. The @numbers are the figure's
 * lines.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t L = PTHREAD_MUTEX_INITIALIZER;
int x;

/* f1 to f6 of the figure: many statements that have nothing to do with x. */
static unsigned work(unsigned n)
{
	for (int i = 0; i < 1000; i++)
		n = n * 1664525 + 1013904223;
	return n;
}

static void *thread1(void *arg)
{
	unsigned n = 1;

	usleep(20000); /* thread 1 has the longer way */
	pthread_mutex_lock(&L);
	for (int i = 0; i < 5; i++)
		n = work(n);
	pthread_mutex_unlock(&L);
	if (x == 0) /* @8 */
		printf("ERROR %u\n", n);
	return arg;
}

static void *thread2(void *arg)
{
	x = 1; /* @10 */
	pthread_mutex_lock(&L);
	printf("%u\n", work(6));
	pthread_mutex_unlock(&L);
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, thread1, NULL);
	pthread_create(&t2, NULL, thread2, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	return 0;
}
