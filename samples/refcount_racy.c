/*
 * The racy twin of refcount.c: a plain count. Two decrements may become one, and the block is never freed, or freed
 * while it is used.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct object {
	int refs;
	int value;
};

static void put(struct object *o)
{
	if (--o->refs == 0) /* @drop */
		free(o);    /* @free */
}

static void *user(void *arg)
{
	struct object *o = arg;
	int value = o->value; /* @use */

	put(o);
	return value == 7 ? arg : NULL;
}

static void *late_user(void *arg)
{
	usleep(20000); /* is the last one, so that the run itself is a good one */
	return user(arg);
}

int main(void)
{
	struct object *o = malloc(sizeof(*o));
	pthread_t t[2];

	if (!o)
		return 1;
	o->refs = 2;
	o->value = 7;
	pthread_create(&t[0], NULL, user, o);
	pthread_create(&t[1], NULL, late_user, o);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
