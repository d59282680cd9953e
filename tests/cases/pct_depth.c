/*
 * Bugs of depth 1 and 2, in the sense of PCT: what the program prints with an argument. DEPTH 1: main uses what a new
 * thread has not made yet. DEPTH 2: one thread takes away what another one has just looked for.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#ifndef DEPTH
#define DEPTH 1
#endif

static int made, *_Atomic shared = &made;

static void *makes(void *arg)
{
	atomic_store(&shared, &made);
	return arg;
}

static void *uses(void *arg)
{
	if (atomic_load(&shared) && !atomic_load(&shared))
		puts("BUG");
	return arg;
}

static void *takes(void *arg)
{
	atomic_store(&shared, NULL);
	return arg;
}

int main(void)
{
	pthread_t t[2];

	if (DEPTH == 1) {
		atomic_store(&shared, NULL);
		pthread_create(&t[0], NULL, makes, NULL);
		if (!atomic_load(&shared))
			puts("BUG");
		pthread_join(t[0], NULL);
	} else {
		pthread_create(&t[0], NULL, uses, NULL);
		pthread_create(&t[1], NULL, takes, NULL);
		pthread_join(t[0], NULL);
		pthread_join(t[1], NULL);
	}
	return 0;
}
