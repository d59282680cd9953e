/* A structure is copied as a whole, without the lock under which its members change. */
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

	memcpy(&seen, &point, sizeof(seen)); /* @copy */
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
