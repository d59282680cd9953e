/*
 * Cache: what is not in it is computed and put in. After Cache4j in PECAN's Table 1.
 *
 * The bugs: get() looks in one critical section and puts what it computed in another. If the entry has been updated in
 * between, the old value covers the new one, for good. From the look to the put is meant to be atomic. And the count of
 * misses is kept without a lock.
 *
 * In the recorded run the update comes when get() is through, and wins.
 */
#include "../../recorder/racetrace.h"
#include "run.h"

enum { ENTRIES = 32 };

struct entry {
	int valid;
	long value;
};

struct cache {
	pthread_mutex_t lock;
	struct entry entries[ENTRIES];
	long misses;
};

struct cache cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int cache_find(struct cache *c, int key, long *value)
{
	int valid;

	pthread_mutex_lock(&c->lock);
	valid = c->entries[key].valid; /* @look */
	if (valid)
		*value = c->entries[key].value;
	pthread_mutex_unlock(&c->lock);
	return valid;
}

static void cache_put(struct cache *c, int key, long value)
{
	pthread_mutex_lock(&c->lock);
	c->entries[key].value = value; /* @value */
	c->entries[key].valid = 1;     /* @valid */
	pthread_mutex_unlock(&c->lock);
}

static void cache_drop(struct cache *c, int key)
{
	pthread_mutex_lock(&c->lock);
	c->entries[key].valid = 0; /* @drop */
	pthread_mutex_unlock(&c->lock);
}

static void get(int thread, int round)
{
	int key = round / 2 % ENTRIES;
	int missed;
	long value;

	(void)thread;
	racetrace_region_begin();
	missed = !cache_find(&cache, key, &value);
	if (missed)
		cache_put(&cache, key, 1);
	racetrace_region_end();
	if (missed)
		cache.misses++; /* @miss */
}

static void update(int thread, int round)
{
	int key = round / 2 % ENTRIES;

	(void)thread;
	if (round % 2) {
		cache_drop(&cache, key);
	} else {
		cache_put(&cache, key, 2);
		cache.misses++; /* @new */
	}
}

int main(int argc, char **argv)
{
	static part *const parts[] = {get, update};

	run(argc, argv, parts, 2, 2);
	printf("%ld misses, %ld\n", cache.misses, cache.entries[0].value);
	return 0;
}
