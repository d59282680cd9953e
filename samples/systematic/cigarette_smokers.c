/* Cigarette smokers (Patil 1971): an agent puts down what one of three smokers lacks. No race. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

enum { SMOKERS = 3 };
static sem_t lacks[SMOKERS], done;
static int table, smoked, rounds = 2, over;

static void *smoker(void *number)
{
	int i = (int)(long)number;
	for (;;) {
		sem_wait(&lacks[i]);
		if (over)
			return NULL;
		if (table == i)
			smoked++;
		sem_post(&done);
#ifdef RACY
		table = -1;
#endif
	}
}

int main(int argc, char **argv)
{
	pthread_t t[SMOKERS];
	if (argc > 1)
		rounds = atoi(argv[1]);
	sem_init(&done, 0, 0);
	for (long i = 0; i < SMOKERS; i++) {
		sem_init(&lacks[i], 0, 0);
		pthread_create(&t[i], NULL, smoker, (void *)i);
	}
	for (int i = 0; i < rounds; i++) {
		table = i % SMOKERS;
		sem_post(&lacks[table]);
		sem_wait(&done);
	}
	over = 1;
	for (int i = 0; i < SMOKERS; i++)
		sem_post(&lacks[i]);
	for (int i = 0; i < SMOKERS; i++)
		pthread_join(t[i], NULL);
	return smoked != rounds;
}
