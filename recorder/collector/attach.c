/*
 * Attaching to a process that was started idle (recorder/runtime/idle.c): its channel is found among its descriptors,
 * which the kernel shows to processes that may trace it. recorder/channel.h has the protocol.
 */
#include "recorder/collector/collector.h"
#include "recorder/collector/confine.h"
#include "recorder/collector/find.h"
#include "recorder/collector/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* True if the process has this memory file mapped; link: as in /proc/PID/maps. */
static bool maps_file(pid_t in_proc, const char *link)
{
	char name[64], line[512];
	bool found = false;
	snprintf(name, sizeof name, "/proc/%ld/maps", (long)in_proc);
	FILE *f = fopen(name, "re");
	while (f && !found && fgets(line, sizeof line, f)) {
		const char *at = strstr(line, link);
		found = at && (at[strlen(link)] == ' ' || at[strlen(link)] == '\n');
	}
	if (f)
		fclose(f);
	return found;
}

static enum rt_status not_idle(pid_t pid, pid_t in_proc, struct rt_error *err)
{
	if (maps_file(in_proc, RT_IDLE_LINK))
		return rt_error_set(err, RT_EINPUT,
		                    "cannot record process %ld: it has closed the recorder's descriptor", (long)pid);
	if (maps_file(in_proc, RT_CHANNEL_LINK))
		return rt_error_set(err, RT_EINPUT, "cannot record process %ld: 'racetrace record' runs it already",
		                    (long)pid);
	return rt_error_set(
	    err, RT_EINPUT,
	    "cannot record process %ld: it was not started idle: start it with 'racetrace record --idle "
	    "PROGRAM'",
	    (long)pid);
}

/* The channel's file. *fd is the caller's. */
static enum rt_status open_file(pid_t pid, pid_t in_proc, int *fd, struct rt_error *err)
{
	char folder[64], path[sizeof folder + 1 + sizeof((struct dirent *)0)->d_name], target[64];
	snprintf(folder, sizeof folder, "/proc/%ld/fd", (long)in_proc);
	DIR *d = opendir(folder);
	if (!d && errno == ENOENT)
		return rt_error_set(err, RT_EINPUT, "cannot record process %ld: there is none", (long)pid);
	if (!d)
		return rt_error_set(err, RT_ESYSTEM, "cannot record process %ld: %s: run this command as its user",
		                    (long)pid, strerror(errno));
	*fd = -1;
	for (struct dirent *e; *fd < 0 && (e = readdir(d));) {
		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		ssize_t n = readlink(path, target, sizeof target - 1);
		target[n > 0 ? n : 0] = '\0';
		if (!begins_with(target, RT_IDLE_LINK))
			continue;
		*fd = open(path, O_RDWR | O_CLOEXEC);
		if (*fd < 0) {
			rt_error_set(err, RT_ESYSTEM, "cannot record process %ld: cannot open '%s': %s", (long)pid,
			             path, strerror(errno));
			closedir(d);
			return RT_ESYSTEM;
		}
	}
	closedir(d);
	return *fd >= 0 ? RT_OK : not_idle(pid, in_proc, err);
}

/* The program may have written anything there. */
static bool is_sound(const struct rt_channel *h, uint64_t size)
{
	uint64_t slots = (uint64_t)h->slot_count * sizeof(struct rt_slot);
	return h->magic == RT_CHANNEL_MAGIC && h->idle && h->total_bytes == size && h->slot_count > 0 &&
	       h->ring_records >= 2 * RT_BLOCK_RECORDS && (h->ring_records & (h->ring_records - 1)) == 0 &&
	       h->slots_offset <= size && h->slots_offset % 64 == 0 && slots <= size - h->slots_offset &&
	       h->rings_offset <= size && h->rings_offset % 64 == 0 &&
	       h->slot_count <= (size - h->rings_offset) / sizeof(struct rt_record) / h->ring_records;
}

static enum rt_status map_channel(struct collector *c, pid_t pid, struct rt_error *err)
{
	struct stat st;
	if (fstat(c->fd, &st) != 0 || st.st_size < (off_t)RT_TREE_PAGE)
		return rt_error_set(err, RT_EINPUT, "cannot record process %ld: it is about to start", (long)pid);
	uint64_t size = (uint64_t)st.st_size;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, c->fd, 0);
	if (memory == MAP_FAILED)
		return rt_error_set(err, RT_ESYSTEM, "cannot map the shared memory of process %ld: %s%s", (long)pid,
		                    strerror(errno), limit_behind(errno));
	struct rt_channel header = *(struct rt_channel *)memory;
	c->channel = memory;
	c->total_bytes = size;
	if (header.magic == RT_CHANNEL_MAGIC && header.version != RT_CHANNEL_VERSION)
		return rt_error_set(err, RT_EINPUT,
		                    "cannot record process %ld: its recorder is of another version of racetrace",
		                    (long)pid);
	if (!is_sound(&header, size))
		return rt_error_set(err, RT_EINPUT,
		                    "cannot record process %ld: it is about to start, or its recorder is damaged",
		                    (long)pid);
	c->inode = st.st_ino;
	c->slot_count = header.slot_count;
	c->ring_blocks = header.ring_records / RT_BLOCK_RECORDS;
	c->slots_offset = header.slots_offset;
	c->rings_offset = header.rings_offset;
	c->views = calloc(c->slot_count, sizeof *c->views);
	return c->views ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for the collector");
}

/* The file's lock ends with the process that has it, and means the same in all PID namespaces. */
static enum rt_status own(struct collector *c, pid_t pid, struct rt_error *err)
{
	if (flock(c->fd, LOCK_EX | LOCK_NB) == 0) {
		atomic_store(&c->channel->owner, getpid());
		c->attached = c->owns = true;
		return RT_OK;
	}
	if (errno != EWOULDBLOCK)
		return rt_error_set(err, RT_ESYSTEM, "cannot record process %ld: cannot lock its shared memory: %s%s",
		                    (long)pid, strerror(errno), limit_behind(errno));
	return rt_error_set(err, RT_EINPUT, "process %ld is being recorded already, by process %ld", (long)pid,
	                    (long)atomic_load(&c->channel->owner));
}

static struct rt_slot *slot_of(const struct collector *c, uint32_t i)
{
	return (struct rt_slot *)(void *)((char *)c->channel + c->slots_offset) + i;
}

static uint32_t slots_used(const struct collector *c)
{
	uint32_t used = atomic_load(&c->channel->slots_used);
	return used < c->slot_count ? used : c->slot_count;
}

/* Behind all stamps that were given so far; what synchronises from now on has later ones. */
static uint64_t take_stamp(struct collector *c)
{
	uint64_t seen = atomic_load(&c->channel->clock), last = 0, stamp;
	for (uint32_t i = 0; i < slots_used(c); i++) {
		uint64_t of = __atomic_load_n(&slot_of(c, i)->last_stamp, __ATOMIC_RELAXED);
		last = of > last ? of : last;
	}
	do
		stamp = (last > seen ? last : seen) + 1;
	while (!atomic_compare_exchange_weak(&c->channel->clock, &seen, stamp));
	return stamp;
}

/* All threads find the session over. A thread that is about to give its slot room looks behind that. */
static void mute(struct collector *c)
{
	atomic_store(&c->channel->session, 0);
	for (uint32_t i = 0; i < slots_used(c); i++) {
		struct rt_slot *slot = slot_of(c, i);
		__atomic_store_n(&slot->limit, NULL, __ATOMIC_SEQ_CST);
		if (atomic_exchange(&slot->waiting, 0))
			syscall(SYS_futex, &slot->waiting, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	}
	atomic_store(&c->channel->may_confine, 0);
	atomic_store(&c->channel->ask, 0);
}

/* Slots whose threads have ended since, and those of threads that have not noticed the end of their session. */
static void sweep(struct collector *c)
{
	for (uint32_t i = 0; i < slots_used(c); i++) {
		struct rt_slot *slot = slot_of(c, i);
		atomic_store(&slot->session, 0);
		if (atomic_load(&slot->state) == RT_SLOT_ENDED)
			atomic_store(&slot->state, RT_SLOT_FREE);
	}
}

void attach_begin(struct collector *c)
{
	c->session = ++c->channel->sessions;
	c->channel->begun = take_stamp(c);
	atomic_store(&c->channel->ended, 0);
	atomic_store(&c->channel->session, c->session);
}

void attach_end(struct collector *c)
{
	uint64_t stamp = take_stamp(c), ended = atomic_load(&c->channel->ended);
	c->until = ended && ended < stamp ? ended : stamp; /* first: nothing before it is lost */
	mute(c);
}

void attach_release(struct collector *c)
{
	if (!c->owns)
		return;
	c->owns = false;
	mute(c);
	sweep(c);
	flock(c->fd, LOCK_UN);
}

enum rt_status collector_attach(pid_t pid, const struct collector_options *options, int *fd, struct collector **out,
                                struct rt_error *err)
{
	pid_t in_proc = process_in_proc(pid);
	enum rt_status status = open_file(pid, in_proc, fd, err);
	if (status)
		return status;
	struct collector *c = calloc(1, sizeof *c);
	if (!c)
		return rt_error_set(err, RT_EMEMORY, "no memory for the collector");
	c->fd = *fd;
	c->pid = in_proc;
	c->until = UINT64_MAX;
	c->tell = options->tell;
	status = map_channel(c, pid, err);
	if (!status)
		status = own(c, pid, err);
	if (status) {
		collector_free(c);
		return status;
	}
	mute(c);
	sweep(c);
	c->filters = confine_of(in_proc) - atomic_load(&c->channel->seen);
	c->channel->collector_pid = getpid();
	atomic_store(&c->channel->answer, atomic_load(&c->channel->request));
	atomic_store(&c->channel->executing, 0);
	atomic_store(&c->channel->sleeping, 0);
	*out = c;
	return RT_OK;
}
