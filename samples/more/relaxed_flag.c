/*
 * A flag that is an atomic, but relaxed, hands on data: the language orders nothing, though no interleaving of the
 * threads shows it, and so no replay does.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#ifdef FIXED
#define STORE memory_order_release
#define LOAD memory_order_acquire
#else
#define STORE memory_order_relaxed
#define LOAD memory_order_relaxed
#endif

static atomic_int ready;
static int data;

static void *writer(void *arg)
{
	data = 1; /* @write */
	atomic_store_explicit(&ready, 1, STORE);
	return arg;
}

static void *reader(void *arg)
{
	while (!atomic_load_explicit(&ready, LOAD))
		;
	printf("%d\n", data); /* @read */
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, writer, NULL);
	pthread_create(&t2, NULL, reader, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	return 0;
}
