/*
 * A reference count as it should be: atomic, the decrements release and acquire, so that who frees comes after every
 * use. No race.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct object {
	atomic_int refs;
	int value;
};

static void put(struct object *o)
{
	if (atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel) == 1) /* @drop */
		free(o);
}

static void *user(void *arg)
{
	struct object *o = arg;
	int value = o->value; /* @use */

	put(o);
	return value == 7 ? arg : NULL;
}

int main(void)
{
	struct object *o = malloc(sizeof(*o));
	pthread_t t[2];

	if (!o)
		return 1;
	atomic_init(&o->refs, 3);
	o->value = 7;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, user, o);
	put(o);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
