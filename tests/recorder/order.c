/*
 * Many threads that take locks of each kind, wait, post and allocate, as fast as they can. Checked for what a correct
 * order of the events cannot show: a lock with two holders, a semaphore below zero, a block with two owners.
 */
#include "named.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#define THREADS 8
#define ROUNDS 400

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, recursive, turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;
static int turn;

static void take_turn(int me)
{
	pthread_mutex_lock(&turn_lock);
	while (turn % THREADS != me)
		pthread_cond_wait(&turn_changed, &turn_lock);
	turn++;
	pthread_cond_broadcast(&turn_changed);
	pthread_mutex_unlock(&turn_lock);
}

static void *work(void *number)
{
	int me = *(int *)number;
	void *block[4] = {NULL};
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&plain);
		pthread_mutex_unlock(&plain);
		if (pthread_mutex_trylock(&recursive) == 0) {
			pthread_mutex_lock(&recursive);
			pthread_mutex_unlock(&recursive);
			pthread_mutex_unlock(&recursive);
		}
		if ((i + me) % 4)
			pthread_rwlock_rdlock(&rw);
		else
			pthread_rwlock_wrlock(&rw);
		pthread_rwlock_unlock(&rw);
		pthread_spin_lock(&spin);
		pthread_spin_unlock(&spin);
		sem_wait(&sem);
		sem_post(&sem);
		block[i % 4] = realloc(block[i % 4], (size_t)(16 + (i * 7 + me) % 50));
		if (i % 3 == 0) {
			free(block[i % 4]);
			block[i % 4] = NULL;
		}
		if (i % 50 == 0) {
			take_turn(me);
			pthread_barrier_wait(&barrier);
		}
	}
	for (int i = 0; i < 4; i++)
		free(block[i]);
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];
	int number[THREADS];
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &a);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_barrier_init(&barrier, NULL, THREADS);
	sem_init(&sem, 0, 3);
	for (int i = 0; i < THREADS; i++) {
		number[i] = i;
		MUST(pthread_create(&t[i], NULL, work, &number[i]) == 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}
