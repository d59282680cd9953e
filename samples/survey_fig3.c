/*
 * Figure 3 of "Software Analysis Techniques for Detecting Data Race" (Kang 2004), after Eraser (Savage et al. 1997):
 * x is protected by mtx1 in one place and by mtx2 in another, so the set of locks that protect it runs empty. Two
 * threads run the figure's column. The @numbers are its lines.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mtx1 = PTHREAD_MUTEX_INITIALIZER, mtx2 = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *thread(void *arg)
{
	pthread_mutex_lock(&mtx1);
	x = x + 1; /* @3 */
	pthread_mutex_unlock(&mtx1);
	pthread_mutex_lock(&mtx2);
	x = x + 1; /* @6 */
	pthread_mutex_unlock(&mtx2);
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, thread, NULL);
	pthread_create(&t2, NULL, thread, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	printf("x = %d\n", x);
	return 0;
}
