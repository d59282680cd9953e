/*
 * Happens-before through descriptors: what a thread did before it wrote into a pipe, a socket, an event counter or a
 * queue is seen by the thread of the same program that reads it. So is what it wrote into a file, whose descriptors are
 * one by its inode.
 */
#ifndef RECORDER_INTERCEPT_FD_H
#define RECORDER_INTERCEPT_FD_H

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
/* The same before a call that may have to wait for room; after one of a descriptor that has some, if it had none. */
void rt_fd_sends(int fd, const struct sockaddr *to, socklen_t length, size_t size, uintptr_t pc);
void rt_fd_may_fill(int fd, size_t size);
void rt_fd_has_room(int fd, uintptr_t pc);
/* After a read that may have blocked; got: data or the end of it came. */
void rt_fd_received(int fd, bool got, uintptr_t pc);
void rt_fd_read(int fd, ssize_t n, uintptr_t pc);    /* the same by a read's result */
void rt_fd_written(int fd, ssize_t n, uintptr_t pc); /* by a write's */
/* Before a descriptor gives way to another that gets its number: nothing more comes from its end. */
void rt_fd_ends(int fd, uintptr_t pc);
/* Before a connect; after an accept that returned fd. */
void rt_fd_connects(const struct sockaddr *to, socklen_t length, uintptr_t pc);
void rt_fd_accepted(int listener, int fd, uintptr_t pc);
void rt_fd_connected(int fd); /* the other end can be looked up now */

/*
 * Last before a call that may wait for the descriptor (enum rt_call_kind), for any that the epoll descriptor watches:
 * rt_call_begins. rt_fd_since: when this process made what the descriptor is (named: by a name, too), 0: it did not.
 * rt_fd_own: that as rt_call.own; 0: another process may have got it since then.
 */
void rt_fd_awaits(unsigned kind, int fd, uintptr_t pc);
void rt_fd_awaits_watched(int epoll, bool forever, uintptr_t pc);
uint32_t rt_fd_since(int fd, bool named);
uint32_t rt_fd_own(uint32_t since);
/* Before a socket's option is set: a limit of time ends its waits. */
void rt_fd_option(int fd, int level, int option);
/* What a descriptor that has just come is. Negative ones are ignored. */
void rt_fd_plain(int fd);  /* a file, or what is not known better */
void rt_fd_opened(int fd); /* the same, which this process has opened itself, by a name that others may know */
void rt_fd_socket(int fd);
void rt_fd_pipe(const int fds[2]);      /* of this process, until it is given to another */
void rt_fd_counter(int fd);             /* of events: the same */
void rt_fd_number(int fd);              /* carries data to its readers by itself (a timer) */
void rt_fd_epoll(int fd);               /* the same; reports events of other descriptors */
void rt_fd_both_ends(const int fds[2]); /* of a pair of sockets */
void rt_fd_queue(int fd);               /* of messages: a file for the kernel, but what it has is taken away */
void rt_fd_watches_files(int fd);
void rt_fd_signals(int fd); /* reports signals */
bool rt_fd_tells_signals(int fd);
void rt_fd_copied(int from, int to);
void rt_fd_sent(int fd);                  /* before a copy of it is sent */
void rt_fd_taken_from(int other, int fd); /* fd: a copy of some process's descriptor `other` */
void rt_fd_close_range(unsigned first, unsigned last, int flags, uintptr_t pc);

/* After a process has ended that may have had descriptors of this one. */
void rt_child_ended(uintptr_t pc);

/* Before a file is made, renamed, removed or changed: some descriptor may tell of it. */
void rt_fd_files_change(uintptr_t pc);
/* Before data is passed on from one to the other without the program. */
void rt_fd_passes(int from, int to, uintptr_t pc);
/* True if it is open for output. */
bool rt_fd_is_written(int fd);
/* The object of a file's inode; an open description's number, which copies of a descriptor share. */
uint64_t rt_fd_file(int fd);
uint32_t rt_fd_description(int fd);
/* After what is told of a file was looked at: its size, its times. */
void rt_fd_file_seen(uint64_t device, uint64_t inode, uintptr_t pc);
void rt_fd_looked(int fd, int result, uintptr_t pc);

/*
 * Names of files: before one is made, removed or changed; after it was found, or found to be missing. Around an open,
 * which makes the descriptor known; the opener of a named pipe waits for the other side.
 */
void rt_name_changes(const char *path, uintptr_t pc);
void rt_name_seen(const char *path, uintptr_t pc);
void rt_name_opens(const char *path, int flags, uintptr_t pc);
void rt_name_opened(const char *path, int fd, uintptr_t pc);

/*
 * Which descriptors are watched for events (watch.c): before one is to be, after one that has something to read was
 * told of; the same after fd itself was told to have something, which may be others' events or signals.
 */
struct epoll_event;
void rt_fd_watched(int epoll, int operation, int fd, const struct epoll_event *event);
void rt_fd_event(int epoll, uint64_t data, bool room, uintptr_t pc); /* room: to write, instead */
void rt_fd_told(int fd, uintptr_t pc);
uint64_t rt_fd_epoll_of(int fd); /* its object if it reports events of others, or 0 */

/* Before a descriptor is closed: the locks of files that it holds end (file_lock.c). */
void rt_file_unlocking(int fd, uintptr_t pc);

#endif
