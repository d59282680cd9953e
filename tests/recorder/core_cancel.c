/*
 * core_cancel THREADS: asynchronous cancellation in the middle of hooks. Each thread makes atomic and plain accesses
 * until it is cancelled; then the next one makes the same, which would wait for ever for what the last one held.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long counter, plain[4096];
static volatile int running;

static void *work(void *arg)
{
	int old;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	running = 1;
	for (unsigned long i = 0;; i++) {
		__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
		((volatile long *)plain)[i % 4096] = (long)i;
	}
	return arg;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1000;

	for (int i = 0; i < threads; i++) {
		pthread_t thread;
		void *value;

		running = 0;
		if (pthread_create(&thread, NULL, work, NULL) != 0)
			return 1;
		while (!running)
			;
		for (volatile int n = 0; n < i % 97; n++)
			;
		pthread_cancel(thread);
		if (pthread_join(thread, &value) != 0 || value != PTHREAD_CANCELED)
			return 2;
		__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
	}
	printf("expect fork %d\nexpect begin %d\nexpect end %d\nexpect join %d\nat-least atomic-rmw %ld\nat-most lost "
	       "%d\n",
	       threads, threads + 1, threads, threads, counter, threads);
	fflush(stdout);
	_exit(0);
}
