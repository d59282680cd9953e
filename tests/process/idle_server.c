/*
 * A program that runs for long and does what it is told by its standard input: "go N" (rounds, without a race), "race
 * N", "begin N" and "end" (rounds without waiting for them), "hold" and "release" (of a lock), "fork", "exit". It
 * answers each with a line. Its two peers hand over in each way that orders; all but `racy` is free of races. One of
 * them holds a lock all the time.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER,
                       first = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t pair, all;
static sem_t there, back;
static int pipes[2];
static atomic_int over, flag;
static int by_mutex, by_cond, by_rw, by_barrier, by_sem, by_pipe, by_flag, by_join, under_first, under_held, racy;
static int turn;
static long rounds; /* -1: the program ends */
static int racing;

static void hand_over(long id)
{
	char byte = 0;
	if (id == 0) {
		by_sem++, by_pipe++;
		sem_post(&there);
		if (write(pipes[1], &byte, 1) != 1)
			exit(3);
		while (atomic_load_explicit(&flag, memory_order_acquire) != 0)
			;
		by_flag++;
		atomic_store_explicit(&flag, 1, memory_order_release);
		sem_wait(&back);
		by_sem++;
	} else {
		sem_wait(&there);
		by_sem++;
		if (read(pipes[0], &byte, 1) != 1)
			exit(3);
		by_pipe++;
		while (atomic_load_explicit(&flag, memory_order_acquire) != 1)
			;
		by_flag++;
		atomic_store_explicit(&flag, 0, memory_order_release);
		sem_post(&back);
	}
}

static void work(long id)
{
	pthread_mutex_lock(&m);
	by_mutex++;
	while (turn != id)
		pthread_cond_wait(&c, &m);
	by_cond++;
	turn = 1 - (int)id;
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
	pthread_rwlock_wrlock(&rw);
	by_rw++;
	pthread_rwlock_unlock(&rw);
	pthread_rwlock_rdlock(&rw);
	(void)*(volatile int *)&by_rw;
	pthread_rwlock_unlock(&rw);
	if (pthread_barrier_wait(&pair) == PTHREAD_BARRIER_SERIAL_THREAD)
		by_barrier++;
	pthread_barrier_wait(&pair);
	if (id == 0)
		under_held++;
	hand_over(id);
	if (racing)
		racy++;
}

static void *peer(void *arg)
{
	long id = (long)arg;
	if (id == 0)
		pthread_mutex_lock(&held);
	for (;;) {
		pthread_barrier_wait(&all);
		long n = rounds;
		if (n < 0)
			break;
		for (long i = 0; i < n; i++) {
			static int stops;
			if (id == 0)
				stops = atomic_load(&over);
			pthread_barrier_wait(&pair);
			int stop = stops;
			pthread_barrier_wait(&pair);
			if (stop)
				break;
			work(id);
		}
		pthread_mutex_lock(&first);
		under_first++;
		pthread_mutex_unlock(&first);
		pthread_barrier_wait(&all);
	}
	if (id == 0)
		pthread_mutex_unlock(&held);
	pthread_mutex_lock(&held);
	under_held++;
	pthread_mutex_unlock(&held);
	return NULL;
}

static void *brief(void *arg)
{
	by_join++;
	return arg;
}

static void start(long n, int race)
{
	pthread_t t;
	atomic_store(&over, 0);
	rounds = n;
	racing = race;
	pthread_barrier_wait(&all);
	if (n < 0)
		return;
	by_join++;
	pthread_create(&t, NULL, brief, NULL);
	pthread_join(t, NULL);
	by_join++;
}

static void become_child(void)
{
	pid_t child = fork();
	if (child == 0)
		for (;;) {
			pthread_mutex_lock(&m);
			by_mutex++;
			pthread_mutex_unlock(&m);
			puts("round");
			usleep(1000);
		}
	printf("child %ld\n", (long)child);
}

int main(void)
{
	char line[64];
	pthread_t t[2];
	pthread_barrier_init(&pair, NULL, 2);
	pthread_barrier_init(&all, NULL, 3);
	sem_init(&there, 0, 0);
	sem_init(&back, 0, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (pipe(pipes))
		return 2;
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, peer, (void *)i);
	puts("ready");
	while (fgets(line, sizeof line, stdin) && strcmp(line, "exit\n") != 0) {
		long n = strchr(line, ' ') ? atol(strchr(line, ' ')) : 0;
		if (!strncmp(line, "go ", 3) || !strncmp(line, "race ", 5) || !strncmp(line, "begin ", 6))
			start(n, line[0] == 'r');
		if (!strcmp(line, "end\n"))
			atomic_store(&over, 1);
		if (!strncmp(line, "go ", 3) || !strncmp(line, "race ", 5) || !strcmp(line, "end\n"))
			pthread_barrier_wait(&all);
		if (!strcmp(line, "hold\n"))
			pthread_mutex_lock(&first), under_first++;
		if (!strcmp(line, "release\n"))
			under_first++, pthread_mutex_unlock(&first);
		if (!strcmp(line, "fork\n"))
			become_child();
		else
			puts("done");
	}
	start(-1, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	puts("bye");
	return 5;
}
