/* A producer and a consumer of a buffer with one place: mutex and condition variables. No race. argv[1]: items. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int full, place, items = 1, sum;
#ifdef RACY
int seen;
#endif

static void *producer(void *arg)
{
	for (int i = 0; i < items; i++) {
		pthread_mutex_lock(&m);
		while (full)
			pthread_cond_wait(&changed, &m);
		place = i + 1;
		full = 1;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&m);
	}
	return arg;
}

static void *consumer(void *arg)
{
	for (int i = 0; i < items; i++) {
#ifdef RACY
		seen = full;
#endif
		pthread_mutex_lock(&m);
		while (!full)
			pthread_cond_wait(&changed, &m);
		sum += place;
		full = 0;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&m);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[2];
	if (argc > 1)
		items = atoi(argv[1]);
	pthread_create(&t[0], NULL, producer, NULL);
	pthread_create(&t[1], NULL, consumer, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return sum != items * (items + 1) / 2;
}
