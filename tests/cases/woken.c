/* A wait with a time limit, which a signal ends long before that. Then both threads take a lock again and again. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, sum;

static void take_often(void)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&m);
		sum++; /* @sum */
		pthread_mutex_unlock(&m);
	}
}

static void *wait_then_take(void *unused)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 60;
	pthread_mutex_lock(&m);
	while (!ready)
		pthread_cond_timedwait(&c, &m, &end);
	pthread_mutex_unlock(&m);
	take_often();
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, wait_then_take, NULL);
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	take_often();
	pthread_join(thread, NULL);
	printf("sum %d\n", sum);
	return 0;
}
