/*
 * poll, select, epoll: what they look at and what they say of each descriptor. By turns a thread waits here, before the
 * call, which then does not wait. See kernel.h.
 */
#include "recorder/intercept/kernel.h"

#include "recorder/runtime/syscall.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

/* poll and select: of each descriptor that has something to read. */
#define READABLE (POLLIN | POLLRDNORM | POLLPRI | POLLHUP | POLLRDHUP | POLLERR)
void rt_polls(const struct pollfd *fds, nfds_t n, uintptr_t pc)
{
	for (nfds_t i = 0; i < n && rt_recording(); i++) {
		IN_N(&fds[i], offsetof(struct pollfd, revents));
		if (fds[i].fd >= 0)
			rt_fd_uses(fds[i].fd, pc);
	}
}

void rt_polled(const struct pollfd *fds, nfds_t n, int r, uintptr_t pc)
{
	for (nfds_t i = 0; i < n && r >= 0 && rt_recording(); i++) {
		OUT(&fds[i].revents);
		if (fds[i].fd >= 0 && fds[i].revents & READABLE)
			rt_fd_told(fds[i].fd, pc);
		if (fds[i].fd >= 0 && fds[i].revents & (POLLOUT | POLLWRNORM))
			rt_fd_has_room(fds[i].fd, pc);
	}
}

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

void rt_await_one(int fd, short events, struct rt_until until, uintptr_t pc)
{
	struct pollfd one = {fd, events, 0};
	long flags = rt_turn_mine() ? RT_SYSCALL(SYS_fcntl, fd, F_GETFL) : -1;
	if (flags >= 0 && !(flags & O_NONBLOCK))
		rt_turn_polls(&one, 1, until, pc);
}

static const struct timespec no_time;

const struct timespec *rt_await_polled(const struct pollfd *fds, nfds_t n, const struct timespec *timeout, uintptr_t pc)
{
	return await_ready(fds, n, RT_UNTIL(RT_CLOCK_DURATION, timeout), pc) ? &no_time : timeout;
}

int rt_await_ms(const struct pollfd *fds, nfds_t n, int timeout, uintptr_t pc)
{
	enum { SECOND_MS = 1000, MS_NS = 1000000 };
	struct timespec limit = {timeout / SECOND_MS, (long)(timeout % SECOND_MS) * MS_NS};
	return timeout == 0 || rt_await_polled(fds, n, timeout < 0 ? NULL : &limit, pc) == &no_time ? 0 : timeout;
}

/* What epoll waits for, as poll does. */
const struct pollfd *rt_epoll_readable(int fd)
{
	static __thread struct pollfd one;
	one = (struct pollfd){fd, POLLIN, 0};
	return &one;
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

const struct timespec *rt_await_selected(int n, const fd_set *in, const fd_set *out, const fd_set *other,
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
	return rt_await_polled(fds, count, timeout, pc);
}

struct timeval *rt_await_us(int n, const fd_set *in, const fd_set *out, const fd_set *other, struct timeval *timeout,
                            uintptr_t pc)
{
	static __thread struct timeval none;
	struct timespec limit = {timeout ? timeout->tv_sec : 0, timeout ? timeout->tv_usec * 1000 : 0};
	none = (struct timeval){0, 0};
	return rt_await_selected(n, in, out, other, timeout ? &limit : NULL, pc) == &no_time ? &none : timeout;
}

void rt_selects(int n, const fd_set *in, const fd_set *out, const fd_set *other, uintptr_t pc)
{
	IN_N(in, set_size(n));
	IN_N(out, set_size(n));
	IN_N(other, set_size(n));
	for (int fd = 0; fd < n && rt_recording(); fd++)
		if (is_in(in, fd) || is_in(out, fd) || is_in(other, fd))
			rt_fd_uses(fd, pc);
}

void rt_selected(int n, const fd_set *in, const fd_set *out, const fd_set *other, int r, uintptr_t pc)
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

void rt_events_came(int fd, const struct epoll_event *events, int n, uintptr_t pc)
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

/* ---- What a thread waits for ---- */

struct awaited {
	unsigned count;
	int last;
	uint32_t since; /* rt_fd_since of all */
};

static void add_awaited(struct awaited *a, int fd)
{
	uint32_t since = rt_fd_since(fd, false);
	a->since = a->count == 0 || since == a->since ? since : 0;
	a->last = fd;
	a->count++;
}

static void await(const struct awaited *a, bool forever, uintptr_t pc)
{
	if (a->count == 1 && forever)
		rt_fd_awaits(RT_CALL_POLL, a->last, pc);
	else
		rt_call_begins(RT_CALL_POLL, -1, RT_SEVERAL_OBJECTS, rt_fd_own(forever ? a->since : 0),
		               RT_CALL_NO_HOLDER, pc);
}

void rt_awaits_events(const struct pollfd *fds, nfds_t n, bool forever, uintptr_t pc)
{
	struct awaited a = {0};
	for (nfds_t i = 0; i < n && forever && rt_recording(); i++)
		if (fds[i].fd >= 0)
			add_awaited(&a, fds[i].fd);
	await(&a, forever, pc);
}

void rt_awaits_selected(int n, const fd_set *in, const fd_set *out, const fd_set *other, bool forever, uintptr_t pc)
{
	struct awaited a = {0};
	for (int fd = 0; fd < n && forever && rt_recording(); fd++)
		if (is_in(in, fd) || is_in(out, fd) || is_in(other, fd))
			add_awaited(&a, fd);
	await(&a, forever, pc);
}
