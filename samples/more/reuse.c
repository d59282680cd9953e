/*
 * The same addresses again, for something else: a mutex that is destroyed and initialised anew, the stack and the
 * thread-local data of a thread that has ended, a block that realloc moved or left, a mapping. No race.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int counter;
static __thread int mine;
static pthread_mutex_t mutex;
static sem_t ended;

static void *add(void *unused)
{
	int local[64];

	for (int i = 0; i < 64; i++)
		local[i] = i;
	mine += local[3];
	pthread_mutex_lock(&mutex);
	counter += mine;
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *moves(void *block)
{
	char *p = realloc(block, 8), *map;

	p[0] = 1;
	p = realloc(p, 100000);
	p[9] = 1;
	free(p);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	map[0] = 1;
	munmap(map, 4096);
	sem_post(&ended);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	for (int i = 0; i < 2; i++) {
		pthread_mutex_init(&mutex, NULL);
		pthread_create(&a, NULL, add, NULL);
		pthread_create(&b, NULL, add, NULL);
		pthread_join(a, NULL);
		pthread_join(b, NULL);
		pthread_mutex_destroy(&mutex);
	}
	sem_init(&ended, 0, 0);
	/* Nothing orders one thread's use of the memory with the next one's but its being handed out. */
	for (int i = 0; i < 4; i++) {
		char *block = malloc(16);

		block[0] = 1;
		pthread_create(&a, NULL, moves, block);
		pthread_detach(a);
		usleep(10000);
	}
	for (int i = 0; i < 4; i++)
		sem_wait(&ended);
	printf("%d\n", counter);
	return 0;
}
