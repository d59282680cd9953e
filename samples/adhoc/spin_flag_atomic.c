/*
 * spin_flag.c as C wants it: the flag is atomic, its store releases what was put, its load acquires it. No race.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static int data[2];
static atomic_int ready;

static void *produce(void *arg)
{
	usleep(20000);
	data[0] = 40;
	data[1] = 2;
	atomic_store_explicit(&ready, 1, memory_order_release);
	return arg;
}

static void *consume(void *sum)
{
	while (!atomic_load_explicit(&ready, memory_order_acquire))
		usleep(3000);
	*(int *)sum = data[0];
	*(int *)sum += data[1];
	return NULL;
}

int main(void)
{
	pthread_t p, c;
	int sum = 0;

	pthread_create(&p, NULL, produce, NULL);
	pthread_create(&c, NULL, consume, &sum);
	pthread_join(p, NULL);
	pthread_join(c, NULL);
	printf("sum = %d\n", sum);
	return sum != 42;
}
