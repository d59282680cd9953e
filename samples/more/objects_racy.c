/*
 * Locks and the like are memory: they are made and destroyed while others use them, as only sleeps keep the threads
 * apart. And a lock that its owner does not release protects nothing.
 */
#include "both.h"

#include <malloc.h>
#include <semaphore.h>
#include <stdlib.h>
#include <threads.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
PART(mutex_use)
{
	pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex); /* @mutex_use */
	return NULL;
}
PART(mutex_destroy)
{
	LATER;
	pthread_mutex_destroy(&mutex); /* @mutex_destroy */
	return NULL;
}

static pthread_mutex_t made;
PART(mutex_make)
{
	pthread_mutex_init(&made, NULL); /* @mutex_make */
	return NULL;
}
PART(made_use)
{
	LATER;
	pthread_mutex_lock(&made), pthread_mutex_unlock(&made); /* @made_use */
	return NULL;
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
PART(rwlock_use)
{
	pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock); /* @rwlock_use */
	return NULL;
}
PART(rwlock_destroy)
{
	LATER;
	pthread_rwlock_destroy(&rwlock); /* @rwlock_destroy */
	return NULL;
}

static pthread_spinlock_t spin;
PART(spin_use)
{
	pthread_spin_lock(&spin), pthread_spin_unlock(&spin); /* @spin_use */
	return NULL;
}
PART(spin_destroy)
{
	LATER;
	pthread_spin_destroy(&spin); /* @spin_destroy */
	return NULL;
}

static sem_t semaphore;
PART(semaphore_use)
{
	sem_post(&semaphore); /* @semaphore_use */
	return NULL;
}
PART(semaphore_destroy)
{
	LATER;
	sem_destroy(&semaphore); /* @semaphore_destroy */
	return NULL;
}

/* Who waits has seen the state, not the signal, and destroys the condition before it comes. */
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int done;
PART(cond_use)
{
	pthread_mutex_lock(&guard);
	done = 1;
	pthread_mutex_unlock(&guard);
	pthread_cond_signal(&cond); /* @cond_use */
	return NULL;
}
PART(cond_destroy)
{
	LATER;
	pthread_mutex_lock(&guard);
	while (!done)
		pthread_cond_wait(&cond, &guard);
	pthread_mutex_unlock(&guard);
	pthread_cond_destroy(&cond); /* @cond_destroy */
	return NULL;
}

/* Its being there is told in a way that orders nothing. */
static pthread_barrier_t barrier;
static int barrier_made;
PART(barrier_make)
{
	pthread_barrier_init(&barrier, NULL, 2); /* @barrier_make */
	__atomic_store_n(&barrier_made, 1, __ATOMIC_RELAXED);
	pthread_barrier_wait(&barrier);
	return NULL;
}
PART(barrier_use)
{
	while (!__atomic_load_n(&barrier_made, __ATOMIC_RELAXED))
		usleep(1000);
	pthread_barrier_wait(&barrier); /* @barrier_use */
	return NULL;
}

static mtx_t c11;
PART(c11_use)
{
	mtx_lock(&c11), mtx_unlock(&c11); /* @c11_use */
	return NULL;
}
PART(c11_destroy)
{
	LATER;
	mtx_destroy(&c11); /* @c11_destroy */
	return NULL;
}

/* The block goes while a lock in it is in use. */
static pthread_mutex_t *inside;
PART(inside_use)
{
	pthread_mutex_lock(inside), pthread_mutex_unlock(inside); /* @inside_use */
	return NULL;
}
PART(inside_free)
{
	LATER;
	free(inside); /* @inside_free */
	return NULL;
}

/* Each locks, but it is another lock: the memory of the first was freed and got again. */
static int unguarded;
static void *unguarded_by(int value)
{
	pthread_mutex_t *own = malloc(5000);
	pthread_mutex_init(own, NULL);
	pthread_mutex_lock(own);
	unguarded = value; /* @unguarded */
	pthread_mutex_unlock(own);
	pthread_mutex_destroy(own);
	free(own);
	return NULL;
}
PART(again_first)
{
	return unguarded_by(1);
}
PART(again_second)
{
	LATER;
	return unguarded_by(2);
}

/* Another thread than its owner releases the lock; the owner continues as if it held it. */
static pthread_mutex_t handed = PTHREAD_MUTEX_INITIALIZER;
static int lost;
PART(handed_owner)
{
	pthread_mutex_lock(&handed);
	usleep(300000);
	lost = 1; /* @lost_owner */
	return NULL;
}
PART(handed_thief)
{
	LATER;
	pthread_mutex_unlock(&handed);
	pthread_mutex_lock(&handed);
	lost = 2; /* @lost_thief */
	pthread_mutex_unlock(&handed);
	return NULL;
}

/* The owner of a robust mutex dies with it; who comes next does not take it. */
static pthread_mutex_t robust;
static int legacy;
PART(robust_owner)
{
	pthread_mutex_lock(&robust);
	legacy = 1; /* @legacy_owner */
	return NULL;
}
PART(robust_heir)
{
	LATER;
	legacy = 2; /* @legacy_heir */
	return NULL;
}

int main(void)
{
	pthread_mutexattr_t attributes;
	mallopt(M_ARENA_MAX, 1);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attributes);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	sem_init(&semaphore, 0, 0);
	mtx_init(&c11, mtx_plain);
	inside = malloc(sizeof *inside);
	pthread_mutex_init(inside, NULL);
	both(mutex_use, mutex_destroy);
	both(mutex_make, made_use);
	both(rwlock_use, rwlock_destroy);
	both(spin_use, spin_destroy);
	both(semaphore_use, semaphore_destroy);
	both(cond_use, cond_destroy);
	both(barrier_make, barrier_use);
	both(c11_use, c11_destroy);
	both(inside_use, inside_free);
	both(again_first, again_second);
	both(handed_owner, handed_thief);
	both(robust_owner, robust_heir);
	return unguarded + lost + legacy == 0;
}
