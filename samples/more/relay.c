/*
 * Three threads hand data on: the first to the second by a plain flag, the second to the third by a relaxed atomic.
 * What the third does to the first one's data follows from both.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#ifndef RACE_FREE
#define RACE_FREE 0
#endif

static int data;
static volatile int filled;
static atomic_int checked, told;

static void *first(void *arg)
{
	data = 1; /* @fill */
	if (RACE_FREE)
		atomic_store_explicit(&told, 1, memory_order_release);
	else
		filled = 1; /* @filled */
	return arg;
}

static int is_filled(void)
{
	return RACE_FREE ? atomic_load_explicit(&told, memory_order_acquire) : filled; /* @is_filled */
}

static void *second(void *arg)
{
	while (!is_filled())
		usleep(1000);
	atomic_store_explicit(&checked, 1, RACE_FREE ? memory_order_release : memory_order_relaxed);
	return arg;
}

static void *third(void *arg)
{
	while (!atomic_load_explicit(&checked, RACE_FREE ? memory_order_acquire : memory_order_relaxed))
		usleep(1000);
	data = 2; /* @empty */
	return arg;
}

int main(void)
{
	pthread_t t1, t2, t3;

	pthread_create(&t3, NULL, third, NULL);
	pthread_create(&t2, NULL, second, NULL);
	usleep(20000);
	pthread_create(&t1, NULL, first, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	pthread_join(t3, NULL);
	return data != 2;
}
