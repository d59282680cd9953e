/*
 * A sequence lock as C wants it: the numbers are atomic and so is the data, whose reads may meet a write and are done
 * again then. No race.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_uint sequence;
static atomic_int low, high;

static void *write_both(void *arg)
{
	usleep(20000);
	sequence = 1;
	atomic_store_explicit(&low, 20, memory_order_release);
	atomic_store_explicit(&high, 22, memory_order_release);
	sequence = 2;
	return arg;
}

static void *read_both(void *sum)
{
	unsigned before;

	for (;;) {
		before = sequence;
		*(int *)sum = atomic_load_explicit(&low, memory_order_acquire);
		*(int *)sum += atomic_load_explicit(&high, memory_order_acquire);
		if (before && before % 2 == 0 && sequence == before)
			return NULL;
		usleep(3000);
	}
}

int main(void)
{
	pthread_t w, r;
	int sum = 0;

	pthread_create(&w, NULL, write_both, NULL);
	pthread_create(&r, NULL, read_both, &sum);
	pthread_join(w, NULL);
	pthread_join(r, NULL);
	printf("sum = %d\n", sum);
	return sum != 42;
}
