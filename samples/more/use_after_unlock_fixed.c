/* The race-free twin of use_after_unlock.c: what is needed is copied under the lock. */
#include <pthread.h>
#include <stddef.h>

struct entry {
	int value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct entry table[1] = {{1}};

static void *reader(void *arg)
{
	struct entry e;

	pthread_mutex_lock(&lock);
	e = table[0]; /* @use */
	pthread_mutex_unlock(&lock);
	return e.value ? arg : NULL;
}

static void *writer(void *arg)
{
	pthread_mutex_lock(&lock);
	table[0].value = 2; /* @write */
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, reader, NULL);
	pthread_create(&t2, NULL, writer, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	return 0;
}
