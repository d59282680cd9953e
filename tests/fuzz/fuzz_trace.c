/*
 * The reader of trace.zst on bytes of any kind. The first byte says how far in the rest goes:
 *
 *     0  it is the file
 *     1  it is a chunk's content, for the column decoder
 *     2  it is blocks, each a header without its seal, then the content's length (4 bytes) and the content; they are
 *        compressed and sealed here, since no mutation would get past zstd and the checksums
 *
 * tests/fuzz/corpus_trace.c makes inputs of each kind.
 */
#include "tracefmt/native/file.h"
#include "tracefmt/trace.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

enum { READ_MAX = 200000, AT_ONCE = 512 };

static int file = -1;
static char path[64];

static void set_file(const void *data, size_t n)
{
	if (file < 0) {
		file = memfd_create("fuzz", 0);
		snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	}
	if (ftruncate(file, 0) || pwrite(file, data, n, 0) != (ssize_t)n)
		abort();
}

/* What was read behind a mark is read again from there. */
static void read_from_mark(struct rt_trace *trace)
{
	static struct rt_event events[2][AT_ONCE];
	struct rt_error err = {0};
	size_t got, again;
	rt_trace_select(trace, RT_SELECT_ALL);
	if (rt_trace_rewind(trace, &err) || rt_trace_read(trace, events[0], AT_ONCE / 2 + 1, &got, &err))
		return;
	struct rt_mark *mark = rt_trace_mark(trace);
	if (mark && !rt_trace_read(trace, events[0], AT_ONCE, &got, &err) && !rt_trace_return(trace, mark, &err) &&
	    !rt_trace_read(trace, events[1], AT_ONCE, &again, &err) &&
	    (got != again || memcmp(events[0], events[1], got * sizeof *events[0])))
		abort();
	rt_mark_free(mark);
}

/* Uses whatever a reader offers. */
static void read_file(void)
{
	struct rt_trace *trace;
	struct rt_error err = {0};
	struct rt_event events[AT_ONCE];
	struct rt_variable variable;
	size_t got, total = 0, n;
	if (rt_trace_open(path, &trace, &err)) {
		if (!err.message[0])
			abort();
		return;
	}
	const struct rt_trace_info *info = rt_trace_info(trace);
	for (uint32_t i = 0; i < info->thread_count; i++)
		if (!info->threads[i].name || info->threads[i].parent >= info->thread_count)
			abort();
	do {
		if (rt_trace_read(trace, events, AT_ONCE, &got, &err))
			break;
		for (size_t i = 0; i < got; i++) {
			if (events[i].thread >= info->thread_count || events[i].op >= RT_OP_COUNT ||
			    (i && events[i].number <= events[i - 1].number) ||
			    (i && events[i].stamp < events[i - 1].stamp))
				abort();
			if (i % 64)
				continue;
			const struct rt_frame *frames = rt_trace_frames(trace, events[i].pc, &n);
			for (size_t k = 0; k < n; k++)
				if (frames[k].function && strlen(frames[k].function) == SIZE_MAX)
					abort();
			rt_trace_variable(trace, events[i].addr, &variable);
			rt_trace_object_name(trace, events[i].addr);
		}
		total += got;
	} while (got && total < READ_MAX);
	rt_trace_select(trace, UINT64_C(1) << RT_OP_FORK);
	rt_trace_rewind(trace, &err);
	rt_trace_read(trace, events, AT_ONCE, &got, &err);
	read_from_mark(trace);
	rt_trace_free(trace);
}

static void read_columns(const uint8_t *data, size_t n)
{
	static struct rt_record records[RT_CHUNK_RECORDS];
	struct rt_decoder d;
	bool memory = false;
	size_t got;
	if (rt_decoder_init(&d, data, n, 0, &memory))
		rt_decoder_records(&d, records, RT_CHUNK_RECORDS, &got);
	rt_decoder_release(&d);
}

static void assemble_file(const uint8_t *data, size_t n)
{
	struct rt_cursor c = rt_cursor_make(data, n);
	struct rt_bytes out = {0};
	const uint8_t *header;
	rt_bytes_reserve(&out, RT_FILE_HEADER_BYTES);
	rt_file_header_put(out.data);
	out.len = RT_FILE_HEADER_BYTES;
	while ((header = rt_cursor_take(&c, RT_BLOCK_HEADER_BYTES - 8))) {
		uint8_t sealed[RT_BLOCK_HEADER_BYTES] = {0};
		struct rt_block block;
		uint32_t length;
		const uint8_t *p = rt_cursor_take(&c, sizeof length);
		if (!p)
			break;
		memcpy(&length, p, sizeof length);
		if (length > rt_cursor_left(&c))
			length = (uint32_t)rt_cursor_left(&c);
		const uint8_t *content = rt_cursor_take(&c, length);
		size_t bound = ZSTD_compressBound(length);
		memcpy(sealed, header, RT_BLOCK_HEADER_BYTES - 8);
		if (!rt_block_get(sealed, &block) || !rt_bytes_reserve(&out, RT_BLOCK_HEADER_BYTES + bound))
			break;
		size_t packed = ZSTD_compress(out.data + out.len + RT_BLOCK_HEADER_BYTES, bound, content, length, 1);
		block.raw = length;
		block.packed = (uint32_t)packed;
		rt_block_put(out.data + out.len, &block);
		out.len += RT_BLOCK_HEADER_BYTES + packed;
	}
	set_file(out.data, out.len);
	rt_bytes_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (!n)
		return 0;
	switch (data[0]) {
	case 0:
		set_file(data + 1, n - 1);
		read_file();
		break;
	case 1:
		read_columns(data + 1, n - 1);
		break;
	case 2:
		assemble_file(data + 1, n - 1);
		read_file();
		break;
	default:
		return -1;
	}
	return 0;
}
