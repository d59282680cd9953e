/*
 * Figure 2 of "Race Directed Random Testing of Concurrent Programs" (Sen 2008), with BETWEEN statements before the racing
 * one. The @numbers are the figure's lines.
 */
#include <pthread.h>
#include <stdio.h>

#ifndef BETWEEN
#define BETWEEN 5
#endif

static pthread_mutex_t L = PTHREAD_MUTEX_INITIALIZER;
static volatile int work[8];
int x;

static void *thread1(void *arg)
{
	pthread_mutex_lock(&L);
	for (int i = 0; i < BETWEEN; i++)
		work[i % 8] = i;
	pthread_mutex_unlock(&L);
	if (x == 0) /* @8 */
		puts("ERROR");
	return arg;
}

static void *thread2(void *arg)
{
	x = 1; /* @10 */
	pthread_mutex_lock(&L);
	work[0] = 6;
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
