/*
 * Patterns for which threads wait at their events. KIND 1: an atomicity violation, of a balance that is read and written
 * in two critical sections. 2: a violation of two locations, whose sum is wrong in between. 3: a deadlock.
 */
#include <pthread.h>
#include <stdio.h>

#ifndef KIND
#define KIND 1
#endif

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int balance, left = 1, right = 1;

static int get(void)
{
	pthread_mutex_lock(&a);
	int now = balance; /* @read */
	pthread_mutex_unlock(&a);
	return now;
}

static void put(int now)
{
	pthread_mutex_lock(&a); /* @put */
	balance = now; /* @write */
	pthread_mutex_unlock(&a);
}

static void *adds(void *arg)
{
	for (int i = 0; i < 3; i++)
		put(get() + 1);
	return arg;
}

static void *moves(void *arg)
{
	pthread_mutex_lock(&a);
	left = 0; /* @left */
	pthread_mutex_unlock(&a);
	pthread_mutex_lock(&a); /* @enter */
	right = 2; /* @right */
	pthread_mutex_unlock(&a);
	return arg;
}

static void *sums(void *arg)
{
	pthread_mutex_lock(&a); /* @gate */
	int sum = left; /* @first */
	pthread_mutex_unlock(&a);
	pthread_mutex_lock(&a);
	sum += right; /* @second */
	pthread_mutex_unlock(&a);
	if (sum != 2)
		puts("WRONG");
	return arg;
}

static void *ab(void *arg)
{
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&b); /* @inner-b */
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	return arg;
}

static void *ba(void *arg)
{
	pthread_mutex_lock(&b);
	pthread_mutex_lock(&a); /* @inner-a */
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return arg;
}

int main(void)
{
	void *(*const routines[][2])(void *) = {{adds, adds}, {moves, sums}, {ab, ba}};
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, routines[KIND - 1][i], NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	if (KIND == 1 && balance != 6)
		puts("WRONG");
	return 0;
}
