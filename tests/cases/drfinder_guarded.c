/*
 * What section 3 of "Effective and Precise Dynamic Detection of Hidden Races for Java Programs" (Cai and Cao 2015) makes
 * of its figure 2: the critical sections e1 and e9 are on the same data as well, so that no prediction may reorder
 * them. Only another run shows the race on x.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t k = PTHREAD_MUTEX_INITIALIZER, o[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                                              PTHREAD_MUTEX_INITIALIZER};
int x, z, seen;

static void sync_on(pthread_mutex_t *m)
{
	pthread_mutex_lock(m);
	pthread_mutex_unlock(m);
}

static void *f1(void *arg)
{
	x = 1; /* m1 */
	pthread_mutex_lock(&k);
	z = 1; /* e1 */
	pthread_mutex_unlock(&k);
	sync_on(&o[1]);
	return arg;
}

static void f8(void)
{
	pthread_mutex_lock(&k);
	seen = z; /* e9 */
	pthread_mutex_unlock(&k);
	x = 2; /* m4 */
}

static void *f6(void *arg)
{
	usleep(20000); /* e1 goes before e9 */
	sync_on(&o[2]);
	f8();
	return arg;
}

int main(void)
{
	pthread_t t1, t3;

	pthread_create(&t1, NULL, f1, NULL);
	pthread_create(&t3, NULL, f6, NULL);
	pthread_join(t1, NULL);
	pthread_join(t3, NULL);
	printf("%d\n", seen);
	return 0;
}
