/* Threads meet at an atomic counter while each holds a lock of its own; later ones hold the same locks there. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static atomic_int arrived;
static int done[2];

static void *meet(void *arg)
{
	int which = arg != NULL, due;
	pthread_mutex_lock(&locks[which]);
	done[which]++;
	due = (atomic_fetch_add(&arrived, 1) / 2 + 1) * 2; /* @arrive */
	while (atomic_load(&arrived) < due)                /* @wait */
		sched_yield();
	done[which]++;
	pthread_mutex_unlock(&locks[which]);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 2; i++)
			pthread_create(&threads[i], NULL, meet, i ? &done : NULL);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
	}
	return done[0] + done[1] - 8;
}
