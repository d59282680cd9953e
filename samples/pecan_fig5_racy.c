/* The real twin of pecan_fig5.c: the thread is created before the lock is taken, which orders nothing then. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *second(void *arg)
{
	usleep(20000);             /* lets the first one go first */
	pthread_mutex_lock(&lock); /* 6 */
	pthread_mutex_unlock(&lock);
	x = 2; /* @8 */
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, second, NULL);
	pthread_mutex_lock(&lock);   /* 1 */
	x = 1;                       /* @3 */
	pthread_mutex_unlock(&lock); /* 4 */
	pthread_join(thread, NULL);
	printf("x = %d\n", x);
	return 0;
}
