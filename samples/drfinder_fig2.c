/*
 * Figure 2 of "Effective and Precise Dynamic Detection of Hidden Races for Java Programs" (Cai and Cao 2015, DrFinder):
 * two races, (m1,m4) on x and (m2,m3) on y, hidden by the edges e1 -> e9 and e3 -> e6 of two locks that protect
 * nothing. f1 to f8 are the figure's functions, e1 to e9 its critical sections.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t k = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t o[6] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                               PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
int x, y;

static void sync_on(pthread_mutex_t *m)
{
	pthread_mutex_lock(m);
	pthread_mutex_unlock(m);
}

static void f2(void)
{
	sync_on(&o[1]); /* e2 */
	y = 1;          /* @m2 */
	sync_on(&n);    /* e3 */
}

static void *f1(void *arg) /* t1 */
{
	x = 1;       /* @m1 */
	sync_on(&k); /* e1 */
	f2();
	return arg;
}

static void f5(void)
{
	sync_on(&n); /* e6 */
	y = 2;       /* @m3 */
}

static void f4(void)
{
	sync_on(&o[2]); /* e4 */
	sync_on(&o[3]); /* e5 */
	f5();
}

static void *f3(void *arg) /* t2 */
{
	usleep(40000); /* e3 goes before e6 */
	f4();
	return arg;
}

static void f8(void)
{
	sync_on(&k); /* e9 */
	x = 2;       /* @m4 */
}

static void f7(void)
{
	sync_on(&o[4]); /* e7 */
	sync_on(&o[5]); /* e8 */
	f8();
}

static void *f6(void *arg) /* t3 */
{
	usleep(20000); /* e1 goes before e9 */
	f7();
	return arg;
}

int main(void)
{
	pthread_t t1, t2, t3;

	pthread_create(&t1, NULL, f1, NULL);
	pthread_create(&t2, NULL, f3, NULL);
	pthread_create(&t3, NULL, f6, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	pthread_join(t3, NULL);
	printf("x = %d, y = %d\n", x, y);
	return 0;
}
