/*
 * List: an array list behind a wrapper that takes a lock around each call, as Java's synchronizedList does (ArrayList
 * in PECAN's Table 1).
 *
 * The bugs: adding is locked, walking through a list is not, as the wrapper does not know of iterators. A thread that
 * clears the list in the meantime has its lock, but the walk has not: races on the count and the items, and what the
 * walk sees of them does not belong together. The whole walk is meant to be atomic.
 *
 * In the recorded run the lists are cleared when the walk is over, and the target's lock, taken by both, orders the one
 * after the other for happens-before.
 */
#include "../../recorder/racetrace.h"
#include "run.h"

enum { CAPACITY = 64, ITEMS = 4 };

struct list {
	pthread_mutex_t lock;
	int count;
	int items[CAPACITY];
};

struct list to = {.lock = PTHREAD_MUTEX_INITIALIZER},
            from = {.lock = PTHREAD_MUTEX_INITIALIZER, .count = ITEMS, .items = {1, 2, 3, 4}};

static void list_add(struct list *l, int item)
{
	pthread_mutex_lock(&l->lock);
	if (l->count < CAPACITY)             /* @room */
		l->items[l->count++] = item; /* @add */
	pthread_mutex_unlock(&l->lock);
}

static void list_clear(struct list *l)
{
	pthread_mutex_lock(&l->lock);
	l->count = 0; /* @empty */
	for (int i = 0; i < ITEMS; i++)
		l->items[i] = 0; /* @wipe */
	pthread_mutex_unlock(&l->lock);
}

static void list_fill(struct list *l)
{
	pthread_mutex_lock(&l->lock);
	for (int i = 0; i < ITEMS; i++)
		l->items[i] = i + 1;
	l->count = ITEMS;
	pthread_mutex_unlock(&l->lock);
}

static void add_all(int thread, int round)
{
	(void)thread;
	(void)round;
	racetrace_region_begin();
	for (int i = 0; i < from.count; i++)  /* @bound */
		list_add(&to, from.items[i]); /* @item */
	racetrace_region_end();
}

static void clear_all(int thread, int round)
{
	(void)thread;
	list_clear(&to);
	if (round % 2)
		list_fill(&from);
	else
		list_clear(&from);
}

int main(int argc, char **argv)
{
	static part *const parts[] = {add_all, clear_all};

	run(argc, argv, parts, 2, 2);
	printf("%d items, %d items\n", to.count, from.count);
	return 0;
}
