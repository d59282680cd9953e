/* A semaphore that starts at 1 is a lock: no race, although lockset analysis alone sees no lock. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t sem;
int counter;

static void *worker(void *arg)
{
	for (int i = 0; i < 10; i++) {
		sem_wait(&sem);
		counter++; /* @inc */
		sem_post(&sem);
	}
	return arg;
}

int main(void)
{
	pthread_t t[3];

	sem_init(&sem, 0, 1);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("counter = %d\n", counter);
	sem_destroy(&sem);
	return 0;
}
