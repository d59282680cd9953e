/* What programs of this folder have in common: two threads at once, each a PART, the later of which sleeps first. */
#ifndef BOTH_H
#define BOTH_H

#include <pthread.h>
#include <unistd.h>

#define PART(name) static void *name(void *unused __attribute__((unused)))
#define LATER usleep(100000)

static void both(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t a, b;
	pthread_create(&a, NULL, first, NULL);
	pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

#endif
