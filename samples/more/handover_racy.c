/* The racy twin of handover.c: the giver changes what it has given away. */
#include <pthread.h>
#include <stddef.h>

struct job {
	int input;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static struct job job;
static struct job *slot;

static void *giver(void *arg)
{
	job.input = 1; /* @fill */
	pthread_mutex_lock(&mutex);
	slot = &job;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	job.input = 2; /* @change */
	return arg;
}

static void *taker(void *arg)
{
	struct job *taken;

	pthread_mutex_lock(&mutex);
	while (!slot)
		pthread_cond_wait(&cond, &mutex);
	taken = slot;
	pthread_mutex_unlock(&mutex);
	return taken->input ? arg : NULL; /* @use */
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, taker, NULL);
	pthread_create(&t2, NULL, giver, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	return 0;
}
