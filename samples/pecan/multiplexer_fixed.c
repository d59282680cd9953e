/*
 * multiplexer.c put right: the multiplexer is made under the lock, and who is too early waits for it.
 */
#include "run.h"

struct multiplexer {
	int id;
};

struct connection {
	pthread_mutex_t lock;
	pthread_cond_t ready;
	struct multiplexer *multiplexer;
	long handlers, invocations;
};

struct connection connection = {.lock = PTHREAD_MUTEX_INITIALIZER, .ready = PTHREAD_COND_INITIALIZER};
static struct multiplexer ours = {1};

static struct multiplexer *create_multiplexer(void)
{
	return &ours;
}

static void set_handler(int thread, int round)
{
	(void)thread;
	(void)round;
	pthread_mutex_lock(&connection.lock);
	connection.multiplexer = create_multiplexer();
	connection.handlers++;
	pthread_cond_broadcast(&connection.ready);
	pthread_mutex_unlock(&connection.lock);
}

static void invoke(int thread, int round)
{
	(void)thread;
	(void)round;
	pthread_mutex_lock(&connection.lock);
	while (!connection.multiplexer)
		pthread_cond_wait(&connection.ready, &connection.lock);
	connection.invocations++;
	pthread_mutex_unlock(&connection.lock);
}

int main(int argc, char **argv)
{
	static part *const parts[] = {set_handler, invoke};

	run(argc, argv, parts, 2, 2);
	printf("%ld invocations\n", connection.invocations);
	return 0;
}
