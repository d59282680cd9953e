/*
 * A thread that looks at the same variable again and again while it holds what another one tries to get, with pauses
 * in between: 60 of a second. It needs a few steps more; the other thread's time must not run out meanwhile.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int held = 1, other;

static void *holds(void *arg)
{
	for (int i = 0; i < 100; i++)
		if (atomic_load(&other))
			puts("never");
	atomic_store(&held, 0);
	return arg;
}

int main(void)
{
	pthread_t t;
	int tries = 0;

	pthread_create(&t, NULL, holds, NULL);
	while (atomic_load(&held) && tries < 60) {
		tries++;
		sleep(1);
	}
	puts(tries < 60 ? "got it" : "GAVE UP");
	pthread_join(t, NULL);
	return tries == 60;
}
