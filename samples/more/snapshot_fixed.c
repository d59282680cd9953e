/* The race-free twin of snapshot.c: copied under the lock. */
#include <pthread.h>
#include <string.h>

struct point {
	long x, y, z;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct point point;

static void *mover(void *arg)
{
	pthread_mutex_lock(&lock);
	point.y = 2; /* @move */
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *looker(void *arg)
{
	struct point seen;

	pthread_mutex_lock(&lock);
	memcpy(&seen, &point, sizeof(seen)); /* @copy */
	pthread_mutex_unlock(&lock);
	return seen.y == 2 ? arg : NULL;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, looker, NULL);
	pthread_create(&t2, NULL, mover, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	return 0;
}
