/*
 * The calls of the kernel: their wrappers, and syscall(), both made from the table in kernel_calls.h. As everywhere,
 * the data that goes out is read, and published, before the real call; what comes in is written after it. See fd.h.
 */
#include "recorder/intercept/kernel.h"

#include "recorder/runtime/core.h"
#include "recorder/runtime/sandbox.h"
#include "recorder/runtime/syscall.h"

#include <asm-generic/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/stat.h>
#include <mqueue.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

/* ---- What the table's words say ---- */

#define BEFORE(object) rt_emit_sync(RT_OP_HB_BEFORE, object, 0, pc, 0)
#define AFTER(object) rt_emit_sync(RT_OP_HB_AFTER, object, 0, pc, 0)
/* After a look at a regular file. */
#define FILE_SEEN(is) WHEN(S_ISREG((is)->st_mode), rt_fd_file_seen((is)->st_dev, (is)->st_ino, pc))
#define FILE_SEEN_X(is)                                                                                                \
	WHEN(S_ISREG((is)->stx_mode),                                                                                  \
	     rt_fd_file_seen(makedev((is)->stx_dev_major, (is)->stx_dev_minor), (is)->stx_ino, pc))
#define NOT_UNDERSTOOD rt_emit_sync(RT_OP_LOST, RT_LOST_CALL, 1, pc, 0)
#define QUEUE_RECEIVES                                                                                                 \
	rt_fd_received(fd, r >= 0, pc);                                                                                \
	WHEN(r >= 0, OUT_N(buffer, r); OUT(priority))

/* The first n bytes of what the vectors describe. */
static void vectors(unsigned op, const struct iovec *v, size_t count, size_t n, uintptr_t pc)
{
	if (!v || count > IOV_MAX || !rt_recording())
		return;
	IN_N(v, count * sizeof *v);
	for (size_t i = 0; i < count && n > 0; i++) {
		size_t part = v[i].iov_len < n ? v[i].iov_len : n;
		rt_emit_range(op, v[i].iov_base, part, pc);
		n -= part;
	}
}

/* Signals come this way as well. */
static void received(int fd, const void *buffer, ssize_t n, size_t size, uintptr_t pc)
{
	rt_fd_read(fd, n, pc);
	if (n <= 0)
		return;
	const struct signalfd_siginfo *info = buffer;
	if (rt_recording() && rt_fd_tells_signals(fd))
		for (size_t i = 0; i < (size_t)n / sizeof *info; i++)
			rt_signal_received((int)info[i].ssi_signo, pc);
	OUT_N(buffer, (size_t)n < size ? (size_t)n : size);
}

static socklen_t room_of(const void *address, const socklen_t *length, uintptr_t pc)
{
	if (!address || !length)
		return 0;
	IN(length);
	return *length;
}

static void address_came(const void *to, const socklen_t *length, socklen_t room, uintptr_t pc)
{
	if (!to || !length)
		return;
	OUT(length);
	OUT_N(to, *length < room ? *length : room);
}

/* Those that are sent along with a message */
static void descriptors_of(const struct msghdr *m, void (*each)(int))
{
	struct msghdr own = *m;
	if (!m->msg_control)
		return;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&own); c; c = CMSG_NXTHDR(&own, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len > CMSG_LEN(0))
			for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
				int fd;
				memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
				each(fd);
			}
}

static void message_came(const struct msghdr *m, size_t n, socklen_t room, uintptr_t pc)
{
	vectors(RT_OP_WRITE, m->msg_iov, m->msg_iovlen, n, pc);
	if (m->msg_name)
		address_came(m->msg_name, &m->msg_namelen, room, pc);
	descriptors_of(m, rt_fd_plain);
	OUT_N(m->msg_control, m->msg_control ? m->msg_controllen : 0);
}

static void messages_came(int fd, const struct mmsghdr *messages, int n, uintptr_t pc)
{
	rt_fd_received(fd, n > 0, pc);
	for (int i = 0; i < n && rt_recording(); i++) {
		message_came(&messages[i].msg_hdr, messages[i].msg_len, messages[i].msg_hdr.msg_namelen, pc);
		OUT(&messages[i].msg_len);
	}
}

static void message_goes(int fd, const struct msghdr *m, uintptr_t pc)
{
	if (!rt_recording())
		return;
	vectors(RT_OP_READ, m->msg_iov, m->msg_iovlen, SIZE_MAX, pc);
	IN_N(m->msg_name, m->msg_name ? m->msg_namelen : 0);
	IN_N(m->msg_control, m->msg_control ? m->msg_controllen : 0);
	descriptors_of(m, rt_fd_sent);
	rt_fd_sends(fd, m->msg_name, m->msg_namelen, pc);
}

static void messages_go(int fd, const struct mmsghdr *messages, unsigned count, uintptr_t pc)
{
	for (unsigned i = 0; i < count && rt_recording(); i++)
		message_goes(fd, &messages[i].msg_hdr, pc);
}

static void messages_went(const struct mmsghdr *messages, int n, uintptr_t pc)
{
	rt_emit_time();
	for (int i = 0; i < n && rt_recording(); i++)
		OUT(&messages[i].msg_len);
}

/* fcntl */
static void control_begins(int fd, int command, long argument, uintptr_t pc)
{
	const struct flock *part = (const struct flock *)argument;
	switch (command) {
	case F_GETLK:
	case F_OFD_GETLK:
	case F_SETLK:
	case F_SETLKW:
		IN(part);
		break;
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		IN(part);
		rt_part_locking(fd, part, pc);
		break;
	case F_SETFL:
		rt_fd_publishes(fd, NULL, 0, pc);
		break;
	}
}

static void controlled(int fd, int command, long argument, int r, uintptr_t pc)
{
	const struct flock *part = (const struct flock *)argument;
	if (r < 0)
		return;
	switch (command) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		rt_fd_copied(fd, r);
		break;
	case F_GETLK:
	case F_OFD_GETLK:
		OUT(part);
		break;
	case F_GETFL:
		rt_fd_received(fd, true, pc);
		break;
	case F_SETLKW: /* excludes other processes alone */
		rt_emit_time();
		break;
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		rt_emit_time();
		rt_part_locked(fd, part, pc);
		break;
	}
}

/* Of ioctl's requests, those that every program may make. */
static void io_controlled(int fd, unsigned long request, const void *argument, uintptr_t pc)
{
	switch (request) {
	case FIONREAD:
		if (*(const int *)argument > 0)
			rt_fd_told(fd, pc);
		OUT_N(argument, sizeof(int));
		break;
	case TIOCOUTQ:
	case TIOCGPGRP:
		OUT_N(argument, sizeof(int));
		break;
	case TIOCGWINSZ:
		OUT_N(argument, 4 * sizeof(short));
		break;
	}
}

/* poll and select: of each descriptor that has something to read. */
#define READABLE (POLLIN | POLLRDNORM | POLLPRI | POLLHUP | POLLRDHUP | POLLERR)
static void polls(const struct pollfd *fds, nfds_t n, uintptr_t pc)
{
	for (nfds_t i = 0; i < n && rt_recording(); i++) {
		IN_N(&fds[i], offsetof(struct pollfd, revents));
		if (fds[i].fd >= 0)
			rt_fd_uses(fds[i].fd, pc);
	}
}

static void polled(const struct pollfd *fds, nfds_t n, int r, uintptr_t pc)
{
	for (nfds_t i = 0; i < n && r >= 0 && rt_recording(); i++) {
		OUT(&fds[i].revents);
		if (fds[i].fd >= 0 && fds[i].revents & READABLE)
			rt_fd_told(fds[i].fd, pc);
		if (fds[i].fd >= 0 && fds[i].revents & (POLLOUT | POLLWRNORM))
			rt_fd_has_room(fds[i].fd, pc);
	}
}

/* ---- By turns ---- */

/* Waits for one of them to be ready, or for the time. False: the call itself may wait, as no other thread wants a turn.
 */
static bool await_ready(const struct pollfd *fds, nfds_t n, struct rt_until until, uintptr_t pc)
{
	enum { MANY = 1024 };
	if (!fds || n > MANY || !rt_turn_mine())
		return false;
	struct pollfd copy[n ? n : 1];
	for (nfds_t i = 0; i < n; i++)
		copy[i] = (struct pollfd){fds[i].fd, fds[i].events, 0};
	return rt_turn_polls(copy, (unsigned)n, until, pc);
}

static void await_one(int fd, short events, struct rt_until until, uintptr_t pc)
{
	struct pollfd one = {fd, events, 0};
	long flags = rt_turn_mine() ? RT_SYSCALL(SYS_fcntl, fd, F_GETFL) : -1;
	if (flags >= 0 && !(flags & O_NONBLOCK))
		rt_turn_polls(&one, 1, until, pc);
}

static const struct timespec no_time;

static const struct timespec *await_polled(const struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                                           uintptr_t pc)
{
	return await_ready(fds, n, RT_UNTIL(RT_CLOCK_DURATION, timeout), pc) ? &no_time : timeout;
}

static int await_ms(const struct pollfd *fds, nfds_t n, int timeout, uintptr_t pc)
{
	enum { SECOND_MS = 1000, MS_NS = 1000000 };
	struct timespec limit = {timeout / SECOND_MS, (long)(timeout % SECOND_MS) * MS_NS};
	return timeout == 0 || await_polled(fds, n, timeout < 0 ? NULL : &limit, pc) == &no_time ? 0 : timeout;
}

/* What epoll waits for, as poll does. */
static const struct pollfd *readable(int fd)
{
	static __thread struct pollfd one;
	one = (struct pollfd){fd, POLLIN, 0};
	return &one;
}

static bool is_in(const fd_set *set, int fd);
static const struct timespec *await_selected(int n, const fd_set *in, const fd_set *out, const fd_set *other,
                                             const struct timespec *timeout, uintptr_t pc)
{
	struct pollfd fds[FD_SETSIZE];
	nfds_t count = 0;
	if (n < 0 || n > FD_SETSIZE)
		return timeout;
	for (int fd = 0; fd < n; fd++) {
		int events =
		    (is_in(in, fd) ? POLLIN : 0) | (is_in(out, fd) ? POLLOUT : 0) | (is_in(other, fd) ? POLLPRI : 0);
		if (events)
			fds[count++] = (struct pollfd){fd, (short)events, 0};
	}
	return await_polled(fds, count, timeout, pc);
}

static struct timeval *await_us(int n, const fd_set *in, const fd_set *out, const fd_set *other,
                                struct timeval *timeout, uintptr_t pc)
{
	static __thread struct timeval none;
	struct timespec limit = {timeout ? timeout->tv_sec : 0, timeout ? timeout->tv_usec * 1000 : 0};
	none = (struct timeval){0, 0};
	return await_selected(n, in, out, other, timeout ? &limit : NULL, pc) == &no_time ? &none : timeout;
}

static size_t set_size(int n)
{
	enum { WORD = 8 * sizeof(fd_mask) };
	return n > 0 ? ((size_t)n + WORD - 1) / WORD * sizeof(fd_mask) : 0;
}

static bool is_in(const fd_set *set, int fd)
{
	return set && ((const unsigned char *)set)[fd / 8] >> fd % 8 & 1;
}

static void selects(int n, const fd_set *in, const fd_set *out, const fd_set *other, uintptr_t pc)
{
	IN_N(in, set_size(n));
	IN_N(out, set_size(n));
	IN_N(other, set_size(n));
	for (int fd = 0; fd < n && rt_recording(); fd++)
		if (is_in(in, fd) || is_in(out, fd) || is_in(other, fd))
			rt_fd_uses(fd, pc);
}

static void selected(int n, const fd_set *in, const fd_set *out, const fd_set *other, int r, uintptr_t pc)
{
	if (r < 0)
		return;
	OUT_N(in, set_size(n));
	OUT_N(out, set_size(n));
	OUT_N(other, set_size(n));
	for (int fd = 0; fd < n && rt_recording(); fd++) {
		if (is_in(in, fd))
			rt_fd_told(fd, pc);
		if (is_in(out, fd))
			rt_fd_has_room(fd, pc);
	}
}

static void events_came(int fd, const struct epoll_event *events, int n, uintptr_t pc)
{
	rt_fd_received(fd, n > 0, pc);
	for (int i = 0; i < n && rt_recording(); i++) {
		if (events[i].events & (EPOLLIN | EPOLLPRI | EPOLLHUP | EPOLLRDHUP | EPOLLERR))
			rt_fd_event(fd, events[i].data.u64, false, pc);
		if (events[i].events & EPOLLOUT)
			rt_fd_event(fd, events[i].data.u64, true, pc);
	}
	if (n > 0)
		OUT_N(events, (size_t)n * sizeof *events);
}

/* The break */
static uintptr_t break_now(void)
{
	return (uintptr_t)RT_SYSCALL(SYS_brk, 0);
}

static void break_moved(uintptr_t before, uintptr_t pc)
{
	uintptr_t now = break_now();
	if (now > before)
		rt_map_break(before, now, pc);
}

/*
 * A thread that is woken goes on after the call that woke it. A lock of which the kernel knows the holder is taken and
 * released by changes of its word, here by the kernel's.
 */
static void word_changes(const uint32_t *word, uintptr_t pc)
{
	rt_sync(rt_self, RT_OP_ATOMIC_RMW, (uintptr_t)word, sizeof *word, pc,
	        rt_record_aux(sizeof *word, __ATOMIC_ACQ_REL, 0));
}

static void futex_begins(const uint32_t *word, int operation, const uint32_t *other, uintptr_t pc)
{
	if (!rt_recording())
		return;
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAKE_OP:
		word_changes(other, pc);
		BEFORE((uintptr_t)other);
		BEFORE((uintptr_t)word);
		break;
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_CMP_REQUEUE_PI:
		BEFORE((uintptr_t)word);
		break;
	case FUTEX_UNLOCK_PI:
		word_changes(word, pc);
		break;
	}
}

static bool futex_waits(int operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return true;
	}
	return false;
}

static void futex_done(const uint32_t *word, int operation, const uint32_t *other, int r, uintptr_t pc)
{
	rt_emit_time();
	if (r != 0 || !rt_recording())
		return;
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		AFTER((uintptr_t)word);
		break;
	case FUTEX_WAIT_REQUEUE_PI:
		AFTER((uintptr_t)word);
		word_changes(other, pc);
		break;
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
	case FUTEX_TRYLOCK_PI:
		word_changes(word, pc);
		break;
	}
}

/*
 * By turns no thread waits in the kernel for a word that another one changes. Others than the plain operations are the
 * kernel's still; of what they would wake, all is woken here, as a futex's waiters have to look again anyway.
 */
static bool futex_by_turns(const long given[6], uintptr_t pc, long *result)
{
	const uint32_t *word = (const uint32_t *)given[0], *other = (const uint32_t *)given[4];
	int operation = (int)given[1], command = operation & FUTEX_CMD_MASK;
	clockid_t clock = operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	struct rt_until until =
	    RT_UNTIL(command == FUTEX_WAIT ? RT_CLOCK_DURATION : clock, (const struct timespec *)given[3]);
	bool waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
	bool wakes = command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET;
	if (!rt_turn_mine())
		return false;
	if (!waits && !wakes) {
		rt_turn_wakes(RT_OP_HB_AFTER, (uintptr_t)word, UINT32_MAX);
		if (command == FUTEX_WAKE_OP)
			rt_turn_wakes(RT_OP_HB_AFTER, (uintptr_t)other, UINT32_MAX);
		return false;
	}
	if (wakes) {
		futex_begins(word, operation, other, pc);
		unsigned woken = rt_turn_wakes(RT_OP_HB_AFTER, (uintptr_t)word, (unsigned)given[2]);
		*result = RT_SYSCALL(SYS_futex, word, operation, (unsigned)given[2] - woken, 0, 0, given[5]);
		*result = woken + (*result > 0 ? *result : 0);
	} else {
		rt_turn_step(RT_OP_NONE, 0, 0, pc, until.time ? RT_F_TIMED : 0, false);
		errno = EAGAIN;
		*result = -1;
		if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == (uint32_t)given[2]) {
			errno = ETIMEDOUT;
			if (rt_turn_block(RT_OP_HB_AFTER, (uintptr_t)word, until, false) != RT_TURN_TIMEOUT)
				*result = 0;
		}
	}
	futex_done(word, operation, other, (int)*result, pc);
	return true;
}

/* ---- The wrappers ---- */

/* The table has pointers where headers have arrays, and what a call fills in need not have been set before. */
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Warray-parameter"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#define KERNEL(type, name, number, count, parameters, before, after)                                                   \
	LIBRARY(type, name, count, parameters, before, after)
#define LIBRARY(type, name, count, parameters, before, after)                                                          \
	CALL(type, name, PARAMETERS_##count parameters, ARGUMENTS_##count parameters, before, after)
/* Arguments that the caller has not given are as harmless as those that the kernel gets. */
#define VARIADIC(type, name, number, count, parameters, before, after)                                                 \
	__asm__(".globl __interceptor_" #name "\n\t.type __interceptor_" #name ", @function\n\t"                       \
	        ".set __interceptor_" #name ", " #name);                                                               \
	RT_NEXT(type, name, PARAMETERS_##count parameters);                                                            \
	RT_EXPORT type kernel_##name PARAMETERS_##count parameters __asm__(#name);                                     \
	RT_EXPORT type kernel_##name PARAMETERS_##count parameters                                                     \
	{                                                                                                              \
		const uintptr_t pc = RT_PC;                                                                            \
		(void)pc;                                                                                              \
		before;                                                                                                \
		type r = RT_REAL(name) ARGUMENTS_##count parameters;                                                   \
		after;                                                                                                 \
		return r;                                                                                              \
	}
#define NUMBER(type, number, count, parameters, before, after)
#include "recorder/intercept/kernel_calls.h"

/* By the C library's own name. */
__asm__(".globl __close\n\t.type __close, @function\n\t.set __close, close");

/* ---- syscall() ---- */

#undef KERNEL
#undef LIBRARY
#undef VARIADIC
#undef NUMBER
#define KERNEL(type, name, number, count, parameters, before, after)                                                   \
	NUMBER(type, number, count, parameters, before, after)
#define VARIADIC(type, name, number, count, parameters, before, after)                                                 \
	NUMBER(type, number, count, parameters, before, after)
#define LIBRARY(type, name, count, parameters, before, after)
#define NUMBER(type, number, count, parameters, before, after)                                                         \
	case number: {                                                                                                 \
		VARIABLES_##count parameters;                                                                          \
		before;                                                                                                \
		result = RT_REAL(syscall)(wanted, given[0], given[1], given[2], given[3], given[4], given[5]);         \
		type r = (type)result;                                                                                 \
		(void)r;                                                                                               \
		after;                                                                                                 \
		return result;                                                                                         \
	}

/* Numbers that newer architectures do without, and names of the C library's beside another of the same call: none. */
enum {
	NONE_1 = -1000,
	NONE_2,
	NONE_3,
#ifndef SYS_open
	SYS_open,
	SYS_creat,
	SYS_pipe,
	SYS_eventfd,
	SYS_signalfd,
	SYS_inotify_init,
	SYS_dup2,
	SYS_poll,
	SYS_select,
	SYS_epoll_create,
	SYS_epoll_wait,
	SYS_alarm,
	SYS_pause,
	SYS_readlink,
	SYS_stat,
	SYS_lstat,
	SYS_unlink,
	SYS_rename,
	SYS_mkdir,
	SYS_rmdir,
	SYS_mknod,
	SYS_link,
	SYS_symlink,
	SYS_access,
	SYS_chmod,
	SYS_chown,
	SYS_lchown,
	SYS_utime,
	SYS_utimes,
	SYS_futimesat,
	SYS_time,
#endif
};

/* All calls have at most six arguments, and passing more than the caller gave is harmless. */
RT_INTERPOSE(long, syscall, (long wanted, ...))
{
	const uintptr_t pc = RT_PC;
	long given[6], result;
	va_list more;
	va_start(more, wanted);
	for (int i = 0; i < 6; i++)
		given[i] = va_arg(more, long);
	va_end(more);
	if (RT_UNLIKELY(rt_controlled) && wanted == SYS_futex && futex_by_turns(given, pc, &result))
		return result;
	bool forks = rt_clone_begins(wanted, given, pc);
	switch (wanted) {
#include "recorder/intercept/kernel_calls.h"
	default: {
		struct rt_sandboxing sandbox = rt_sandbox_begin(wanted, (const unsigned long *)given);
		result = RT_REAL(syscall)(wanted, given[0], given[1], given[2], given[3], given[4], given[5]);
		rt_sandbox_end(&sandbox, result < 0);
		if (forks)
			rt_fork_end((pid_t)result);
		return result;
	}
	}
}
