/*
 * What a thread reads under the lock does not decide whether it goes on to the data: in another order it reads the data
 * before they are there. No order of the recorded run's events proves that, since the read would see another write; a
 * replay does.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready, data;

static void *writer(void *arg)
{
	data = 1; /* @write */
	pthread_mutex_lock(&lock);
	ready = 1;
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *reader(void *arg)
{
	usleep(50000);
	pthread_mutex_lock(&lock);
	int seen = ready;
	pthread_mutex_unlock(&lock);
#ifdef FIXED
	if (!seen)
		return arg;
#endif
	int value = data; /* @read */
	printf("%d %d\n", seen, value);
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, writer, NULL);
	pthread_create(&t2, NULL, reader, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	return 0;
}
