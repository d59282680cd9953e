/* A lock made of an atomic flag, acquired and released: no race, although no lock is to be seen. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_flag busy = ATOMIC_FLAG_INIT;
int counter;

static void *worker(void *arg)
{
	for (int i = 0; i < 5; i++) {
		while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
			sched_yield();
		counter++; /* @count */
		atomic_flag_clear_explicit(&busy, memory_order_release);
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
	printf("counter %d\n", counter);
	return 0;
}
