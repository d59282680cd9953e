/*
 * The racy twin of singleton.c: nothing keeps two threads from initialising at once, or a user from seeing the pointer
 * before what it points to.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct config {
	int level;
};

struct config *instance;
static int levels[2];

static struct config *get(void)
{
	struct config *c = instance; /* @test */

	if (!c) {
		c = malloc(sizeof(*c));
		if (!c)
			abort();
		c->level = 3; /* @fill */
		instance = c; /* @set */
	}
	return c;
}

static void *first(void *level)
{
	*(int *)level = get()->level;
	return NULL;
}

static void *second(void *level)
{
	usleep(20000);                /* comes when the instance is there */
	*(int *)level = get()->level; /* @use */
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	pthread_create(&t[0], NULL, first, &levels[0]);
	pthread_create(&t[1], NULL, second, &levels[1]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("levels %d and %d\n", levels[0], levels[1]);
	return 0;
}
