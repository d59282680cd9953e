/*
 * Which object stands for a descriptor. Objects are no addresses (recorder/objects.h): small numbers for pairs of
 * sockets, event counters and the like, hashes for sockets, whose two ends know each other by their addresses:
 *
 *   a stream's both ends    the two ports, in either order; the path of a local one's named end
 *   a listener, connect to  the port or path
 *   a datagram              the port or path that it is sent to
 *
 * Addresses of hosts are left out, because one host has many. Local sockets without any name share one object, as do
 * those of families that are not known.
 *
 * A file, a pipe and what else came unseen is looked at when it is used first: its device and inode stand for it, so
 * that all descriptors of one file are one object, by whatever way they came. What has no inode of its own is compared
 * with the descriptors that are known. A pseudoterminal is two objects, one each way; other devices carry nothing.
 *
 * As memory, a descriptor is its place in the table below. One that has been closed and comes again is new, and comes
 * after the close, since the kernel gives no number out twice; not every call that makes descriptors is known, so one
 * that is used although it was closed is looked at.
 */
#include "recorder/intercept/fd.h"

#include "recorder/intercept/sync.h"
#include "recorder/objects.h"
#include "recorder/runtime/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/kcmp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#define FD_MAX 65536
#define NUMBER_MAX (RT_OBJECT_DESCRIPTOR_END - 1) /* later pipes share the last one */
enum {
	UNKNOWN,
	NONE = RT_OBJECT_DESCRIPTOR,
	SOCKET,
	DATAGRAM,
	UNNAMED,
	TELLS_SIGNALS,
	TELLS_OF_FILES,
	CHILDREN,
	ANONYMOUS,
	FIRST_NUMBER
};
/* Of the table's entries, not of objects: data is there to stay; the two sides of a terminal; tells of others */
#define FILE_BIT (UINT64_C(1) << 48)
#define MASTER_BIT (UINT64_C(1) << 49)
#define SLAVE_BIT (UINT64_C(1) << 50)
#define EPOLL_BIT (UINT64_C(1) << 51)
#define ENTRY_BITS (FILE_BIT | MASTER_BIT | SLAVE_BIT | EPOLL_BIT)
#define CLOSED UINT64_MAX /* and not known to have come again */

static _Atomic uint64_t descriptor[FD_MAX];
static char number[FD_MAX]; /* never touched: the object of a number, which is closed before it is given out again */
static _Atomic uint32_t description[FD_MAX]; /* what its copies share; 0: came unseen */
static _Atomic uint32_t descriptions;
static _Atomic int highest;                 /* descriptor that was seen */
static _Atomic bool full[FD_MAX], any_full; /* somebody found no room to write */
static _Atomic uint32_t numbers = FIRST_NUMBER;
static _Atomic bool has_children;  /* which end when something has come to them */
static _Atomic bool files_watched; /* any descriptor tells of files */

static uint64_t state_of(int fd)
{
	return fd >= 0 && fd < FD_MAX ? atomic_load_explicit(&descriptor[fd], memory_order_relaxed) : NONE;
}

static uint64_t get(int fd)
{
	uint64_t object = state_of(fd);
	return object == CLOSED ? UNKNOWN : object;
}

static void set(int fd, uint64_t object)
{
	if (fd >= 0 && fd < FD_MAX)
		atomic_store_explicit(&descriptor[fd], object, memory_order_relaxed);
}

/* A descriptor has come. */
static void come(int fd, uint64_t object)
{
	uint64_t before = state_of(fd);
	if (before == CLOSED && rt_recording()) {
		rt_emit_sync(RT_OP_HB_AFTER, (uintptr_t)&number[fd], 0, 0, 0);
		rt_emit_sync(RT_OP_NEW_MEMORY, (uintptr_t)&descriptor[fd], sizeof descriptor[fd], 0, 0);
	}
	if (before != object)
		set(fd, object);
	if (fd >= 0 && fd < FD_MAX)
		description[fd] = atomic_fetch_add_explicit(&descriptions, 1, memory_order_relaxed) + FD_MAX;
	int most = atomic_load_explicit(&highest, memory_order_relaxed);
	while (fd > most && fd < FD_MAX && !atomic_compare_exchange_weak(&highest, &most, fd))
		;
}

/* Of one that came unseen its number is as good. */
uint32_t rt_fd_description(int fd)
{
	return fd >= 0 && fd < FD_MAX && description[fd] ? description[fd] : (uint32_t)fd;
}

/* Is it one to tell of? One that was closed may have come again unseen. */
static bool is_told(int fd)
{
	if (fd < 0 || fd >= FD_MAX || !rt_recording())
		return false;
	if (state_of(fd) == CLOSED && RT_SYSCALL(SYS_fcntl, fd, F_GETFD) != -EBADF)
		come(fd, UNKNOWN);
	return true;
}

static bool is_file(int fd);
static void reads_on(int fd, uintptr_t pc);
void rt_fd_uses(int fd, uintptr_t pc)
{
	if (!is_told(fd))
		return;
	rt_emit_object_read(&descriptor[fd], pc);
	if (atomic_load_explicit(&any_full, memory_order_relaxed))
		reads_on(fd, pc);
	if (atomic_load_explicit(&files_watched, memory_order_relaxed) && is_file(fd))
		rt_fd_files_change(pc);
}

static uint64_t new_number(void)
{
	uint32_t n = atomic_load_explicit(&numbers, memory_order_relaxed);
	while (n < NUMBER_MAX && !atomic_compare_exchange_weak(&numbers, &n, n + 1))
		;
	return n;
}

void rt_fd_plain(int fd)
{
	come(fd, UNKNOWN);
}

void rt_fd_socket(int fd)
{
	come(fd, SOCKET);
}

void rt_fd_own(int fd)
{
	if (fd >= 0)
		come(fd, new_number());
}

void rt_fd_epoll(int fd)
{
	if (fd >= 0)
		come(fd, new_number() | EPOLL_BIT);
}

void rt_fd_both_ends(const int fds[2])
{
	uint64_t object = new_number();
	come(fds[0], object);
	come(fds[1], object);
}

void rt_fd_watches_files(int fd)
{
	atomic_store_explicit(&files_watched, true, memory_order_relaxed);
	come(fd, TELLS_OF_FILES);
}

void rt_fd_files_change(uintptr_t pc)
{
	if (atomic_load_explicit(&files_watched, memory_order_relaxed) && rt_recording())
		rt_emit_sync(RT_OP_HB_BEFORE, TELLS_OF_FILES, 0, pc, 0);
}

void rt_fd_signals(int fd)
{
	come(fd, TELLS_SIGNALS);
}

bool rt_fd_tells_signals(int fd)
{
	return get(fd) == TELLS_SIGNALS;
}

void rt_fd_copied(int from, int to)
{
	come(to, get(from));
	if (from >= 0 && from < FD_MAX && to >= 0 && to < FD_MAX)
		description[to] = rt_fd_description(from);
}

/* Addresses as keys: a port or a path; 0: has none. */
static uint64_t key_of(const struct sockaddr *a, socklen_t length)
{
	if (!a || length < sizeof(sa_family_t))
		return 0;
	if (a->sa_family == AF_INET && length >= sizeof(struct sockaddr_in))
		return ((const struct sockaddr_in *)(const void *)a)->sin_port;
	if (a->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6))
		return ((const struct sockaddr_in6 *)(const void *)a)->sin6_port;
	if (a->sa_family != AF_UNIX)
		return 0;
	const char *path = ((const struct sockaddr_un *)(const void *)a)->sun_path;
	size_t n = length - offsetof(struct sockaddr_un, sun_path);
	uint64_t hash = 0;
	for (size_t i = 0; i < n && (path[i] || i == 0); i++)
		hash = rt_object_mix(hash + (unsigned char)path[i] + 1);
	return hash;
}

struct end {
	struct sockaddr_storage address;
	socklen_t length;
};

/* Own (SYS_getsockname) or other (SYS_getpeername) end; its key. */
static uint64_t end_of(int fd, long call, struct end *end)
{
	end->length = sizeof end->address;
	if (RT_SYSCALL(call, fd, &end->address, &end->length) != 0)
		end->length = 0;
	return key_of((const struct sockaddr *)&end->address, end->length);
}

/* The object that is known by this, mixed. */
static uint64_t object_of(uint64_t mixed)
{
	return rt_object_hashed(RT_OBJECT_NAMED, mixed);
}

static uint64_t object_of_name(uint64_t key)
{
	return key ? object_of(rt_object_mix(key)) : UNNAMED;
}

static uint64_t object_of_inode(uint64_t device, uint64_t inode)
{
	return object_of(rt_object_mix(rt_object_mix(device) + inode));
}

static uint64_t object_of_stream(int fd)
{
	struct end own, peer;
	uint64_t a = end_of(fd, SYS_getsockname, &own), b = end_of(fd, SYS_getpeername, &peer);
	if (own.length && own.address.ss_family == AF_UNIX)
		return object_of_name(a ? a : b);
	if (own.length && own.address.ss_family != AF_INET && own.address.ss_family != AF_INET6)
		return UNNAMED;
	if (!a || !b) /* not connected */
		return NONE;
	return object_of(rt_object_mix(a) + rt_object_mix(b));
}

static bool is_datagram(int fd)
{
	int type = SOCK_STREAM;
	socklen_t length = sizeof type;
	return RT_SYSCALL(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type != SOCK_STREAM &&
	       type != SOCK_SEQPACKET;
}

/* What a descriptor is, unless it has been closed meanwhile. */
static uint64_t learn(int fd, uint64_t before, uint64_t object)
{
	atomic_compare_exchange_strong_explicit(&descriptor[fd], &before, object, memory_order_relaxed,
	                                        memory_order_relaxed);
	return object;
}

/* The object of a known descriptor that is a copy of this one, else `otherwise`. */
static uint64_t object_of_copy(int fd, uint64_t otherwise)
{
	long process = RT_SYSCALL(SYS_getpid);
	int most = atomic_load_explicit(&highest, memory_order_relaxed);
	for (int other = 0; other <= most; other++) {
		uint64_t object = get(other);
		if (other != fd && (object & ~EPOLL_BIT) >= FIRST_NUMBER && (object & ~EPOLL_BIT) <= NUMBER_MAX &&
		    RT_SYSCALL(SYS_kcmp, process, process, KCMP_FILE, fd, other) == 0)
			return object;
	}
	return otherwise;
}

/* What goes to a terminal's slave, and plus one what comes from there. */
static uint64_t terminal(unsigned index)
{
	return object_of(rt_object_mix(index + 1)) & ~UINT64_C(1);
}

static void passes_between(uint64_t from, uint64_t to);
static _Atomic bool terminals; /* the program is the other side of any */

static uint64_t look_at_device(int fd, const struct stat *is)
{
	enum { SLAVES = 136, SLAVES_END = 144 };
	unsigned index;
	if (major(is->st_rdev) >= SLAVES && major(is->st_rdev) < SLAVES_END)
		return learn(fd, UNKNOWN, SLAVE_BIT | terminal(minor(is->st_rdev)));
	if (!S_ISCHR(is->st_mode) || RT_SYSCALL(SYS_ioctl, fd, TIOCGPTN, &index) != 0)
		return learn(fd, UNKNOWN, NONE);
	atomic_store(&terminals, true);
	passes_between(terminal(index), terminal(index) + 1); /* an echo */
	return learn(fd, UNKNOWN, MASTER_BIT | terminal(index));
}

/* What came unseen, or is shared by its inode. */
static uint64_t look(int fd)
{
	struct stat is;
	if (RT_SYSCALL(SYS_newfstatat, fd, "", &is, AT_EMPTY_PATH) != 0)
		return NONE;
	if (S_ISSOCK(is.st_mode))
		return learn(fd, UNKNOWN, object_of_copy(fd, SOCKET));
	if (S_ISREG(is.st_mode))
		return learn(fd, UNKNOWN, FILE_BIT | object_of_inode(is.st_dev, is.st_ino));
	if ((is.st_mode & S_IFMT) == 0) /* all of these are one inode */
		return learn(fd, UNKNOWN, object_of_copy(fd, ANONYMOUS));
	if (S_ISFIFO(is.st_mode))
		return learn(fd, UNKNOWN, object_of_inode(is.st_dev, is.st_ino));
	return look_at_device(fd, &is);
}

static uint64_t state_now(int fd)
{
	uint64_t state = get(fd);
	return state == UNKNOWN && fd >= 0 && fd < FD_MAX ? look(fd) : state;
}

/* Neither its end nor its close says anything of who writes it. */
static bool is_file(int fd)
{
	return state_now(fd) & FILE_BIT;
}

/* The object of what goes out (or comes in) through fd. A stream's is looked up once, when it is connected. */
static uint64_t object_through(int fd, bool out, const struct sockaddr *to, socklen_t length)
{
	uint64_t object = state_now(fd);
	if (object & (MASTER_BIT | SLAVE_BIT) && object != CLOSED)
		return atomic_load(&terminals) ? (object & ~ENTRY_BITS) + (out == !(object & MASTER_BIT)) : NONE;
	if (object != SOCKET && object != DATAGRAM)
		return object & ~ENTRY_BITS;
	struct end end;
	if (object == SOCKET && is_datagram(fd))
		object = learn(fd, SOCKET, DATAGRAM);
	if (object == DATAGRAM) {
		if (out && to)
			object = object_of_name(key_of(to, length));
		else
			object = object_of_name(end_of(fd, out ? SYS_getpeername : SYS_getsockname, &end));
	} else {
		object = object_of_stream(fd);
		if (object != NONE)
			learn(fd, SOCKET, object);
	}
	return object;
}

bool rt_fd_carries(int fd)
{
	return get(fd) != NONE;
}

void rt_fd_publishes(int fd, const struct sockaddr *to, socklen_t length, uintptr_t pc)
{
	if (!rt_recording())
		return;
	uint64_t object = object_through(fd, true, to, length);
	if (object != NONE)
		rt_emit_sync(RT_OP_HB_BEFORE, object, 0, pc, 0);
	if (is_file(fd))
		rt_fd_files_change(pc);
	else if (object != NONE && atomic_load_explicit(&has_children, memory_order_relaxed))
		rt_emit_sync(RT_OP_HB_BEFORE, CHILDREN, 0, pc, 0);
}

/* The child may have descriptors of this process. */
static void forks(void)
{
	atomic_store_explicit(&has_children, true, memory_order_relaxed);
}
RT_CALL_AT(RT_AT_FORK, forks);

void rt_child_ended(uintptr_t pc)
{
	rt_signals_seen(pc);
	if (atomic_load_explicit(&has_children, memory_order_relaxed) && rt_recording())
		rt_emit_sync(RT_OP_HB_AFTER, CHILDREN, 0, pc, 0);
}

/*
 * Data that passes from one object to another inside the kernel: it may come out before the call that passes it on has
 * returned, so who reads the second has seen from now on what goes into the first.
 */
#define PASSES_MAX 64u
static struct {
	_Atomic uint64_t from, to;
} passes[PASSES_MAX];
static _Atomic uint32_t pass_count;

static void passes_between(uint64_t in, uint64_t out)
{
	uint32_t n = atomic_load(&pass_count), i = 0;
	while (i < n && i < PASSES_MAX && (atomic_load(&passes[i].from) != in || atomic_load(&passes[i].to) != out))
		i++;
	if (in == NONE || out == NONE || in == out || i < n || (i = atomic_fetch_add(&pass_count, 1)) >= PASSES_MAX)
		return;
	atomic_store(&passes[i].from, in);
	atomic_store(&passes[i].to, out);
}

void rt_fd_queue(int fd)
{
	come(fd, UNKNOWN);
	uint64_t state = rt_recording() ? state_now(fd) : UNKNOWN;
	if (state & FILE_BIT)
		set(fd, state & ~FILE_BIT);
}

void rt_fd_passes(int from, int to, uintptr_t pc)
{
	rt_fd_publishes(to, NULL, 0, pc);
	if (rt_recording())
		passes_between(object_through(from, false, NULL, 0), object_through(to, true, NULL, 0));
}

/*
 * A descriptor is sent to somebody who may have it under another number when this one is closed. What has no inode to
 * be known by is then one with all of its kind.
 */
void rt_fd_sent(int fd)
{
	struct stat is;
	uint64_t object = state_now(fd) & ~ENTRY_BITS;
	if (!rt_recording() || object < FIRST_NUMBER || object > NUMBER_MAX ||
	    RT_SYSCALL(SYS_newfstatat, fd, "", &is, AT_EMPTY_PATH) != 0)
		return;
	uint64_t other = S_ISSOCK(is.st_mode) ? UNNAMED : ANONYMOUS;
	passes_between(object, other);
	passes_between(other, object);
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

/* came: by which object, or NONE. */
static void after(uint64_t object, uint64_t came, unsigned depth, uintptr_t pc)
{
	enum { CHAIN_MAX = 4 };
	rt_emit_sync(RT_OP_HB_AFTER, object, 0, pc, 0);
	uint32_t n = atomic_load_explicit(&pass_count, memory_order_relaxed);
	for (uint32_t i = 0; i < n && i < PASSES_MAX && depth < CHAIN_MAX; i++) {
		uint64_t from = atomic_load(&passes[i].from);
		if (atomic_load(&passes[i].to) == object && from != came)
			after(from, object, depth + 1, pc);
	}
}

void rt_fd_ends(int fd, uintptr_t pc)
{
	if (rt_recording() && !is_file(fd))
		rt_fd_publishes(fd, NULL, 0, pc);
}

void rt_fd_closes(int fd, uintptr_t pc)
{
	if (is_told(fd)) {
		rt_emit_object(&descriptor[fd], pc);
		rt_file_unlocking(fd, pc);
		if (is_file(fd))
			rt_fd_files_change(pc);
		rt_fd_ends(fd, pc);
		rt_emit_sync(RT_OP_HB_BEFORE, (uintptr_t)&number[fd], 0, pc, 0);
	}
	set(fd, CLOSED);
}

void rt_fd_close_range(unsigned first, unsigned last, int flags, uintptr_t pc)
{
	unsigned most = (unsigned)atomic_load_explicit(&highest, memory_order_relaxed);
	if ((unsigned)flags & CLOSE_RANGE_CLOEXEC)
		return;
	for (unsigned fd = first; fd <= last && fd <= most; fd++)
		if (state_of((int)fd) != CLOSED && RT_SYSCALL(SYS_fcntl, fd, F_GETFD) >= 0)
			rt_fd_closes((int)fd, pc);
}

bool rt_fd_is_written(int fd)
{
	long flags = RT_SYSCALL(SYS_fcntl, fd, F_GETFL);
	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

uint64_t rt_fd_file(int fd)
{
	return state_now(fd) & ~ENTRY_BITS;
}

void rt_fd_received(int fd, bool got, uintptr_t pc)
{
	if (!rt_recording())
		return;
	uint64_t object = got ? object_through(fd, false, NULL, 0) : NONE;
	if (object != NONE)
		after(object, NONE, 0, pc);
	else
		rt_emit_time();
}

static bool is_broken(void)
{
	return errno == EPIPE || errno == ECONNRESET;
}

void rt_fd_read(int fd, ssize_t n, uintptr_t pc)
{
	if (n < 0)
		rt_fd_received(fd, is_broken(), pc);
	else
		rt_fd_received(fd, n > 0 || (rt_recording() && !is_file(fd)), pc);
}

/*
 * Room: who found none comes, once there is some, after those who have read since. Until somebody finds none, nobody
 * says that he reads.
 */
static uint64_t room_in(int fd)
{
	uint64_t state = rt_recording() ? state_now(fd) : NONE;
	if (state == NONE || state == CLOSED || state & ENTRY_BITS)
		return NONE;
	uint64_t object = object_through(fd, true, NULL, 0);
	return object == NONE ? NONE : object_of(rt_object_mix(object + RT_OBJECT_NAMED));
}

static void is_full(int fd)
{
	if (room_in(fd) == NONE)
		return;
	atomic_store(&full[fd], true);
	atomic_store(&any_full, true);
}

static void reads_on(int fd, uintptr_t pc)
{
	uint64_t room = room_in(fd);
	if (room != NONE)
		rt_emit_sync(RT_OP_HB_BEFORE, room, 0, pc, 0);
}

void rt_fd_has_room(int fd, uintptr_t pc)
{
	if (fd < 0 || fd >= FD_MAX || !atomic_load_explicit(&full[fd], memory_order_relaxed))
		return;
	uint64_t room = room_in(fd);
	if (room != NONE)
		rt_emit_sync(RT_OP_HB_AFTER, room, 0, pc, 0);
}

void rt_fd_sends(int fd, const struct sockaddr *to, socklen_t length, uintptr_t pc)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	struct timespec now = {0};
	rt_fd_publishes(fd, to, length, pc);
	if (room_in(fd) != NONE && RT_SYSCALL(SYS_ppoll, &p, 1, &now, NULL, 0) == 0)
		is_full(fd);
}

/* That the other end is gone is seen by those who write as well. */
void rt_fd_written(int fd, ssize_t n, uintptr_t pc)
{
	rt_fd_received(fd, n < 0 && is_broken(), pc);
	if (n < 0 && errno == EAGAIN)
		is_full(fd);
	else if (n >= 0)
		rt_fd_has_room(fd, pc);
}

void rt_fd_connected(int fd)
{
	if (rt_recording())
		object_through(fd, true, NULL, 0);
}

uint64_t rt_fd_epoll_of(int fd)
{
	uint64_t state = state_now(fd);
	return state == ANONYMOUS || (state & EPOLL_BIT && state != CLOSED) ? state & ~ENTRY_BITS : 0;
}

void rt_fd_file_seen(uint64_t device, uint64_t inode, uintptr_t pc)
{
	if (rt_recording())
		rt_emit_sync(RT_OP_HB_AFTER, object_of_inode(device, inode), 0, pc, 0);
}

void rt_fd_looked(int fd, int result, uintptr_t pc)
{
	if (result == 0 && rt_recording() && is_file(fd))
		rt_fd_received(fd, true, pc);
}

/* Names of files, by their last parts: one file has many paths. */
enum name_use { IS_CHANGED, IS_OPENED };
static uint64_t object_of_path(const char *path, enum name_use use)
{
	uint64_t hash = use, last = use;
	for (size_t i = 0; path[i]; i++) {
		hash = path[i] == '/' ? use : rt_object_mix(hash + (unsigned char)path[i] + 2);
		last = hash == use ? last : hash; /* a slash at the end is none */
	}
	return object_of(rt_object_mix(last));
}

void rt_name_changes(const char *path, uintptr_t pc)
{
	rt_fd_files_change(pc);
	if (path && rt_recording())
		rt_emit_sync(RT_OP_HB_BEFORE, object_of_path(path, IS_CHANGED), 0, pc, 0);
}

void rt_name_seen(const char *path, uintptr_t pc)
{
	if (path && rt_recording())
		rt_emit_sync(RT_OP_HB_AFTER, object_of_path(path, IS_CHANGED), 0, pc, 0);
}

void rt_name_opens(const char *path, int flags, uintptr_t pc)
{
	if (flags & (O_CREAT | O_TRUNC))
		rt_name_changes(path, pc);
	else
		rt_fd_files_change(pc);
	if (path && rt_recording())
		rt_emit_sync(RT_OP_HB_BEFORE, object_of_path(path, IS_OPENED), 0, pc, 0);
}

void rt_name_opened(const char *path, int fd, uintptr_t pc)
{
	struct stat is;
	rt_fd_plain(fd);
	rt_name_seen(path, pc);
	if (fd < 0 || !path || !rt_recording() || RT_SYSCALL(SYS_newfstatat, fd, "", &is, AT_EMPTY_PATH) != 0)
		return;
	if (S_ISFIFO(is.st_mode))
		rt_emit_sync(RT_OP_HB_AFTER, object_of_path(path, IS_OPENED), 0, pc, 0);
	if (S_ISCHR(is.st_mode))
		look_at_device(fd, &is);
}

void rt_fd_connects(const struct sockaddr *to, socklen_t length, uintptr_t pc)
{
	if (rt_recording())
		rt_emit_sync(RT_OP_HB_BEFORE, object_of_name(key_of(to, length)), 0, pc, 0);
}

void rt_fd_accepted(int listener, int fd, uintptr_t pc)
{
	struct end own;
	come(fd, SOCKET);
	if (!rt_recording())
		return;
	if (fd >= 0)
		rt_emit_sync(RT_OP_HB_AFTER, object_of_name(end_of(listener, SYS_getsockname, &own)), 0, pc, 0);
	else
		rt_emit_time();
	if (fd >= 0)
		rt_fd_connected(fd); /* while the other end is there */
}
