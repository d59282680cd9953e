/*
 * Threads that wait in the kernel, one case an argument, and nothing that is certain to go wrong: another process, time
 * or a thread that goes on may end the wait. Those of the first table wait until an alarm; those of the second get what
 * they wait for, or are left behind by a program that ends.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wordexp.h>

static int pipes[2][2], counter, epoll, listener, locks[2];
static unsigned *shared, word;
static pthread_barrier_t both;
static pid_t child;
static char path[] = "/tmp/stuck_kernel.XXXXXX";

static char get(int fd)
{
	char c = 0;
	return read(fd, &c, 1) == 1 ? c : 0;
}

static void *outside(void *arg) /* the process that started this one may write */
{
	return get(0) ? arg : NULL;
}

static void *inherited(void *arg)
{
	return get(pipes[0][0]) ? arg : NULL;
}

/* The pipe was sent away. */
static void *sent(void *arg)
{
	return get(pipes[0][0]) ? arg : NULL;
}

static void *named(void *arg)
{
	char folder[] = "/tmp/stuck_kernel.XXXXXX";
	if (!mkdtemp(folder) || chdir(folder) != 0 || mkfifo("pipe", 0600) != 0)
		abort();
	int fd = open("pipe", O_RDWR);
	unlink("pipe");
	rmdir(folder);
	return get(fd) ? arg : NULL;
}

static void *connected(void *arg)
{
	return accept(listener, NULL, NULL) >= 0 ? arg : NULL;
}

static void *timed_poll(void *arg)
{
	struct pollfd fd = {pipes[0][0], POLLIN, 0};
	return poll(&fd, 1, 100000) ? arg : NULL;
}

static void *mixed_poll(void *arg)
{
	struct pollfd fds[2] = {{pipes[0][0], POLLIN, 0}, {listener, POLLIN, 0}};
	return poll(fds, 2, -1) ? arg : NULL;
}

static void *timer(void *arg)
{
	struct epoll_event event = {.events = EPOLLIN};
	struct itimerspec later = {.it_value = {.tv_sec = 1000}};
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	timerfd_settime(fd, 0, &later, NULL);
	epoll_ctl(epoll, EPOLL_CTL_ADD, counter, &event);
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	return epoll_wait(epoll, &event, 1, -1) ? arg : NULL;
}

static void *shared_futex(void *arg)
{
	syscall(SYS_futex, shared, FUTEX_WAIT, 0, NULL, NULL, 0);
	return arg;
}

static void *timed_futex(void *arg)
{
	struct timespec t = {1000, 0};
	syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, &t, NULL, 0);
	return arg;
}

/* The child has the description that holds the lock. */
static void *locked_by_child(void *arg)
{
	flock(locks[1], LOCK_EX);
	return arg;
}

/* The lock that this process had is gone with its descriptor: the child has it now. */
static void *closed(void *arg)
{
	int fd = open(path, O_RDWR);
	flock(fd, LOCK_EX);
	close(fd);
	usleep(2000000); /* the child has locked it by then */
	fd = open(path, O_RDWR);
	unlink(path);
	return flock(fd, LOCK_EX) == 0 ? arg : NULL;
}
static void lock_later(void)
{
	usleep(300000);
	int fd = open(path, O_RDWR);
	flock(fd, LOCK_EX);
}

static void *expires(void *arg)
{
	int pair[2];
	struct timeval t = {1000, 0};
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		abort();
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
	return get(pair[0]) ? arg : NULL;
}

static void *for_signal(void *arg)
{
	int sig;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return sigwait(&set, &sig) == 0 ? arg : NULL;
}

static void *for_child(void *arg)
{
	return waitpid(child, NULL, 0) == child ? arg : NULL;
}

static void *for_time(void *arg)
{
	struct timespec t = {1000, 0};
	return nanosleep(&t, NULL) == 0 ? arg : NULL;
}

static void *rests(void *arg)
{
	pause();
	return arg;
}

/* ---- Those that go on ---- */

static void *relay(void *arg)
{
	long i = (long)arg;
	if (i) {
		usleep(300000); /* the other one waits by then */
		return write(pipes[0][1], "x", 1) == 1 && get(pipes[1][0]) ? arg : NULL;
	}
	return get(pipes[0][0]) && write(pipes[1][1], "x", 1) == 1 ? arg : NULL;
}

static void *wake(void *arg)
{
	if (arg) {
		usleep(300000);
		__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	return arg;
}

static void *in_turn(void *arg)
{
	long i = (long)arg;
	for (int n = 0; n < 3; n++) {
		flock(locks[i], LOCK_EX);
		usleep(1000);
		flock(locks[i], LOCK_UN);
	}
	return arg;
}

/* Nobody writes for this one: it is there until the program ends. */
static void *left(void *arg)
{
	pthread_barrier_wait(&both);
	return get(pipes[(long)arg][0]) ? arg : NULL;
}

/* One waits for what the pipe has, the other has it wait for other processes, too. */
static void *added(void *arg)
{
	struct epoll_event event = {.events = EPOLLIN};
	if (!arg) {
		epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[0][0], &event);
		return epoll_wait(epoll, &event, 1, -1) > 0 ? &word : NULL;
	}
	usleep(1000000); /* the first one sleeps by then */
	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
	return NULL;
}

static const struct mode {
	const char *name;
	int threads, ends;
	void *(*routine)(void *);
} modes[] = {
    {"stdin", 1, 0, outside},
    {"inherited", 1, 0, inherited},
    {"sent", 1, 0, sent},
    {"named", 1, 0, named},
    {"accept", 1, 0, connected},
    {"timed", 1, 0, timed_poll},
    {"mixed", 1, 0, mixed_poll},
    {"timer", 1, 0, timer},
    {"shared", 1, 0, shared_futex},
    {"until", 1, 0, timed_futex},
    {"lock", 1, 0, locked_by_child},
    {"signal", 1, 0, for_signal},
    {"child", 1, 0, for_child},
    {"closed", 1, 0, closed},
    {"expires", 1, 0, expires},
    {"time", 1, 0, for_time},
    {"rest", 1, 0, rests},
    {"system", 1, 0, inherited},
    {"popen", 1, 0, inherited},
    {"spawn", 1, 0, inherited},
    {"words", 1, 0, inherited},
    {"added", 2, 0, added},
    {"relay", 2, 1, relay},
    {"wake", 2, 1, wake},
    {"turns", 2, 1, in_turn},
    {"left", 2, 2, left},
};

static void make(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	pthread_barrier_init(&both, NULL, 3);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (pipe(pipes[0]) != 0 || pipe(pipes[1]) != 0 || bind(listener, (struct sockaddr *)&any, sizeof any) != 0 ||
	    listen(listener, 1) != 0)
		abort();
	counter = eventfd(0, 0);
	epoll = epoll_create1(0);
	locks[0] = mkstemp(path);
	locks[1] = open(path, O_RDWR);
}

static void make_child(bool locks)
{
	child = fork();
	if (child == 0) {
		alarm(5);
		if (locks)
			lock_later();
		pause();
		_exit(0);
	}
}

/* Another process, which has the descriptors of this one. */
static void make_other(const char *by)
{
	char *arguments[] = {"sleep", "5", NULL};
	wordexp_t words;
	if (!strcmp(by, "system") && system("sleep 5 &") != 0)
		abort();
	if (!strcmp(by, "popen") && !popen("sleep 5", "w"))
		abort();
	if (!strcmp(by, "words") && wordexp("$(sleep 5 >/dev/null &)", &words, 0) != 0)
		abort();
	if (!strcmp(by, "spawn") && posix_spawnp(&child, "sleep", NULL, NULL, arguments, environ) != 0)
		abort();
}

static void send_away(void)
{
	int pair[2];
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	char byte = 0;
	struct iovec v = {&byte, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	memset(&control, 0, sizeof control);
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &pipes[0][1], sizeof(int));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || sendmsg(pair[0], &m, 0) != 1)
		abort();
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
	if (!strcmp(mode->name, "shared"))
		shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!strcmp(mode->name, "sent"))
		send_away();
	if (!strcmp(mode->name, "lock"))
		flock(locks[0], LOCK_EX);
	if (strstr("inherited lock child closed", mode->name))
		make_child(!strcmp(mode->name, "closed"));
	if (strstr("system popen spawn words", mode->name))
		make_other(mode->name);
	if (strcmp(mode->name, "closed") != 0)
		unlink(path);
	if (!strcmp(mode->name, "signal")) {
		sigset_t set;
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		pthread_sigmask(SIG_BLOCK, &set, NULL);
	}
	alarm(mode->ends ? 30 : 3);
	for (long i = 0; i < mode->threads; i++)
		pthread_create(&threads[i], NULL, mode->routine, (void *)i);
	if (mode->ends == 2) {
		pthread_barrier_wait(&both);
		usleep(1500000); /* both wait by then */
		return 0;
	}
	for (int i = 0; i < mode->threads; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
