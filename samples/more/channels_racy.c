/*
 * The ways by which one descriptor, one file or one child is known to two threads: each pair of threads hands a number
 * over by one of them. The racy one adds to it when the call is over.
 */
#define _GNU_SOURCE
#include "both.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>

#ifdef FIXED
#define GIVES(number, call) (number++, (call))
#else
#define GIVES(number, call) ((call), number++)
#endif

static void must(int is)
{
	if (!is)
		abort();
}

static int in, out, epolls[2], *page[2];
static pid_t child;
static char c, path[64], folder[] = "/tmp/channelsXXXXXX";

/* fd by another number, which came by a message; the first is closed */
static int sent(int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof fd)];
		struct cmsghdr header;
	} control = {{0}};
	int ways[2], got;
	struct iovec data = {&c, 1};
	struct msghdr m = {
	    .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, ways) == 0);
	control.header = (struct cmsghdr){CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
	must(sendmsg(ways[0], &m, 0) == 1);
	close(fd);
	must(recvmsg(ways[1], &m, 0) == 1);
	memcpy(&got, CMSG_DATA(&control.header), sizeof got);
	close(ways[0]);
	close(ways[1]);
	return got;
}

/* One pair: gives and takes are calls. */
#define PAIR(number, gives, takes)                                                                                     \
	static int number;                                                                                             \
	PART(number##_give)                                                                                            \
	{                                                                                                              \
		LATER;                                                                                                 \
		GIVES(number, gives);                                                                                  \
		return NULL;                                                                                           \
	}                                                                                                              \
	PART(number##_take)                                                                                            \
	{                                                                                                              \
		takes;                                                                                                 \
		number++;                                                                                              \
		return NULL;                                                                                           \
	}
static void reads(void)
{
	char some[256];
	must(read(in, some, sizeof some) > 0);
}
static void writes(void)
{
	must(write(out, "eight by", 8) == 8);
}
static void polls(void)
{
	struct pollfd p = {.fd = in, .events = POLLIN};
	must(poll(&p, 1, -1) == 1);
}
static void waits(void)
{
	struct epoll_event e;
	must(epoll_wait(epolls[1], &e, 1, -1) == 1);
}
static void kills(void)
{
	must(kill(child, SIGKILL) == 0);
}
static void waits_for_child(void)
{
	must(waitpid(child, NULL, 0) == child);
}
static void ends_child(void)
{
	must(close(out) == 0);
}
static void makes(void)
{
	must(close(open(path, O_CREAT | O_EXCL | O_RDWR, 0600)) == 0);
}
static void finds(void)
{
	while (access(path, F_OK) != 0)
		usleep(1000);
}
static void removes(void)
{
	must(unlink(path) == 0);
}
static void makes_again(void)
{
	int fd;
	while ((fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600)) < 0)
		usleep(1000);
	close(fd);
}
static void opens_in(void)
{
	must(open(path, O_RDONLY) >= 0);
}
static void opens_out(void)
{
	must(open(path, O_WRONLY) >= 0);
}
static void changes(void)
{
	must(syscall(SYS_chmod, folder, 0750) == 0);
}
static void signals(void)
{
	must(kill(getpid(), SIGUSR1) == 0);
}
static void stores(void)
{
	__atomic_store_n(page[0], 1, __ATOMIC_RELEASE);
}
static void loads(void)
{
	while (!__atomic_load_n(page[1], __ATOMIC_ACQUIRE))
		usleep(1000);
}
static void breaks(void)
{
	must(close(in) == 0);
}
static void writes_on(void)
{
	while (write(out, "x", 1) == 1)
		usleep(1000);
}

static void takes_much(void)
{
	static char much[1 << 16];
	must(read(in, much, sizeof much) > 0);
}

/* More at once than there is room for when it begins. */
static char all[1 << 20];
static void takes_all(void)
{
	for (size_t n = 0; n < sizeof all;) {
		ssize_t some = read(in, all, sizeof all);
		must(some > 0);
		n += (size_t)some;
	}
}
static void writes_all(void)
{
	static char many[sizeof all];
	must(write(out, many, sizeof many) == sizeof many);
}
static void splices_all(void)
{
	off_t at = 0;
	int file = fileno(tmpfile());
	must(ftruncate(file, sizeof all) == 0);
	while (at < (off_t)sizeof all)
		must(sendfile(out, file, &at, sizeof all) > 0);
}
static void waits_for_room(void)
{
	struct pollfd p = {.fd = out, .events = POLLOUT};
	must(poll(&p, 1, -1) == 1);
}

static void reads_late(void)
{
	LATER;
	LATER;
	reads();
}
static void reads_to_end(void)
{
	reads_late();
	must(read(in, &c, 1) == 0);
}
static void writes_and_ends(void)
{
	writes();
	ends_child();
}

/* Data is read, not the end, which comes later and is there by then. */
static int unended;
PART(unended_give)
{
	GIVES(unended, writes()); /* @unended */
	ends_child();
	return NULL;
}
PART(unended_take)
{
	reads_late();
	unended++; /* @before_end */
	return NULL;
}

PAIR(ended, writes_and_ends(), reads_to_end())                /* @ended */
PAIR(pipe_sent, writes(), reads())                            /* @pipe_sent */
PAIR(pair_sent, writes(), reads())                            /* @pair_sent */
PAIR(counter_sent, must(eventfd_write(out, 1) == 0), reads()) /* @counter_sent */
PAIR(by_pidfd, must(eventfd_write(out, 1) == 0), reads())     /* @by_pidfd */
PAIR(by_name, writes(), reads())                              /* @by_name */
PAIR(terminal_down, writes(), reads())                        /* @terminal_down */
PAIR(terminal_up, writes(), reads())                          /* @terminal_up */
PAIR(watched_twice, writes(), waits())                        /* @watched_twice */
PAIR(nested, writes(), waits())                               /* @nested */
PAIR(killed, kills(), waits_for_child())                      /* @killed */
PAIR(closed, ends_child(), waits_for_child())                 /* @closed */
PAIR(found, makes(), finds())                                 /* @found */
PAIR(locked, removes(), makes_again())                        /* @locked */
PAIR(opened, opens_in(), opens_out())                         /* @opened */
PAIR(told, changes(), reads())                                /* @told */
PAIR(pending, signals(), polls())                             /* @pending */
PAIR(mapped_twice, stores(), loads())                         /* @mapped_twice */
PAIR(broken, breaks(), writes_on())                           /* @broken */
PAIR(full, takes_much(), writes())                            /* @full */
PAIR(full_too, takes_much(), waits_for_room())                /* @full_too */
PAIR(filled, takes_all(), writes_all())                       /* @filled */
PAIR(filled_pair, takes_all(), writes_all())                  /* @filled_pair */
PAIR(filled_by_file, takes_all(), splices_all())              /* @filled_by_file */
#define RUN(number) both(number##_give, number##_take)

static void new_pipe(void)
{
	int fds[2];
	must(pipe(fds) == 0);
	in = fds[0];
	out = fds[1];
}

static void new_pair(void)
{
	int fds[2];
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	in = fds[0];
	out = fds[1];
}

static void new_full_pipe(void)
{
	new_pipe();
	fcntl(out, F_SETFL, O_NONBLOCK);
	while (write(out, "eight by", 8) == 8)
		;
}

static void descriptors(void)
{
	int fds[2];
	new_pipe();
	RUN(unended);
	new_pipe();
	RUN(ended);
	new_pipe();
	in = sent(in);
	RUN(pipe_sent);
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	in = sent(fds[0]);
	out = fds[1];
	RUN(pair_sent);
	out = eventfd(0, 0);
	in = sent(dup(out));
	RUN(counter_sent);
	out = eventfd(0, 0);
	in = (int)syscall(SYS_pidfd_getfd, (int)syscall(SYS_pidfd_open, getpid(), 0), out, 0);
	if (in < 0) /* an older kernel, or it is not allowed */
		in = dup(out);
	RUN(by_pidfd);
	new_pipe();
	snprintf(path, sizeof path, "/proc/self/fd/%d", in);
	in = open(path, O_RDONLY);
	RUN(by_name);
}

static void terminals(void)
{
	struct termios raw;
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	must(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	must(slave >= 0 && tcgetattr(slave, &raw) == 0);
	cfmakeraw(&raw);
	tcsetattr(slave, TCSANOW, &raw);
	out = master;
	in = slave;
	RUN(terminal_down);
	out = slave;
	in = master;
	RUN(terminal_up);
}

static void events(void)
{
	struct epoll_event e = {.events = EPOLLIN};
	new_pipe();
	for (int i = 0; i < 2; i++) {
		epolls[i] = epoll_create1(0);
		must(epoll_ctl(epolls[i], EPOLL_CTL_ADD, in, &e) == 0);
	}
	int other[2];
	must(pipe(other) == 0 && epoll_ctl(epolls[1], EPOLL_CTL_ADD, other[0], &e) == 0);
	RUN(watched_twice);
	new_pipe();
	epolls[0] = epoll_create1(0);
	epolls[1] = epoll_create1(0);
	must(epoll_ctl(epolls[0], EPOLL_CTL_ADD, in, &e) == 0);
	must(epoll_ctl(epolls[1], EPOLL_CTL_ADD, epolls[0], &e) == 0);
	RUN(nested);
}

static void children(void)
{
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	RUN(killed);
	new_pipe();
	child = fork();
	if (child == 0) {
		close(out);
		_exit(read(in, &c, 1) == 0 ? 0 : 1);
	}
	RUN(closed);
}

static void names(void)
{
	must(mkdtemp(folder) != NULL);
	snprintf(path, sizeof path, "%s/name", folder);
	RUN(found);
	RUN(locked);
	unlink(path);
	must(mkfifo(path, 0600) == 0);
	RUN(opened);
	unlink(path);
	in = inotify_init1(0);
	must(inotify_add_watch(in, folder, IN_ATTRIB) >= 0);
	RUN(told);
	rmdir(folder);
}

int main(void)
{
	sigset_t set;
	signal(SIGPIPE, SIG_IGN);
	descriptors();
	terminals();
	events();
	children();
	names();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	in = signalfd(-1, &set, 0);
	RUN(pending);
	page[0] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	page[1] = mremap(page[0], 0, 4096, MREMAP_MAYMOVE);
	if (page[1] == MAP_FAILED) /* as under Valgrind */
		page[1] = page[0];
	RUN(mapped_twice);
	new_pipe();
	RUN(broken);
	new_full_pipe();
	fcntl(out, F_SETFL, 0);
	RUN(full);
	new_full_pipe();
	RUN(full_too);
	new_pipe();
	RUN(filled);
	new_pair();
	RUN(filled_pair);
	new_pipe();
	RUN(filled_by_file);
	return 0;
}
