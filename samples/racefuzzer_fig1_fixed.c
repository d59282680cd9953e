/* The race-free twin of racefuzzer_fig1.c: x and z are used under the lock. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t L = PTHREAD_MUTEX_INITIALIZER;
int x, y, z;

static void *thread1(void *arg)
{
	pthread_mutex_lock(&L);
	x = 1; /* @1 */
	y = 1; /* @3 */
	pthread_mutex_unlock(&L);
	pthread_mutex_lock(&L);
	if (z == 1) /* @5 */
		puts("thread 2 was first");
	pthread_mutex_unlock(&L);
	return arg;
}

static void *thread2(void *arg)
{
	usleep(20000);
	pthread_mutex_lock(&L);
	z = 1;              /* @7 */
	if (y == 1) {       /* @9 */
		if (x != 1) /* @10 */
			puts("ERROR2");
	}
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
	printf("x = %d, y = %d, z = %d\n", x, y, z);
	return 0;
}
