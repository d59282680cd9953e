/* The race-free twin of racefuzzer_fig2.c: 8 and 10 are under the lock. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t L = PTHREAD_MUTEX_INITIALIZER;
int x;

static unsigned work(unsigned n)
{
	for (int i = 0; i < 1000; i++)
		n = n * 1664525 + 1013904223;
	return n;
}

static void *thread1(void *arg)
{
	unsigned n = 1;
	int seen;

	usleep(20000);
	pthread_mutex_lock(&L);
	for (int i = 0; i < 5; i++)
		n = work(n);
	seen = x; /* @8 */
	pthread_mutex_unlock(&L);
	if (seen == 0)
		printf("thread 1 was first: %u\n", n);
	return arg;
}

static void *thread2(void *arg)
{
	pthread_mutex_lock(&L);
	x = 1; /* @10 */
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
