/*
 * Figure 1 of "Race Directed Random Testing of Concurrent Programs" (Sen 2008, RaceFuzzer). z has a race, (5,7). x only
 * seems to have one, (1,10): thread 2 reads x only after it has seen thread 1's write of y, and both are under the
 * lock. The @numbers are the figure's lines.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t L = PTHREAD_MUTEX_INITIALIZER;
int x, y, z;

static void *thread1(void *arg)
{
	x = 1; /* @1 */
	pthread_mutex_lock(&L);
	y = 1; /* @3 */
	pthread_mutex_unlock(&L);
	if (z == 1) /* @5 */
		puts("ERROR1");
	return arg;
}

static void *thread2(void *arg)
{
	usleep(20000); /* lets thread 1 go first */
	z = 1;         /* @7 */
	pthread_mutex_lock(&L);
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
