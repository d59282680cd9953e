/*
 * A value goes from main by way of a third thread to the second: race-free, but only who sees the third knows. Another
 * is written by both at once. The argument: how the third thread is made.
 */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

static sem_t from_main, to_second;
int handed, together;

static void *second(void *unused)
{
	together = 1;
	sem_wait(&to_second);
	handed = 2;
	return unused;
}

static void *third(void *unused)
{
	sem_wait(&from_main);
	sem_post(&to_second);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t t, u;
	if (argc != 2)
		return 2;
	sem_init(&from_main, 0, 0);
	sem_init(&to_second, 0, 0);
	pthread_create(&t, NULL, second, NULL);
	if (!strcmp(argv[1], "pthread"))
		pthread_create(&u, NULL, third, NULL);
	handed = 1;
	together = 2;
	sem_post(&from_main);
	pthread_join(t, NULL);
	if (!strcmp(argv[1], "pthread"))
		pthread_join(u, NULL);
	return 0;
}
