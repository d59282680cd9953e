/* Threads that take many pairs of locks, every other one in the reverse order, one thread after the other as it
 * happens: deadlocks that did not come. argv[1]: pairs that each thread takes; argv[2]: "gate": under a common lock, so
 * that none can. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
enum { LOCKS = 64, THREADS = 8 };
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, locks[LOCKS];
static long turns, gated;
static atomic_int finished;
static void *work(void *arg)
{
	long self = (long)arg;
	unsigned seed = (unsigned)self;
	while (atomic_load_explicit(&finished, memory_order_relaxed) < self)
		usleep(1000);
	for (long i = 0; i < turns; i++) {
		int a = rand_r(&seed) % LOCKS, b = rand_r(&seed) % LOCKS;
		if (a == b)
			continue;
		if ((a > b) != (self & 1)) {
			int c = a;
			a = b;
			b = c;
		}
		if (gated)
			pthread_mutex_lock(&gate);
		pthread_mutex_lock(&locks[a]);
		pthread_mutex_lock(&locks[b]);
		pthread_mutex_unlock(&locks[b]);
		pthread_mutex_unlock(&locks[a]);
		if (gated)
			pthread_mutex_unlock(&gate);
	}
	atomic_fetch_add_explicit(&finished, 1, memory_order_relaxed);
	return 0;
}
int main(int c, char **v)
{
	pthread_t t[THREADS];
	turns = c > 1 ? atol(v[1]) : 1000;
	gated = c > 2;
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&locks[i], 0);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], 0);
	return 0;
}
