/*
 * Which object stands for a descriptor. Objects are no addresses: small numbers for pipes and the like, numbers with
 * the highest of 48 bits set for sockets, whose two ends know each other by their addresses:
 *
 *   a stream's both ends    the two ports, in either order; the path of a local one's named end
 *   a listener, connect to  the port or path
 *   a datagram              the port or path that it is sent to
 *
 * Addresses of hosts are left out, because one host has many. Local sockets without any name share one object.
 *
 * A file, a named pipe and what else came unseen is looked at when it is used first: its device and inode stand for
 * it, so that all descriptors of one file are one object. Devices carry nothing.
 *
 * As memory, a descriptor is its place in the table below. One that has been closed and comes again is new, and comes
 * after the close, since the kernel gives no number out twice; not every call that makes descriptors is known, so one
 * that is used although it was closed is looked at.
 */
#include "recorder/fd.h"

#include "recorder/sync.h"
#include "recorder/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/un.h>

#define FD_MAX 65536
#define NUMBER_MAX 4096 /* later pipes share the last one */
#define SOCKET_BIT (UINT64_C(1) << 47)
enum { UNKNOWN, NONE, SOCKET, DATAGRAM, UNNAMED, TELLS_SIGNALS, TELLS_OF_FILES, ANONYMOUS, FIRST_NUMBER };
#define FILE_BIT (UINT64_C(1) << 48) /* of the table's entries, not of objects: data is there to stay */
#define CLOSED UINT64_MAX            /* and not known to have come again */

static _Atomic uint64_t descriptor[FD_MAX];
static char number[FD_MAX]; /* never touched: the object of a number, which is closed before it is given out again */
static _Atomic uint32_t description[FD_MAX]; /* what its copies share; 0: came unseen */
static _Atomic uint32_t descriptions;
static _Atomic int highest; /* descriptor that was seen */
static _Atomic uint32_t numbers = FIRST_NUMBER;

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

void rt_fd_uses(int fd, uintptr_t pc)
{
	if (is_told(fd))
		rt_emit_object_read(&descriptor[fd], pc);
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

void rt_fd_both_ends(const int fds[2])
{
	uint64_t object = new_number();
	come(fds[0], object);
	come(fds[1], object);
}

static _Atomic bool files_watched;
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
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * UINT64_C(0x7fb5d329728ea185);
	return (x ^ x >> 27) * UINT64_C(0x81dadef4bc2dd44d);
}

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
		hash = mix(hash + (unsigned char)path[i] + 1);
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

static uint64_t object_of_name(uint64_t key)
{
	return key ? SOCKET_BIT | (mix(key) >> 17) : UNNAMED;
}

static uint64_t object_of_stream(int fd)
{
	struct end own, peer;
	uint64_t a = end_of(fd, SYS_getsockname, &own), b = end_of(fd, SYS_getpeername, &peer);
	if (own.length && own.address.ss_family == AF_UNIX)
		return object_of_name(a ? a : b);
	if (!a || !b) /* not connected */
		return NONE;
	return SOCKET_BIT | ((mix(a) + mix(b)) >> 17);
}

static bool is_datagram(int fd)
{
	int type = SOCK_STREAM;
	socklen_t length = sizeof type;
	return RT_SYSCALL(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_DGRAM;
}

/* What a descriptor is, unless it has been closed meanwhile. */
static uint64_t learn(int fd, uint64_t before, uint64_t object)
{
	atomic_compare_exchange_strong_explicit(&descriptor[fd], &before, object, memory_order_relaxed,
	                                        memory_order_relaxed);
	return object;
}

/* What came unseen, or is shared by its inode. */
static uint64_t look(int fd)
{
	struct stat is;
	if (RT_SYSCALL(SYS_newfstatat, fd, "", &is, AT_EMPTY_PATH) != 0)
		return NONE;
	if (S_ISSOCK(is.st_mode))
		return learn(fd, UNKNOWN, SOCKET);
	uint64_t object = SOCKET_BIT | mix(mix(is.st_dev) + is.st_ino) >> 17;
	if (S_ISREG(is.st_mode))
		return learn(fd, UNKNOWN, FILE_BIT | object);
	if ((is.st_mode & S_IFMT) == 0) /* all of these are one inode */
		return learn(fd, UNKNOWN, ANONYMOUS);
	return learn(fd, UNKNOWN, S_ISFIFO(is.st_mode) ? object : NONE);
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
static uint64_t object_of(int fd, bool out, const struct sockaddr *to, socklen_t length)
{
	uint64_t object = state_now(fd);
	if (object != SOCKET && object != DATAGRAM)
		return object & ~FILE_BIT;
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
	uint64_t object = object_of(fd, true, to, length);
	if (object != NONE)
		rt_emit_sync(RT_OP_HB_BEFORE, object, 0, pc, 0);
	if (is_file(fd))
		rt_fd_files_change(pc);
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

void rt_fd_passes(int from, int to, uintptr_t pc)
{
	rt_fd_publishes(to, NULL, 0, pc);
	if (!rt_recording())
		return;
	uint64_t in = object_of(from, false, NULL, 0), out = object_of(to, true, NULL, 0);
	uint32_t n = atomic_load(&pass_count), i = 0;
	while (i < n && i < PASSES_MAX && (atomic_load(&passes[i].from) != in || atomic_load(&passes[i].to) != out))
		i++;
	if (in == NONE || out == NONE || in == out || i < n || (i = atomic_fetch_add(&pass_count, 1)) >= PASSES_MAX)
		return;
	atomic_store(&passes[i].from, in);
	atomic_store(&passes[i].to, out);
}

static void after(uint64_t object, unsigned depth, uintptr_t pc)
{
	enum { CHAIN_MAX = 4 };
	rt_emit_sync(RT_OP_HB_AFTER, object, 0, pc, 0);
	uint32_t n = atomic_load_explicit(&pass_count, memory_order_relaxed);
	for (uint32_t i = 0; i < n && i < PASSES_MAX && depth < CHAIN_MAX; i++)
		if (atomic_load(&passes[i].to) == object)
			after(atomic_load(&passes[i].from), depth + 1, pc);
}

void rt_fd_closes(int fd, uintptr_t pc)
{
	if (is_told(fd)) {
		rt_emit_object(&descriptor[fd], pc);
		rt_file_unlocking(fd, pc);
		if (is_file(fd))
			rt_fd_files_change(pc);
		else
			rt_fd_publishes(fd, NULL, 0, pc);
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
	return state_now(fd) & ~FILE_BIT;
}

void rt_fd_received(int fd, bool got, uintptr_t pc)
{
	if (!rt_recording())
		return;
	uint64_t object = got ? object_of(fd, false, NULL, 0) : NONE;
	if (object != NONE)
		after(object, 0, pc);
	else
		rt_emit_time();
}

void rt_fd_read(int fd, ssize_t n, uintptr_t pc)
{
	rt_fd_received(fd, n > 0 || (n == 0 && rt_recording() && !is_file(fd)), pc);
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
}

/* Which descriptor an event is of: known by the data that the program gave with it; lost where two have the same place.
 */
static _Atomic uint64_t watched_data[FD_MAX];
static _Atomic int watched_by[FD_MAX], watched_place[FD_MAX]; /* descriptors + 1 */

static _Atomic int *place_of(int epoll, uint64_t data)
{
	return &watched_place[mix(mix(data + 1) + (unsigned)epoll) % FD_MAX];
}

void rt_fd_watched(int epoll, int operation, int fd, const struct epoll_event *event)
{
	if (fd < 0 || fd >= FD_MAX || !rt_recording())
		return;
	if (operation == EPOLL_CTL_DEL || !event) {
		atomic_store(&watched_by[fd], 0);
		return;
	}
	atomic_store(&watched_data[fd], event->data.u64);
	atomic_store(&watched_by[fd], epoll + 1);
	atomic_store(place_of(epoll, event->data.u64), fd + 1);
}

void rt_fd_event(int epoll, uint64_t data, uintptr_t pc)
{
	int fd = atomic_load(place_of(epoll, data)) - 1;
	if (fd >= 0 && atomic_load(&watched_by[fd]) == epoll + 1 && atomic_load(&watched_data[fd]) == data)
		rt_fd_received(fd, true, pc);
}
