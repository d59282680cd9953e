/*
 * Figure 1 of "Software Analysis Techniques for Detecting Data Race" (Kang 2004), after Eraser (Savage et al. 1997).
 * Both threads change x under one lock: there is no race. The @numbers are the figure's lines.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *thread1(void *arg)
{
	pthread_mutex_lock(&mtx);
	x = x + 1; /* @2 */
	pthread_mutex_unlock(&mtx);
	return arg;
}

static void *thread2(void *arg)
{
	pthread_mutex_lock(&mtx);
	x = x + 1; /* @5 */
	pthread_mutex_unlock(&mtx);
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, thread1, NULL);
	pthread_create(&t2, NULL, thread2, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	printf("x = %d\n", x);
	return 0;
}
