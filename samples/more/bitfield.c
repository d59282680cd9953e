/* Two bit-fields that share a byte: writing one reads and writes the other. */
#include <pthread.h>
#include <stdio.h>

struct state {
	unsigned open : 1;
	unsigned dirty : 1;
};

struct state state;

static void *opener(void *arg)
{
	state.open = 1; /* @open */
	return arg;
}

static void *writer(void *arg)
{
	state.dirty = 1; /* @dirty */
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, opener, NULL);
	pthread_create(&t2, NULL, writer, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	printf("%d %d\n", state.open, state.dirty);
	return 0;
}
