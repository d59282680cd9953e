/*
 * A block that is handed to another thread right after it was allocated: by a relaxed atomic, which makes nothing
 * visible that came before, not even that the memory is the block's. allocations.c has the orders that are needed.
 */
#include "both.h"

#include <stdatomic.h>
#include <stdlib.h>

#ifndef RACE_FREE
#define RACE_FREE 0
#endif
#define ORDER(needed) (RACE_FREE ? memory_order_##needed : memory_order_relaxed)

typedef _Atomic(char *) slot;

static void give(slot *to, char *block)
{
	atomic_store_explicit(to, block, ORDER(release));
}

static char *take(slot *from)
{
	char *block;
	while (!(block = atomic_load_explicit(from, ORDER(acquire))))
		usleep(1000);
	return block;
}

/* One thread allocates, another is the first to use what it gets. */
#define HANDED(name, block, use)                                                                                       \
	static slot name##_slot;                                                                                       \
	PART(name##_owner)                                                                                             \
	{                                                                                                              \
		give(&name##_slot, block);                                                                             \
		return NULL;                                                                                           \
	}                                                                                                              \
	PART(name##_user)                                                                                              \
	{                                                                                                              \
		volatile char *p = take(&name##_slot);                                                                 \
		use;                                                                                                   \
		return NULL;                                                                                           \
	}

/* Each size is of its own: no block is where another one was, unless it is meant to be. */
static char *again(void)
{
	char *first = malloc(3000);
	*first = 1;
	free(first);
	return malloc(3000); /* @again */
}
static char *aligned(void)
{
	void *block;
	return posix_memalign(&block, 64, 5000) ? abort(), NULL : block; /* @memalign */
}
static char *grown(void)
{
	char *block = malloc(100);
	*block = 1;
	return realloc(block, 7000); /* @realloc */
}

HANDED(by_malloc, malloc(1000), *p = 1)                     /* @malloc */
HANDED(by_calloc, calloc(20, 100), p[100] += 1)             /* @calloc */
HANDED(by_realloc, grown(), p[6000] = 1)                    /* @grown */
HANDED(by_memalign, aligned(), *p = 1)                      /* @aligned */
HANDED(in_second_life, again(), *p = 1)                     /* @second */
HANDED(of_large_block, malloc(100 << 20), p[512 << 10] = 1) /* @large */

/* What the two race for in the block says it all; that they race for the block as well is not said once more. */
struct message {
	int length, answer;
};
static slot filled_slot;
PART(filled_owner)
{
	struct message *m = malloc(sizeof *m);
	m->length = 5; /* @fill */
	give(&filled_slot, (char *)m);
	return NULL;
}
PART(filled_user)
{
	volatile struct message *m = (struct message *)take(&filled_slot);
	m->answer = 1;
	return (void *)(m->length == 5 ? 0L : 1L); /* @length */
}

/* A lock hands over what it does not know of. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *locked_block;
PART(locked_owner)
{
	char *block = malloc(9000);
	pthread_mutex_lock(&lock);
	locked_block = block;
	pthread_mutex_unlock(&lock);
	return NULL;
}
PART(locked_user)
{
	char *block = NULL;
	while (!block) {
		usleep(1000);
		pthread_mutex_lock(&lock);
		block = locked_block;
		pthread_mutex_unlock(&lock);
	}
	*block = 1;
	return NULL;
}

/* The memory is another's by the time it is used: freed by one thread, allocated by the other. */
PART(user_of_own)
{
	for (int i = 0; i < 20; i++) {
		char *block = malloc(200);
		*(volatile char *)block = 1;
		free(block);
	}
	return NULL;
}

int main(void)
{
	both(by_malloc_user, by_malloc_owner);
	both(by_calloc_user, by_calloc_owner);
	both(by_realloc_user, by_realloc_owner);
	both(by_memalign_user, by_memalign_owner);
	both(in_second_life_user, in_second_life_owner);
	both(of_large_block_user, of_large_block_owner);
	both(filled_user, filled_owner);
	both(locked_user, locked_owner);
	both(user_of_own, user_of_own);
	return 0;
}
