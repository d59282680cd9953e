/*
 * Locks and the like made and destroyed as it should be: before others know of them, and by who knows that the others
 * are done. Some of that knowledge comes from the object itself. And locks that change hands.
 */
#include "both.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <threads.h>

/* A thread that sees that the other is done destroys the mutex and frees the block that contains it. */
static struct shared {
	pthread_mutex_t mutex;
	int finished;
} * shared;
PART(finishes)
{
	pthread_mutex_lock(&shared->mutex);
	shared->finished = 1;
	pthread_mutex_unlock(&shared->mutex);
	return NULL;
}
PART(tidies)
{
	for (int finished = 0; !finished; usleep(1000)) { /* rarely: a search of the analysis is bounded */
		pthread_mutex_lock(&shared->mutex);
		finished = shared->finished;
		pthread_mutex_unlock(&shared->mutex);
	}
	pthread_mutex_destroy(&shared->mutex);
	free(shared);
	return NULL;
}

/* The last user of a block, which its count tells, destroys the mutex that guards the count, and frees the block. */
static struct counted {
	pthread_mutex_t mutex;
	int users;
} * counted;
PART(gives_up)
{
	pthread_mutex_lock(&counted->mutex);
	int left = --counted->users;
	pthread_mutex_unlock(&counted->mutex);
	if (left == 0) {
		pthread_mutex_destroy(&counted->mutex);
		free(counted);
	}
	return NULL;
}

/* The waiter destroys all as soon as it is woken, as the signal comes inside the lock. */
static pthread_mutex_t mutex;
static pthread_cond_t cond;
static int done;
PART(signals)
{
	LATER;
	pthread_mutex_lock(&mutex);
	done = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	return NULL;
}
PART(waits)
{
	pthread_mutex_lock(&mutex);
	while (!done)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	pthread_cond_destroy(&cond);
	pthread_mutex_destroy(&mutex);
	return NULL;
}

/* A condition that no thread waits on any more is destroyed although those who waited have not come back yet. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened;
static int open_now, waiting;
PART(enters)
{
	pthread_mutex_lock(&gate);
	waiting = 1;
	while (!open_now)
		pthread_cond_wait(&opened, &gate);
	pthread_mutex_unlock(&gate);
	return NULL;
}
PART(opens)
{
	for (int ready = 0; !ready;) {
		pthread_mutex_lock(&gate);
		ready = waiting;
		pthread_mutex_unlock(&gate);
	}
	pthread_mutex_lock(&gate);
	open_now = 1;
	pthread_cond_broadcast(&opened);
	pthread_mutex_unlock(&gate);
	pthread_cond_destroy(&opened);
	return NULL;
}

/* One of those who passed a barrier may destroy it at once, and who got a semaphore's token the semaphore. */
static pthread_barrier_t barrier;
PART(passes)
{
	if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
		pthread_barrier_destroy(&barrier);
	return NULL;
}
static sem_t semaphore;
PART(posts)
{
	sem_post(&semaphore);
	return NULL;
}
PART(takes)
{
	sem_wait(&semaphore);
	sem_destroy(&semaphore);
	return NULL;
}

/* Made by one, published by an atomic, used and destroyed by the other. */
static pthread_rwlock_t rwlock;
static pthread_spinlock_t spin;
static mtx_t c11;
static _Atomic int published;
PART(makes)
{
	pthread_rwlock_init(&rwlock, NULL);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	mtx_init(&c11, mtx_plain);
	published = 1;
	return NULL;
}
PART(uses)
{
	while (!published)
		usleep(1000);
	pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_destroy(&rwlock);
	pthread_spin_lock(&spin), pthread_spin_unlock(&spin);
	pthread_spin_destroy(&spin);
	mtx_lock(&c11), mtx_unlock(&c11);
	mtx_destroy(&c11);
	return NULL;
}

/* A mutex made anew at the same place; both lives are ordered. */
static pthread_mutex_t again;
static int guarded;
PART(again_use)
{
	pthread_mutex_lock(&again);
	guarded++;
	pthread_mutex_unlock(&again);
	return NULL;
}

/* Made, used by both and destroyed, again and again. */
static pthread_mutex_t round_mutex;
static pthread_cond_t round_cond;
static sem_t round_begins;
static int round_done;
enum { ROUNDS = 50 };
PART(plays)
{
	for (int i = 0; i < ROUNDS; i++) {
		sem_wait(&round_begins);
		pthread_mutex_lock(&round_mutex);
		round_done = 1;
		pthread_cond_signal(&round_cond);
		pthread_mutex_unlock(&round_mutex);
	}
	return NULL;
}
PART(holds)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_init(&round_mutex, NULL);
		pthread_cond_init(&round_cond, NULL);
		pthread_mutex_lock(&round_mutex);
		sem_post(&round_begins);
		while (!round_done)
			pthread_cond_wait(&round_cond, &round_mutex);
		pthread_mutex_unlock(&round_mutex);
		round_done = 0;
		pthread_cond_destroy(&round_cond);
		pthread_mutex_destroy(&round_mutex);
	}
	return NULL;
}

/* A lock is handed over: one takes it, the other releases it. What they and a third do is ordered by it. */
static pthread_mutex_t handed = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int taken;
static int passed_on;
PART(hands)
{
	pthread_mutex_lock(&handed);
	passed_on = 1;
	taken = 1;
	pthread_mutex_lock(&handed); /* waits for the other */
	passed_on++;
	pthread_mutex_unlock(&handed);
	return NULL;
}
PART(is_handed)
{
	while (!taken)
		usleep(1000);
	passed_on++;
	pthread_mutex_unlock(&handed);
	return NULL;
}

/* The owner of a robust mutex dies with it; the next owner puts things right. */
static pthread_mutex_t robust;
static int legacy;
PART(dies)
{
	pthread_mutex_lock(&robust);
	legacy = 1;
	return NULL;
}
PART(inherits)
{
	LATER;
	if (pthread_mutex_lock(&robust) == EOWNERDEAD)
		pthread_mutex_consistent(&robust);
	legacy = 2;
	pthread_mutex_unlock(&robust);
	return NULL;
}

int main(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attributes);
	shared = malloc(sizeof *shared);
	pthread_mutex_init(&shared->mutex, NULL);
	shared->finished = 0;
	both(finishes, tidies);
	counted = malloc(sizeof *counted);
	pthread_mutex_init(&counted->mutex, NULL);
	counted->users = 2;
	both(gives_up, gives_up);
	pthread_mutex_init(&mutex, NULL);
	pthread_cond_init(&cond, NULL);
	both(signals, waits);
	pthread_cond_init(&opened, NULL);
	both(enters, opens);
	pthread_barrier_init(&barrier, NULL, 2);
	both(passes, passes);
	sem_init(&semaphore, 0, 0);
	both(posts, takes);
	both(makes, uses);
	for (int i = 0; i < 3; i++) {
		pthread_mutex_init(&again, NULL);
		both(again_use, again_use);
		pthread_mutex_destroy(&again);
	}
	sem_init(&round_begins, 0, 0);
	both(plays, holds);
	both(hands, is_handed);
	both(dies, inherits);
	return guarded != 6 || passed_on != 3;
}
