/* The race-free twin of publish.c: the store releases what was filled in, the load acquires it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

struct message {
	int length;
};

static struct message message;
_Atomic(struct message *) published;

static void *sender(void *arg)
{
	message.length = 5; /* @fill */
	atomic_store_explicit(&published, &message, memory_order_release);
	return arg;
}

static void *receiver(void *arg)
{
	struct message *m;

	while (!(m = atomic_load_explicit(&published, memory_order_acquire)))
		usleep(1000);
	return m->length == 5 ? arg : NULL; /* @use */
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, receiver, NULL);
	pthread_create(&t2, NULL, sender, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	return 0;
}
