/*
 * Threads that are joined while a lock is held that they take themselves. In the recorded run they have taken it
 * before, so it ends well: after a sleep, which orders nothing.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER, list = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t queue;
int jobs, entries, nodes, tasks;

static void sleep_well(void)
{
	usleep(300000);
}

static void *work(void *arg)
{
	pthread_mutex_lock(&state); /* @work */
	jobs++;
	pthread_mutex_unlock(&state);
	return arg;
}

static void of_mutex(void)
{
	pthread_t worker;

	pthread_create(&worker, NULL, work, NULL);
	sleep_well();
	pthread_mutex_lock(&state);
#ifdef FIXED
	jobs++;
	pthread_mutex_unlock(&state);
	pthread_join(worker, NULL);
#else
	pthread_join(worker, NULL); /* @join_worker */
	jobs++;
	pthread_mutex_unlock(&state);
#endif
}

/* A reader keeps a writer out, but no other reader. */
static void *write_table(void *arg)
{
#ifdef FIXED
	pthread_rwlock_rdlock(&table);
#else
	pthread_rwlock_wrlock(&table); /* @write_table */
	entries++;
#endif
	pthread_rwlock_unlock(&table);
	return arg;
}

static void of_readers(void)
{
	pthread_t writer;

	pthread_create(&writer, NULL, write_table, NULL);
	sleep_well();
	pthread_rwlock_rdlock(&table);
	pthread_join(writer, NULL); /* @join_writer */
	printf("%d entries\n", entries);
	pthread_rwlock_unlock(&table);
}

/* The thread that is joined waits for the end of another one. */
static void *insert(void *arg)
{
	pthread_mutex_lock(&list); /* @insert */
	nodes++;
	pthread_mutex_unlock(&list);
	return arg;
}

static void *inserts(void *arg)
{
	pthread_t helper;

	pthread_create(&helper, NULL, insert, NULL);
	pthread_join(helper, NULL); /* @join_helper */
	return arg;
}

static void of_three(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, inserts, NULL);
	sleep_well();
	pthread_mutex_lock(&list);
#ifdef FIXED
	struct timespec until;

	/* It gives up, and releases the list. */
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 5;
	int late = pthread_timedjoin_np(thread, NULL, &until);
	pthread_mutex_unlock(&list);
	if (late)
		pthread_join(thread, NULL);
#else
	pthread_join(thread, NULL); /* @join_inserts */
	pthread_mutex_unlock(&list);
#endif
}

static int take_task(void *arg)
{
	(void)arg;
	mtx_lock(&queue); /* @take_task */
	tasks++;
	mtx_unlock(&queue);
	return 0;
}

static void of_c11(void)
{
	thrd_t taker;

	mtx_init(&queue, mtx_plain);
	thrd_create(&taker, take_task, NULL);
	sleep_well();
#ifdef FIXED
	thrd_join(taker, NULL);
	mtx_lock(&queue);
#else
	mtx_lock(&queue);
	thrd_join(taker, NULL); /* @join_taker */
#endif
	tasks++;
	mtx_unlock(&queue);
}

int main(void)
{
	of_mutex();
	of_readers();
	of_three();
	of_c11();
	printf("%d jobs, %d nodes, %d tasks\n", jobs, nodes, tasks);
	return 0;
}
