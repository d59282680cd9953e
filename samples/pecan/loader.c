/*
 * Loader: modules are loaded by one thread and used by others. After the program of this name in PECAN's Table 1 (from
 * IBM's ConTest suite).
 *
 * The bug: a module is marked as loaded, under the lock, before it is: its entry point is filled in afterwards, without
 * the lock. A thread that looks in between calls nothing. Loading is meant to be atomic, and so is looking and calling.
 *
 * In the recorded run the loader is through with the module before anyone looks, and the lock, which it takes once more
 * to count, orders the two for happens-before.
 */
#include "../../recorder/racetrace.h"
#include "run.h"

enum { MODULES = 64 };

struct module {
	int loaded;
	long (*entry)(long);
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct module modules[MODULES];
static long loads, calls[MODULES];

static long twice(long x)
{
	return 2 * x;
}

static void load(int thread, int round)
{
	struct module *m = &modules[round % MODULES];

	(void)thread;
	racetrace_region_begin();
	pthread_mutex_lock(&lock);
	m->loaded = 1; /* @mark */
	pthread_mutex_unlock(&lock);
	m->entry = twice; /* @fill */
	racetrace_region_end();
	pthread_mutex_lock(&lock);
	loads++;
	pthread_mutex_unlock(&lock);
}

static int is_loaded(struct module *m)
{
	int loaded;

	pthread_mutex_lock(&lock);
	loaded = m->loaded; /* @look */
	pthread_mutex_unlock(&lock);
	return loaded;
}

static void use(int thread, int round)
{
	struct module *m = &modules[round % MODULES];
	long (*entry)(long) = NULL;

	racetrace_region_begin();
	if (is_loaded(m))
		entry = m->entry; /* @use */
	racetrace_region_end();
	if (entry)
		calls[thread % MODULES] += entry(1);
}

int main(int argc, char **argv)
{
	static part *const parts[] = {load, use};
	long sum = 0;

	run(argc, argv, parts, 2, 2);
	for (int i = 0; i < MODULES; i++)
		sum += calls[i];
	printf("%ld loads, %ld\n", loads, sum);
	return 0;
}
