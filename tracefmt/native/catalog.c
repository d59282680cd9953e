/*
 * The blocks of a trace.zst: from the index or, without one, by walking from frame to frame; then the facts about the
 * trace and each thread's chunks. See docs/trace-format.md.
 */
#include "tracefmt/native/reader.h"

#include "lib/base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void rt_reader_incomplete(struct rt_reader *r, const char *format, ...)
{
	/* Records why the trace is incomplete: the first damage; lost events of the recording only if there is no
	 * damage. */
	if (!r->trace.info.complete && strcmp(r->why, RT_LOST_WHY) != 0)
		return;
	va_list args;
	va_start(args, format);
	vsnprintf(r->why, sizeof r->why, format, args);
	va_end(args);
	r->trace.info.complete = false;
	r->trace.info.incomplete_why = r->why;
}

void rt_reader_damaged(struct rt_reader *r, uint64_t offset)
{
	if (r->failure)
		rt_reader_incomplete(r, "cannot be read at byte %" PRIu64 ": %s", offset, strerror(r->failure));
	else
		rt_reader_incomplete(r, "damaged at byte %" PRIu64, offset);
}

/* Reads n bytes of the file at offset into data. False if there are fewer or on a system error. */
static bool read_bytes(struct rt_reader *r, uint64_t offset, void *data, size_t n)
{
	r->failure = 0;
	if (offset > r->size || n > r->size - offset)
		return false;
	for (char *p = data; n;) {
		ssize_t k = pread(r->fd, p, n, (off_t)offset);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0) {
			r->failure = k < 0 ? errno : 0;
			return false;
		}
		p += k;
		n -= (size_t)k;
		offset += (uint64_t)k;
	}
	return true;
}

/* Reads the header at offset. False if there is none, or if the block does not fit into the file up to end. */
static bool read_header(struct rt_reader *r, uint64_t offset, uint64_t end, struct rt_block *block)
{
	uint8_t header[RT_BLOCK_HEADER_BYTES];
	if (offset > end || end - offset < sizeof header || !read_bytes(r, offset, header, sizeof header) ||
	    !rt_block_get(header, block))
		return false;
	block->offset = offset;
	return block->packed <= end - offset - sizeof header;
}

enum rt_status rt_reader_content(struct rt_reader *r, const struct rt_block *block, struct rt_bytes *out)
{
	uint8_t header[RT_BLOCK_HEADER_BYTES], expected[RT_BLOCK_HEADER_BYTES];
	out->len = 0;
	r->packed.len = 0;
	if (block->offset > r->size || block->packed > r->size - block->offset)
		return RT_EINPUT;
	if (!rt_bytes_reserve(&r->packed, block->packed) || !rt_bytes_reserve(out, (size_t)block->raw + 1))
		return RT_EMEMORY;
	rt_block_put(expected, block);
	if (!read_bytes(r, block->offset, header, sizeof header) ||
	    !read_bytes(r, block->offset + sizeof header, r->packed.data, block->packed))
		return RT_EINPUT;
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	if (memcmp(header, expected, sizeof header))
		return RT_EINPUT;
#endif
	size_t n = ZSTD_decompressDCtx(r->zstd, out->data, block->raw, r->packed.data, block->packed);
	if (ZSTD_isError(n) || n != block->raw)
		return RT_EINPUT;
	out->len = n;
	return RT_OK;
}

/* A string of the file: length plus one, bytes; 0 is NULL. The caller owns the copy. */
static char *take_string(struct rt_reader *r, struct rt_cursor *c)
{
	uint64_t n = rt_cursor_varint(c);
	const uint8_t *p = n ? rt_cursor_take(c, n - 1) : NULL;
	char *string = p ? strndup((const char *)p, (size_t)(n - 1)) : NULL;
	r->no_memory |= p && !string;
	return string;
}

static void parse_command(struct rt_reader *r, struct rt_cursor *c, uint64_t argc)
{
	r->command = calloc((size_t)argc, sizeof *r->command);
	if (!r->command) {
		r->no_memory = true;
		return;
	}
	for (size_t i = 0; i < argc - 1; i++)
		if (!(r->command[i] = take_string(r, c)))
			break;
	r->trace.info.command = (const char *const *)r->command;
}

static void parse_head(struct rt_reader *r, const struct rt_bytes *raw)
{
	struct rt_cursor c = rt_cursor_make(raw->data, raw->len);
	bool first = !r->has_head;
	r->trace.info.pid = rt_cursor_varint(&c);
	r->trace.info.exact = rt_cursor_varint(&c);
	uint64_t argc = rt_cursor_varint(&c);
	r->has_head = true;
	if (!first || c.bad || (argc && argc - 1 > rt_cursor_left(&c)))
		return;
	if (argc)
		parse_command(r, &c, argc);
	if (rt_cursor_left(&c))
		r->trace.info.zeroed = rt_cursor_varint(&c);
	if (rt_cursor_left(&c))
		r->trace.info.sync_only = rt_cursor_varint(&c);
	if (rt_cursor_left(&c))
		r->trace.info.vary = (uint32_t)rt_cursor_varint(&c);
	if (rt_cursor_left(&c) && rt_cursor_varint(&c))
		r->trace.info.model = RT_MODEL_SC;
	if (rt_cursor_left(&c))
		r->trace.info.values = rt_cursor_varint(&c);
	if (rt_cursor_left(&c))
		r->trace.info.binary = rt_cursor_varint(&c);
	if (rt_cursor_left(&c))
		r->trace.info.input = r->input = take_string(r, &c);
}

static void parse_end(struct rt_reader *r, const struct rt_bytes *raw)
{
	struct rt_cursor c = rt_cursor_make(raw->data, raw->len);
	uint64_t kind = rt_cursor_varint(&c);
	int64_t value = rt_unzigzag(rt_cursor_varint(&c));
	uint64_t duration = rt_cursor_varint(&c);
	if (c.bad || kind > RT_EXIT_SIGNAL || value != (int)value)
		return;
	r->trace.info.exit_kind = (enum rt_exit_kind)kind;
	r->trace.info.exit_value = (int)value;
	r->trace.info.duration_ns = duration;
	if (rt_cursor_left(&c))
		r->trace.info.dropped = rt_cursor_varint(&c);
	char *why = rt_cursor_left(&c) ? take_string(r, &c) : NULL;
	if (why)
		rt_reader_incomplete(r, "%s", why);
	free(why);
}

/* Makes room for threads up to index. Threads are declared one by one, so the file's size bounds it. */
static bool threads_reserve(struct rt_reader *r, uint32_t index)
{
	bool room = vec_extend(&r->threads, &r->index_threads, (uint64_t)index + 1, sizeof *r->threads);
	r->no_memory |= !room;
	return room;
}

static enum rt_status parse_threads(struct rt_reader *r, const struct rt_bytes *raw)
{
	struct rt_cursor c = rt_cursor_make(raw->data, raw->len);
	while (rt_cursor_left(&c)) {
		uint64_t index = rt_cursor_varint(&c), parent = rt_cursor_varint(&c);
		char *name = take_string(r, &c), *label = take_string(r, &c);
		/* Thread indices are dense: an unknown one is the next. */
		if (c.bad || !name || index > r->trace.info.thread_count || index >= RT_THREAD_MAX ||
		    parent >= RT_THREAD_MAX || !threads_reserve(r, (uint32_t)index)) {
			free(name);
			free(label);
			return r->no_memory ? RT_EMEMORY : RT_EINPUT;
		}
		struct rt_thread *t = &r->threads[index];
		free((char *)(uintptr_t)t->name);
		free((char *)(uintptr_t)t->label);
		t->name = name;
		t->label = label;
		t->parent = (uint32_t)parent;
		if (index == r->trace.info.thread_count)
			r->trace.info.thread_count++;
	}
	return RT_OK;
}

static enum rt_status parse_loaded(struct rt_reader *r, const struct rt_bytes *raw)
{
	struct rt_cursor c = rt_cursor_make(raw->data, raw->len);
	while (rt_cursor_left(&c)) {
		uint64_t start = rt_cursor_varint(&c), size = rt_cursor_varint(&c);
		char *path = take_string(r, &c), *build_id = take_string(r, &c);
		bool good = !c.bad && path && size <= UINT64_MAX - start;
		if (!good || !vec_reserve(&r->loaded, &r->loaded_room, r->loaded_count + 1, sizeof *r->loaded)) {
			free(path);
			free(build_id);
			return good ? RT_EMEMORY : RT_EINPUT;
		}
		r->loaded[r->loaded_count++] = (struct rt_loaded){start, start + size, path, build_id};
	}
	return RT_OK;
}

static enum rt_status add_chunk(struct rt_reader *r, const struct rt_block *block)
{
	struct rt_trace_info *info = &r->trace.info;
	if (block->thread >= info->thread_count)
		return RT_EINPUT;
	if (!vec_reserve(&r->chunks, &r->chunk_cap, (uint64_t)r->chunk_count + 1, sizeof *r->chunks))
		return RT_EMEMORY;
	r->chunks[r->chunk_count++] = *block;
	struct rt_thread *t = &r->threads[block->thread];
	t->events += block->events;
	t->left_out += block->left_out;
	info->events += block->events;
	info->left_out += block->left_out;
	info->lost += block->lost;
	return RT_OK;
}

/* One block, in the order of the file. Kinds of a newer minor version are skipped. */
static enum rt_status add_block(struct rt_reader *r, const struct rt_block *block, struct rt_bytes *raw)
{
	enum rt_status status;
	switch (block->kind) {
	case RT_BLOCK_CHUNK:
		return add_chunk(r, block);
	case RT_BLOCK_SYMBOLS:
		r->symbols_block = *block;
		r->has_symbols = true;
		return RT_OK;
	case RT_BLOCK_HEAD:
	case RT_BLOCK_THREADS:
	case RT_BLOCK_LOADED:
	case RT_BLOCK_END:
		status = rt_reader_content(r, block, raw);
		if (status)
			return status;
		if (block->kind == RT_BLOCK_THREADS)
			return parse_threads(r, raw);
		if (block->kind == RT_BLOCK_LOADED)
			return parse_loaded(r, raw);
		if (block->kind == RT_BLOCK_HEAD)
			parse_head(r, raw);
		else
			parse_end(r, raw);
		return RT_OK;
	default:
		return RT_OK;
	}
}

/* Takes the blocks from the index. False if there is no reliable one; nothing was taken then. */
static bool read_index(struct rt_reader *r, struct rt_bytes *index)
{
	uint8_t trailer[RT_TRAILER_BYTES];
	uint64_t offset;
	struct rt_block block;
	if (r->size < RT_FILE_HEADER_BYTES + RT_TRAILER_BYTES)
		return false;
	uint64_t end = r->size - RT_TRAILER_BYTES;
	if (!read_bytes(r, end, trailer, sizeof trailer) || !rt_trailer_get(trailer, &offset) ||
	    !read_header(r, offset, end, &block) || block.kind != RT_BLOCK_INDEX)
		return false;
	enum rt_status status = rt_reader_content(r, &block, index);
	r->no_memory |= status == RT_EMEMORY;
	if (status)
		return false;
	if (index->len % RT_INDEX_ENTRY_BYTES || block.records != index->len / RT_INDEX_ENTRY_BYTES)
		return false;
	for (size_t i = 0; i < index->len; i += RT_INDEX_ENTRY_BYTES) {
		uint64_t at;
		memcpy(&at, index->data + i, sizeof at);
		at = le64toh(at);
		if (!rt_block_get(index->data + i + sizeof at, &block) || at >= offset ||
		    block.packed + (uint64_t)RT_BLOCK_HEADER_BYTES > offset - at)
			return false;
	}
	return true;
}

static enum rt_status use_index(struct rt_reader *r, const struct rt_bytes *index, struct rt_bytes *raw)
{
	for (size_t i = 0; i < index->len; i += RT_INDEX_ENTRY_BYTES) {
		struct rt_block block = {0};
		uint64_t at;
		memcpy(&at, index->data + i, sizeof at);
		rt_block_get(index->data + i + sizeof at, &block);
		block.offset = le64toh(at);
		enum rt_status status = add_block(r, &block, raw);
		if (status == RT_EMEMORY)
			return status;
		if (status) {
			rt_reader_damaged(r, block.offset);
			return RT_OK;
		}
	}
	return RT_OK;
}

/* Walks from frame to frame up to the first incomplete one. unread: why the index could not be read; 0: that is not
 * why. */
static enum rt_status walk(struct rt_reader *r, int unread, struct rt_bytes *raw)
{
	uint64_t offset = RT_FILE_HEADER_BYTES;
	struct rt_block block;
	bool end = false;
	while (read_header(r, offset, r->size, &block)) {
		enum rt_status status = block.kind == RT_BLOCK_INDEX ? RT_OK : add_block(r, &block, raw);
		if (status == RT_EMEMORY)
			return status;
		if (status) {
			rt_reader_damaged(r, offset);
			return RT_OK;
		}
		end |= block.kind == RT_BLOCK_END;
		offset += RT_BLOCK_HEADER_BYTES + (uint64_t)block.packed;
	}
	if (r->failure)
		rt_reader_damaged(r, offset);
	else if (end && unread)
		rt_reader_incomplete(r, "its index cannot be read: %s; no event is missing", strerror(unread));
	else if (end)
		rt_reader_incomplete(r, "cut short in its index, at byte %" PRIu64 "; no event is missing", offset);
	else if (offset == r->size)
		rt_reader_incomplete(r, "cut short at byte %" PRIu64 ": it has no end", offset);
	else
		rt_reader_incomplete(r, "cut short or damaged at byte %" PRIu64, offset);
	return RT_OK;
}

/* By thread, then in order. */
static int compare_chunks(const void *a, const void *b)
{
	const struct rt_block *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Assigns each thread's stream its chunks. A missing chunk ends the trace when it is reached. */
static bool make_streams(struct rt_reader *r)
{
	uint32_t n = r->trace.info.thread_count;
	r->streams = calloc((size_t)n + 1, sizeof *r->streams);
	r->heap = calloc((size_t)n + 1, sizeof *r->heap);
	if (!r->streams || !r->heap)
		return false;
	if (r->chunk_count)
		qsort(r->chunks, r->chunk_count, sizeof *r->chunks, compare_chunks);
	for (size_t i = 0; i < r->chunk_count; i++) {
		struct rt_stream *s = &r->streams[r->chunks[i].thread];
		if (!s->chunk_count)
			s->chunks = &r->chunks[i];
		s->chunk_count++;
	}
	for (uint32_t i = 0; i < n; i++)
		if (r->threads[i].parent >= n)
			r->threads[i].parent = i;
	r->trace.info.threads = r->threads;
	return true;
}

static enum rt_status check_version(struct rt_reader *r, const char *path, struct rt_error *err)
{
	uint8_t header[RT_FILE_HEADER_BYTES];
	unsigned major, minor;
	if (!read_bytes(r, 0, header, sizeof header) || !rt_file_header_probe(header, sizeof header))
		return rt_error_set(err, RT_EINPUT,
		                    "'%s' is cut short within its first %d bytes: nothing is left of it", path,
		                    RT_FILE_HEADER_BYTES);
	rt_file_header_version(header, &major, &minor);
	if (major > RT_FILE_MAJOR)
		return rt_error_set(err, RT_EINPUT,
		                    "'%s' is of trace format version %u.%u, this racetrace reads up to %d: "
		                    "use a newer racetrace",
		                    path, major, minor, RT_FILE_MAJOR);
	r->joins_unknown = minor < RT_FILE_MINOR_JOINS;
	r->posts_unknown = minor < RT_FILE_MINOR_POSTS;
	return RT_OK;
}

enum rt_status rt_reader_catalog(struct rt_reader *r, const char *path, struct rt_error *err)
{
	struct rt_bytes index = {0}, raw = {0};
	enum rt_status status = check_version(r, path, err);
	if (status)
		return status;
	r->trace.info.complete = true;
	r->trace.info.file_bytes = r->size;
	if (read_index(r, &index))
		status = use_index(r, &index, &raw);
	else if (!r->no_memory)
		status = walk(r, r->failure, &raw);
	rt_bytes_release(&index);
	rt_bytes_release(&raw);
	if (status || r->no_memory || !make_streams(r))
		return rt_error_set(err, RT_EMEMORY, "no memory to open '%s'", path);
	if (r->trace.info.lost)
		rt_reader_incomplete(r, RT_LOST_WHY);
	return RT_OK;
}
