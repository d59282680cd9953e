/* A library that is instrumented, in a program that is not: its threads and its host's count, with a lock or not. */
#include <pthread.h>
#include <string.h>

int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void count(int racy)
{
	if (!racy)
		pthread_mutex_lock(&lock);
	counter++; /* @count */
	if (!racy)
		pthread_mutex_unlock(&lock);
}

static void *work(void *racy)
{
	for (int i = 0; i < 10; i++)
		count(racy != NULL);
	return NULL;
}

int run(int racy)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, racy ? &counter : NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	if (racy)
		return 2;
	pthread_mutex_lock(&lock);
	int counted = counter;
	pthread_mutex_unlock(&lock);
	return counted;
}
