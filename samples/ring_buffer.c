/*
 * A ring buffer of one producer and one consumer with the right memory order: the store of an index releases what was
 * done before, the load of the other's index acquires it. No race on the slots.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { SLOTS = 4, ITEMS = 12 };

int slots[SLOTS];
static atomic_uint head, tail; /* next to get, next to put */

static void *producer(void *arg)
{
	for (unsigned i = 0; i < ITEMS; i++) {
		while (i - atomic_load_explicit(&head, memory_order_acquire) == SLOTS)
			sched_yield();
		slots[i % SLOTS] = (int)i; /* @put */
		atomic_store_explicit(&tail, i + 1, memory_order_release);
	}
	return arg;
}

static void *consumer(void *sum)
{
	for (unsigned i = 0; i < ITEMS; i++) {
		while (atomic_load_explicit(&tail, memory_order_acquire) == i)
			sched_yield();
		*(int *)sum += slots[i % SLOTS]; /* @get */
		atomic_store_explicit(&head, i + 1, memory_order_release);
	}
	return NULL;
}

int main(void)
{
	pthread_t p, c;
	int sum = 0;

	pthread_create(&p, NULL, producer, NULL);
	pthread_create(&c, NULL, consumer, &sum);
	pthread_join(p, NULL);
	pthread_join(c, NULL);
	printf("sum = %d\n", sum);
	return sum != ITEMS * (ITEMS - 1) / 2;
}
