/* A semaphore with one token as a lock, section 4 of the paper: no race, though locksets say one. */
#include <pthread.h>
#include <semaphore.h>

static sem_t s;
static int variable;

static void *increment(void *arg)
{
	sem_wait(&s);
	variable++;
	sem_post(&s);
#ifdef RACY
	variable++;
#endif
	return arg;
}

int main(void)
{
	pthread_t t[2];
	sem_init(&s, 0, 1);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, increment, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
