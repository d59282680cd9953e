/*
 * Figure 2 of "Software Analysis Techniques for Detecting Data Race" (Kang 2004), after Eraser (Savage et al. 1997).
 * y is not protected. When thread 1 takes the lock first, its release and thread 2's acquire order the accesses of y,
 * and happens-before alone misses the race. The @numbers are the figure's lines.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER;
int x, y;

static void *thread1(void *arg)
{
	y = 1; /* @1 */
	pthread_mutex_lock(&mtx);
	x = x + 1; /* @3 */
	pthread_mutex_unlock(&mtx);
	return arg;
}

static void *thread2(void *arg)
{
	usleep(20000); /* lets thread 1 go first */
	pthread_mutex_lock(&mtx);
	x = x + 1; /* @6 */
	pthread_mutex_unlock(&mtx);
	y = y + 1; /* @8 */
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, thread1, NULL);
	pthread_create(&t2, NULL, thread2, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	printf("x = %d, y = %d\n", x, y);
	return 0;
}
