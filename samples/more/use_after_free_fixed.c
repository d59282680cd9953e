/* The owner waits for the user before it frees; small blocks are then handed out again, to another thread: no race. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *user(void *block)
{
	usleep(20000);
	return *(volatile char *)block ? block : NULL; /* @use */
}

static void *next(void *arg)
{
	char *block = malloc(12);

	if (!block)
		abort();
	for (int i = 0; i < 12; i++)
		block[i] = (char)i; /* @fill */
	free(block);
	return arg;
}

int main(void)
{
	pthread_t t, other;
	char *block = malloc(12);

	if (!block)
		return 1;
	for (int i = 0; i < 12; i++)
		block[i] = 1;
	pthread_create(&t, NULL, user, block);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, next, NULL);
	pthread_create(&other, NULL, next, NULL);
	free(block); /* @free */
	pthread_join(t, NULL);
	pthread_join(other, NULL);
	return 0;
}
