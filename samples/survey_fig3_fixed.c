/* The race-free twin of survey_fig3.c: x is under mtx1 in both places; mtx2 protects something else. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mtx1 = PTHREAD_MUTEX_INITIALIZER, mtx2 = PTHREAD_MUTEX_INITIALIZER;
int x, y;

static void *thread(void *arg)
{
	pthread_mutex_lock(&mtx1);
	x = x + 1; /* @3 */
	pthread_mutex_unlock(&mtx1);
	pthread_mutex_lock(&mtx2);
	y = y + 1;
	pthread_mutex_unlock(&mtx2);
	pthread_mutex_lock(&mtx1);
	x = x + 1; /* @6 */
	pthread_mutex_unlock(&mtx1);
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, thread, NULL);
	pthread_create(&t2, NULL, thread, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	printf("x = %d, y = %d\n", x, y);
	return 0;
}
