/* The race-free twin of survey_fig2.c: y is accessed under the lock, too. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER;
int x, y;

static void *thread1(void *arg)
{
	pthread_mutex_lock(&mtx);
	y = 1; /* @1 */
	x = x + 1;
	pthread_mutex_unlock(&mtx);
	return arg;
}

static void *thread2(void *arg)
{
	usleep(20000);
	pthread_mutex_lock(&mtx);
	x = x + 1;
	y = y + 1; /* @8 */
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
	printf("x = %d, y = %d\n", x, y);
	return 0;
}
