/*
 * A stock: each look at it and each change of it is locked, but draw() looks in one critical section and takes in the
 * next. The fixed one does both in one.
 */
#include "both.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long stock = 10;

static long level(void)
{
	pthread_mutex_lock(&lock);
	long n = stock; /* @check */
	pthread_mutex_unlock(&lock);
	return n;
}

static void change(long n)
{
	pthread_mutex_lock(&lock);
	stock += n; /* @act */
	pthread_mutex_unlock(&lock);
}

static void empty(void)
{
	pthread_mutex_lock(&lock);
	stock = 0; /* @empty */
	pthread_mutex_unlock(&lock);
}

static int draw(long n)
{
#ifdef FIXED
	pthread_mutex_lock(&lock);
	int enough = stock >= n;
	if (enough)
		stock -= n;
	pthread_mutex_unlock(&lock);
	return enough;
#else
	if (level() < n)
		return 0;
	change(-n);
	return 1;
#endif
}

PART(fill)
{
	change(5);
	return NULL;
}

PART(consume)
{
	draw(10);
	return NULL;
}

/* Stock that is lost; and a look that nothing follows. */
PART(spoil)
{
	LATER;
	empty();
	level();
	return NULL;
}

int main(void)
{
	both(fill, fill);
	both(consume, spoil);
	return 0;
}
