/*
 * Two threads free a block. The first one has got its memory back in between, as another block, so the second free
 * takes that from it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int begun;
static char *block;
static void *volatile again;

static void *release(void *unused)
{
	while (!atomic_load_explicit(&begun, memory_order_relaxed))
		usleep(1000);
	usleep(100000);
#ifndef FIXED
	free(block); // @second
#endif
	return unused;
}

int main(void)
{
	pthread_t t;
	block = malloc(400);
	char *own = block;
	pthread_create(&t, NULL, release, NULL);
	atomic_store_explicit(&begun, 1, memory_order_relaxed);
	free(own); // @first
	again = malloc(400);
	pthread_join(t, NULL);
	return 0;
}
