/*
 * What the other threads do when main ends, by the first argument: `wait` for one another for ever, `sleep` for ever,
 * or `work` for a moment and say so. The second: how main ends.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_t first;

static void *wait_for_signal(void *unused)
{
	pthread_mutex_lock(&mutex);
	for (;;)
		pthread_cond_wait(&never, &mutex);
	return unused;
}

static void *wait_for_thread(void *unused)
{
	pthread_join(first, NULL);
	return unused;
}

static void *wait_for_lock(void *unused)
{
	pthread_mutex_lock(&held);
	return unused;
}

static void *sleep_on(void *unused)
{
	for (;;)
		sleep(1000);
	return unused;
}

static void *work(void *unused)
{
	usleep(100000);
	puts("worked");
	return unused;
}

static void at_exit(void)
{
	puts("at exit");
}

int main(int argc, char **argv)
{
	pthread_t t;
	if (argc != 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	atexit(at_exit);
	if (!strcmp(argv[1], "wait")) {
		pthread_mutex_lock(&held);
		pthread_create(&first, NULL, wait_for_signal, NULL);
		pthread_create(&t, NULL, wait_for_thread, NULL);
		pthread_create(&t, NULL, wait_for_lock, NULL);
	} else {
		pthread_create(&t, NULL, !strcmp(argv[1], "sleep") ? sleep_on : work, NULL);
	}
	if (!strcmp(argv[2], "exit"))
		exit(0);
	if (!strcmp(argv[2], "_exit"))
		_exit(0);
	return 0;
}
