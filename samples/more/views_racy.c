/*
 * Memory is the same when the mapping that it had first has gone: what synchronised by one address orders what is used
 * by another, and accesses before race with those after. What comes to the old address is other memory. A page that
 * another thread maps, too, is not written by that.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, LARGE = 1 << 20, ROUNDS = 8 };
static int file;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t holds, gone;
static atomic_int gate;

#ifndef FIXED
#define LOCK
#define UNLOCK
enum { RACY = 1 };
#else
#define LOCK pthread_mutex_lock(&mutex)
#define UNLOCK pthread_mutex_unlock(&mutex)
enum { RACY = 0 };
#endif

static char *map(off_t page, size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, page * PAGE);
}

static void make_lock(char *page)
{
	pthread_mutexattr_t shared;
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init((pthread_mutex_t *)(void *)page, &shared);
}

/* A lock in the memory is held while the view that was first goes. */
static char *lock_views[2];
static int guarded;
static void *holds_it(void *unused)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)(void *)lock_views[1];
	pthread_mutex_lock(lock);
	guarded++;
	sem_post(&holds);
	sem_wait(&gone);
	guarded++; /* @guarded */
	pthread_mutex_unlock(lock);
	return unused;
}
static void *takes_it(void *unused)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)(void *)lock_views[1];
	if (RACY)
		guarded++; /* @unguarded */
	pthread_mutex_lock(lock);
	guarded++;
	pthread_mutex_unlock(lock);
	return unused;
}

/* A release before the first view goes, the acquire after it. */
static char *flag_views[2], *data_views[2];
static int published;
static void *acquires(void *unused)
{
	while (!atomic_load_explicit(&gate, memory_order_relaxed))
		usleep(100);
	while (!atomic_load_explicit((atomic_int *)(void *)flag_views[1], memory_order_acquire))
		usleep(100);
	published++; /* @published */
	LOCK;
	data_views[1][8]++; /* @after */
	UNLOCK;
	return unused;
}

/* Another thread uses the memory while there are others where its first view was: of malloc, a stack, a mapping. */
static char *large_views[2];
static void *uses(void *unused)
{
	sem_post(&holds);
	for (int round = 0; round < LARGE / PAGE; round++)
		large_views[1][(ptrdiff_t)round * PAGE + 64]++;
	return unused;
}
static void *stack(void *unused)
{
	volatile char here[PAGE * ROUNDS];
	for (int i = 0; i < PAGE * ROUNDS; i += 64)
		here[i] = 1;
	return unused;
}
static void others_come(void)
{
	pthread_t user, thread;
	pthread_attr_t small;
	pthread_create(&user, NULL, uses, NULL);
	sem_wait(&holds);
	munmap(large_views[0], LARGE);
	char *block = malloc(LARGE / 2),
	     *page = mmap(large_views[0], PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(block, 1, LARGE / 2);
	page[64] = 1;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, PAGE * ROUNDS * 4);
	pthread_create(&thread, &small, stack, NULL);
	pthread_join(thread, NULL);
	munmap(page, PAGE);
	pthread_join(user, NULL);
	free(block);
}

/* Each thread has views of its own, which come, move and go. */
static int counted;
static void *counts(void *unused)
{
	char *old = map(3, (size_t)2 * PAGE);
	for (int round = 0; round < ROUNDS; round++) {
		char *view = map(3, (size_t)2 * PAGE);
		pthread_mutex_t *lock = (pthread_mutex_t *)(void *)view;
		if (RACY)
			counted++; /* @uncounted */
		pthread_mutex_lock((pthread_mutex_t *)(void *)old);
		munmap(old, (size_t)2 * PAGE);
		counted++; /* @counted */
		view[PAGE - 1]++;
		pthread_mutex_unlock(lock);
		old = mremap(view, (size_t)2 * PAGE, (size_t)(2 + round % 2) * PAGE, MREMAP_MAYMOVE);
		if (round % 2)
			munmap(old + (ptrdiff_t)2 * PAGE, PAGE);
	}
	munmap(old, (size_t)2 * PAGE);
	return unused;
}

/* No address shows the memory between. */
static atomic_int unmapped;
static int handed;
static void locked(void)
{
	char *view = map(3, PAGE);
	pthread_mutex_lock((pthread_mutex_t *)(void *)view);
	handed++; /* @handed */
	pthread_mutex_unlock((pthread_mutex_t *)(void *)view);
	munmap(view, PAGE);
}
static void *maps(void *unused)
{
	locked();
	if (RACY)
		handed++; /* @late */
	atomic_store_explicit(&unmapped, 1, memory_order_relaxed);
	return unused;
}
static void *maps_again(void *unused)
{
	while (!atomic_load_explicit(&unmapped, memory_order_relaxed))
		usleep(100);
	locked();
	return unused;
}

int main(void)
{
	pthread_t threads[3];
	file = memfd_create("pages", 0);
	if (ftruncate(file, LARGE + 8 * PAGE) != 0)
		return 1;
	sem_init(&holds, 0, 0);
	sem_init(&gone, 0, 0);
	for (int i = 0; i < 2; i++) {
		lock_views[i] = map(0, PAGE);
		flag_views[i] = map(1, PAGE);
		data_views[i] = map(2, PAGE);
		large_views[i] = map(8, LARGE);
	}
	make_lock(lock_views[0]);
	pthread_create(&threads[0], NULL, holds_it, NULL);
	sem_wait(&holds);
	pthread_create(&threads[1], NULL, takes_it, NULL);
	usleep(2000);
	munmap(lock_views[0], PAGE);
	sem_post(&gone);

	pthread_create(&threads[2], NULL, acquires, NULL);
	if (!RACY)
		published = 1;
	atomic_store_explicit((atomic_int *)(void *)flag_views[1], 1, memory_order_release);
	if (RACY)
		published = 1; /* @unpublished */
	LOCK;
	data_views[1][8]++; /* @before */
	UNLOCK;
	munmap(flag_views[0], PAGE);
	munmap(data_views[0], PAGE);
	atomic_store_explicit(&gate, 1, memory_order_relaxed);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	others_come();

	char *first = map(3, (size_t)2 * PAGE), *stays = map(3, (size_t)2 * PAGE);
	make_lock(first);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, counts, NULL);
	usleep(1000);
	munmap(first, (size_t)2 * PAGE);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	munmap(stays, (size_t)2 * PAGE);

	pthread_create(&threads[0], NULL, maps, NULL);
	pthread_create(&threads[1], NULL, maps_again, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
