/* Two semaphores let two threads take turns: no race. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t ping, pong;
int ball;

static void *one(void *arg)
{
	for (int i = 0; i < 4; i++) {
		sem_wait(&ping);
		ball++; /* @one */
		sem_post(&pong);
	}
	return arg;
}

static void *two(void *arg)
{
	for (int i = 0; i < 4; i++) {
		sem_wait(&pong);
		ball++; /* @two */
		sem_post(&ping);
	}
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	sem_init(&ping, 0, 1);
	sem_init(&pong, 0, 0);
	pthread_create(&t1, NULL, one, NULL);
	pthread_create(&t2, NULL, two, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	printf("%d\n", ball);
	return 0;
}
