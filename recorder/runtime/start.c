/*
 * How the recorder comes up in a program: finds the channel that `racetrace record` handed down, leaves the program's
 * environment as if it had not been there, and opens the main thread's slot. Without a channel it stays a runtime that
 * records nothing.
 */
#include "recorder/confined.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/sandbox.h"
#include "recorder/runtime/syscall.h"
#include "recorder/runtime/text.h"
#include "recorder/runtime/turn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct rt_channel *rt_channel;
struct rt_tree *rt_tree;
bool rt_sync_only, rt_not_plain;
uint64_t rt_memory_reserved;
static struct rt_private *privates;
static char (*larges)[RT_FILTER_BYTES];

/* Standard error as it was at the start. The program may open a file of its own under that number. */
static uint64_t error_device, error_inode; /* 0: closed */

static bool identify(int fd, uint64_t *device, uint64_t *inode)
{
	struct stat st = {0}; /* which the analyzer does not see filled in */

	if (RT_SYSCALL(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) != 0)
		return false;
	*device = st.st_dev;
	*inode = st.st_ino;
	return true;
}

static void see_error(void)
{
	identify(STDERR_FILENO, &error_device, &error_inode);
}

static void write_line(const char *message)
{
	RT_SYSCALL(SYS_write, STDERR_FILENO, message, rt_length(message));
	RT_SYSCALL(SYS_write, STDERR_FILENO, "\n", 1);
}

void rt_say(const char *message)
{
	uint64_t device, inode;

	if (!error_inode || !identify(STDERR_FILENO, &device, &inode) || device != error_device || inode != error_inode)
		return;
	write_line(message);
}

struct rt_private *rt_private_of(struct rt_slot *slot)
{
	return privates + (slot - rt_channel_slot(rt_channel, 0));
}

bool rt_memory_open(const void *from, size_t size)
{
	uintptr_t start = (uintptr_t)from & ~(uintptr_t)4095, end = ((uintptr_t)from + size + 4095) & ~(uintptr_t)4095;

	return RT_SYSCALL(SYS_mprotect, start, end - start, PROT_READ | PROT_WRITE) == 0;
}

bool rt_private_open(struct rt_slot *slot)
{
	return rt_memory_open(rt_private_of(slot), sizeof(struct rt_private));
}

struct rt_filter *rt_large_filter(struct rt_slot *slot)
{
	void *filter = larges ? larges[slot - rt_channel_slot(rt_channel, 0)] : NULL;

	return filter && rt_memory_open(filter, sizeof *larges) ? filter : NULL;
}

static void take_out(char **entry)
{
	for (; *entry; entry++)
		entry[0] = entry[1];
}

/* Gives a variable the value that ends its present one; NULL: takes it away. */
static void restore(char **environment, const char *name, const char *value)
{
	char **entry = rt_entry_of(environment, name);
	char *to = entry ? rt_value_of(*entry, name) : NULL;

	if (!entry)
		return;
	if (!value)
		take_out(entry);
	else if (rt_length(value) <= rt_length(to))
		rt_append_text(to, value);
}

/* The user's LD_PRELOAD, in place: what `record` put before it made the entry longer, never shorter. */
static void restore_preload(char **environment, const char *preload)
{
	bool was_set = preload[0] != '-' || preload[1];

	restore(environment, "LD_PRELOAD", was_set ? preload : NULL);
	restore(environment, RT_CHANNEL_ENV, NULL);
	if (rt_watch_is_there())
		restore(environment, "VALGRIND_LIB", NULL);
}

/* The user's LD_LIBRARY_PATH, which follows our folder. */
static void restore_library_path(char **environment, bool was_set)
{
	static const char name[] = "LD_LIBRARY_PATH";
	char **entry = rt_entry_of(environment, name);
	char *value = entry ? rt_value_of(*entry, name) : NULL;

	while (value && *value && *value != ':')
		value++;
	restore(environment, name, !was_set || !value ? NULL : *value ? value + 1 : value);
	restore(environment, RT_CHANNEL_ENV, NULL);
}

static bool channel_is_sound(const struct rt_channel *c, uint64_t size)
{
	uint64_t slots = (uint64_t)c->slot_count * sizeof(struct rt_slot);
	uint64_t rings = (uint64_t)c->slot_count * c->ring_records * sizeof(struct rt_record);

	return c->magic == RT_CHANNEL_MAGIC && c->version == RT_CHANNEL_VERSION && c->total_bytes <= size &&
	       c->slot_count > 0 && c->ring_records >= 4 * RT_BLOCK_RECORDS &&
	       (c->ring_records & (c->ring_records - 1)) == 0 && c->slots_offset <= size &&
	       slots <= size - c->slots_offset && c->rings_offset <= size && rings <= size - c->rings_offset;
}

/* where: NULL, or what is replaced. */
static void *map(void *where, size_t size, int protection, int flags, int fd, uint64_t offset)
{
	long at =
	    RT_SYSCALL(SYS_mmap, where, size, protection, flags | MAP_NORESERVE | (where ? MAP_FIXED : 0), fd, offset);

	if (at < 0 && at > -4096)
		return NULL;
	if (!where)
		rt_memory_reserved += size;
	return (void *)at;
}

void *rt_memory_reserve(void *where, size_t size)
{
	void *memory = map(where, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory) { /* huge pages would make each thread's private memory 2 MB at once */
		RT_SYSCALL(SYS_madvise, memory, size, MADV_NOHUGEPAGE);
		RT_SYSCALL(SYS_madvise, memory, size, MADV_DONTDUMP);
	}
	return memory;
}

/*
 * The private memory that goes with the slots; zeros, also where a forked process has its parent's. What is open is
 * together, as the number of mappings is limited. */
bool rt_privates_map(uint32_t slots)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	privates = rt_memory_reserve(privates, slots * sizeof *privates);
	/* What is reserved counts where the address space is limited: the program needs it more. */
	if (larges || RT_SYSCALL(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		larges = rt_memory_reserve(larges, slots * sizeof *larges);
	return privates != NULL;
}

/* Negative if it has none. */
static long file_size(int fd)
{
	return RT_SYSCALL(SYS_lseek, fd, 0, SEEK_END);
}

static bool map_tree(int fd)
{
	char *page = NULL;

	if (file_size(fd) >= (long)RT_TREE_PAGE)
		page = map(NULL, RT_TREE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	rt_tree = page ? (struct rt_tree *)(void *)(page + RT_TREE_OFFSET) : NULL;
	return rt_tree != NULL;
}

/*
 * A part of the file that the page of the tree is from, without the file: in a changed root, as another user or without
 * /proc it cannot be opened. A mapping that is remapped from length 0 is doubled, and may be longer than it was.
 */
static void *map_by_tree(void *where, uint64_t size, uint64_t offset)
{
	char *page = (char *)rt_tree - RT_TREE_OFFSET;
	long whole, part;

	if (offset > UINT64_MAX / 2 - size)
		return NULL;
	whole = RT_SYSCALL(SYS_mremap, page, 0, offset + size, MREMAP_MAYMOVE);
	if (whole < 0 && whole > -4096)
		return NULL;
	if (!where)
		where = map(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	part = where ? RT_SYSCALL(SYS_mremap, whole + (long)offset, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, where)
	             : -ENOMEM;
	RT_SYSCALL(SYS_munmap, whole, part < 0 && part > -4096 ? offset + size : offset);
	return part < 0 && part > -4096 ? NULL : (void *)part;
}

/*
 * All channels of a file are alike, so the first one's header, on the page of the tree, tells the size. fd: negative if
 * the file cannot be opened.
 */
static struct rt_channel *map_channel(int fd, uint32_t number, void *where)
{
	const struct rt_channel *first = (const struct rt_channel *)(const void *)((char *)rt_tree - RT_TREE_OFFSET);
	uint64_t size = first->total_bytes;
	long total = fd < 0 ? LONG_MAX : file_size(fd);
	struct rt_channel *c;

	if (total < 0 || size < sizeof *c || (uint64_t)total / size <= number)
		return NULL;
	c = fd < 0 ? map_by_tree(where, size, size * number)
	           : map(where, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, size * number);
	if (c) /* a program that dumps core would have all of it, and first allocate it */
		RT_SYSCALL(SYS_madvise, c, size, MADV_DONTDUMP);
	if (c && !channel_is_sound(c, size)) {
		if (where)
			map(where, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		else
			RT_SYSCALL(SYS_munmap, c, size);
		c = NULL;
	}
	return c && rt_privates_map(c->slot_count) ? c : NULL;
}

/* ---- Joining a tree ---- */

static bool begins_with(const char *text, const char *start)
{
	while (*start && *text == *start)
		text++, start++;
	return !*start;
}

static void file_name(char *to, pid_t collector, unsigned fd)
{
	char *end = rt_append_number(rt_append_text(to, "/proc/"), (uint64_t)collector);

	rt_append_number(rt_append_text(end, "/fd/"), fd);
}

/* Negative errno if it cannot be had. The process may be another one by now, with any file under that number. */
static int open_file(pid_t collector, unsigned fd)
{
	char name[64], target[64];
	file_name(name, collector, fd);
	long n = RT_SYSCALL(SYS_readlinkat, AT_FDCWD, name, target, sizeof target - 1);
	if (n < 0)
		return (int)n;
	target[n] = 0;
	if (!begins_with(target, RT_CHANNEL_LINK))
		return -ENOENT;
	return (int)RT_SYSCALL(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC);
}

static void wake_acceptor(void)
{
	atomic_fetch_add(&rt_tree->bell, 1);
	rt_futex_wake(&rt_tree->bell, 1);
}

/* Waits until the collector has made this channel; it is always some ahead, so this is rare. */
static bool await_channel(uint32_t number)
{
	uint32_t word = 0;

	for (int tries = 0; tries < 5000; tries++) {
		if (atomic_load(&rt_tree->over))
			return false;
		if (atomic_load(&rt_tree->made) > number)
			return true;
		if (tries % 100 == 99 && !rt_collector_alive())
			return false;
		rt_futex_wait(&word, 0, 1);
	}
	return false;
}

/* A channel of its own for this process. NULL: there is none to be had. */
static struct rt_channel *take_channel(int fd, void *where)
{
	uint32_t number;

	if (atomic_load(&rt_tree->over))
		return NULL;
	number = atomic_fetch_add(&rt_tree->taken, 1);
	wake_acceptor();
	return await_channel(number) ? map_channel(fd, number, where) : NULL;
}

void rt_announce(bool forked)
{
	rt_watched = rt_channel->watched && rt_watch_is_there();
	rt_channel->watched = rt_watched;
	rt_tsc &= !rt_watched;
	rt_values = rt_channel->values && !rt_sync_only && !rt_watched;
	rt_stepwise = rt_values || rt_watched;
	rt_not_plain = rt_sync_only || rt_values || rt_watched;
	if (rt_values && !forked)
		rt_value_start();
	rt_channel->program_pid = (int32_t)RT_SYSCALL(SYS_getpid);
	rt_channel->forked = forked;
	rt_channel->sync_only = rt_sync_only;
	rt_thread_start(forked);
	atomic_store(&rt_channel->started, 1);
	wake_acceptor();
	rt_request_map();
	if (RT_CONTROLLED && rt_thread.own)
		rt_turn_start(rt_thread.own);
}

bool rt_tree_join(void *where)
{
	int fd;
	struct rt_channel *c;

	if (!rt_tree || !rt_tree->nonce || atomic_load(&rt_tree->over))
		return false;
	fd = open_file(rt_tree->collector_pid, (unsigned)rt_tree->collector_fd);
	c = take_channel(fd, where);
	if (fd >= 0)
		RT_SYSCALL(SYS_close, fd);
	rt_channel = c;
	if (!c) {
		if (rt_sandboxed) /* where it may not be said */
			atomic_fetch_add(&rt_tree->lost, 1);
		else if (fd < 0)
			rt_say("racetrace: a process cannot reach the collector; it runs unrecorded");
		return false;
	}
	rt_announce(true);
	return true;
}

/* ---- Starting ---- */

static uint64_t number(const char **text)
{
	uint64_t n = 0;

	for (; **text >= '0' && **text <= '9'; ++*text)
		n = n * 10 + (uint64_t)(**text - '0');
	return n;
}

/* The first three words of RT_CHANNEL_ENV. */
struct origin {
	unsigned fd;
	pid_t collector;
	uint32_t filters;
};
static struct origin read_origin(const char **text)
{
	uint64_t word[3];

	for (int i = 0; i < 3; i++) {
		word[i] = number(text);
		*text += **text == ':';
	}
	return (struct origin){(unsigned)word[0], (pid_t)(word[1] & INT_MAX), (uint32_t)word[2]};
}

/*
 * True if the program does not run under as many filters as the collector: it was executed in a sandbox, of which
 * nothing is known. True, too, if the collector could read its number and the program cannot. Nothing further is called
 * then. The collector says it, if it can be reached.
 */
static bool leave_sandbox(const struct origin *o)
{
	char name[64];
	uint32_t filters = rt_sandbox_filters();
	int fd;

	if (filters == o->filters || (filters == 0 && o->filters == RT_FILTERS_UNKNOWN))
		return false;
	file_name(name, o->collector, o->fd);
	fd = (int)RT_SYSCALL(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		RT_SYSCALL(SYS_close, fd);
	else /* by the one further call that no program does without */
		write_line("racetrace: a program was executed in a sandbox; it runs unrecorded");
	return true;
}

static void start_first(char **environment, const char *text)
{
	struct origin o = read_origin(&text);
	int fd = (int)o.fd;
	bool left = leave_sandbox(&o);

	if (!left)
		see_error();
	if (!left && map_tree(fd))
		rt_channel = map_channel(fd, 0, NULL);
	RT_SYSCALL(SYS_close, fd);
	restore_preload(environment, text);
	if (left)
		return;
	if (!rt_channel) {
		rt_say("racetrace: the recorder does not understand its channel; the program runs unrecorded");
		return;
	}
	rt_sync_only = rt_channel->sync_only;
	rt_fork_start();
	rt_call_at(RT_AT_START);
	rt_announce(false);
}

/* True if this process is in the PID namespace with that inode, and so finds the collector by its number. */
static bool is_namespace(uint64_t inode)
{
	struct stat st = {0};

	return RT_SYSCALL(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &st, 0) == 0 && st.st_ino == inode;
}

/*
 * Executed by a process of the tree, or by what one has executed; maybe long after the recording. What is to run under
 * the tool is first started by Valgrind's launcher, which passes the environment on.
 */
static void start_executed(char **environment, const char *text)
{
	struct origin o = read_origin(&text);
	uint64_t nonce = number(&text);
	text += *text == ':';
	uint64_t namespace = number(&text);
	text += *text == ':';
	bool watched = *text && text[1] == ':';
	const char *preload = watched || (*text && text[1] == '=') ? text + 2 : NULL;

	if (watched && !rt_watch_is_there())
		return;
	bool left = leave_sandbox(&o);
	int fd = left ? -1 : open_file(o.collector, o.fd);
	if (!left)
		see_error();
	if (fd == -EACCES || fd == -EPERM || (fd == -ENOENT && !is_namespace(namespace)))
		rt_say("racetrace: a process cannot reach the collector; it runs unrecorded");
	if (fd >= 0) {
		if (map_tree(fd) && rt_tree->nonce == nonce && nonce)
			rt_channel = take_channel(fd, NULL);
		else
			rt_tree = NULL;
		RT_SYSCALL(SYS_close, fd);
	}
	bool had_path = *text == '+'; /* text is behind an entry that goes away */
	if (preload)
		restore_preload(environment, preload);
	restore_library_path(environment, had_path);
	if (rt_channel) {
		rt_fork_start();
		rt_call_at(RT_AT_START);
		rt_announce(false);
	}
}

static void start(int argc, char **argv, char **environment)
{
	char **entry = rt_entry_of(environment, RT_CHANNEL_ENV);
	const char *text = entry ? rt_value_of(*entry, RT_CHANNEL_ENV) : NULL;

	char **idle = text ? NULL : rt_entry_of(environment, RT_IDLE_ENV);
	const char *word = idle ? rt_value_of(*idle, RT_IDLE_ENV) : NULL;

	(void)argc, (void)argv;
	rt_time_start();
	if (text && *text >= '0' && *text <= '9')
		start_first(environment, text);
	else if (text && *text == '@')
		start_executed(environment, text + 1);
	else if (word) {
		see_error();
		rt_idle_start(word);
	}
}

/* The linker runs this library's initialisers before all others (-z initfirst), and passes them what main gets. */
__attribute__((section(".init_array"), used)) static void (*const start_entry)(int, char **, char **) = start;
