/*
 * Multiplexer: PECAN's figure 6, a race in the connections of OpenJMS.
 *
 * The bug: set_handler() makes the multiplexer without the lock that invoke() looks at it under. If invoke() is first,
 * it finds none and fails; figure 6 throws a ResourceException there.
 *
 * In the recorded run set_handler() is first, and as both then take the lock, happens-before orders its write (1 in the
 * figure) before the look (2).
 */
#include "run.h"

struct multiplexer {
	int id;
};

struct connection {
	pthread_mutex_t lock;
	struct multiplexer *multiplexer;
	long handlers, invocations, errors;
};

struct connection connection = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct multiplexer ours = {1};

static struct multiplexer *create_multiplexer(void)
{
	return &ours;
}

static void set_handler(int thread, int round)
{
	(void)thread;
	(void)round;
	connection.multiplexer = create_multiplexer(); /* @create */
	pthread_mutex_lock(&connection.lock);
	connection.handlers++;
	pthread_mutex_unlock(&connection.lock);
}

static void invoke(int thread, int round)
{
	(void)thread;
	(void)round;
	pthread_mutex_lock(&connection.lock);
	if (connection.multiplexer) /* @look */
		connection.invocations++;
	else
		connection.errors++;
	pthread_mutex_unlock(&connection.lock);
}

int main(int argc, char **argv)
{
	static part *const parts[] = {set_handler, invoke};

	run(argc, argv, parts, 2, 2);
	if (connection.errors)
		puts("ERROR: no multiplexer");
	return 0;
}
