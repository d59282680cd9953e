/*
 * A pointer to a block that was freed, before the thread that still has it looks: calloc has made another block of the
 * memory, and its zeros race with the look. Nobody else writes the new block.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

enum { SIZE = 2000 };
#ifdef FIXED
#define ORDER_PUT __ATOMIC_RELEASE
#define ORDER_GET __ATOMIC_ACQUIRE
#else
#define ORDER_PUT __ATOMIC_RELAXED
#define ORDER_GET __ATOMIC_RELAXED
#endif

static char *block;
char *again, *behind;
static sem_t freed;
static int made;
volatile char seen;

static void *look(void *unused)
{
	sem_wait(&freed);
	while (!__atomic_load_n(&made, ORDER_GET))
		usleep(100);
	seen = block[16]; /* @look */
	return unused;
}

int main(void)
{
	pthread_t t;

	sem_init(&freed, 0, 0);
	block = malloc(SIZE);
	behind = malloc(16); /* so that the memory is not given back */
	pthread_create(&t, NULL, look, NULL);
	free(block);
	sem_post(&freed);
	again = calloc(1, SIZE); /* @calloc */
	__atomic_store_n(&made, 1, ORDER_PUT);
	pthread_join(t, NULL);
	free(behind);
	return 0;
}
