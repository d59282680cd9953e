/*
 * The calls of the kernel: their wrappers, and syscall(), both made from the table in kernel_calls.h. As everywhere,
 * the data that goes out is read, and published, before the real call; what comes in is written after it. See fd.h.
 */
#include "recorder/intercept/kernel.h"

#include "recorder/runtime/core.h"
#include "recorder/runtime/sandbox.h"
#include "recorder/runtime/syscall.h"

#include <asm-generic/ioctls.h>
#include <fcntl.h>
#include <limits.h>
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
#include <unistd.h>
#include <utime.h>

/* ---- What the table's words say ---- */

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

static bool own_process(pid_t pid)
{
	return pid == (pid_t)RT_SYSCALL(SYS_getpid);
}

static size_t size_of(const struct iovec *v, size_t count)
{
	size_t n = 0;
	for (size_t i = 0; v && count <= IOV_MAX && i < count && rt_recording(); i++)
		n += v[i].iov_len;
	return n;
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
	rt_fd_sends(fd, m->msg_name, m->msg_namelen, size_of(m->msg_iov, m->msg_iovlen), pc);
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

/* ---- The wrappers ---- */

/* The table has pointers where headers have arrays, and what a call fills in need not have been set before. */
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Warray-parameter"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#define KERNEL(type, name, number, count, parameters, before, after)                                                   \
	LIBRARY(type, name, count, parameters, before, after)
#define LIBRARY(type, name, count, parameters, before, after)                                                          \
	CALL(type, name, PARAMETERS_##count parameters, ARGUMENTS_##count parameters, before, rt_call_over(); after)
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
		type r = RT_CANCELABLE(type, pc, RT_REAL(name) ARGUMENTS_##count parameters);                          \
		rt_call_over();                                                                                        \
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
		rt_call_over();                                                                                        \
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
	if (RT_UNLIKELY(rt_controlled) && wanted == SYS_futex && rt_futex_by_turns(given, pc, &result))
		return result;
	bool forks = rt_clone_begins(wanted, given, pc);
	switch (wanted) {
	case SYS_execve:
		return rt_execve((const char *)given[0], (char **)given[1], (char **)given[2]);
	case SYS_execveat:
		return rt_execveat((int)given[0], (const char *)given[1], (char **)given[2], (char **)given[3],
		                   (int)given[4]);
#include "recorder/intercept/kernel_calls.h"
	default: {
		if (rt_sandbox_refused(wanted, (const unsigned long *)given))
			return -1;
		struct rt_sandboxing sandbox = rt_sandbox_begin(wanted, (const unsigned long *)given);
		result = RT_REAL(syscall)(wanted, given[0], given[1], given[2], given[3], given[4], given[5]);
		rt_sandbox_end(&sandbox, result < 0);
		if (forks)
			rt_fork_end((pid_t)result);
		return result;
	}
	}
}
