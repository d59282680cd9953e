/*
 * Failed tries at every place in a block, two positions in turn, each among events of its own number: the time of one
 * is not below the block's begin.
 */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static unsigned tries, locks;

static void *try_all(void *unused)
{
	for (unsigned round = 0; round < 200; round++) {
		for (unsigned i = 0; i < round % 67; i++) {
			pthread_mutex_lock(&own);
			pthread_mutex_unlock(&own);
			locks++;
			assert(pthread_mutex_trylock(&held) == EBUSY);
			assert(pthread_mutex_trylock(&held) == EBUSY);
			tries += 2;
		}
		void *block = malloc(100);
		free(block);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_mutex_lock(&held);
	pthread_create(&thread, NULL, try_all, NULL);
	pthread_join(thread, NULL);
	pthread_mutex_unlock(&held);
	printf("expect try-failed %u\nexpect acquire %u\nexpect release %u\n", tries, locks + 1, locks + 1);
	return 0;
}
