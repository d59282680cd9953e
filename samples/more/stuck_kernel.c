/*
 * Runs that come to a standstill in the kernel, one an argument: threads wait for data, room, events or a wake that no
 * thread of the process gives and no other process can, or for locks of files that they have taken from one another.
 * An alarm ends each.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int pipes[2][2], pair[2], counter, epoll, locks[2][2];
static unsigned word;
static char path[2][64], page[65536];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

/* Each reads what only the other one would write. */
static void *read_pipe(void *arg)
{
	long i = (long)arg;
	char c;
	if (read(pipes[i][0], &c, 1) == 1) /* @read_pipe */
		return write(pipes[!i][1], &c, 1) == 1 ? arg : NULL;
	return NULL;
}

static void *read_pair(void *arg)
{
	char c;
	return recv(pair[(long)arg], &c, 1, 0) == 1 ? arg : NULL; /* @read_pair */
}

static void *read_event(void *arg)
{
	eventfd_t value;
	return eventfd_read(counter, &value) == 0 ? arg : NULL; /* @read_event */
}

static void *read_stream(void *arg)
{
	FILE *f = fdopen(pipes[(long)arg][0], "r");
	setvbuf(f, page, _IOFBF, sizeof page);
	return fgetc(f) == 'x' ? arg : NULL; /* @read_stream */
}

/* The pipe's reader is this thread as well. */
static void *write_pipe(void *arg)
{
	long i = (long)arg;
	while (write(pipes[i][1], page, sizeof page) > 0) /* @write_pipe */
		;
	return arg;
}

static void *poll_both(void *arg)
{
	struct pollfd fds[2] = {{pipes[0][0], POLLIN, 0}, {pipes[1][0], POLLIN, 0}};
	poll(fds, 2, -1); /* @poll_both */
	return arg;
}

static void *select_one(void *arg)
{
	fd_set set;
	FD_ZERO(&set);
	FD_SET(pipes[(long)arg][0], &set);
	select(pipes[(long)arg][0] + 1, &set, NULL, NULL, NULL); /* @select_one */
	return arg;
}

static void *wait_epoll(void *arg)
{
	struct epoll_event event;
	epoll_wait(epoll, &event, 1, -1); /* @wait_epoll */
	return arg;
}

/* The wake came before the wait, and the word was set for another reason. */
static void *wait_futex(void *arg)
{
	while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0); /* @wait_futex */
	return arg;
}

/* Each holds the lock of one file and wants the other's. */
static void *lock_files(void *arg)
{
	long i = (long)arg;
	flock(locks[i][i], LOCK_EX);
	pthread_barrier_wait(&both);
	flock(locks[i][!i], LOCK_EX); /* @lock_files */
	return arg;
}

static void lock_part(int fd, int start)
{
	struct flock part = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = 10};
	fcntl(fd, F_OFD_SETLKW, &part); /* @lock_part */
}
static void *lock_parts(void *arg)
{
	long i = (long)arg;
	lock_part(locks[i][0], i ? 100 : 200);
	pthread_barrier_wait(&both);
	lock_part(locks[i][0], i ? 205 : 105);
	return arg;
}

/* A mutex and the lock of a file, in opposite orders. */
static void *lock_file_and_mutex(void *arg)
{
	if (arg) {
		flock(locks[1][0], LOCK_SH);
		pthread_barrier_wait(&both);
		pthread_mutex_lock(&mutex); /* @want_mutex */
	} else {
		pthread_mutex_lock(&mutex);
		pthread_barrier_wait(&both);
		flock(locks[0][0], LOCK_EX); /* @want_file */
	}
	return arg;
}

/* By another description of its own. */
static void *lock_again(void *arg)
{
	flock(locks[0][0], LOCK_EX);
	flock(locks[1][0], LOCK_EX); /* @lock_again */
	return arg;
}

/* Its writer waits for the mutex that the reader keeps. */
static void *keep_and_read(void *arg)
{
	char c;
	if (!arg) {
		pthread_mutex_lock(&mutex);
		pthread_barrier_wait(&both);
		return read(pipes[0][0], &c, 1) == 1 ? NULL : &both; /* @keep */
	}
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&mutex); /* @kept */
	return write(pipes[0][1], "x", 1) == 1 ? arg : NULL;
}

static const struct mode {
	const char *name;
	int threads;
	void *(*routine)(void *);
} modes[] = {
    {"read", 2, read_pipe},   {"pair", 2, read_pair},     {"event", 1, read_event},  {"stream", 1, read_stream},
    {"write", 1, write_pipe}, {"poll", 1, poll_both},     {"select", 1, select_one}, {"epoll", 1, wait_epoll},
    {"futex", 1, wait_futex}, {"files", 2, lock_files},   {"parts", 2, lock_parts},  {"mutex", 2, lock_file_and_mutex},
    {"again", 1, lock_again}, {"keep", 2, keep_and_read},
};

static void make(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	pthread_barrier_init(&both, NULL, 2);
	if (pipe(pipes[0]) != 0 || pipe(pipes[1]) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		abort();
	counter = eventfd(0, 0);
	epoll = epoll_create1(0);
	epoll_ctl(epoll, EPOLL_CTL_ADD, counter, &event);
	epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[0][0], &event);
	for (int file = 0; file < 2; file++) {
		strcpy(path[file], "/tmp/stuck_kernel.XXXXXX");
		locks[0][file] = mkstemp(path[file]);
		locks[1][file] = open(path[file], O_RDWR);
		unlink(path[file]);
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	const struct mode *mode = modes;
	size_t known = sizeof modes / sizeof *modes;
	while (known && argc > 1 && strcmp(mode->name, argv[1]) != 0)
		mode++, known--;
	if (!known || argc < 2)
		return 2;
	make();
	alarm(3);
	syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
	for (long i = 0; i < mode->threads; i++)
		pthread_create(&threads[i], NULL, mode->routine, (void *)i);
	for (int i = 0; i < mode->threads; i++)
		pthread_join(threads[i], NULL); /* @join */
	return 0;
}
