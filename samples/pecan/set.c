/*
 * Set: a hash set behind a wrapper that takes a lock around each call, as Java's synchronizedSet does (HashSet in
 * PECAN's Table 1).
 *
 * The bug: contains_all() walks through the other set by its calls, each of which locks it; the walk as a whole does
 * not. So what it walks through may be emptied, and filled with something else, in between: the answer is about a set
 * that never was. No race: every access has its lock.
 *
 * In the recorded run the other set is emptied when the walk is over.
 */
#include "run.h"

enum { BUCKETS = 4 };

struct set {
	pthread_mutex_t lock;
	int size;
	int buckets[BUCKETS]; /* 0: empty */
};

struct set all = {.lock = PTHREAD_MUTEX_INITIALIZER, .size = 3, .buckets = {4, 0, 2, 3}},
           some = {.lock = PTHREAD_MUTEX_INITIALIZER, .size = 2, .buckets = {0, 0, 2, 3}};

static int set_size(struct set *s)
{
	int size;

	pthread_mutex_lock(&s->lock);
	size = s->size; /* @size */
	pthread_mutex_unlock(&s->lock);
	return size;
}

/* What is in bucket i, 0: nothing. */
static int set_at(struct set *s, int i)
{
	int value;

	pthread_mutex_lock(&s->lock);
	value = s->buckets[i]; /* @at */
	pthread_mutex_unlock(&s->lock);
	return value;
}

static int contains_all(struct set *s, struct set *other)
{
	int found = 0, size;

	pthread_mutex_lock(&s->lock);
	size = set_size(other);
	for (int i = 0; i < BUCKETS; i++) {
		int value = set_at(other, i);

		found += value && s->buckets[value % BUCKETS] == value;
	}
	pthread_mutex_unlock(&s->lock);
	return found == size;
}

static void set_clear(struct set *s)
{
	pthread_mutex_lock(&s->lock);
	for (int i = 0; i < BUCKETS; i++)
		s->buckets[i] = 0; /* @empty */
	s->size = 0;               /* @none */
	pthread_mutex_unlock(&s->lock);
}

static void set_fill(struct set *s)
{
	pthread_mutex_lock(&s->lock);
	for (int i = 2; i < BUCKETS; i++)
		s->buckets[i] = i;
	s->size = BUCKETS - 2;
	pthread_mutex_unlock(&s->lock);
}

static void compare(int thread, int round)
{
	(void)thread;
	if (!contains_all(&all, &some) && !round)
		puts("ERROR: something is missing");
}

static void change(int thread, int round)
{
	(void)thread;
	if (round % 2)
		set_fill(&some);
	else
		set_clear(&some);
}

int main(int argc, char **argv)
{
	static part *const parts[] = {compare, change};

	run(argc, argv, parts, 2, 2);
	printf("%d\n", some.size);
	return 0;
}
