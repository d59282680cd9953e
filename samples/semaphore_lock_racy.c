/* The racy twin of semaphore_lock.c: the semaphore starts at 2, so it lets two threads in. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static sem_t sem;
int counter;

static void *worker(void *arg)
{
	sem_wait(&sem);
	counter++;     /* @inc */
	usleep(40000); /* both are inside now */
	sem_post(&sem);
	return arg;
}

int main(void)
{
	pthread_t t[2];

	sem_init(&sem, 0, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("counter = %d\n", counter);
	sem_destroy(&sem);
	return 0;
}
