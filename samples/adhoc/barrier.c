/*
 * A barrier made by hand: who arrives counts itself under a lock and spins on the round by plain reads until the last
 * one has begun the next. The round itself races; what threads leave each other in front of the barrier cannot.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#ifndef SHARED
#define SHARED volatile /* barrier_atomic.c: _Atomic */
#endif

enum { THREADS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int arrived;
static SHARED int round_number;
static int slots[THREADS];

static void barrier(void)
{
	pthread_mutex_lock(&lock);
	int mine = round_number;
	if (++arrived == THREADS) {
		arrived = 0;
		round_number = mine + 1; /* @open */
	}
	pthread_mutex_unlock(&lock);
	while (round_number == mine) /* @wait */
		usleep(3000);
}

static void *work(void *arg)
{
	int me = *(int *)arg, sum = 0;

	usleep(7000 * (useconds_t)me);
	slots[me] = me + 1; /* @fill */
	barrier();
	for (int i = 0; i < THREADS; i++)
		sum += slots[i]; /* @add */
	return sum == 6 ? NULL : arg;
}

int main(void)
{
	pthread_t t[THREADS];
	int numbers[THREADS], failed = 0;
	void *result;

	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		pthread_create(&t[i], NULL, work, &numbers[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &result);
		failed |= result != NULL;
	}
	printf("%s\n", failed ? "failed" : "done");
	return failed;
}
