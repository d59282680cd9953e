/*
 * Input and output: what the calls read and write of the caller's memory, and the happens-before that goes through
 * pipes, sockets and event counters inside one program (a thread that reads has seen what was written before). As
 * everywhere, the data is written before the real call and read after it. See fd.h; streams are in stdio.c.
 */
#ifndef __NO_INLINE__
#define __NO_INLINE__ /* or the C library's headers define some of these themselves */
#endif
#include "recorder/fd.h"
#include "recorder/sync.h"

#include <fcntl.h>
#include <mqueue.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

/* The first n bytes of what the vectors describe. */
static void vectors(unsigned op, const struct iovec *v, int count, size_t n, uintptr_t pc)
{
	rt_emit_range(RT_OP_READ, v, (size_t)(count > 0 ? count : 0) * sizeof(*v), pc);
	for (int i = 0; i < count && n > 0; i++) {
		size_t part = v[i].iov_len < n ? v[i].iov_len : n;
		rt_emit_range(op, v[i].iov_base, part, pc);
		n -= part;
	}
}

/* Input. */
#define RECEIVES(type, name, parameters, arguments)                                                                    \
	RT_INTERPOSE(type, name, parameters)                                                                           \
	{                                                                                                              \
		rt_fd_uses(fd, RT_PC);                                                                                 \
		type n = RT_REAL(name) arguments;                                                                      \
		rt_fd_read(fd, n, RT_PC);                                                                              \
		if (n > 0)                                                                                             \
			rt_emit_range(RT_OP_WRITE, buffer, (size_t)n < size ? (size_t)n : size, RT_PC);                \
		return n;                                                                                              \
	}
/* Signals come this way as well. */
static void signals_read(const struct signalfd_siginfo *info, size_t n, uintptr_t pc)
{
	for (size_t i = 0; i < n / sizeof *info; i++)
		rt_signal_received((int)info[i].ssi_signo, pc);
}

RT_INTERPOSE(ssize_t, read, (int fd, void *buffer, size_t size))
{
	rt_fd_uses(fd, RT_PC);
	ssize_t n = RT_REAL(read)(fd, buffer, size);
	rt_fd_read(fd, n, RT_PC);
	if (n > 0 && rt_recording() && rt_fd_tells_signals(fd))
		signals_read(buffer, (size_t)n, RT_PC);
	if (n > 0)
		rt_emit_range(RT_OP_WRITE, buffer, (size_t)n, RT_PC);
	return n;
}

RECEIVES(ssize_t, pread, (int fd, void *buffer, size_t size, off_t at), (fd, buffer, size, at))
RECEIVES(ssize_t, pread64, (int fd, void *buffer, size_t size, off64_t at), (fd, buffer, size, at))
RECEIVES(ssize_t, recv, (int fd, void *buffer, size_t size, int flags), (fd, buffer, size, flags))
RECEIVES(ssize_t, __read_chk, (int fd, void *buffer, size_t size, size_t room), (fd, buffer, size, room))
RECEIVES(ssize_t, __recv_chk, (int fd, void *buffer, size_t size, size_t room, int flags),
         (fd, buffer, size, room, flags))

#define RECEIVES_VECTORS(name, parameters, arguments)                                                                  \
	RT_INTERPOSE(ssize_t, name, parameters)                                                                        \
	{                                                                                                              \
		rt_fd_uses(fd, RT_PC);                                                                                 \
		ssize_t n = RT_REAL(name) arguments;                                                                   \
		rt_fd_read(fd, n, RT_PC);                                                                              \
		if (n > 0 && rt_recording())                                                                           \
			vectors(RT_OP_WRITE, v, count, (size_t)n, RT_PC);                                              \
		return n;                                                                                              \
	}
RECEIVES_VECTORS(readv, (int fd, const struct iovec *v, int count), (fd, v, count))
RECEIVES_VECTORS(preadv, (int fd, const struct iovec *v, int count, off_t at), (fd, v, count, at))
RECEIVES_VECTORS(preadv64, (int fd, const struct iovec *v, int count, off64_t at), (fd, v, count, at))

/* The address of who sent, or connected: as much of it as there was room for. */
static void address_told(const struct sockaddr *to, socklen_t room, const socklen_t *length, uintptr_t pc)
{
	if (!to || !length)
		return;
	rt_emit_range(RT_OP_WRITE, to, *length < room ? *length : room, pc);
	rt_emit_range(RT_OP_WRITE, length, sizeof *length, pc);
}

RT_INTERPOSE(ssize_t, recvfrom,
             (int fd, void *restrict buffer, size_t size, int flags, struct sockaddr *restrict from,
              socklen_t *restrict length))
{
	socklen_t room = from && length ? *length : 0;
	rt_fd_uses(fd, RT_PC);
	ssize_t n = RT_REAL(recvfrom)(fd, buffer, size, flags, from, length);
	rt_fd_read(fd, n, RT_PC);
	if (n > 0)
		rt_emit_range(RT_OP_WRITE, buffer, (size_t)n < size ? (size_t)n : size, RT_PC);
	if (n >= 0)
		address_told(from, room, length, RT_PC);
	return n;
}

RT_INTERPOSE(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags))
{
	rt_fd_uses(fd, RT_PC);
	ssize_t n = RT_REAL(recvmsg)(fd, message, flags);
	rt_fd_read(fd, n, RT_PC);
	if (n > 0 && rt_recording())
		vectors(RT_OP_WRITE, message->msg_iov, (int)message->msg_iovlen, (size_t)n, RT_PC);
	return n;
}

/* Output. */
#define SENDS(name, parameters, arguments)                                                                             \
	RT_INTERPOSE(ssize_t, name, parameters)                                                                        \
	{                                                                                                              \
		rt_emit_range(RT_OP_READ, buffer, size, RT_PC);                                                        \
		rt_fd_uses(fd, RT_PC);                                                                                 \
		rt_fd_publishes(fd, NULL, 0, RT_PC);                                                                   \
		ssize_t n = RT_REAL(name) arguments;                                                                   \
		rt_emit_time();                                                                                        \
		return n;                                                                                              \
	}
SENDS(write, (int fd, const void *buffer, size_t size), (fd, buffer, size))
SENDS(pwrite, (int fd, const void *buffer, size_t size, off_t at), (fd, buffer, size, at))
SENDS(pwrite64, (int fd, const void *buffer, size_t size, off64_t at), (fd, buffer, size, at))
SENDS(send, (int fd, const void *buffer, size_t size, int flags), (fd, buffer, size, flags))

RT_INTERPOSE(ssize_t, sendto,
             (int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to, socklen_t length))
{
	rt_emit_range(RT_OP_READ, buffer, size, RT_PC);
	rt_fd_uses(fd, RT_PC);
	rt_fd_publishes(fd, to, length, RT_PC);
	ssize_t n = RT_REAL(sendto)(fd, buffer, size, flags, to, length);
	rt_emit_time();
	return n;
}

#define SENDS_VECTORS(name, parameters, arguments)                                                                     \
	RT_INTERPOSE(ssize_t, name, parameters)                                                                        \
	{                                                                                                              \
		if (rt_recording())                                                                                    \
			vectors(RT_OP_READ, v, count, SIZE_MAX, RT_PC);                                                \
		rt_fd_uses(fd, RT_PC);                                                                                 \
		rt_fd_publishes(fd, NULL, 0, RT_PC);                                                                   \
		ssize_t n = RT_REAL(name) arguments;                                                                   \
		rt_emit_time();                                                                                        \
		return n;                                                                                              \
	}
SENDS_VECTORS(writev, (int fd, const struct iovec *v, int count), (fd, v, count))
SENDS_VECTORS(pwritev, (int fd, const struct iovec *v, int count, off_t at), (fd, v, count, at))
SENDS_VECTORS(pwritev64, (int fd, const struct iovec *v, int count, off64_t at), (fd, v, count, at))

RT_INTERPOSE(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags))
{
	if (rt_recording())
		vectors(RT_OP_READ, message->msg_iov, (int)message->msg_iovlen, SIZE_MAX, RT_PC);
	rt_fd_uses(fd, RT_PC);
	rt_fd_publishes(fd, message->msg_name, message->msg_namelen, RT_PC);
	ssize_t n = RT_REAL(sendmsg)(fd, message, flags);
	rt_emit_time();
	return n;
}

RT_INTERPOSE(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags))
{
	for (unsigned i = 0; i < count && rt_recording(); i++) {
		const struct msghdr *m = &messages[i].msg_hdr;
		vectors(RT_OP_READ, m->msg_iov, (int)m->msg_iovlen, SIZE_MAX, RT_PC);
		rt_fd_publishes(fd, m->msg_name, m->msg_namelen, RT_PC);
	}
	rt_fd_uses(fd, RT_PC);
	int n = RT_REAL(sendmmsg)(fd, messages, count, flags);
	rt_emit_time();
	return n;
}

RT_INTERPOSE(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout))
{
	rt_fd_uses(fd, RT_PC);
	int n = RT_REAL(recvmmsg)(fd, messages, count, flags, timeout);
	rt_fd_received(fd, n > 0, RT_PC);
	for (int i = 0; i < n && rt_recording(); i++) {
		const struct msghdr *m = &messages[i].msg_hdr;
		vectors(RT_OP_WRITE, m->msg_iov, (int)m->msg_iovlen, messages[i].msg_len, RT_PC);
	}
	return n;
}

/* Descriptors that come, are copied and go. */
static int pipe_made(int result, int fds[2], uintptr_t pc)
{
	if (result == 0) {
		rt_fd_both_ends(fds);
		rt_emit_range(RT_OP_WRITE, fds, 2 * sizeof(*fds), pc);
	}
	return result;
}

RT_INTERPOSE(int, pipe, (int fds[2]))
{
	return pipe_made(RT_REAL(pipe)(fds), fds, RT_PC);
}

RT_INTERPOSE(int, pipe2, (int fds[2], int flags))
{
	return pipe_made(RT_REAL(pipe2)(fds, flags), fds, RT_PC);
}

RT_INTERPOSE(int, socketpair, (int domain, int type, int protocol, int fds[2]))
{
	return pipe_made(RT_REAL(socketpair)(domain, type, protocol, fds), fds, RT_PC);
}

RT_INTERPOSE(int, eventfd, (unsigned value, int flags))
{
	int fd = RT_REAL(eventfd)(value, flags);
	rt_fd_own(fd);
	return fd;
}

RT_INTERPOSE(int, eventfd_read, (int fd, eventfd_t *value))
{
	rt_fd_uses(fd, RT_PC);
	int result = RT_REAL(eventfd_read)(fd, value);
	rt_fd_received(fd, result == 0, RT_PC);
	rt_emit_range(RT_OP_WRITE, value, result == 0 ? sizeof(*value) : 0, RT_PC);
	return result;
}

RT_INTERPOSE(int, eventfd_write, (int fd, eventfd_t value))
{
	rt_fd_uses(fd, RT_PC);
	rt_fd_publishes(fd, NULL, 0, RT_PC);
	int result = RT_REAL(eventfd_write)(fd, value);
	rt_emit_time();
	return result;
}

RT_INTERPOSE(int, signalfd, (int fd, const sigset_t *set, int flags))
{
	int result = RT_REAL(signalfd)(fd, set, flags);
	if (fd < 0 && result >= 0)
		rt_fd_signals(result);
	return result;
}

RT_INTERPOSE(int, timerfd_create, (int clock, int flags))
{
	int fd = RT_REAL(timerfd_create)(clock, flags);
	rt_fd_own(fd);
	return fd;
}

RT_INTERPOSE(int, timerfd_settime, (int fd, int flags, const struct itimerspec *now, struct itimerspec *old))
{
	rt_fd_uses(fd, RT_PC);
	rt_fd_publishes(fd, NULL, 0, RT_PC);
	return RT_REAL(timerfd_settime)(fd, flags, now, old);
}

RT_INTERPOSE(int, socket, (int domain, int type, int protocol))
{
	int fd = RT_REAL(socket)(domain, type, protocol);
	rt_fd_socket(fd);
	return fd;
}

RT_INTERPOSE(int, connect, (int fd, const struct sockaddr *to, socklen_t length))
{
	rt_fd_uses(fd, RT_PC);
	rt_fd_connects(to, length, RT_PC);
	int result = RT_REAL(connect)(fd, to, length);
	rt_emit_time();
	return result;
}

RT_INTERPOSE(int, accept, (int fd, struct sockaddr *restrict from, socklen_t *restrict length))
{
	socklen_t room = from && length ? *length : 0;
	rt_fd_uses(fd, RT_PC);
	int connection = RT_REAL(accept)(fd, from, length);
	rt_fd_accepted(fd, connection, RT_PC);
	if (connection >= 0)
		address_told(from, room, length, RT_PC);
	return connection;
}

RT_INTERPOSE(int, accept4, (int fd, struct sockaddr *restrict from, socklen_t *restrict length, int flags))
{
	socklen_t room = from && length ? *length : 0;
	rt_fd_uses(fd, RT_PC);
	int connection = RT_REAL(accept4)(fd, from, length, flags);
	rt_fd_accepted(fd, connection, RT_PC);
	if (connection >= 0)
		address_told(from, room, length, RT_PC);
	return connection;
}

RT_INTERPOSE(int, shutdown, (int fd, int how))
{
	rt_fd_uses(fd, RT_PC);
	rt_fd_publishes(fd, NULL, 0, RT_PC);
	return RT_REAL(shutdown)(fd, how);
}

/* The reader at the other end sees the end of the data. */
RT_INTERPOSE(int, close, (int fd))
{
	rt_fd_closes(fd, RT_PC);
	return RT_REAL(close)(fd);
}

/* By the C library's own name. */
__asm__(".globl __close\n\t.type __close, @function\n\t.set __close, close");

RT_INTERPOSE(int, bind, (int fd, const struct sockaddr *to, socklen_t length))
{
	rt_fd_uses(fd, RT_PC);
	rt_emit_range(RT_OP_READ, to, to ? length : 0, RT_PC);
	return RT_REAL(bind)(fd, to, length);
}

RT_INTERPOSE(int, listen, (int fd, int pending))
{
	rt_fd_uses(fd, RT_PC);
	return RT_REAL(listen)(fd, pending);
}

RT_INTERPOSE(int, dup, (int fd))
{
	rt_fd_uses(fd, RT_PC);
	int copy = RT_REAL(dup)(fd);
	rt_fd_copied(fd, copy);
	return copy;
}

/* What is put in another's place by these is meant to be used as that was: no more than a use of it. */
RT_INTERPOSE(int, dup2, (int fd, int to))
{
	rt_fd_uses(fd, RT_PC);
	rt_fd_uses(to, RT_PC);
	int copy = RT_REAL(dup2)(fd, to);
	rt_fd_copied(fd, copy);
	return copy;
}

RT_INTERPOSE(int, dup3, (int fd, int to, int flags))
{
	rt_fd_uses(fd, RT_PC);
	rt_fd_uses(to, RT_PC);
	int copy = RT_REAL(dup3)(fd, to, flags);
	rt_fd_copied(fd, copy);
	return copy;
}

/* Files carry nothing, whatever had their number before. */
#define OPENS(name, parameters, arguments, path, flags)                                                                \
	RT_INTERPOSE(int, name, parameters)                                                                            \
	{                                                                                                              \
		va_list args;                                                                                          \
		va_start(args, flags);                                                                                 \
		mode_t mode = __OPEN_NEEDS_MODE(flags) ? va_arg(args, mode_t) : 0;                                     \
		va_end(args);                                                                                          \
		rt_emit_string(RT_OP_READ, path, RT_PC);                                                               \
		int fd = RT_REAL(name) arguments;                                                                      \
		rt_fd_plain(fd);                                                                                       \
		return fd;                                                                                             \
	}
OPENS(open, (const char *path, int flags, ...), (path, flags, mode), path, flags)
OPENS(open64, (const char *path, int flags, ...), (path, flags, mode), path, flags)
OPENS(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode), path, flags)
OPENS(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode), path, flags)

#define CREATES(name)                                                                                                  \
	RT_INTERPOSE(int, name, (const char *path, mode_t mode))                                                       \
	{                                                                                                              \
		rt_emit_string(RT_OP_READ, path, RT_PC);                                                               \
		int fd = RT_REAL(name)(path, mode);                                                                    \
		rt_fd_plain(fd);                                                                                       \
		return fd;                                                                                             \
	}
CREATES(creat)
CREATES(creat64)

RT_INTERPOSE(int, open_by_handle_at, (int folder, struct file_handle *handle, int flags))
{
	rt_emit_range(RT_OP_READ, handle, sizeof *handle, RT_PC);
	int fd = RT_REAL(open_by_handle_at)(folder, handle, flags);
	rt_fd_plain(fd);
	return fd;
}

#define INOTIFY(name, parameters, arguments)                                                                           \
	RT_INTERPOSE(int, name, parameters)                                                                            \
	{                                                                                                              \
		int fd = RT_REAL(name) arguments;                                                                      \
		rt_fd_plain(fd);                                                                                       \
		return fd;                                                                                             \
	}
INOTIFY(inotify_init, (void), ())
INOTIFY(inotify_init1, (int flags), (flags))

RT_INTERPOSE(int, epoll_create, (int size))
{
	int fd = RT_REAL(epoll_create)(size);
	rt_fd_own(fd);
	return fd;
}

RT_INTERPOSE(int, epoll_create1, (int flags))
{
	int fd = RT_REAL(epoll_create1)(flags);
	rt_fd_own(fd);
	return fd;
}

/* What was done before a descriptor was added is seen by who gets its events. */
RT_INTERPOSE(int, epoll_ctl, (int fd, int operation, int of, struct epoll_event *event))
{
	rt_fd_uses(of, RT_PC);
	rt_fd_uses(fd, RT_PC);
	rt_fd_publishes(fd, NULL, 0, RT_PC);
	return RT_REAL(epoll_ctl)(fd, operation, of, event);
}

static int events_came(int fd, const struct epoll_event *events, int n, uintptr_t pc)
{
	rt_fd_received(fd, n > 0, pc);
	if (n > 0)
		rt_emit_range(RT_OP_WRITE, events, (size_t)n * sizeof(*events), pc);
	return n;
}

RT_INTERPOSE(int, epoll_wait, (int fd, struct epoll_event *events, int max, int timeout))
{
	rt_fd_uses(fd, RT_PC);
	return events_came(fd, events, RT_REAL(epoll_wait)(fd, events, max, timeout), RT_PC);
}

RT_INTERPOSE(int, epoll_pwait, (int fd, struct epoll_event *events, int max, int timeout, const sigset_t *mask))
{
	rt_fd_uses(fd, RT_PC);
	return events_came(fd, events, RT_REAL(epoll_pwait)(fd, events, max, timeout, mask), RT_PC);
}

/* Message queues. */
RT_INTERPOSE(mqd_t, mq_open, (const char *name, int flags, ...))
{
	va_list args;
	va_start(args, flags);
	mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	struct mq_attr *attributes = flags & O_CREAT ? va_arg(args, struct mq_attr *) : NULL;
	va_end(args);
	mqd_t queue = RT_REAL(mq_open)(name, flags, mode, attributes);
	rt_fd_queue(queue);
	return queue;
}

#define MQ_SENDS(name, parameters, arguments)                                                                          \
	RT_INTERPOSE(int, name, parameters)                                                                            \
	{                                                                                                              \
		rt_emit_range(RT_OP_READ, buffer, size, RT_PC);                                                        \
		rt_fd_uses(fd, RT_PC);                                                                                 \
		rt_fd_publishes(fd, NULL, 0, RT_PC);                                                                   \
		int result = RT_REAL(name) arguments;                                                                  \
		rt_emit_time();                                                                                        \
		return result;                                                                                         \
	}
MQ_SENDS(mq_send, (mqd_t fd, const char *buffer, size_t size, unsigned priority), (fd, buffer, size, priority))
MQ_SENDS(mq_timedsend, (mqd_t fd, const char *buffer, size_t size, unsigned priority, const struct timespec *until),
         (fd, buffer, size, priority, until))
RECEIVES(ssize_t, mq_receive, (mqd_t fd, char *buffer, size_t size, unsigned *priority), (fd, buffer, size, priority))
RECEIVES(ssize_t, mq_timedreceive,
         (mqd_t fd, char *restrict buffer, size_t size, unsigned *restrict priority,
          const struct timespec *restrict until),
         (fd, buffer, size, priority, until))
