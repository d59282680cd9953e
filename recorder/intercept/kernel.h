/*
 * The table of the kernel's calls (kernel_calls.h), one line a call: what it reads and writes of the caller's memory
 * and which objects it orders. Both its wrapper and what syscall() does with its number are made from that line
 * (kernel.c).
 *
 *   KERNEL(type, name, number, n, (n times: type, parameter), before; the call, after; it)
 *   VARIADIC  the same of a function that is declared with `...`
 *   LIBRARY   has no number: a function of the C library's, without the number
 *   NUMBER    has no function, or one that is not like it: without the name
 *
 * What stands before and after are the words of call.h and those below; r is the result.
 */
#ifndef RECORDER_INTERCEPT_KERNEL_H
#define RECORDER_INTERCEPT_KERNEL_H

#include "recorder/intercept/call.h"
#include "recorder/intercept/fd.h"
#include "recorder/intercept/limit.h"

#include <poll.h>
#include <sys/select.h>

#define PARAMETERS_0() (void)
#define PARAMETERS_1(A, a) (A a)
#define PARAMETERS_2(A, a, B, b) (A a, B b)
#define PARAMETERS_3(A, a, B, b, C, c) (A a, B b, C c)
#define PARAMETERS_4(A, a, B, b, C, c, D, d) (A a, B b, C c, D d)
#define PARAMETERS_5(A, a, B, b, C, c, D, d, E, e) (A a, B b, C c, D d, E e)
#define PARAMETERS_6(A, a, B, b, C, c, D, d, E, e, F, f) (A a, B b, C c, D d, E e, F f)
#define PARAMETERS_7(A, a, B, b, C, c, D, d, E, e, F, f, G, g) (A a, B b, C c, D d, E e, F f, G g)
#define ARGUMENTS_0() ()
#define ARGUMENTS_1(A, a) (a)
#define ARGUMENTS_2(A, a, B, b) (a, b)
#define ARGUMENTS_3(A, a, B, b, C, c) (a, b, c)
#define ARGUMENTS_4(A, a, B, b, C, c, D, d) (a, b, c, d)
#define ARGUMENTS_5(A, a, B, b, C, c, D, d, E, e) (a, b, c, d, e)
#define ARGUMENTS_6(A, a, B, b, C, c, D, d, E, e, F, f) (a, b, c, d, e, f)
#define ARGUMENTS_7(A, a, B, b, C, c, D, d, E, e, F, f, G, g) (a, b, c, d, e, f, g)
/* The same as variables, of the words given[] that syscall() has. */
#define GIVEN_(A, a, i)                                                                                                \
	A a = (A)given[i];                                                                                             \
	(void)a
#define VARIABLES_0()
#define VARIABLES_1(A, a) GIVEN_(A, a, 0)
#define VARIABLES_2(A, a, B, b)                                                                                        \
	VARIABLES_1(A, a);                                                                                             \
	GIVEN_(B, b, 1)
#define VARIABLES_3(A, a, B, b, C, c)                                                                                  \
	VARIABLES_2(A, a, B, b);                                                                                       \
	GIVEN_(C, c, 2)
#define VARIABLES_4(A, a, B, b, C, c, D, d)                                                                            \
	VARIABLES_3(A, a, B, b, C, c);                                                                                 \
	GIVEN_(D, d, 3)
#define VARIABLES_5(A, a, B, b, C, c, D, d, E, e)                                                                      \
	VARIABLES_4(A, a, B, b, C, c, D, d);                                                                           \
	GIVEN_(E, e, 4)
#define VARIABLES_6(A, a, B, b, C, c, D, d, E, e, F, f)                                                                \
	VARIABLES_5(A, a, B, b, C, c, D, d, E, e);                                                                     \
	GIVEN_(F, f, 5)

/* Happens-before by an object: before the call, after it. */
#define BEFORE(object) rt_emit_sync(RT_OP_HB_BEFORE, object, 0, pc, 0)
#define AFTER(object) rt_emit_sync(RT_OP_HB_AFTER, object, 0, pc, 0)

/* Descriptors: is used; data goes out; r bytes have come in, of which the buffer holds at most size. */
#define FD(fd) rt_fd_uses(fd, pc)
/*
 * The same of a call that may wait for data. By turns the thread waits here, before the call, which then does not wait;
 * what limits its time is 0 for it (kernel.c). What it waits for is said for either.
 */
#define BY_TURNS(awaits, waits)                                                                                        \
	if (RT_UNLIKELY(rt_controlled)) {                                                                              \
		awaits;                                                                                                \
		waits;                                                                                                 \
	}                                                                                                              \
	awaits
#define READS(fd) READS_UNLESS(false, fd)
#define READS_UNLESS(at_once, fd)                                                                                      \
	FD(fd);                                                                                                        \
	BY_TURNS(FD_AWAITS(READ, fd), if (!(at_once)) rt_await_one(fd, POLLIN, RT_FOREVER, pc))
#define READS_UNTIL(until, fd)                                                                                         \
	FD(fd);                                                                                                        \
	BY_TURNS(FD_AWAITS(READ, fd), rt_await_one(fd, POLLIN, RT_UNTIL(CLOCK_REALTIME, until), pc))
/* AWAITS, of a descriptor. */
#define FD_AWAITS(kind, fd) rt_fd_awaits(RT_CALL_##kind, fd, pc)
/* others: the wait is, or may be, for another process. */
#define FD_AWAITS_UNLESS(others, kind, fd)                                                                             \
	if (others)                                                                                                    \
		rt_call_begins(RT_CALL_##kind, fd, 0, 0, RT_CALL_NO_HOLDER, pc);                                       \
	else                                                                                                           \
		FD_AWAITS(kind, fd)
#define POLLS_MS(fds, n, timeout)                                                                                      \
	BY_TURNS(rt_awaits_events(fds, n, timeout < 0, pc), timeout = rt_await_ms(fds, n, timeout, pc))
#define POLLS(fds, n, timeout)                                                                                         \
	BY_TURNS(rt_awaits_events(fds, n, !timeout, pc), timeout = rt_await_polled(fds, n, timeout, pc))
#define SELECTS_US(n, in, out, other, timeout)                                                                         \
	BY_TURNS(rt_awaits_selected(n, in, out, other, !timeout, pc),                                                  \
	         timeout = rt_await_us(n, in, out, other, timeout, pc))
#define SELECTS(n, in, out, other, timeout)                                                                            \
	BY_TURNS(rt_awaits_selected(n, in, out, other, !timeout, pc),                                                  \
	         timeout = rt_await_selected(n, in, out, other, timeout, pc))
#define EPOLLS_MS(fd, timeout)                                                                                         \
	BY_TURNS(rt_fd_awaits_watched(fd, timeout < 0, pc),                                                            \
	         timeout = rt_await_ms(rt_epoll_readable(fd), 1, timeout, pc))
#define EPOLLS(fd, timeout)                                                                                            \
	BY_TURNS(rt_fd_awaits_watched(fd, !timeout, pc),                                                               \
	         timeout = rt_await_polled(rt_epoll_readable(fd), 1, timeout, pc))
#define SENDS(fd) rt_fd_publishes(fd, NULL, 0, pc)
/* The same of a call that may wait for room for `size` bytes, and after it. */
#define GOES_OUT(fd, size)                                                                                             \
	if (RT_UNLIKELY(rt_controlled)) {                                                                              \
		FD_AWAITS(WRITE, fd);                                                                                  \
		rt_await_one(fd, POLLOUT, RT_FOREVER, pc);                                                             \
	}                                                                                                              \
	rt_fd_sends(fd, NULL, 0, size, pc);                                                                            \
	FD_AWAITS(WRITE, fd)
#define SENT(fd) rt_fd_written(fd, r, pc)
#define SIZE_OF(v, count) size_of(v, (size_t)(count))
/* From one descriptor to another. */
#define PASSES(from, to, size)                                                                                         \
	rt_fd_passes(from, to, pc);                                                                                    \
	rt_fd_may_fill(to, size);                                                                                      \
	AWAITS(OUTSIDE)
#define PASSED(from, to)                                                                                               \
	rt_fd_read(from, r, pc);                                                                                       \
	if (r >= 0)                                                                                                    \
	rt_fd_has_room(to, pc)
#define RECEIVES(fd, buffer, size) received(fd, buffer, r, size, pc)
/* What is to fill its buffer and does not may have met the end. */
#define RECEIVES_BY(flags, fd, buffer, size)                                                                           \
	if ((flags)&MSG_WAITALL && r > 0 && (size_t)r < (size_t)(size))                                                \
		rt_fd_read(fd, 0, pc);                                                                                 \
	RECEIVES(fd, buffer, size)
#define RECEIVES_VECTORS(fd, v, count)                                                                                 \
	rt_fd_read(fd, r, pc);                                                                                         \
	if (r > 0)                                                                                                     \
	vectors(RT_OP_WRITE, v, (size_t)(count), (size_t)r, pc)
#define IN_VECTORS(v, count) vectors(RT_OP_READ, v, (size_t)(count), SIZE_MAX, pc)
/* An address that comes in, of *length bytes of which there is room for `room`. */
#define OUT_ADDRESS(to, length) address_came(to, length, room, pc)

/* The address space (mmap.c): before a call that maps at a fixed place, or that ends a mapping; after one that makes
 * it. */
void rt_map_over(const void *p, size_t size, uintptr_t pc);
void rt_map_ends(const void *p, size_t size, uintptr_t pc);
void rt_map_begins(void *p, size_t size, uintptr_t pc); /* MAP_FAILED: nothing */
/* mremap: a mapping that may move is said to go and to come again; one that may not only changes its length. */
void rt_map_moves(void *at, size_t old_size, size_t size, int flags, uintptr_t pc);
void rt_map_moved(void *p, void *at, size_t old_size, size_t size, int flags, uintptr_t pc);
/* What has been mapped at p is this part of the file fd, or of the shared memory id. */
void rt_map_maps(void *p, size_t size, int flags, int fd, uint64_t offset, uintptr_t pc);
bool rt_map_any_shared(void); /* some memory may be another process's too */
void rt_map_attached(int id, void *p, uintptr_t pc);
void rt_map_detaches(const void *p, uintptr_t pc);
void rt_map_break(uintptr_t before, uintptr_t after, uintptr_t pc); /* the break has moved, or is about to move down */

/* Locks of files (file_lock.c): of whole files and of parts, which descriptions exclude each other by. */
void rt_file_locking(int fd, uintptr_t pc); /* flock: before, and after if it succeeded */
void rt_file_locked(int fd, int operation, uintptr_t pc);
void rt_file_awaits(int fd, int operation, uintptr_t pc); /* last before it */
struct flock;
void rt_part_locking(int fd, const struct flock *part, uintptr_t pc); /* fcntl */
void rt_part_locked(int fd, const struct flock *part, uintptr_t pc);
/* Last before it. False: a signal has interrupted the wait, and the call is over. */
bool rt_part_awaits(int fd, int command, const struct flock *part, uintptr_t pc);
#define PART_AWAITS(fd, command, argument)                                                                             \
	if (!rt_part_awaits(fd, command, (const struct flock *)argument, pc)) {                                        \
		rt_call_over();                                                                                        \
		RETURNS;                                                                                               \
		errno = EINTR;                                                                                         \
		return -1;                                                                                             \
	}

/* poll, select and epoll (kernel_poll.c): before the call, and after it. */
struct epoll_event;
void rt_polls(const struct pollfd *fds, nfds_t n, uintptr_t pc);
void rt_polled(const struct pollfd *fds, nfds_t n, int r, uintptr_t pc);
void rt_selects(int n, const fd_set *in, const fd_set *out, const fd_set *other, uintptr_t pc);
void rt_selected(int n, const fd_set *in, const fd_set *out, const fd_set *other, int r, uintptr_t pc);
void rt_events_came(int fd, const struct epoll_event *events, int n, uintptr_t pc);
const struct pollfd *rt_epoll_readable(int fd); /* what epoll waits for, as poll does */
/* By turns: waits until one of them is ready, or for the time, and returns no time then. Otherwise the time given: the
 * call itself may wait, as no other thread wants a turn. */
int rt_await_ms(const struct pollfd *fds, nfds_t n, int timeout, uintptr_t pc);
const struct timespec *rt_await_polled(const struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                                       uintptr_t pc);
const struct timespec *rt_await_selected(int n, const fd_set *in, const fd_set *out, const fd_set *other,
                                         const struct timespec *timeout, uintptr_t pc);
struct timeval *rt_await_us(int n, const fd_set *in, const fd_set *out, const fd_set *other, struct timeval *timeout,
                            uintptr_t pc);
/* Last before the call: rt_fd_awaits, for any of them. forever: it has no time limit. */
void rt_awaits_events(const struct pollfd *fds, nfds_t n, bool forever, uintptr_t pc);
void rt_awaits_selected(int n, const fd_set *in, const fd_set *out, const fd_set *other, bool forever, uintptr_t pc);
/* The same for one descriptor that blocks. */
void rt_await_one(int fd, short events, struct rt_until until, uintptr_t pc);

/* Futexes (kernel_futex.c): before the call; after it. */
void rt_futex_begins(const uint32_t *word, int operation, const uint32_t *other, uintptr_t pc);
bool rt_futex_waits(int operation); /* true if it is one that may wait */
void rt_futex_awaits(const uint32_t *word, int operation, const void *timeout, uintptr_t pc); /* last before it */
void rt_futex_done(const uint32_t *word, int operation, const uint32_t *other, int r, uintptr_t pc);
/* By turns, of the call's six arguments. False: the call is still to be made. */
bool rt_futex_by_turns(const long given[6], uintptr_t pc, long *result);

/* Semaphores of System V (notify.c) */
struct sembuf;
/* By turns: waits until the call would not. False: other processes' calls, or time, may end the wait. */
bool rt_semaphores_by_turns(int id, const struct sembuf *operations, size_t n, const struct timespec *timeout,
                            uintptr_t pc);
void rt_semaphores_before(int id, const struct sembuf *operations, size_t n, uintptr_t pc);
void rt_semaphores_after(int id, const struct sembuf *operations, size_t n, uintptr_t pc);
void rt_semaphores_set(int id, int number, bool all, uintptr_t pc);
void rt_semaphores_seen(int id, int number, bool all, uintptr_t pc); /* after a look at them */
uint64_t rt_message_queue(int id);                                   /* the object of all that is in it */
void rt_message_goes(int id, const void *message, uintptr_t pc);
bool rt_message_may_wait(int id, size_t size);
void rt_message_went(int id, bool may_have_waited, uintptr_t pc);
void rt_message_makes_room(int id, uintptr_t pc);
void rt_message_came(int id, const void *message, uintptr_t pc);

#endif
