/* Two readers and a writer: readers count themselves under a mutex, and a semaphore keeps the writer out. No race. */
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t room;
static int readers, data;

static void *reader(void *seen)
{
	pthread_mutex_lock(&m);
	if (++readers == 1)
		sem_wait(&room);
	pthread_mutex_unlock(&m);
	*(int *)seen = data;
	pthread_mutex_lock(&m);
	if (--readers == 0)
		sem_post(&room);
	pthread_mutex_unlock(&m);
	return NULL;
}

static void *writer(void *arg)
{
#ifndef RACY
	sem_wait(&room);
#endif
	data = 1;
#ifndef RACY
	sem_post(&room);
#endif
	return arg;
}

int main(void)
{
	static int seen[2];
	pthread_t t[3];
	sem_init(&room, 0, 1);
	pthread_create(&t[0], NULL, reader, &seen[0]);
	pthread_create(&t[1], NULL, reader, &seen[1]);
	pthread_create(&t[2], NULL, writer, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
