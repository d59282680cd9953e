/*
 * Loads, one kind a run: load KIND N. once: N threads at once; turn: N one after another; forks: N children, 50 at a
 * time; descriptors: N pipes that stay open, each written and read; random: N accesses of random places of 64 MiB, by
 * two threads; walk: N accesses of all places in turn, by two threads; long: N seconds, a thread that hands over to
 * another a thousand times a second.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CELLS = 1 << 23, CHILDREN = 50 };
static uint64_t *cells;
static long n;
static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counter, over;

static void *count(void *at_once)
{
	pthread_mutex_lock(&lock);
	counter++;
	pthread_mutex_unlock(&lock);
	if (at_once)
		pthread_barrier_wait(&barrier);
	return NULL;
}

static int threads(int at_once)
{
	pthread_t *made = malloc((size_t)n * sizeof *made);
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * 1024);
	pthread_barrier_init(&barrier, NULL, (unsigned)n + 1);
	for (long i = 0; i < n; i++) {
		if (pthread_create(&made[i], &small, count, at_once ? &barrier : NULL) != 0)
			return 1;
		if (!at_once)
			pthread_join(made[i], NULL);
	}
	if (at_once)
		pthread_barrier_wait(&barrier);
	for (long i = 0; at_once && i < n; i++)
		pthread_join(made[i], NULL);
	free(made);
	return counter != n;
}

static int forks(void)
{
	int failed = 0, status;

	for (long i = 0; i < n; i++) {
		if (i >= CHILDREN && wait(&status) > 0)
			failed |= status;
		pid_t child = fork();
		if (child < 0)
			return 1;
		if (child == 0) {
			count(NULL);
			_exit(counter != 1);
		}
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}

static int descriptors(void)
{
	struct rlimit limit;
	long value;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (long i = 0; i < n / 2; i++) {
		int ends[2];
		if (pipe(ends) != 0)
			return 1;
		if (write(ends[1], &i, sizeof i) != sizeof i || read(ends[0], &value, sizeof value) != sizeof value ||
		    value != i)
			return 1;
	}
	return 0;
}

static void *touch(void *seed)
{
	uint64_t x = (uint64_t)(uintptr_t)seed;
	size_t half = x & 1 ? CELLS / 2 : 0;

	for (long i = 0; i < n / 2; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		cells[half + x % (CELLS / 2)] = x;
	}
	return NULL;
}

/* A read and a write of each place. */
static void *walk(void *seed)
{
	size_t half = (uintptr_t)seed & 1 ? CELLS / 2 : 0;

	for (long i = 0; i < n / 4; i++)
		cells[half + (size_t)i % (CELLS / 2)]++;
	return NULL;
}

static int two(void *(*f)(void *seed))
{
	pthread_t other;

	cells = calloc(CELLS, sizeof *cells);
	if (pthread_create(&other, NULL, f, (void *)0x1234567) != 0)
		return 1;
	f((void *)0x7654320);
	return pthread_join(other, NULL);
}

static void *hand_over(void *unused)
{
	const struct timespec moment = {0, 1000000};

	for (;;) {
		pthread_mutex_lock(&lock);
		long ended = over;
		counter++;
		pthread_mutex_unlock(&lock);
		if (ended)
			return unused;
		nanosleep(&moment, NULL);
	}
}

static int take_long(void)
{
	pthread_t other;
	time_t until = time(NULL) + n;

	if (pthread_create(&other, NULL, hand_over, NULL) != 0)
		return 1;
	while (time(NULL) < until) {
		const struct timespec moment = {0, 1000000};
		pthread_mutex_lock(&lock);
		counter--;
		pthread_mutex_unlock(&lock);
		nanosleep(&moment, NULL);
	}
	pthread_mutex_lock(&lock);
	over = 1;
	pthread_mutex_unlock(&lock);
	return pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
	const char *kind = argc == 3 ? argv[1] : "";

	n = argc == 3 ? atol(argv[2]) : 0;
	if (!strcmp(kind, "once") || !strcmp(kind, "turn"))
		return threads(*kind == 'o');
	if (!strcmp(kind, "forks"))
		return forks();
	if (!strcmp(kind, "descriptors"))
		return descriptors();
	if (!strcmp(kind, "random"))
		return two(touch);
	if (!strcmp(kind, "walk"))
		return two(walk);
	if (!strcmp(kind, "long"))
		return take_long();
	fputs("usage: load once|turn|forks|descriptors|random|walk|long N\n", stderr);
	return 2;
}
