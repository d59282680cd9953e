/*
 * Threads that wait for others while they hold a lock which these acquire: for a once-routine, for a post, for
 * a signal, at a barrier. In the recorded run the others have acquired it before, so it ends well: after a sleep, which
 * orders nothing.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t config = PTHREAD_MUTEX_INITIALIZER, results = PTHREAD_MUTEX_INITIALIZER,
                       grid = PTHREAD_MUTEX_INITIALIZER, stock = PTHREAD_MUTEX_INITIALIZER,
                       queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t phase;
static sem_t done;
int entries, result, steps, items, orders;

static void sleep_well(void)
{
	usleep(300000);
}

static void run(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t a, b;

	pthread_create(&a, NULL, first, NULL);
	pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

static void load(void)
{
#ifdef FIXED
	entries = 1;
#else
	pthread_mutex_lock(&config); /* @load */
	entries = 1;
	pthread_mutex_unlock(&config);
#endif
}

static void *first_use(void *arg)
{
	pthread_once(&once, load);
	return arg;
}

static void *later_use(void *arg)
{
	sleep_well();
	pthread_mutex_lock(&config);
	pthread_once(&once, load); /* @later_use */
	pthread_mutex_unlock(&config);
	return arg;
}

static void *compute(void *arg)
{
	pthread_mutex_lock(&results); /* @compute */
	result++;
	pthread_mutex_unlock(&results);
	sem_post(&done);
	return arg;
}

static void *collect(void *arg)
{
	sleep_well();
#ifdef FIXED
	sem_wait(&done);
	pthread_mutex_lock(&results);
#else
	pthread_mutex_lock(&results);
	sem_wait(&done);              /* @collect */
#endif
	printf("%d\n", result);
	pthread_mutex_unlock(&results);
	return arg;
}

static void *deliver(void *arg)
{
#ifndef FIXED
	pthread_mutex_lock(&stock); /* @deliver */
	orders++;
	pthread_mutex_unlock(&stock);
#endif
	sleep_well();
	sleep_well();
	pthread_mutex_lock(&queue);
	items++;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&queue);
	return arg;
}

/* A nested monitor: the wait gives up the queue's lock, not the outer one. */
static void *fetch(void *arg)
{
	sleep_well();
	pthread_mutex_lock(&stock);
	orders++;
	pthread_mutex_lock(&queue);
	while (!items)
		pthread_cond_wait(&filled, &queue); /* @fetch */
	items--;
	pthread_mutex_unlock(&queue);
	pthread_mutex_unlock(&stock);
	return arg;
}

static void *step_first(void *arg)
{
	pthread_mutex_lock(&grid); /* @step_first */
	steps++;
	pthread_mutex_unlock(&grid);
	pthread_barrier_wait(&phase);
	return arg;
}

static void *step_last(void *arg)
{
	sleep_well();
	pthread_mutex_lock(&grid);
	steps++;
#ifdef FIXED
	pthread_mutex_unlock(&grid);
	pthread_barrier_wait(&phase);
#else
	pthread_barrier_wait(&phase); /* @step_last */
	pthread_mutex_unlock(&grid);
#endif
	return arg;
}

int main(void)
{
	sem_init(&done, 0, 0);
	pthread_barrier_init(&phase, NULL, 2);
	run(first_use, later_use);
	run(compute, collect);
	run(deliver, fetch);
	run(step_first, step_last);
	return 0;
}
