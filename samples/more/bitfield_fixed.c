/* The race-free twin of bitfield.c: a field of width 0 between them puts them into memory locations of their own. */
#include <pthread.h>
#include <stdio.h>

struct state {
	unsigned open : 1;
	unsigned : 0; /* C11 3.14: ends the memory location */
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
