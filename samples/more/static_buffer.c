/* A function that returns a static buffer, as strtok, strerror and localtime do, called by two threads. */
#include <pthread.h>
#include <stddef.h>

char buffer[2];

/* Like strerror and localtime: the result is in a buffer that the next call writes again. */
static __attribute__((noinline)) const char *describe(int number)
{
	buffer[0] = (char)('0' + number); /* @write */
	buffer[1] = '\0';                 /* @terminate */
	return buffer;
}

static void *worker(void *number)
{
	return *describe(*(int *)number) ? number : NULL; /* @read */
}

int main(void)
{
	pthread_t t[2];
	int numbers[2] = {1, 2};

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, &numbers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
