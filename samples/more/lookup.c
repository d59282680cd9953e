/*
 * A cache whose table has one slot. add() finds the item in one critical section, which counts a reference, and adds to
 * its value in the next one. store() may have put another item into the slot meanwhile: what was added is lost. The
 * fixed one finds the item in the section that changes it. touch() finds an item in one section, too, but looks whether
 * it is still linked before it changes it.
 */
#include "both.h"

#include <pthread.h>
#include <stdlib.h>

struct item {
	long key;
	int references, linked;
	long used, value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct item *slot;

static struct item *find_locked(long key)
{
	struct item *i = slot; /* @find */
	if (!i || i->key != key)
		return NULL;
	i->references++;
	return i;
}

static struct item *find(long key)
{
	pthread_mutex_lock(&lock);
	struct item *i = find_locked(key);
	pthread_mutex_unlock(&lock);
	return i;
}

static void drop_locked(struct item *i)
{
	if (--i->references == 0)
		free(i);
}

static void drop(struct item *i)
{
	pthread_mutex_lock(&lock);
	drop_locked(i);
	pthread_mutex_unlock(&lock);
}

static void add(long key, long n)
{
#ifdef FIXED
	pthread_mutex_lock(&lock);
	struct item *i = find_locked(key);
	if (i) {
		i->value += n;
		drop_locked(i);
	}
	pthread_mutex_unlock(&lock);
#else
	struct item *i = find(key);
	if (!i)
		return;
	pthread_mutex_lock(&lock);
	i->value += n; /* @add */
	pthread_mutex_unlock(&lock);
	drop(i);
#endif
}

static void touch(long key)
{
	struct item *i = find(key);
	if (!i)
		return;
	pthread_mutex_lock(&lock);
	if (i->linked)
		i->used++;
	pthread_mutex_unlock(&lock);
	drop(i);
}

static void store(long key, long value)
{
	struct item *i = calloc(1, sizeof *i);
	if (!i)
		abort();
	i->key = key;
	i->value = value;
	i->references = 1;
	pthread_mutex_lock(&lock);
	struct item *old = slot;
	if (old) {
		old->linked = 0;
		drop_locked(old);
	}
	i->linked = 1;
	slot = i; /* @store */
	pthread_mutex_unlock(&lock);
}

PART(change)
{
	for (int i = 0; i < 3; i++) {
		add(1, 1);
		touch(1);
	}
	return NULL;
}

PART(replace)
{
	LATER;
	store(1, 5);
	touch(1);
	return NULL;
}

int main(void)
{
	store(1, 0);
	both(change, replace);
	touch(1);
	return 0;
}
