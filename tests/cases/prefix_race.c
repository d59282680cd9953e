/* As noted_barrier, but the critical sections have nothing to do with each other: a race of one value before the barrier
   must not take the proof away, as there is a schedule whichever thread's write of it each thread read. */
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t bar;
static double cost[4];
static int maxcost;
static long total, other;
static void *thr(void *p)
{
	long me = (long)p;
	double w = 0;
	maxcost = 7; /* @benign */
	pthread_barrier_wait(&bar);
	int lim = maxcost;
	if (me)
		usleep(50000);
	for (int i = 0; i < 4 && i < lim; i++)
		w += cost[i]; /* @read */
	pthread_mutex_lock(&m);
	if (me)
		other += (long)w;
	else
		total += (long)w;
	pthread_mutex_unlock(&m);
	if (me)
		cost[me] = 1; /* @write */
	return 0;
}
int main(void)
{
	pthread_t a, b;
	pthread_barrier_init(&bar, 0, 2);
	pthread_create(&a, 0, thr, (void *)0);
	pthread_create(&b, 0, thr, (void *)1);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
