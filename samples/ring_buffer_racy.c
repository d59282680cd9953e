/*
 * The racy twin of ring_buffer.c: the indices are atomic but relaxed, so they order nothing, and the consumer may read
 * a slot before it sees what was put there. x86 hides this; C and other machines do not.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { SLOTS = 4, ITEMS = 12 };

int slots[SLOTS];
static atomic_uint head, tail;

static void *producer(void *arg)
{
	for (unsigned i = 0; i < ITEMS; i++) {
		while (i - atomic_load_explicit(&head, memory_order_relaxed) == SLOTS)
			sched_yield();
		slots[i % SLOTS] = (int)i; /* @put */
		atomic_store_explicit(&tail, i + 1, memory_order_relaxed);
	}
	return arg;
}

static void *consumer(void *sum)
{
	for (unsigned i = 0; i < ITEMS; i++) {
		while (atomic_load_explicit(&tail, memory_order_relaxed) == i)
			sched_yield();
		*(int *)sum += slots[i % SLOTS]; /* @get */
		atomic_store_explicit(&head, i + 1, memory_order_relaxed);
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
	return 0;
}
