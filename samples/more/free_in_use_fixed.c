/* The race-free twin of free_in_use.c: freed after the join. */
#include <pthread.h>
#include <stdlib.h>

static void *reader(void *block)
{
	return *(char *)block ? block : NULL; /* @use */
}

int main(void)
{
	pthread_t t;
	char *block = malloc(16);

	if (!block)
		return 1;
	*block = 1;
	pthread_create(&t, NULL, reader, block);
	pthread_join(t, NULL);
	free(block); /* @free */
	return 0;
}
