/*
 * The source for RAPID's STD text format (see docs and parse.c for the grammar).
 *
 * An event's number is its line. STD has names instead of addresses, so each variable, lock and region gets an
 * artificial address: variables 8-byte cells in one range, locks and regions in others. A position's pc represents its
 * text, so equal text is equal position; 0 is an empty one.
 */
#include "tracefmt/std/std.h"

#include "lib/base/hash.h"
#include "tracefmt/location.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert((int)RT_OP_COUNT <= (int)STD_HAS_VALUE, "an operation fits beside STD_HAS_VALUE");

#define VARIABLES (UINT64_C(1) << 44)
#define LOCKS (UINT64_C(2) << 44)
#define REGIONS (UINT64_C(3) << 44)
enum { CELL = 8 };

struct std_position {
	struct rt_frame frame;
	UT_hash_handle hh;
	char strings[]; /* the text, the file */
};

static uint64_t address(uint64_t range, uint32_t index)
{
	return range + (uint64_t)index * CELL;
}

/* Index of the range's cell that addr is in, or `count` if it is not in the range. */
static uint32_t index_in(uint64_t range, uint32_t count, uint64_t addr)
{
	return addr >= range && (addr - range) / CELL < count ? (uint32_t)((addr - range) / CELL) : count;
}

/* Any text may be STD; the first line that is not is reported when it is parsed. */
static bool std_probe(const unsigned char *start, size_t n)
{
	return !memchr(start, '\0', n);
}

static void std_free(struct rt_trace *trace)
{
	struct std *std = (struct std *)trace;
	struct std_position *position = std->asked, *next;
	HASH_CLEAR(hh, std->asked);
	for (; position; position = next) {
		next = position->hh.next;
		free(position);
	}
	free(std->events);
	free(std->values);
	free(std->threads);
	free(std->ordinals);
	names_release(&std->thread_names);
	names_release(&std->variables);
	names_release(&std->locks);
	names_release(&std->regions);
	names_release(&std->positions);
	free(std);
}

static enum rt_status std_open(int fd, const char *path, const struct rt_trace_options *options, struct rt_trace **out,
                               struct rt_error *err)
{
	struct std *std = calloc(1, sizeof *std);
	if (!std) {
		close(fd);
		return rt_error_set(err, RT_EMEMORY, "no memory to open '%s'", path);
	}
	std->trace.info.model = RT_MODEL_SC;
	std->trace.info.exact = std->trace.info.complete = std->trace.info.zeroed = true;
	enum rt_status status = std_parse(std, fd, path, options, err);
	if (status) {
		std_free(&std->trace);
		return status;
	}
	*out = &std->trace;
	return RT_OK;
}

static enum rt_status std_rewind(struct rt_trace *trace, struct rt_error *err)
{
	(void)err;
	struct std *std = (struct std *)trace;
	memset(std->ordinals, 0, trace->info.thread_count * sizeof *std->ordinals);
	std->next = 0;
	return RT_OK;
}

static void expand(const struct std *std, size_t i, struct rt_event *out)
{
	const struct std_event *e = &std->events[i];
	unsigned op = e->what & 0x7f;
	uint64_t addr, arg = 0;
	switch (op) {
	case RT_OP_READ:
	case RT_OP_WRITE:
		addr = address(VARIABLES, e->object);
		arg = CELL;
		break;
	case RT_OP_ACQUIRE:
	case RT_OP_RELEASE:
		addr = address(LOCKS, e->object);
		break;
	case RT_OP_FORK:
	case RT_OP_JOIN:
		addr = e->object;
		break;
	default:
		addr = e->object ? address(REGIONS, e->object - 1) : 0;
	}
	bool value = e->what & STD_HAS_VALUE;
	*out = (struct rt_event){
	    .number = e->number,
	    .ordinal = std->ordinals[e->what >> 8],
	    .stamp = e->number,
	    .addr = addr,
	    .arg = arg,
	    .pc = e->position,
	    .value = value ? std->values[i] : 0,
	    .thread = e->what >> 8,
	    .op = (uint8_t)op,
	    .flags = value ? RT_F_VALUE : 0,
	};
}

static enum rt_status std_read(struct rt_trace *trace, struct rt_event *events, size_t n, size_t *got,
                               struct rt_error *err)
{
	(void)err;
	struct std *std = (struct std *)trace;
	size_t filled = 0;
	for (; filled < n && std->next < std->count; std->next++) {
		uint32_t what = std->events[std->next].what;
		std->ordinals[what >> 8]++;
		if (trace->mask >> (what & 0x7f) & 1)
			expand(std, std->next, &events[filled++]);
	}
	*got = filled;
	return RT_OK;
}

static struct std_position *make_position(const struct std *std, uint32_t pc)
{
	char number[16];
	const char *text = number;
	size_t length;
	if (pc & STD_LINE) {
		length = (size_t)snprintf(number, sizeof number, "%u", pc & ~STD_LINE);
	} else {
		text = std->positions.entries[pc - 1].text;
		length = std->positions.entries[pc - 1].length;
	}
	struct std_position *position = calloc(1, sizeof *position + 2 * (length + 1));
	if (!position)
		return NULL;
	position->frame.pc = pc;
	memcpy(position->strings, text, length);
	rt_location_parse(position->strings, length, position->strings + length + 1, &position->frame);
	return position;
}

/* Like reading, this is for one thread at a time: it caches its result. */
static const struct rt_frame *std_frames(const struct rt_trace *trace, uint64_t pc, size_t *count)
{
	struct std *std = (struct std *)trace;
	struct std_position *position;
	*count = 0;
	if (pc == 0 || pc > UINT32_MAX || (!(pc & STD_LINE) && pc > std->positions.count))
		return NULL;
	HASH_FIND(hh, std->asked, &pc, sizeof pc, position);
	if (!position) {
		position = make_position(std, (uint32_t)pc);
		if (!position) {
			std->trace.info.no_memory = true;
			return NULL;
		}
		HASH_ADD(hh, std->asked, frame.pc, sizeof position->frame.pc, position);
		if (!HASH_ADDED(position)) {
			free(position);
			std->trace.info.no_memory = true;
			return NULL;
		}
	}
	*count = 1;
	return &position->frame;
}

static bool std_variable(const struct rt_trace *trace, uint64_t addr, struct rt_variable *out)
{
	const struct std *std = (const struct std *)trace;
	uint32_t index = index_in(VARIABLES, std->variables.count, addr);
	if (index == std->variables.count)
		return false;
	*out = (struct rt_variable){.address = address(VARIABLES, index), .size = CELL};
	snprintf(out->name, sizeof out->name, "%s", names_text(&std->variables, index));
	return true;
}

static const char *std_object_name(const struct rt_trace *trace, uint64_t addr)
{
	const struct std *std = (const struct std *)trace;
	uint32_t lock = index_in(LOCKS, std->locks.count, addr), region = index_in(REGIONS, std->regions.count, addr);
	if (lock < std->locks.count)
		return names_text(&std->locks, lock);
	return region < std->regions.count ? names_text(&std->regions, region) : NULL;
}

const struct rt_source rt_source_std = {
    .name = "std",
    .probe = std_probe,
    .open = std_open,
    .free = std_free,
    .rewind = std_rewind,
    .read = std_read,
    .frames = std_frames,
    .variable = std_variable,
    .object_name = std_object_name,
};
