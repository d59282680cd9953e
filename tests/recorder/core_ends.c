/*
 * Nothing that a hook has written is lost, however the process ends. Writes N two-byte cells, none of them twice, then
 * ends as told. Prints what a collector must have counted.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile short cells[1 << 20];

static __attribute__((noinline)) void touch(unsigned i)
{
	cells[i] = 1;
}

static void *touch_half(void *from)
{
	for (unsigned i = 0; i < 1u << 15; i++)
		touch((unsigned)(size_t)from + i);
	if (from == NULL)
		pause();
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned n = (unsigned)atoi(argv[2]);
	unsigned more = 0;
	pthread_t thread;

	(void)argc;
	if (strcmp(argv[1], "thread-_exit") == 0) {
		/* One thread is at its end, one is in the middle, when the process goes. */
		pthread_create(&thread, NULL, touch_half, (void *)(size_t)(1u << 19));
		pthread_join(thread, NULL);
		more = 1u << 15;
	}
	printf("expect write2 %u\nexpect enter %u\n", n + more, n + more + 1 + !!more);
	fflush(stdout);
	for (unsigned i = 0; i < n; i++)
		touch(i);
	if (strcmp(argv[1], "exit") == 0)
		exit(7);
	if (strcmp(argv[1], "abort") == 0)
		abort();
	if (strcmp(argv[1], "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(argv[1], "fault") == 0)
		*(volatile int *)8 = 1;
	_exit(7);
}
