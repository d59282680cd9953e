/*
 * Figure 5 of "Persuasive Prediction of Concurrency Access Anomalies" (Huang and Zhang 2011, PECAN): locksets and the
 * partial order relation allow the race (3,8), and it cannot happen: the second thread is created while the first one
 * holds the lock, and takes the lock before 8. The paper's schedule 1 2 5 6 7 3 8 stops at 6. The @numbers are the
 * figure's nodes.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *second(void *arg)
{
	pthread_mutex_lock(&lock); /* 6 */
	pthread_mutex_unlock(&lock);
	x = 2; /* @8 */
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_mutex_lock(&lock);                   /* 1 */
	pthread_create(&thread, NULL, second, NULL); /* 2 */
	x = 1;                                       /* @3 */
	pthread_mutex_unlock(&lock);                 /* 4 */
	pthread_join(thread, NULL);
	printf("x = %d\n", x);
	return 0;
}
