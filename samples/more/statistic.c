/* A statistics counter without a lock: "it need not be exact". In C it is undefined all the same. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

long requests;

static void *worker(void *arg)
{
	for (int i = 0; i < 10; i++) {
		requests++; /* @count */
		sched_yield();
	}
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, worker, NULL);
	pthread_create(&t2, NULL, worker, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	printf("%ld requests\n", requests);
	return 0;
}
