/* A long run. Two threads count under a lock, in step; one of them holds another lock all the time. Then they race. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready, done;
static long total, guarded, racy;
static long *block;
static long rounds;
static volatile int sink[4096];
static void work(int id, long round)
{
	pthread_mutex_lock(&lock);
	total++;
	block[round & 7]++;
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 16; i++)
		sink[(id * 2048) + ((round * 31 + i * 7) & 2047)] = i;
}
static void *counts(void *arg)
{
	int id = (int)(long)arg;
	if (id == 0)
		pthread_mutex_lock(&outer); /* held across any cut */
	for (long round = 0; round < rounds; round++) {
		if (round % 1024 == 0)
			pthread_barrier_wait(&ready); /* neither is done long before the other */
		work(id, round);
		if (id == 0)
			guarded++;
	}
	if (id == 0)
		pthread_mutex_unlock(&outer);
	racy++;
	block[8]++;
	pthread_barrier_wait(&done);
	pthread_mutex_lock(&outer);
	guarded++;
	pthread_mutex_unlock(&outer);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	rounds = argc > 1 ? atol(argv[1]) : 100;
	block = calloc(9, sizeof *block);
	pthread_barrier_init(&ready, NULL, 2);
	pthread_barrier_init(&done, NULL, 2);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, counts, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", total + guarded);
	return 0;
}
