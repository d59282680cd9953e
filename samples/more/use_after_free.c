/* A block is used by a thread after another one has freed it, as nothing makes the owner wait. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *user(void *block)
{
	usleep(20000);
	return *(volatile char *)block ? block : NULL; /* @use */
}

int main(void)
{
	pthread_t t;
	char *block = malloc(12);

	if (!block)
		return 1;
	*block = 1;
	pthread_create(&t, NULL, user, block);
	free(block); /* @free */
	pthread_join(t, NULL);
	return 0;
}
