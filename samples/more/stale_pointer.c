/*
 * A block is freed while a thread has yet to use it, and its memory is handed out again before the thread does: to the
 * thread that freed it, as a part of a larger block, and after its pointer was taken under the lock that guards it.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

enum { PARTS = 8 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t taken_once;
static char *untouched, *touched, *parts[PARTS], *slot;
char *again, *filled, *large;

static void *use(void *unused)
{
	pthread_mutex_lock(&mutex);
	char *taken = slot;
#ifdef FIXED
	taken[8] = 1; // @taken_in_lock
#endif
	pthread_mutex_unlock(&mutex);
	sem_post(&taken_once);
#ifndef FIXED
	usleep(40000);
	taken[8] = 1; // @taken
#endif
	untouched[8] = 1;        // @stale
	touched[8] = 1;          // @other
	parts[PARTS / 2][8] = 1; // @part
	return unused;
}

static void replace(void)
{
	pthread_mutex_lock(&mutex);
	free(slot); // @free_slot
	slot = malloc(300);
	pthread_mutex_unlock(&mutex);
}

int main(void)
{
	pthread_t t;
	sem_init(&taken_once, 0, 0);
	untouched = malloc(200);
	touched = malloc(600);
	slot = malloc(300);
	for (int i = 0; i < PARTS; i++)
		parts[i] = malloc(1500);
	char *first = untouched, *second = touched, *end = malloc(8);
	pthread_create(&t, NULL, use, NULL);
	sem_wait(&taken_once);
	replace();
#ifdef FIXED
	pthread_join(t, NULL);
#endif
	free(first);  // @free
	free(second); // @free_other
	for (int i = 0; i < PARTS; i++)
		free(parts[i]); // @free_part
	again = malloc(200);
	filled = malloc(600);
	large = malloc(9000);
	filled[8] = 2; // @fill
#ifndef FIXED
	pthread_join(t, NULL);
#endif
	free(again);
	free(filled);
	free(large);
	free(slot);
	free(end);
	return 0;
}
