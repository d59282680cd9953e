/* The race-free twin of drfinder_fig2.c: k protects x and n protects y. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t k = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
int x, y;

static void set(pthread_mutex_t *lock, int *variable, int value)
{
	pthread_mutex_lock(lock);
	*variable = value; /* @set */
	pthread_mutex_unlock(lock);
}

static void *t1(void *arg)
{
	set(&k, &x, 1);
	set(&n, &y, 1);
	return arg;
}

static void *t2(void *arg)
{
	usleep(40000);
	set(&n, &y, 2);
	return arg;
}

static void *t3(void *arg)
{
	usleep(20000);
	set(&k, &x, 2);
	return arg;
}

int main(void)
{
	void *(*const start[3])(void *) = {t1, t2, t3};
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, start[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("x = %d, y = %d\n", x, y);
	return 0;
}
