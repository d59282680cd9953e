/*
 * DrFinder's example with locks that are members of structures: of elements of an array from the heap (HEAP 1), each
 * thread of another element; or of two variables. What hides the race on x is the order of two sections of one lock,
 * which is the last element's: locks of one member are of one type.
 */
#include <pthread.h>
#include <stdlib.h>

#ifndef HEAP
#define HEAP 1
#endif

struct item {
	long value;
	pthread_mutex_t lock;
};
enum { ITEMS = 3 };

static struct item variables[1], other;
static struct item *items;
static int x;

static void touch(struct item *it)
{
	pthread_mutex_lock(&it->lock);
	it->value++;
	pthread_mutex_unlock(&it->lock);
}

static void *first(void *arg)
{
	touch(HEAP ? &items[0] : &other);
	x = 1;
	touch(HEAP ? &items[ITEMS - 1] : &variables[0]);
	return arg;
}

static void *second(void *arg)
{
	touch(HEAP ? &items[1] : &other);
	touch(HEAP ? &items[ITEMS - 1] : &variables[0]);
	x = 2;
	return arg;
}

int main(void)
{
	pthread_t t[2];

	items = calloc(ITEMS, sizeof *items);
	if (!items)
		return 1;
	for (int i = 0; i < ITEMS; i++)
		pthread_mutex_init(&items[i].lock, NULL);
	pthread_mutex_init(&other.lock, NULL);
	pthread_mutex_init(&variables[0].lock, NULL);
	pthread_create(&t[0], NULL, first, NULL);
	pthread_create(&t[1], NULL, second, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	free(items);
	return 0;
}
