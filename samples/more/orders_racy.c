/*
 * Atomics by the model of C11: what publishes a variable to another thread, and what looks as if it did. orders.c has
 * the memory orders that are needed, here each is relaxed.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef RACE_FREE
#define RACE_FREE 0
#endif
#define ORDER(needed) (RACE_FREE ? memory_order_##needed : memory_order_relaxed)
#define FENCE(needed) atomic_thread_fence(ORDER(needed))

/* One thread sets a variable and says so in `flag`; another does when it has been told, and a third may lie between. */
#define PUBLISHED(name, say, told)                                                                                     \
	static volatile int name;                                                                                      \
	static atomic_int name##_flag;                                                                                 \
	static void *name##_use(void *second)                                                                          \
	{                                                                                                              \
		atomic_int *flag = &name##_flag;                                                                       \
		if (!second) {                                                                                         \
			name = 1;                                                                                      \
			say;                                                                                           \
			return NULL;                                                                                   \
		}                                                                                                      \
		while (!(told))                                                                                        \
			usleep(1000);                                                                                  \
		name = 2;                                                                                              \
		return NULL;                                                                                           \
	}

#define LOAD(needed) atomic_load_explicit(flag, ORDER(needed))
#define SET atomic_store_explicit(flag, 1, memory_order_relaxed)
#define SWAP(value) atomic_exchange_explicit(flag, value, ORDER(acq_rel))
#define STORE(value, needed) atomic_store_explicit(flag, value, ORDER(needed))
static int told_by_fence(atomic_int *flag, int order)
{
	int told = atomic_load_explicit(flag, memory_order_relaxed);
	atomic_thread_fence(order);
	return told;
}
#define EXCHANGES(from, to, success, failure)                                                                          \
	(atomic_compare_exchange_strong_explicit(flag, &(int){from}, to, success, failure))

/* Stores and loads, read-modify-writes */
PUBLISHED(by_store, STORE(1, release), LOAD(acquire))                                         /* @store */
PUBLISHED(by_seq_cst, STORE(1, seq_cst), LOAD(seq_cst))                                       /* @seq_cst */
PUBLISHED(by_consume, STORE(1, release), LOAD(consume))                                       /* @consume */
PUBLISHED(by_add, atomic_fetch_add_explicit(flag, 1, ORDER(release)), LOAD(acquire))          /* @add */
PUBLISHED(by_exchange, SWAP(1), SWAP(0))                                                      /* @exchange */
PUBLISHED(by_cas, EXCHANGES(0, 1, ORDER(release), memory_order_relaxed), LOAD(acquire))       /* @cas */
PUBLISHED(by_failed_cas, STORE(1, release), !EXCHANGES(0, 0, ORDER(acquire), ORDER(acquire))) /* @failed_cas */

/* Fences on either side, on both */
PUBLISHED(by_release_fence, (FENCE(release), SET), LOAD(acquire))                    /* @release_fence */
PUBLISHED(by_acquire_fence, STORE(1, release), told_by_fence(flag, ORDER(acquire)))  /* @acquire_fence */
PUBLISHED(by_fences, (FENCE(release), SET), told_by_fence(flag, ORDER(acquire)))     /* @fences */
PUBLISHED(by_seq_fences, (FENCE(seq_cst), SET), told_by_fence(flag, ORDER(seq_cst))) /* @seq_fences */

/* A release sequence: what others add to it does not end it, relaxed as they are */
static void *adds(void *flag)
{
	atomic_fetch_add_explicit((atomic_int *)flag, 1, memory_order_relaxed);
	return NULL;
}
static void in_another(void *(*what)(void *), atomic_int *flag)
{
	pthread_t t;
	usleep(10000);
	pthread_create(&t, NULL, what, flag);
	pthread_join(t, NULL);
}
#define WAITS(value) (atomic_load_explicit(flag, ORDER(acquire)) == (value))
PUBLISHED(by_sequence, (STORE(1, release), in_another(adds, flag)), WAITS(2)) /* @sequence */

/* What is no synchronisation at all: volatile, and an object that is atomic in one place and plain in another */
static volatile int plain;
static void say(atomic_int *flag)
{
	if (RACE_FREE)
		STORE(1, release);
	else
		plain = 1; /* @volatile */
}
static int told(atomic_int *flag)
{
	return RACE_FREE ? LOAD(acquire) : plain; /* @told */
}
PUBLISHED(by_volatile, say(flag), told(flag)) /* @by_volatile */
static atomic_int mixed;
static void *mixed_use(void *second)
{
	if (!second)
		atomic_store(&mixed, 1); /* @mixed_atomic */
	else if (RACE_FREE)
		atomic_store(&mixed, 2);
	else
		usleep(20000), *(volatile int *)&mixed = 2; /* @mixed_plain */
	return NULL;
}

int main(void)
{
	static void *(*const parts[])(void *) = {
	    by_store_use,         by_seq_cst_use, by_consume_use,    by_add_use,
	    by_exchange_use,      by_cas_use,     by_failed_cas_use, by_release_fence_use,
	    by_acquire_fence_use, by_fences_use,  by_seq_fences_use, by_sequence_use,
	    by_volatile_use,      mixed_use};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		pthread_t a, b;
		pthread_create(&b, NULL, parts[i], main);
		pthread_create(&a, NULL, parts[i], NULL);
		pthread_join(a, NULL);
		pthread_join(b, NULL);
	}
	return 0;
}
