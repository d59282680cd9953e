/*
 * Calls that are given a name (of a file or a host) or fill in what the caller hands them: the memory that
 * they read and write, as far as it is the caller's. Those that move data are in io.c.
 */
#include "recorder/fd.h"
#include "recorder/sync.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void writes(const void *p, size_t size, uintptr_t pc)
{
	if (p)
		rt_emit_range(RT_OP_WRITE, p, size, pc);
}

/* Names. */
#define NAMED(type, name, parameters, arguments, s)                                                                    \
	RT_INTERPOSE(type, name, parameters)                                                                           \
	{                                                                                                              \
		rt_emit_string(RT_OP_READ, s, RT_PC);                                                                  \
		return RT_REAL(name) arguments;                                                                        \
	}
#define NAMED_TWICE(name, parameters, arguments, s1, s2)                                                               \
	RT_INTERPOSE(int, name, parameters)                                                                            \
	{                                                                                                              \
		rt_emit_string(RT_OP_READ, s1, RT_PC);                                                                 \
		rt_emit_string(RT_OP_READ, s2, RT_PC);                                                                 \
		return RT_REAL(name) arguments;                                                                        \
	}
NAMED(int, access, (const char *path, int mode), (path, mode), path)
NAMED(int, faccessat, (int folder, const char *path, int mode, int flags), (folder, path, mode, flags), path)
NAMED(int, unlink, (const char *path), (path), path)
NAMED(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags), path)
NAMED(int, remove, (const char *path), (path), path)
NAMED(int, rmdir, (const char *path), (path), path)
NAMED(int, mkdir, (const char *path, mode_t mode), (path, mode), path)
NAMED(int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode), path)
NAMED(int, chdir, (const char *path), (path), path)
NAMED(int, chmod, (const char *path, mode_t mode), (path, mode), path)
NAMED(int, chown, (const char *path, uid_t user, gid_t group), (path, user, group), path)
NAMED(int, truncate, (const char *path, off_t size), (path, size), path)
NAMED(DIR *, opendir, (const char *path), (path), path)
NAMED_TWICE(rename, (const char *old, const char *new), (old, new), old, new)
NAMED_TWICE(link, (const char *old, const char *new), (old, new), old, new)
NAMED_TWICE(symlink, (const char *old, const char *new), (old, new), old, new)

#define STAT(name, type)                                                                                               \
	RT_INTERPOSE(int, name, (const char *restrict path, type *restrict to))                                        \
	{                                                                                                              \
		rt_emit_string(RT_OP_READ, path, RT_PC);                                                               \
		int result = RT_REAL(name)(path, to);                                                                  \
		writes(to, result == 0 ? sizeof *to : 0, RT_PC);                                                       \
		return result;                                                                                         \
	}
STAT(stat, struct stat)
STAT(lstat, struct stat)
STAT(stat64, struct stat64)
STAT(lstat64, struct stat64)
STAT(statvfs, struct statvfs)

#define FSTAT(name, type)                                                                                              \
	RT_INTERPOSE(int, name, (int fd, type *restrict to))                                                           \
	{                                                                                                              \
		int result = RT_REAL(name)(fd, to);                                                                    \
		writes(to, result == 0 ? sizeof *to : 0, RT_PC);                                                       \
		return result;                                                                                         \
	}
FSTAT(fstat, struct stat)
FSTAT(fstat64, struct stat64)

RT_INTERPOSE(ssize_t, readlink, (const char *restrict path, char *restrict to, size_t size))
{
	rt_emit_string(RT_OP_READ, path, RT_PC);
	ssize_t n = RT_REAL(readlink)(path, to, size);
	writes(to, n > 0 ? (size_t)n : 0, RT_PC);
	return n;
}

RT_INTERPOSE(char *, getcwd, (char *to, size_t size))
{
	char *got = RT_REAL(getcwd)(to, size);
	if (to && got)
		rt_emit_string(RT_OP_WRITE, to, RT_PC);
	return got;
}

/* A name is made up in the caller's memory. */
RT_INTERPOSE(int, mkstemp, (char *pattern))
{
	int fd = RT_REAL(mkstemp)(pattern);
	rt_fd_plain(fd);
	rt_emit_string(RT_OP_WRITE, pattern, RT_PC);
	return fd;
}

RT_INTERPOSE(char *, mkdtemp, (char *pattern))
{
	char *made = RT_REAL(mkdtemp)(pattern);
	rt_emit_string(RT_OP_WRITE, made, RT_PC);
	return made;
}

/* Hosts and addresses. */
RT_INTERPOSE(int, getaddrinfo,
             (const char *restrict host, const char *restrict service, const struct addrinfo *restrict hints,
              struct addrinfo **restrict to))
{
	rt_emit_string(RT_OP_READ, host, RT_PC);
	rt_emit_string(RT_OP_READ, service, RT_PC);
	if (hints)
		rt_emit_range(RT_OP_READ, hints, sizeof *hints, RT_PC);
	int result = RT_REAL(getaddrinfo)(host, service, hints, to);
	writes(to, result == 0 ? sizeof *to : 0, RT_PC);
	return result;
}

RT_INTERPOSE(int, inet_pton, (int family, const char *restrict text, void *restrict to))
{
	rt_emit_string(RT_OP_READ, text, RT_PC);
	int result = RT_REAL(inet_pton)(family, text, to);
	writes(to, result != 1 ? 0 : family == AF_INET6 ? sizeof(struct in6_addr) : sizeof(struct in_addr), RT_PC);
	return result;
}

RT_INTERPOSE(const char *, inet_ntop, (int family, const void *restrict from, char *restrict to, socklen_t size))
{
	const char *text = RT_REAL(inet_ntop)(family, from, to, size);
	rt_emit_string(RT_OP_WRITE, text, RT_PC);
	return text;
}

#define ADDRESS(name)                                                                                                  \
	RT_INTERPOSE(int, name, (int fd, struct sockaddr *restrict to, socklen_t *restrict length))                    \
	{                                                                                                              \
		socklen_t room = *length;                                                                              \
		int result = RT_REAL(name)(fd, to, length);                                                            \
		if (result == 0) {                                                                                     \
			writes(to, *length < room ? *length : room, RT_PC);                                            \
			writes(length, sizeof *length, RT_PC);                                                         \
		}                                                                                                      \
		return result;                                                                                         \
	}
ADDRESS(getsockname)
ADDRESS(getpeername)

RT_INTERPOSE(int, getsockopt, (int fd, int level, int option, void *restrict to, socklen_t *restrict length))
{
	int result = RT_REAL(getsockopt)(fd, level, option, to, length);
	if (result == 0) {
		writes(to, *length, RT_PC);
		writes(length, sizeof *length, RT_PC);
	}
	return result;
}

/* What is filled in. */
#define FILLS(type, name, parameters, arguments, to)                                                                   \
	RT_INTERPOSE(type, name, parameters)                                                                           \
	{                                                                                                              \
		type result = RT_REAL(name) arguments;                                                                 \
		if (result != (type)-1)                                                                                \
			writes(to, sizeof *to, RT_PC);                                                                 \
		return result;                                                                                         \
	}
FILLS(time_t, time, (time_t * to), (to), to)
FILLS(int, clock_gettime, (clockid_t clock, struct timespec *to), (clock, to), to)
FILLS(int, clock_getres, (clockid_t clock, struct timespec *to), (clock, to), to)
FILLS(clock_t, times, (struct tms * to), (to), to)
FILLS(int, uname, (struct utsname * to), (to), to)

RT_INTERPOSE(int, gettimeofday, (struct timeval *restrict to, void *restrict zone))
{
	int result = RT_REAL(gettimeofday)(to, zone);
	writes(to, result == 0 ? sizeof *to : 0, RT_PC);
	return result;
}

RT_INTERPOSE(int, gethostname, (char *to, size_t size))
{
	int result = RT_REAL(gethostname)(to, size);
	if (result == 0)
		rt_emit_string(RT_OP_WRITE, to, RT_PC);
	return result;
}

/* GNU's takes the caller's memory only for what has no text of its own. */
RT_INTERPOSE(char *, strerror_r, (int error, char *to, size_t size))
{
	char *text = RT_REAL(strerror_r)(error, to, size);
	if (text == to)
		rt_emit_string(RT_OP_WRITE, to, RT_PC);
	return text;
}

RT_INTERPOSE(int, __xpg_strerror_r, (int error, char *to, size_t size))
{
	int result = RT_REAL(__xpg_strerror_r)(error, to, size);
	if (size)
		rt_emit_string(RT_OP_WRITE, to, RT_PC);
	return result;
}

RT_INTERPOSE(size_t, strftime,
             (char *restrict to, size_t size, const char *restrict format, const struct tm *restrict from))
{
	rt_emit_string(RT_OP_READ, format, RT_PC);
	rt_emit_range(RT_OP_READ, from, sizeof *from, RT_PC);
	size_t n = RT_REAL(strftime)(to, size, format, from);
	writes(to, n ? n + 1 : 0, RT_PC);
	return n;
}
