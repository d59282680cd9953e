/*
 * Threads that are given each other's old memory, cut and joined anew, all of it through the heap: no race. Except for
 * one block that is freed while another thread may still read it.
 */
#include "named.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 40

static char *shared;

static void *churn(void *seed)
{
	unsigned random = *(unsigned *)seed;
	char *block[BLOCKS] = {NULL};
	for (int i = 0; i < 1000; i++) {
		random = random * 1103515245 + 12345;
		char **b = &block[random / 65536 % BLOCKS];
		size_t size = 1 + random / 256 % 200;
		if (*b && random % 3 == 0)
			*b = realloc(*b, size);
		else
			free(*b), *b = malloc(size);
		memset(*b, 1, size);
		(*b)[size - 1] = 2;
	}
	for (int i = 0; i < BLOCKS; i++)
		free(block[i]);
	return NULL;
}

static void *use_after_free(void *unused)
{
	return shared[2500] ? unused : NULL;
}

int main(void)
{
	pthread_t t[3];
	unsigned seed[2] = {1, 7};
	MUST(mallopt(M_ARENA_MAX, 1) == 1);
	for (int i = 0; i < 2; i++)
		MUST(pthread_create(&t[i], NULL, churn, &seed[i]) == 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);

	shared = malloc(3000);
	MUST(pthread_create(&t[2], NULL, use_after_free, NULL) == 0);
	usleep(50000);
	free(shared);
	pthread_join(t[2], NULL);
	return 0;
}
