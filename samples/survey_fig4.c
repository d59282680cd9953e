/*
 * Figure 4 of "Software Analysis Techniques for Detecting Data Race" (Kang 2004): double-checked locking. The first
 * test of x is not under the lock. The survey calls this race benign; in C it is undefined, and what x points to may
 * be seen before it was filled in.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int object;
int *x;

static void *thread(void *arg)
{
	if (x == NULL) { /* @test */
		pthread_mutex_lock(&mutex);
		if (x == NULL) {     /* @retest */
			x = &object; /* @set */
		}
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, thread, NULL);
	pthread_create(&t2, NULL, thread, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	printf("x is %s\n", x == &object ? "set" : "not set");
	return 0;
}
