/* Objects of descriptors; see fd_object.h. */
#include "recorder/intercept/fd_object.h"

#include "recorder/intercept/sync.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

/* ---- The table ---- */

/*
 * It is opened as far as descriptors come, since what is open counts as the program's data. The first entries are open
 * from the start: a sandbox may forbid it later.
 */
#define FD_MAX 65536
enum { FIRST = 4096, STEP = 256 };
static struct rt_fd *_Atomic table;
static char descriptor[FD_MAX];               /* never touched; reports have its name */
static _Atomic int opened, openable = FD_MAX; /* entries, of which more than openable cannot be had */
static _Atomic uint32_t descriptions;
static _Atomic int highest; /* descriptor that was seen */
static _Atomic uint32_t numbers = RT_FD_FIRST_NUMBER;

static struct rt_fd *reserve(void)
{
	struct rt_fd *mine = rt_memory_reserve(NULL, FD_MAX * sizeof *mine), *none = NULL;
	if (!mine || atomic_compare_exchange_strong(&table, &none, mine))
		return mine;
	RT_SYSCALL(SYS_munmap, mine, FD_MAX * sizeof *mine);
	return none;
}

static __attribute__((noinline)) struct rt_fd *open_to(int fd)
{
	struct rt_fd *t;
	int before = atomic_load(&opened), count = (fd / STEP + 1) * STEP;
	if (!rt_channel || fd < 0 || fd >= atomic_load(&openable))
		return NULL;
	if ((!(t = atomic_load(&table)) && !(t = reserve())) || !rt_memory_open(t, (size_t)count * sizeof *t)) {
		if (atomic_exchange(&openable, before) == FD_MAX)
			rt_say("racetrace: no memory to follow more descriptors");
		return NULL;
	}
	while (before < count && !atomic_compare_exchange_weak(&opened, &before, count))
		;
	return t + fd;
}

static void open_first(void)
{
	open_to(FIRST - 1);
}
RT_CALL_AT(RT_AT_START, open_first);

struct rt_fd *rt_fd_entry(int fd)
{
	if (RT_UNLIKELY((unsigned)fd >= (unsigned)atomic_load_explicit(&opened, memory_order_acquire)))
		return open_to(fd);
	return atomic_load_explicit(&table, memory_order_relaxed) + fd;
}

const void *rt_fd_memory(int fd)
{
	return &descriptor[fd];
}

int rt_fd_highest(void)
{
	return atomic_load_explicit(&highest, memory_order_relaxed);
}

static uint64_t state_of(int fd)
{
	struct rt_fd *e = rt_fd_entry(fd);
	return e ? atomic_load_explicit(&e->state, memory_order_relaxed) : RT_FD_NONE;
}

uint64_t rt_fd_state(int fd)
{
	uint64_t state = state_of(fd);
	return state == RT_FD_CLOSED ? RT_FD_UNKNOWN : state;
}

void rt_fd_set(int fd, uint64_t state)
{
	struct rt_fd *e = rt_fd_entry(fd);
	if (e)
		atomic_store_explicit(&e->state, state, memory_order_relaxed);
}

void rt_fd_come(int fd, uint64_t state)
{
	struct rt_fd *e = rt_fd_entry(fd);
	if (!e)
		return;
	uint64_t before = atomic_load_explicit(&e->state, memory_order_relaxed);
	if (before == RT_FD_CLOSED && rt_recording()) {
		rt_emit_sync(RT_OP_HB_AFTER, (uintptr_t)&e->number, 0, 0, 0);
		rt_emit_sync(RT_OP_NEW_MEMORY, (uintptr_t)rt_fd_memory(fd), 1, 0, 0);
	}
	if (before != state)
		atomic_store_explicit(&e->state, state, memory_order_relaxed);
	e->description = atomic_fetch_add_explicit(&descriptions, 1, memory_order_relaxed) + FD_MAX;
	e->named = false;
	e->since = 0;
	int most = rt_fd_highest();
	while (fd > most && !atomic_compare_exchange_weak(&highest, &most, fd))
		;
}

uint32_t rt_fd_description(int fd)
{
	const struct rt_fd *e = rt_fd_entry(fd);
	uint32_t description = e ? e->description : 0;
	return description ? description : (uint32_t)fd; /* of one that came unseen its number is as good */
}

uint64_t rt_fd_new_number(void)
{
	uint32_t n = atomic_load_explicit(&numbers, memory_order_relaxed);
	while (n < RT_FD_NUMBER_MAX && !atomic_compare_exchange_weak(&numbers, &n, n + 1))
		;
	return n;
}

/* ---- Objects ---- */

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

#if RT_CONTROLLED
/*
 * By turns objects are numbered as they come: what they are known by (inodes, ports) is new in each run, and equal runs
 * are to have equal traces. Two numbers each, as a terminal has two objects. 0: there is no room.
 */
static uint64_t numbered(uint64_t mixed)
{
	enum { ROOM = 4096 };
	static _Atomic uint64_t known[ROOM];
	for (unsigned i = 0; i < ROOM; i++) {
		uint64_t at = atomic_load_explicit(&known[i], memory_order_relaxed);
		if (at == mixed || (!at && (atomic_compare_exchange_strong(&known[i], &at, mixed) || at == mixed)))
			return RT_OBJECT_NAMED + 2 * (i + 1);
	}
	return 0;
}
#endif

uint64_t rt_fd_object_of(uint64_t mixed)
{
#if RT_CONTROLLED
	uint64_t object = rt_turn_mine() ? numbered(mixed) : 0;
	if (object)
		return object;
#endif
	return rt_object_hashed(RT_OBJECT_NAMED, mixed);
}

static uint64_t object_of_name(uint64_t key)
{
	return key ? rt_fd_object_of(rt_object_mix(key)) : RT_FD_UNNAMED;
}

uint64_t rt_fd_object_of_address(const struct sockaddr *a, socklen_t length)
{
	return object_of_name(key_of(a, length));
}

uint64_t rt_fd_object_of_own_end(int fd)
{
	struct end own;
	return object_of_name(end_of(fd, SYS_getsockname, &own));
}

uint64_t rt_fd_object_of_inode(uint64_t device, uint64_t inode)
{
	return rt_fd_object_of(rt_object_mix(rt_object_mix(device) + inode));
}

static uint64_t object_of_stream(int fd)
{
	struct end own, peer;
	uint64_t a = end_of(fd, SYS_getsockname, &own), b = end_of(fd, SYS_getpeername, &peer);
	if (own.length && own.address.ss_family == AF_UNIX)
		return object_of_name(a ? a : b);
	if (own.length && own.address.ss_family != AF_INET && own.address.ss_family != AF_INET6)
		return RT_FD_UNNAMED;
	if (!a || !b) /* not connected */
		return RT_FD_NONE;
	return rt_fd_object_of(rt_object_mix(a) + rt_object_mix(b));
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
	struct rt_fd *e = rt_fd_entry(fd);
	if (e)
		atomic_compare_exchange_strong_explicit(&e->state, &before, object, memory_order_relaxed,
		                                        memory_order_relaxed);
	return object;
}

/* The object of a known descriptor that is a copy of this one, else `otherwise`. */
static uint64_t object_of_copy(int fd, uint64_t otherwise)
{
	long process = RT_SYSCALL(SYS_getpid);
	int most = rt_fd_highest();
	for (int other = 0; other <= most; other++) {
		uint64_t object = rt_fd_state(other);
		if (other != fd && (object & ~RT_FD_EPOLL) >= RT_FD_FIRST_NUMBER &&
		    (object & ~RT_FD_EPOLL) <= RT_FD_NUMBER_MAX &&
		    RT_SYSCALL(SYS_kcmp, process, process, KCMP_FILE, fd, other) == 0)
			return object;
	}
	return otherwise;
}

/* What goes to a terminal's slave, and plus one what comes from there. */
static uint64_t terminal(unsigned index)
{
	return rt_fd_object_of(rt_object_mix(index + 1)) & ~UINT64_C(1);
}

static _Atomic bool terminals; /* the program is the other side of any */

uint64_t rt_fd_look_at_device(int fd, const struct stat *is)
{
	enum { SLAVES = 136, SLAVES_END = 144 };
	unsigned index;
	if (major(is->st_rdev) >= SLAVES && major(is->st_rdev) < SLAVES_END)
		return learn(fd, RT_FD_UNKNOWN, RT_FD_SLAVE | terminal(minor(is->st_rdev)));
	if (!S_ISCHR(is->st_mode) || RT_SYSCALL(SYS_ioctl, fd, TIOCGPTN, &index) != 0)
		return learn(fd, RT_FD_UNKNOWN, RT_FD_NONE);
	atomic_store(&terminals, true);
	rt_fd_passes_between(terminal(index), terminal(index) + 1); /* an echo */
	return learn(fd, RT_FD_UNKNOWN, RT_FD_MASTER | terminal(index));
}

/* What came unseen, or is shared by its inode. */
static uint64_t look(int fd)
{
	struct stat is;
	if (RT_SYSCALL(SYS_newfstatat, fd, "", &is, AT_EMPTY_PATH) != 0)
		return RT_FD_NONE;
	if (S_ISSOCK(is.st_mode))
		return learn(fd, RT_FD_UNKNOWN, object_of_copy(fd, RT_FD_SOCKET));
	if (S_ISREG(is.st_mode))
		return learn(fd, RT_FD_UNKNOWN, RT_FD_FILE | rt_fd_object_of_inode(is.st_dev, is.st_ino));
	if ((is.st_mode & S_IFMT) == 0) /* all of these are one inode */
		return learn(fd, RT_FD_UNKNOWN, object_of_copy(fd, RT_FD_ANONYMOUS));
	if (S_ISFIFO(is.st_mode))
		return learn(fd, RT_FD_UNKNOWN, rt_fd_object_of_inode(is.st_dev, is.st_ino));
	return rt_fd_look_at_device(fd, &is);
}

uint64_t rt_fd_state_now(int fd)
{
	uint64_t state = rt_fd_state(fd);
	return state == RT_FD_UNKNOWN ? look(fd) : state;
}

bool rt_fd_is_file(int fd)
{
	return rt_fd_state_now(fd) & RT_FD_FILE;
}

/* A stream's is looked up once, when it is connected. */
uint64_t rt_fd_object(int fd, bool out, const struct sockaddr *to, socklen_t length)
{
	uint64_t object = rt_fd_state_now(fd);
	if (object & (RT_FD_MASTER | RT_FD_SLAVE) && object != RT_FD_CLOSED)
		return atomic_load(&terminals) ? (object & ~RT_FD_ENTRY_BITS) + (out == !(object & RT_FD_MASTER))
		                               : RT_FD_NONE;
	if (object != RT_FD_SOCKET && object != RT_FD_DATAGRAM)
		return object & ~RT_FD_ENTRY_BITS;
	struct end end;
	if (object == RT_FD_SOCKET && is_datagram(fd))
		object = learn(fd, RT_FD_SOCKET, RT_FD_DATAGRAM);
	if (object == RT_FD_DATAGRAM) {
		if (out && to)
			object = rt_fd_object_of_address(to, length);
		else
			object = object_of_name(end_of(fd, out ? SYS_getpeername : SYS_getsockname, &end));
	} else {
		object = object_of_stream(fd);
		if (object != RT_FD_NONE)
			learn(fd, RT_FD_SOCKET, object);
	}
	return object;
}
