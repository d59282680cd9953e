/* The race-free twin of pecan_fig1.c: one lock around each thread's uses of x and y. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int x, y;

static void *thread1(void *arg)
{
	usleep(20000);
	pthread_mutex_lock(&lock);
	x = 1;      /* @2 */
	if (y == 1) /* @3 */
		puts("ERROR");
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *thread2(void *arg)
{
	pthread_mutex_lock(&lock);
	x = 0; /* @5 */
	pthread_mutex_unlock(&lock);
	usleep(60000);
	pthread_mutex_lock(&lock);
	if (x == 1)    /* @6 */
		y = 1; /* @7 */
	pthread_mutex_unlock(&lock);
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
