/*
 * Orders that the kernel makes: each pair of threads hands a number over by one kind of call. The racy one adds to it
 * when the call is over, or takes a lock that keeps no threads apart.
 */
#define _GNU_SOURCE
#include "both.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#ifdef FIXED
#define GIVES(number, call) (number++, (call))
#else
#define GIVES(number, call) ((call), number++)
#endif

static int fds[2], more[2], own, files[2];
static char path[] = "/tmp/kernelXXXXXX", folder[] = "/tmp/kernelXXXXXX", made[64];
static void must(int is)
{
	if (!is)
		abort();
}

/* A file, written and read by two descriptors */
static int file;
PART(writes_file)
{
	GIVES(file, must(write(files[0], "x", 1) == 1)); /* @file_gives */
	return NULL;
}
PART(reads_file)
{
	char c;
	while (pread(files[1], &c, 1, 0) != 1)
		usleep(1000);
	file++; /* @file_takes */
	return NULL;
}

/* From pipe to pipe without the program */
static int spliced;
PART(writes_pipe)
{
	LATER;
	GIVES(spliced, must(write(fds[1], "x", 1) == 1)); /* @splice_gives */
	return NULL;
}
PART(passes_on)
{
	must(splice(fds[0], NULL, more[1], NULL, 1, 0) == 1);
	return NULL;
}
PART(reads_other)
{
	char c;
	pthread_t t;
	pthread_create(&t, NULL, passes_on, NULL);
	must(read(more[0], &c, 1) == 1);
	spliced++; /* @splice_takes */
	pthread_join(t, NULL);
	return NULL;
}

/* An event is seen, and not read */
static int polled, waited, left;
PART(counts)
{
	LATER;
	GIVES(polled, must(eventfd_write(own, 1) == 0)); /* @poll_gives */
	return NULL;
}
PART(polls)
{
	struct pollfd p = {.fd = own, .events = POLLIN};
	must(poll(&p, 1, -1) == 1);
	polled++; /* @poll_takes */
	return NULL;
}
PART(counts_again)
{
	LATER;
	GIVES(waited, must(eventfd_write(own, 1) == 0)); /* @epoll_gives */
	return NULL;
}
PART(waits)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.fd = own};
	int epoll = epoll_create1(0);
	must(epoll_ctl(epoll, EPOLL_CTL_ADD, own, &e) == 0);
	must(epoll_wait(epoll, &e, 1, -1) == 1);
	waited++; /* @epoll_takes */
	return NULL;
}
PART(leaves)
{
	GIVES(left, must(write(fds[1], "x", 1) == 1)); /* @left_gives */
	return NULL;
}
PART(asks)
{
	int n = 0;
	while (ioctl(fds[0], FIONREAD, &n) == 0 && n == 0)
		usleep(1000);
	left++; /* @left_takes */
	return NULL;
}

/* Locks of files: two descriptions exclude each other, one description or process does not exclude itself. */
static int whole, part;
#ifdef FIXED
#define OTHER files[1]
#define PART_LOCK F_OFD_SETLKW
#else
#define OTHER files[0]
#define PART_LOCK F_SETLKW
#endif
PART(locks)
{
	flock(files[0], LOCK_EX);
	whole++; /* @lock_one */
	flock(files[0], LOCK_UN);
	return NULL;
}
PART(locks_too)
{
	LATER;
	flock(OTHER, LOCK_EX);
	whole++; /* @lock_two */
	flock(OTHER, LOCK_UN);
	return NULL;
}
static void lock_part(int fd, short type)
{
	struct flock f = {.l_type = type, .l_whence = SEEK_SET, .l_start = 10, .l_len = 5};
	must(fcntl(fd, PART_LOCK, &f) == 0);
}
PART(locks_part)
{
	lock_part(files[0], F_WRLCK);
	part++; /* @part_one */
	lock_part(files[0], F_UNLCK);
	return NULL;
}
PART(locks_part_too)
{
	LATER;
	lock_part(OTHER, F_WRLCK);
	part++; /* @part_two */
	lock_part(OTHER, F_UNLCK);
	return NULL;
}

/* A folder is watched. */
static int watched;
PART(makes)
{
	LATER;
	GIVES(watched, close(open(made, O_CREAT | O_RDWR, 0600))); /* @watch_gives */
	return NULL;
}
PART(watches)
{
	char buffer[4096];
	must(read(own, buffer, sizeof buffer) > 0);
	watched++; /* @watch_takes */
	return NULL;
}

/* A semaphore is waited for to become zero. */
static int zero, semaphores;
PART(takes)
{
	struct sembuf s = {0, -1, 0};
	LATER;
	GIVES(zero, must(semop(semaphores, &s, 1) == 0)); /* @zero_gives */
	return NULL;
}
PART(waits_for_zero)
{
	struct sembuf s = {0, 0, 0};
	must(semop(semaphores, &s, 1) == 0);
	zero++; /* @zero_takes */
	return NULL;
}

/* syscall() */
static int woken, asleep, raw;
static uint32_t word, other_word;
/* The other may not sleep yet. */
static void wake(uint32_t *futex)
{
	while (syscall(SYS_futex, futex, FUTEX_WAKE, 1, NULL, NULL, 0) != 1)
		usleep(1000);
}
PART(wakes)
{
	LATER;
	LATER;
	GIVES(woken, wake(&word)); /* @futex_gives */
	return NULL;
}
PART(sleeps)
{
	must(syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0) == 0);
	woken++; /* @futex_takes */
	return NULL;
}
/* A wake that has woken a thread comes after what that one did before it slept. */
PART(falls_asleep)
{
	GIVES(asleep, must(syscall(SYS_futex, &other_word, FUTEX_WAIT, 0, NULL, NULL, 0) == 0)); /* @asleep_gives */
	return NULL;
}
PART(finds_asleep)
{
	wake(&other_word);
	asleep++; /* @asleep_takes */
	return NULL;
}
static struct iovec vector = {(char[]){"x"}, 1};
PART(writes_raw)
{
	LATER;
	GIVES(raw, must(syscall(SYS_writev, fds[1], &vector, 1) == 1)); /* @raw_gives */
	return NULL;
}
PART(reads_raw)
{
	char c; /* one is there already */
	must(syscall(SYS_read, fds[0], &c, 1) == 1);
	must(syscall(SYS_read, fds[0], &c, 1) == 1);
	raw++; /* @raw_takes */
	return NULL;
}

/* One page at two addresses */
static int twice, *page[2];
PART(stores)
{
	GIVES(twice, __atomic_store_n(page[0], 1, __ATOMIC_RELEASE)); /* @twice_gives */
	return NULL;
}
PART(loads)
{
	while (!__atomic_load_n(page[1], __ATOMIC_ACQUIRE))
		usleep(1000);
	twice++; /* @twice_takes */
	return NULL;
}

int main(void)
{
	files[0] = mkstemp(path);
	files[1] = open(path, O_RDWR);
	if (pipe(fds) || pipe(more))
		return 1;
	both(writes_file, reads_file);
	both(writes_pipe, reads_other);
	own = eventfd(0, 0);
	both(counts, polls);
	close(own);
	own = eventfd(0, 0);
	both(counts_again, waits);
	close(own);
	int memory = memfd_create("page", 0);
	must(ftruncate(memory, 4096) == 0);
	for (int i = 0; i < 2; i++)
		page[i] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	both(stores, loads);
	both(leaves, asks);
	both(locks, locks_too);
	both(locks_part, locks_part_too);
	unlink(path);
	own = inotify_init();
	snprintf(made, sizeof made, "%s/new", mkdtemp(folder));
	inotify_add_watch(own, folder, IN_CREATE);
	both(makes, watches);
	unlink(made);
	rmdir(folder);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	semctl(semaphores, 0, SETVAL, 1);
	both(takes, waits_for_zero);
	semctl(semaphores, 0, IPC_RMID);
	both(wakes, sleeps);
	both(falls_asleep, finds_asleep);
	char c;
	must(read(fds[0], &c, 1) == 1 && write(fds[1], "y", 1) == 1);
	both(writes_raw, reads_raw);
	return 0;
}
