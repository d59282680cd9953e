/*
 * plain KIND: a program to be recorded without having been instrumented (record --sync-only). Two threads take two
 * locks, with KIND "racy" in either order, with mutexes and with C11's; a third pair of threads hands a buffer over
 * by atomics, which the recorder does not see.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static mtx_t third, fourth;
static sem_t turn;
static int other_way, both;

static void *forwards(void *unused)
{
	pthread_mutex_lock(&first);
	pthread_mutex_lock(&second); /* @forwards */
	both++;
	pthread_mutex_unlock(&second);
	pthread_mutex_unlock(&first);
	sem_post(&turn);
	return unused;
}
static void *backwards(void *unused)
{
	usleep(50000); /* so that it does not hang */
	pthread_mutex_lock(other_way ? &second : &first);
	pthread_mutex_lock(other_way ? &first : &second); /* @backwards */
	both++;
	pthread_mutex_unlock(&second);
	pthread_mutex_unlock(&first);
	return unused;
}

static int standard(void *backwards_too)
{
	mtx_lock(backwards_too ? &fourth : &third);
	mtx_lock(backwards_too ? &third : &fourth); /* @standard */
	both++;
	mtx_unlock(&third);
	mtx_unlock(&fourth);
	return 0;
}

static char *mail;
static atomic_int posted;
static void *writes(void *unused)
{
	mail = malloc(100);
	memset(mail, 'x', 100);
	strcpy(mail, "hidden order");
	atomic_store(&posted, 1);
	return unused;
}
static void *reads(void *unused)
{
	while (!atomic_load(&posted))
		;
	printf("%s, %zu letters\n", mail, strlen(mail));
	free(mail);
	return unused;
}

static void run(void *(*one)(void *), void *(*two)(void *))
{
	pthread_t a, b;
	pthread_create(&a, NULL, one, NULL);
	pthread_create(&b, NULL, two, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

int main(int argc, char **argv)
{
	thrd_t a, b;
	other_way = argc > 1 && !strcmp(argv[1], "racy");
	sem_init(&turn, 0, 0);
	mtx_init(&third, mtx_plain);
	mtx_init(&fourth, mtx_plain);
	run(forwards, backwards);
	thrd_create(&a, standard, NULL);
	thrd_join(a, NULL);
	thrd_create(&b, standard, other_way ? "" : NULL);
	thrd_join(b, NULL);
	run(writes, reads);
	sem_wait(&turn);
	return both;
}
