/* Who is first: prints "main" or "thread". */
#include <pthread.h>
#include <stdio.h>

static int taken;

static int take(void)
{
	return !__atomic_exchange_n(&taken, 1, __ATOMIC_RELAXED);
}

static void *run(void *is_first)
{
	*(int *)is_first = take();
	return NULL;
}

int main(void)
{
	int is_first;
	pthread_t t;
	pthread_create(&t, NULL, run, &is_first);
	take();
	pthread_join(t, NULL);
	puts(is_first ? "thread" : "main");
	return 0;
}
