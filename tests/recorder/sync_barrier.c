/* Barriers, one of which the first thread that leaves it destroys. */
#include "named.h"

#include <pthread.h>

static pthread_barrier_t b;
static int plain;

// expect main.1: barrier-arrive b=3, barrier-leave b=3, barrier-arrive b=3, barrier-leave b=3
// expect main.2: barrier-arrive b=3, barrier-leave b=3, barrier-arrive b=3, barrier-leave b=3
// expect main: barrier-arrive b=3, barrier-leave b=3, barrier-arrive b=3, barrier-leave b=3
static void *meet(void *unused)
{
	pthread_barrier_wait(&b);
	if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD) {
		MUST(pthread_barrier_destroy(&b) == 0);
		plain++;
	}
	return unused;
}

int main(void)
{
	pthread_t t[2];
	NAME(b);
	MUST(pthread_barrier_init(&b, NULL, 3) == 0);
	for (int i = 0; i < 2; i++)
		MUST(pthread_create(&t[i], NULL, meet, NULL) == 0);
	meet(NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);

	// expect main: barrier-arrive b=1, barrier-leave b=1
	MUST(pthread_barrier_init(&b, NULL, 1) == 0);
	MUST(pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD);
	return plain != 1;
}
