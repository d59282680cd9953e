/* Making collectors and their channels, and what both tell; see collect.h. */
#include "recorder/collector/collector.h"
#include "recorder/collector/confine.h"
#include "recorder/collector/find.h"
#include "recorder/collector/limits.h"
#include "recorder/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The program inherits the file under a high number, which shifts none of the program's own. */
enum rt_status collector_file(int *fd, struct rt_error *err)
{
	int low = memfd_create(RT_CHANNEL_FILE, MFD_CLOEXEC);
	if (low < 0)
		return rt_error_set(err, RT_ESYSTEM, "cannot make shared memory: %s%s", strerror(errno),
		                    limit_behind(errno));
	int high = fcntl(low, F_DUPFD_CLOEXEC, 1000);
	if (high < 0)
		high = fcntl(low, F_DUPFD_CLOEXEC, 3);
	int failure = errno;
	close(low);
	*fd = high;
	if (high >= 0)
		return RT_OK;
	return rt_error_set(err, RT_ESYSTEM, "cannot make shared memory: %s%s", strerror(failure),
	                    limit_behind(failure));
}

static uint64_t page_round(uint64_t n)
{
	return (n + 4095) & ~UINT64_C(4095);
}

/* All channels of a file have the same layout, so each has room for it. */
static uint64_t control_bytes(const struct collector_options *options)
{
	return options->control ? page_round(sizeof(struct rt_control) + options->control->input_bytes) : 0;
}

static bool is_controlled(const struct collector_options *options, uint32_t number)
{
	return options->control && (number == 0 || options->control->flags & RT_CONTROL_CHILDREN);
}

/* Each process has a seed of its own. */
static void write_control(struct collector *c, const struct collector_control *from, uint32_t number, uint64_t offset)
{
	struct rt_control *to = (struct rt_control *)(void *)((char *)c->channel + offset);
	snprintf(to->strategy, sizeof to->strategy, "%s", from->strategy);
	to->seed = from->seed + number;
	to->flags = from->flags;
	to->input_bytes = from->input_bytes;
	if (from->input_bytes)
		memcpy(to + 1, from->input, from->input_bytes);
	c->control = to;
	c->channel->control_offset = offset;
}

static enum rt_status channel_create(struct collector *c, const struct collector_options *options, uint32_t number,
                                     struct rt_error *err)
{
	uint64_t ring_bytes = (uint64_t)options->ring_records * sizeof(struct rt_record);
	c->slots_offset = RT_TREE_PAGE;
	c->rings_offset = page_round(c->slots_offset + (uint64_t)options->slots * sizeof(struct rt_slot));
	uint64_t control_offset = page_round(c->rings_offset + options->slots * ring_bytes);
	c->total_bytes = control_offset + control_bytes(options);
	c->offset = (off_t)(number * c->total_bytes);
	errno = EFBIG;
	if (!limit_allows_file((uint64_t)c->offset + c->total_bytes) ||
	    ftruncate(c->fd, c->offset + (off_t)c->total_bytes) != 0)
		return rt_error_set(err, RT_ESYSTEM, "cannot make shared memory of %llu bytes: %s%s",
		                    (unsigned long long)c->total_bytes, strerror(errno), limit_behind(errno));
	void *memory = mmap(NULL, c->total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, c->fd, c->offset);
	if (memory == MAP_FAILED)
		return rt_error_set(err, RT_ESYSTEM, "cannot map shared memory: %s%s", strerror(errno),
		                    limit_behind(errno));
	struct stat st;
	c->inode = fstat(c->fd, &st) == 0 ? st.st_ino : 0;
	c->channel = memory;
	c->channel->magic = RT_CHANNEL_MAGIC;
	c->channel->version = RT_CHANNEL_VERSION;
	c->channel->slot_count = options->slots;
	c->channel->ring_records = options->ring_records;
	c->channel->exit_sleep_ms = options->exit_sleep_ms;
	c->channel->vary = options->vary;
	c->channel->values = options->values;
	c->channel->sync_only = options->sync_only;
	c->channel->watched = options->watched;
	c->channel->collector_pid = getpid();
	c->filters = confine_own();
	c->channel->slots_offset = c->slots_offset;
	c->channel->rings_offset = c->rings_offset;
	c->channel->total_bytes = c->total_bytes;
	if (is_controlled(options, number))
		write_control(c, options->control, number, control_offset);
	return RT_OK;
}

enum rt_status collector_create(int fd, uint32_t number, const struct collector_options *options,
                                struct collector **out, struct rt_error *err)
{
	uint32_t n = options->ring_records;
	if (options->slots == 0 || n < 2 * RT_BLOCK_RECORDS || (n & (n - 1)) != 0)
		return rt_error_set(err, RT_EUSAGE, "a ring must hold a power of two of records, at least %u",
		                    2 * RT_BLOCK_RECORDS);
	struct collector *c = calloc(1, sizeof *c);
	struct view *views = calloc(options->slots, sizeof *views);
	if (!c || !views) {
		free(c);
		free(views);
		return rt_error_set(err, RT_EMEMORY, "no memory for the collector");
	}
	c->views = views;
	c->until = UINT64_MAX;
	c->fd = fd;
	c->tell = options->tell;
	c->slot_count = options->slots;
	c->ring_blocks = n / RT_BLOCK_RECORDS;
	enum rt_status status = channel_create(c, options, number, err);
	if (status)
		collector_free(c);
	else
		*out = c;
	return status;
}

void collector_free(struct collector *c)
{
	if (!c)
		return;
	if (c->channel)
		attach_release(c);
	if (c->channel)
		munmap(c->channel, c->total_bytes);
	for (size_t i = 0; i < c->names_size; i++)
		free(c->names[i]);
	free(c->names);
	free(c->views);
	modules_release(&c->modules);
	free(c->hidden_atomics);
	free(c);
}

void collector_reclaim(struct collector *c)
{
	if (c->offset > 0) /* the first channel has what all processes share */
		fallocate(c->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, c->offset, (off_t)c->total_bytes);
}

const struct rt_control *collector_control(const struct collector *c)
{
	return c->control;
}

bool collector_started(const struct collector *c)
{
	return atomic_load(&c->channel->started) != 0;
}

pid_t collector_told(const struct collector *c)
{
	return c->channel->program_pid;
}

pid_t collector_find(const struct collector *c)
{
	pid_t told = c->channel->program_pid, found = process_find(told, &(struct mapping){c->inode, c->offset});
	return !found && atomic_load(&c->channel->executing) ? process_in_proc(told) : found;
}

bool collector_forked(const struct collector *c)
{
	return c->channel->forked != 0;
}

bool collector_watched(const struct collector *c)
{
	return c->channel->watched != 0;
}

bool collector_sync_only(const struct collector *c)
{
	return c->channel->sync_only != 0;
}

bool collector_replaced(const struct collector *c)
{
	return c->replaced;
}

size_t collector_threads(const struct collector *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->names_size; i++)
		n += c->names[i] != NULL;
	return n;
}

void collector_abandon(struct collector *c)
{
	if (!c->attached)
		atomic_store(&c->channel->collector_gone, 1);
	collector_stop(c);
}

struct rt_tree *collector_tree(const struct collector *c)
{
	return (struct rt_tree *)(void *)((char *)c->channel + RT_TREE_OFFSET);
}

unsigned collector_broken(const struct collector *c)
{
	return c->broken;
}

const char *collector_hidden_atomics(const struct collector *c)
{
	return c->hidden_atomics;
}

void collector_name_hidden_atomics(struct collector *c, const char *names)
{
	free(c->hidden_atomics);
	c->hidden_atomics = names ? strdup(names) : NULL;
}

const struct modules *collector_modules(const struct collector *c)
{
	return &c->modules;
}
