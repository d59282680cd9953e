/*
 * A spin lock that is taken by an atomic exchange and released by a plain store, as some servers' are: on most machines
 * it works, by the standard nothing that it guards is ordered. One cause, the lock's word; the rest follows from it.
 */
#include <pthread.h>
#include <unistd.h>

#ifndef RACE_FREE
#define RACE_FREE 0
#endif

static unsigned word;
static int count, sum;

static void lock(void)
{
	unsigned free = 0;
	while (!__atomic_compare_exchange_n(&word, &free, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) { /* @lock */
		free = 0;
		usleep(1000);
	}
}

static void unlock(void)
{
	if (RACE_FREE)
		__atomic_store_n(&word, 0, __ATOMIC_RELEASE);
	else
		*(volatile unsigned *)&word = 0; /* @unlock */
}

static void *first(void *arg)
{
	lock();
	count = 1; /* @count1 */
	sum = 1;   /* @sum1 */
	unlock();
	return arg;
}

static void *second(void *arg)
{
	usleep(20000);
	lock();
	count = 2; /* @count2 */
	sum = 3;   /* @sum2 */
	unlock();
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, first, NULL);
	pthread_create(&t2, NULL, second, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	return count == 0 || sum == 0; /* on a busy machine the second may come first */
}
