/*
 * Descriptors, mappings and heap blocks that are given back by who knows that the other is done: it has been told
 * through a pipe, an event counter, a timer, a signal's descriptor or by asynchronous output. Numbers and addresses
 * come again.
 */
#define _GNU_SOURCE
#include "both.h"

#include <aio.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

/* The reader closes both ends. */
static int fds[2];
static int told;
PART(writes)
{
	told++;
	return write(fds[1], "x", 1) == 1 ? NULL : fds;
}
PART(reads)
{
	char c;
	while (read(fds[0], &c, 1) != 1)
		;
	told++;
	close(fds[0]);
	close(fds[1]);
	return NULL;
}

/* The same number for another file of another thread. */
PART(opens)
{
	for (int i = 0; i < 10; i++) {
		int fd = i & 1 ? open("/dev/zero", O_RDONLY) : eventfd(0, 0), copy = dup(fd);
		close(fd);
		close(copy);
		fclose(fopen("/dev/null", "r"));
	}
	return NULL;
}

/* A file put in the place of another that is in use. */
static int place;
PART(redirects)
{
	int fd = open("/dev/zero", O_RDONLY);
	dup2(fd, place);
	close(fd);
	return NULL;
}
PART(is_redirected)
{
	char c;
	return read(place, &c, 1) == 1 ? NULL : fds;
}

static int counter;
PART(counts)
{
	told++;
	eventfd_write(counter, 1);
	return NULL;
}
PART(is_counted)
{
	eventfd_t value;
	eventfd_read(counter, &value);
	told++;
	close(counter);
	return NULL;
}

static int timer;
PART(sets)
{
	struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};
	told++;
	timerfd_settime(timer, 0, &soon, NULL);
	return NULL;
}
PART(expires)
{
	uint64_t times;
	if (read(timer, &times, sizeof times) == sizeof times)
		told++;
	close(timer);
	return NULL;
}

static int signals;
PART(sends)
{
	told++;
	kill(getpid(), SIGUSR1);
	return NULL;
}
PART(takes)
{
	struct signalfd_siginfo info;
	if (read(signals, &info, sizeof info) == sizeof info)
		told++;
	close(signals);
	return NULL;
}

/* Output that one thread requests and another performs. */
static struct aiocb output, input;
static char letter, got;
PART(asks)
{
	letter = 'x';
	told++;
	output = (struct aiocb){.aio_fildes = fds[1], .aio_buf = &letter, .aio_nbytes = 1};
	return aio_write(&output) == 0 ? NULL : fds;
}
PART(gets)
{
	const struct aiocb *list[] = {&input};
	input = (struct aiocb){.aio_fildes = fds[0], .aio_buf = &got, .aio_nbytes = 1};
	aio_read(&input);
	while (aio_suspend(list, 1, NULL) != 0)
		;
	if (aio_return(&input) == 1)
		told++;
	return NULL;
}

/* The same addresses for other mappings and blocks. */
PART(allocates)
{
	for (int i = 0; i < 20; i++) {
		volatile char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		p[0] = p[5000] = 1;
		p = mremap((void *)p, 8192, 65536, MREMAP_MAYMOVE);
		p[0] = p[60000] = 1;
		munmap((void *)p, 65536);
		p = malloc(10);
		p[0] = 1;
		p = realloc((void *)p, 10000);
		p[0] = p[9999] = 1;
		free((void *)p);
	}
	return NULL;
}

int main(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (pipe(fds))
		return 1;
	both(writes, reads);
	both(opens, opens);
	place = open("/dev/zero", O_RDONLY);
	both(is_redirected, redirects);
	close(place);
	counter = eventfd(0, 0);
	both(counts, is_counted);
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	both(sets, expires);
	signals = signalfd(-1, &set, 0);
	both(sends, takes);
	if (pipe(fds))
		return 1;
	both(asks, gets);
	while (aio_error(&output) != 0)
		usleep(1000);
	both(allocates, allocates);
	return told != 10;
}
