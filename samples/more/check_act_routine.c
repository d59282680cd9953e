/*
 * A stock, whose look and change are in two critical sections of the thread's own routine. The fixed one looks again in
 * the second.
 */
#include "both.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long stock = 10;

PART(fill)
{
	pthread_mutex_lock(&lock);
	stock = 15;
	pthread_mutex_unlock(&lock);
	return NULL;
}

PART(consume)
{
	pthread_mutex_lock(&lock);
	int some = stock > 0; /* @check */
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
#ifdef FIXED
	some = some && stock > 0;
#endif
	if (some)
		stock = 0; /* @act */
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Rounds of a loop: each is one section. */
PART(spoil)
{
	LATER;
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&lock);
		if (i)
			(void)*(volatile long *)&stock;
		else
			stock = 7; /* @spoil */
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	both(fill, fill);
	both(consume, spoil);
	return 0;
}
