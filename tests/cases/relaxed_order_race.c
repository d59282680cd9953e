/* main spins on a relaxed flag, then writes what the other thread wrote before it set the flag.  Nothing of
   C11 orders the two writes of data, in any run: a data race, and in the recorded run itself.
   hb leaves them unordered, and no schedule in which the two are neighbours keeps what the relaxed load read.
   Must be said: observed (the hb of the run leaves them unordered), behind `flag`, which is relaxed. */
#include <pthread.h>
int data; /* not static: no optimisation removes the writes */
static int flag;
static void *set(void *arg)
{
	data = 1;
	__atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, set, 0);
	while (!__atomic_load_n(&flag, __ATOMIC_RELAXED))
		;
	data = 2;
	return pthread_join(t, 0);
}
