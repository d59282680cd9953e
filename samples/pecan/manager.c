/*
 * Manager: a pool of blocks that are handed out. After the program of this name in PECAN's Table 1 (from IBM's ConTest
 * suite).
 *
 * The bug: whether a block is free is asked in one critical section, and the block is taken in another. In between the
 * pool may have been drained, and the count falls below nothing. Asking and taking is meant to be atomic.
 *
 * In the recorded run the pool is drained when the block has been taken.
 */
#include "../../recorder/racetrace.h"
#include "run.h"

enum { BLOCKS = 8 };

struct pool {
	pthread_mutex_t lock;
	int free;
};

struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .free = BLOCKS};

static int has_free(struct pool *p)
{
	int any;

	pthread_mutex_lock(&p->lock);
	any = p->free > 0; /* @ask */
	pthread_mutex_unlock(&p->lock);
	return any;
}

static void take(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->free--; /* @take */
	pthread_mutex_unlock(&p->lock);
}

static void give(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->free++; /* @give */
	pthread_mutex_unlock(&p->lock);
}

static void work(int thread, int round)
{
	int mine;

	(void)thread;
	(void)round;
	racetrace_region_begin();
	mine = has_free(&pool);
	if (mine)
		take(&pool);
	racetrace_region_end();
	if (mine)
		give(&pool);
}

/* Memory is short: the blocks that are free go back to the system; when there is more again, the pool is refilled. */
static void drain(int thread, int round)
{
	(void)thread;
	pthread_mutex_lock(&pool.lock);
	pool.free = round % 2 ? BLOCKS : 0; /* @drain */
	pthread_mutex_unlock(&pool.lock);
}

int main(int argc, char **argv)
{
	static part *const parts[] = {work, drain};

	run(argc, argv, parts, 2, 2);
	printf("%d free\n", pool.free);
	return 0;
}
