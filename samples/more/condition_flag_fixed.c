/* The race-free twin of condition_flag.c: the flag is set under the mutex. */
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
int ready;

static void *waiter(void *arg)
{
	pthread_mutex_lock(&mutex);
	while (!ready) /* @test */
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void *setter(void *arg)
{
	usleep(20000); /* the waiter waits */
	pthread_mutex_lock(&mutex);
	ready = 1; /* @set */
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, waiter, NULL);
	pthread_create(&t2, NULL, setter, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	return 0;
}
