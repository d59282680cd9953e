/* A lazily initialised singleton, made by pthread_once: each use comes after its creation. No race. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct config {
	int level;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
struct config *instance;
static int levels[2];

static void make(void)
{
	struct config *c = malloc(sizeof(*c));

	if (!c)
		abort();
	c->level = 3; /* @fill */
	instance = c; /* @set */
}

static struct config *get(void)
{
	pthread_once(&once, make);
	return instance;
}

static void *user(void *level)
{
	*(int *)level = get()->level; /* @use */
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, user, &levels[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("levels %d and %d\n", levels[0], levels[1]);
	free(instance);
	return levels[0] != 3 || levels[1] != 3;
}
