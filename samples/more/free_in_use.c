/* A block is freed while another thread may still use it. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

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
	usleep(20000); /* "it must be done by now" */
	free(block);   /* @free */
	pthread_join(t, NULL);
	return 0;
}
