/*
 * Happens-before through descriptors: what a thread did before it wrote into a pipe, a socket, an event counter or a
 * queue is seen by the thread of the same program that reads it; also what it wrote into a file, whose descriptors are
 * one by its inode.
 */
#ifndef RECORDER_FD_H
#define RECORDER_FD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/*
 * A descriptor is an object too: before each call that uses it (a read of it), and before it is closed (a write; its
 * end is published as well).
 */
void rt_fd_uses(int fd, uintptr_t pc);
void rt_fd_closes(int fd, uintptr_t pc);

/* True if anything goes through fd: else the next two do nothing, the second but a time mark. */
bool rt_fd_carries(int fd);
/* Before data goes out through fd (to: the address that it is sent to, or NULL), or its end is closed. */
void rt_fd_publishes(int fd, const struct sockaddr *to, socklen_t length, uintptr_t pc);
/* After a read that may have blocked; got: data or the end of it came. */
void rt_fd_received(int fd, bool got, uintptr_t pc);
void rt_fd_read(int fd, ssize_t n, uintptr_t pc); /* the same by a read's result */
/* Before a connect; after an accept that returned fd. */
void rt_fd_connects(const struct sockaddr *to, socklen_t length, uintptr_t pc);
void rt_fd_accepted(int listener, int fd, uintptr_t pc);

/* What a descriptor that has just come is. Negative ones are ignored. */
void rt_fd_plain(int fd); /* a file, or what is not known better */
void rt_fd_socket(int fd);
void rt_fd_own(int fd);                 /* carries data to whoever reads it, by itself (an event counter) */
void rt_fd_both_ends(const int fds[2]); /* of a pipe */
void rt_fd_watches_files(int fd);
void rt_fd_signals(int fd); /* tells of signals */
bool rt_fd_tells_signals(int fd);
void rt_fd_copied(int from, int to);
void rt_fd_close_range(unsigned first, unsigned last, int flags, uintptr_t pc);

/* Before a file is made, renamed, removed or changed: some descriptor may tell of it. */
void rt_fd_files_change(uintptr_t pc);
/* Before data is passed on from one to the other without the program. */
void rt_fd_passes(int from, int to, uintptr_t pc);
/* Is it open for output? */
bool rt_fd_is_written(int fd);
/* The object of a file's inode; an open description's number, which copies of a descriptor share. */
uint64_t rt_fd_file(int fd);
uint32_t rt_fd_description(int fd);
/* Before a descriptor is to be watched for events, or no longer; after one that has something to read was told of. */
struct epoll_event;
void rt_fd_watched(int epoll, int operation, int fd, const struct epoll_event *event);
void rt_fd_event(int epoll, uint64_t data, uintptr_t pc);
/* Before a descriptor is closed: the locks of files that it holds end (file_lock.c). */
void rt_file_unlocking(int fd, uintptr_t pc);

#endif
