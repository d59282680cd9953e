/*
 * Happens-before through descriptors, and descriptors as memory; see fd.h. Which object stands for which is in
 * fd_object.h.
 */
#include "recorder/intercept/fd.h"

#include "recorder/intercept/call.h"
#include "recorder/intercept/fd_object.h"
#include "recorder/intercept/sync.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

static _Atomic bool any_full;      /* a writer found no room */
static _Atomic bool files_watched; /* some descriptor reports changes of files */

/* Its entry if it is open and recorded, else NULL. A descriptor that was closed may have been opened again unseen. */
static struct rt_fd *told(int fd)
{
	struct rt_fd *e = rt_recording() ? rt_fd_entry(fd) : NULL;
	if (e && e->state == RT_FD_CLOSED && RT_SYSCALL(SYS_fcntl, fd, F_GETFD) != -EBADF)
		rt_fd_come(fd, RT_FD_UNKNOWN);
	return e;
}

static void reads_on(int fd, uintptr_t pc);
void rt_fd_uses(int fd, uintptr_t pc)
{
	struct rt_fd *e = told(fd);
	if (!e)
		return;
	rt_emit_object_read(rt_fd_memory(fd), pc);
	if (atomic_load_explicit(&any_full, memory_order_relaxed))
		reads_on(fd, pc);
	if (atomic_load_explicit(&files_watched, memory_order_relaxed) && rt_fd_is_file(fd))
		rt_fd_files_change(pc);
}

void rt_fd_plain(int fd)
{
	rt_fd_come(fd, RT_FD_UNKNOWN);
}

void rt_fd_socket(int fd)
{
	rt_fd_come(fd, RT_FD_SOCKET);
}

/* ---- Descriptors that no other process has ---- */

/* Number of times that another process may have got some, by this one or one that forked it. */
static _Atomic uint32_t shared;

static void note_made(int fd, bool named)
{
	struct rt_fd *e = rt_fd_entry(fd);
	if (!e)
		return;
	e->named = named;
	atomic_store(&e->since, atomic_load(&shared) + 1);
}

static void note_shared(void)
{
	atomic_fetch_add(&shared, 1);
	if (rt_channel)
		atomic_fetch_add(&rt_channel->shared, 1);
}
RT_CALL_AT(RT_AT_FORK, note_shared);

uint32_t rt_fd_since(int fd, bool named)
{
	const struct rt_fd *e = rt_fd_entry(fd);
	return e && (named || !e->named) ? e->since : 0;
}

uint32_t rt_fd_own(uint32_t since)
{
	uint32_t now = rt_channel ? atomic_load(&rt_channel->shared) + 1 : 0; /* before the look at the other one */
	return since && since == atomic_load(&shared) + 1 ? now : 0;
}

void rt_fd_awaits(unsigned kind, int fd, uintptr_t pc)
{
	uint32_t own = rt_recording() ? rt_fd_own(rt_fd_since(fd, false)) : 0;
	uint64_t object = own ? rt_fd_object(fd, false, NULL, 0) : 0;
	rt_call_begins(kind, fd, object, own, RT_CALL_NO_HOLDER, pc);
}

void rt_fd_option(int fd, int level, int option)
{
	bool time = option == SO_RCVTIMEO_OLD || option == SO_RCVTIMEO_NEW || option == SO_SNDTIMEO_OLD ||
	            option == SO_SNDTIMEO_NEW;
	uint32_t description = rt_fd_description(fd);
	for (int other = 0; level == SOL_SOCKET && time && other <= rt_fd_highest(); other++) {
		struct rt_fd *e = rt_fd_entry(other);
		if (e && (other == fd || e->description == description))
			e->since = 0;
	}
}

void rt_fd_opened(int fd)
{
	rt_fd_plain(fd);
	note_made(fd, true);
}

void rt_fd_pipe(const int fds[2])
{
	for (int i = 0; i < 2; i++) {
		rt_fd_plain(fds[i]);
		note_made(fds[i], false);
	}
}

void rt_fd_counter(int fd)
{
	rt_fd_number(fd);
	if (fd >= 0)
		note_made(fd, false);
}

void rt_fd_number(int fd)
{
	if (fd >= 0)
		rt_fd_come(fd, rt_fd_new_number());
}

void rt_fd_epoll(int fd)
{
	if (fd >= 0)
		rt_fd_come(fd, rt_fd_new_number() | RT_FD_EPOLL);
}

void rt_fd_both_ends(const int fds[2])
{
	uint64_t object = rt_fd_new_number();
	for (int i = 0; i < 2; i++) {
		rt_fd_come(fds[i], object);
		note_made(fds[i], false);
	}
}

void rt_fd_watches_files(int fd)
{
	atomic_store_explicit(&files_watched, true, memory_order_relaxed);
	rt_fd_come(fd, RT_FD_TELLS_OF_FILES);
}

void rt_fd_files_change(uintptr_t pc)
{
	if (atomic_load_explicit(&files_watched, memory_order_relaxed) && rt_recording())
		rt_emit_sync(RT_OP_HB_BEFORE, RT_FD_TELLS_OF_FILES, 0, pc, 0);
}

void rt_fd_signals(int fd)
{
	rt_fd_come(fd, RT_FD_TELLS_SIGNALS);
}

bool rt_fd_tells_signals(int fd)
{
	return rt_fd_state(fd) == RT_FD_TELLS_SIGNALS;
}

void rt_fd_copied(int from, int to)
{
	rt_fd_come(to, rt_fd_state(from));
	struct rt_fd *e = rt_fd_entry(to);
	const struct rt_fd *of = rt_fd_entry(from);
	if (!e || !of)
		return;
	e->description = rt_fd_description(from);
	e->named = of->named;
	e->since = of->since;
}

bool rt_fd_carries(int fd)
{
	return rt_fd_state(fd) != RT_FD_NONE;
}

void rt_fd_publishes(int fd, const struct sockaddr *to, socklen_t length, uintptr_t pc)
{
	if (!rt_recording())
		return;
	uint64_t object = rt_fd_object(fd, true, to, length);
	if (object != RT_FD_NONE)
		rt_emit_sync(RT_OP_HB_BEFORE, object, 0, pc, 0);
	if (rt_fd_is_file(fd))
		rt_fd_files_change(pc);
	if (object != RT_FD_NONE)
		rt_children_told(pc);
}

void rt_child_ended(uintptr_t pc)
{
	rt_signals_seen(pc);
	rt_children_ended(pc);
}

/*
 * Data passes from one object to another inside the kernel. It may come out before the call that passes it on has
 * returned, so a reader of the second has seen, from now on, what goes into the first.
 */
#define PASSES_MAX 64u
static struct {
	_Atomic uint64_t from, to;
} passes[PASSES_MAX];
static _Atomic uint32_t pass_count;

void rt_fd_passes_between(uint64_t in, uint64_t out)
{
	uint32_t n = atomic_load(&pass_count), i = 0;
	while (i < n && i < PASSES_MAX && (atomic_load(&passes[i].from) != in || atomic_load(&passes[i].to) != out))
		i++;
	if (in == RT_FD_NONE || out == RT_FD_NONE || in == out || i < n ||
	    (i = atomic_fetch_add(&pass_count, 1)) >= PASSES_MAX)
		return;
	atomic_store(&passes[i].from, in);
	atomic_store(&passes[i].to, out);
}

void rt_fd_queue(int fd)
{
	rt_fd_come(fd, RT_FD_UNKNOWN);
	uint64_t state = rt_recording() ? rt_fd_state_now(fd) : RT_FD_UNKNOWN;
	if (state & RT_FD_FILE)
		rt_fd_set(fd, state & ~RT_FD_FILE);
}

void rt_fd_passes(int from, int to, uintptr_t pc)
{
	rt_fd_publishes(to, NULL, 0, pc);
	if (rt_recording())
		rt_fd_passes_between(rt_fd_object(from, false, NULL, 0), rt_fd_object(to, true, NULL, 0));
}

/*
 * A descriptor is sent to a process that may know it by another number when this one is closed. An object without an
 * inode is then merged with all of its kind.
 */
void rt_fd_sent(int fd)
{
	struct stat is;
	note_shared();
	uint64_t object = rt_fd_state_now(fd) & ~RT_FD_ENTRY_BITS;
	if (!rt_recording() || object < RT_FD_FIRST_NUMBER || object > RT_FD_NUMBER_MAX ||
	    RT_SYSCALL(SYS_newfstatat, fd, "", &is, AT_EMPTY_PATH) != 0)
		return;
	uint64_t other = S_ISSOCK(is.st_mode) ? RT_FD_UNNAMED : RT_FD_ANONYMOUS;
	rt_fd_passes_between(object, other);
	rt_fd_passes_between(other, object);
}

/* Of this process, or not: what it is a copy of is compared. */
void rt_fd_taken_from(int other, int fd)
{
	long process = RT_SYSCALL(SYS_getpid);
	if (fd >= 0 && RT_SYSCALL(SYS_kcmp, process, process, KCMP_FILE, fd, other) == 0)
		rt_fd_copied(other, fd);
	else
		rt_fd_plain(fd);
}

/* What is known by an object as well: room, or the end of what comes. */
enum beside { ROOM, END };
static uint64_t beside(uint64_t object, enum beside what)
{
	return rt_fd_object_of(rt_object_mix(object + RT_OBJECT_NAMED + (uint64_t)what));
}

/* came: by which object, or RT_FD_NONE. */
static void after(uint64_t object, uint64_t came, bool ended, unsigned depth, uintptr_t pc)
{
	enum { CHAIN_MAX = 4 };
	rt_emit_sync(RT_OP_HB_AFTER, object, 0, pc, 0);
	if (ended)
		rt_emit_sync(RT_OP_HB_AFTER, beside(object, END), 0, pc, 0);
	uint32_t n = atomic_load_explicit(&pass_count, memory_order_relaxed);
	for (uint32_t i = 0; i < n && i < PASSES_MAX && depth < CHAIN_MAX; i++) {
		uint64_t from = atomic_load(&passes[i].from);
		if (atomic_load(&passes[i].to) == object && from != came)
			after(from, object, ended, depth + 1, pc);
	}
}

void rt_fd_ends(int fd, uintptr_t pc)
{
	uint64_t object = rt_recording() && !rt_fd_is_file(fd) ? rt_fd_object(fd, true, NULL, 0) : RT_FD_NONE;
	if (object == RT_FD_NONE)
		return;
	rt_emit_sync(RT_OP_HB_BEFORE, beside(object, END), 0, pc, 0);
	rt_children_told(pc);
}

void rt_fd_closes(int fd, uintptr_t pc)
{
	struct rt_fd *e = told(fd);
	if (e) {
		rt_emit_object(rt_fd_memory(fd), pc);
		rt_file_unlocking(fd, pc);
		if (rt_fd_is_file(fd))
			rt_fd_files_change(pc);
		rt_fd_ends(fd, pc);
		rt_emit_sync(RT_OP_HB_BEFORE, (uintptr_t)&e->number, 0, pc, 0);
	}
	rt_fd_set(fd, RT_FD_CLOSED);
}

static bool is_closed(int fd)
{
	const struct rt_fd *e = rt_fd_entry(fd);
	return !e || e->state == RT_FD_CLOSED;
}

void rt_fd_close_range(unsigned first, unsigned last, int flags, uintptr_t pc)
{
	unsigned most = (unsigned)rt_fd_highest();
	if ((unsigned)flags & CLOSE_RANGE_CLOEXEC)
		return;
	for (unsigned fd = first; fd <= last && fd <= most; fd++)
		if (!is_closed((int)fd) && RT_SYSCALL(SYS_fcntl, fd, F_GETFD) >= 0)
			rt_fd_closes((int)fd, pc);
}

RT_INTERPOSE(void, closefrom, (int first))
{
	unsigned from = first > 0 ? (unsigned)first : 0, to = UINT_MAX;

	rt_fd_close_range(from, to, 0, RT_CALLER);
	rt_idle_close_range(&from, &to, 0);
	RT_REAL(closefrom)((int)from);
}

bool rt_fd_is_written(int fd)
{
	long flags = RT_SYSCALL(SYS_fcntl, fd, F_GETFL);
	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

uint64_t rt_fd_file(int fd)
{
	return rt_fd_state_now(fd) & ~RT_FD_ENTRY_BITS;
}

/* ended: no more comes, or that may be what is told of it. */
static void received(int fd, bool got, bool ended, uintptr_t pc)
{
	if (!rt_recording())
		return;
	uint64_t object = got ? rt_fd_object(fd, false, NULL, 0) : RT_FD_NONE;
	if (object == RT_FD_NONE) {
		rt_emit_time();
		return;
	}
	after(object, RT_FD_NONE, ended && !rt_fd_is_file(fd), 0, pc);
	if (rt_fd_is_file(fd))
		rt_children_heard_by(fd, "", AT_EMPTY_PATH, pc);
	else if (!rt_fd_own(rt_fd_since(fd, false)))
		rt_children_heard(pc);
}

void rt_fd_received(int fd, bool got, uintptr_t pc)
{
	received(fd, got, true, pc);
}

static bool is_broken(void)
{
	return errno == EPIPE || errno == ECONNRESET;
}

void rt_fd_read(int fd, ssize_t n, uintptr_t pc)
{
	if (n < 0)
		received(fd, is_broken(), true, pc);
	else
		received(fd, n > 0 || (rt_recording() && !rt_fd_is_file(fd)), n == 0, pc);
}

/*
 * Room: a writer that found none comes, once there is some, after the readers since. Until a writer finds none, reads
 * record nothing.
 */
static uint64_t room_in(int fd)
{
	uint64_t state = rt_recording() ? rt_fd_state_now(fd) : RT_FD_NONE;
	if (state == RT_FD_NONE || state == RT_FD_CLOSED || state & RT_FD_ENTRY_BITS)
		return RT_FD_NONE;
	uint64_t object = rt_fd_object(fd, true, NULL, 0);
	return object == RT_FD_NONE ? RT_FD_NONE : beside(object, ROOM);
}

static void note_full(int fd)
{
	if (room_in(fd) == RT_FD_NONE)
		return;
	atomic_store(&rt_fd_entry(fd)->full, true);
	atomic_store(&any_full, true);
}

static void reads_on(int fd, uintptr_t pc)
{
	uint64_t room = room_in(fd);
	if (room != RT_FD_NONE)
		rt_emit_sync(RT_OP_HB_BEFORE, room, 0, pc, 0);
}

void rt_fd_has_room(int fd, uintptr_t pc)
{
	struct rt_fd *e = atomic_load_explicit(&any_full, memory_order_relaxed) ? rt_fd_entry(fd) : NULL;
	if (!e || !atomic_load_explicit(&e->full, memory_order_relaxed))
		return;
	uint64_t room = room_in(fd);
	if (room != RT_FD_NONE)
		rt_emit_sync(RT_OP_HB_AFTER, room, 0, pc, 0);
}

/*
 * True if a call that writes so much may have to wait. There is always room for PIPE_BUF bytes where poll says that
 * there is room. Of a pipe's pages half may be wasted; of a socket's buffer a quarter is free.
 */
static bool may_wait_for_room(int fd, size_t size)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	struct timespec now = {0};
	int used = 0, buffer = 0;
	socklen_t length = sizeof buffer;

	if (RT_SYSCALL(SYS_ppoll, &p, 1, &now, NULL, 0) == 0)
		return true;
	long flags = RT_SYSCALL(SYS_fcntl, fd, F_GETFL);
	if (size <= PIPE_BUF || (flags >= 0 && flags & O_NONBLOCK))
		return false;
	long capacity = RT_SYSCALL(SYS_fcntl, fd, F_GETPIPE_SZ);
	if (capacity > 0 && RT_SYSCALL(SYS_ioctl, fd, FIONREAD, &used) == 0)
		return size + 2 * (size_t)used + PIPE_BUF > (size_t)capacity;
	return RT_SYSCALL(SYS_getsockopt, fd, SOL_SOCKET, SO_SNDBUF, &buffer, &length) != 0 ||
	       size > (size_t)buffer / 4;
}

void rt_fd_may_fill(int fd, size_t size)
{
	if (room_in(fd) != RT_FD_NONE && may_wait_for_room(fd, size))
		note_full(fd);
}

void rt_fd_sends(int fd, const struct sockaddr *to, socklen_t length, size_t size, uintptr_t pc)
{
	rt_fd_publishes(fd, to, length, pc);
	rt_fd_may_fill(fd, size);
}

/* Writers, too, notice that the other end is gone. */
void rt_fd_written(int fd, ssize_t n, uintptr_t pc)
{
	rt_fd_received(fd, n < 0 && is_broken(), pc);
	if (n < 0 && errno == EAGAIN)
		note_full(fd);
	else if (n >= 0)
		rt_fd_has_room(fd, pc);
}

void rt_fd_connected(int fd)
{
	if (rt_recording())
		rt_fd_object(fd, true, NULL, 0);
}

uint64_t rt_fd_epoll_of(int fd)
{
	uint64_t state = rt_fd_state_now(fd);
	return state == RT_FD_ANONYMOUS || (state & RT_FD_EPOLL && state != RT_FD_CLOSED) ? state & ~RT_FD_ENTRY_BITS
	                                                                                  : 0;
}

void rt_fd_file_seen(uint64_t device, uint64_t inode, uintptr_t pc)
{
	if (rt_recording())
		rt_emit_sync(RT_OP_HB_AFTER, rt_fd_object_of_inode(device, inode), 0, pc, 0);
}

void rt_fd_looked(int fd, int result, uintptr_t pc)
{
	if (result == 0 && rt_recording() && rt_fd_is_file(fd))
		rt_fd_received(fd, true, pc);
}

void rt_fd_connects(const struct sockaddr *to, socklen_t length, uintptr_t pc)
{
	if (rt_recording())
		rt_emit_sync(RT_OP_HB_BEFORE, rt_fd_object_of_address(to, length), 0, pc, 0);
}

void rt_fd_accepted(int listener, int fd, uintptr_t pc)
{
	rt_fd_come(fd, RT_FD_SOCKET);
	if (!rt_recording())
		return;
	if (fd >= 0)
		rt_emit_sync(RT_OP_HB_AFTER, rt_fd_object_of_own_end(listener), 0, pc, 0);
	else
		rt_emit_time();
	if (fd >= 0)
		rt_fd_connected(fd); /* while the other end is there */
}
