/* Writes trace.zst; see writer.h and docs/trace-format.md. */
#include "tracefmt/native/writer_parts.h"

#include "lib/base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/*
 * The oldest open chunk is written after this many others, so that no thread is far behind when the writer is killed.
 * It is written, too, when open chunks have this many records, so that many threads take no more memory than a few.
 */
enum { OPEN_CHUNKS_MAX = 16, OPEN_RECORDS_MAX = 8 << 20 };

static void put_string(struct rt_bytes *b, const char *s)
{
	rt_bytes_varint(b, s ? strlen(s) + 1 : 0);
	if (s)
		rt_bytes_add(b, s, strlen(s));
}

static enum rt_status write_head(struct rt_writer *w, const struct rt_writer_options *options, struct rt_error *err)
{
	uint8_t header[RT_FILE_HEADER_BYTES];
	rt_file_header_put(header);
	enum rt_status status = writer_put(w, header, sizeof header, err);
	if (status)
		return status;
	size_t argc = 0;
	while (options->command && options->command[argc])
		argc++;
	w->pid = options->pid;
	rt_bytes_varint(&w->raw, w->pid);
	rt_bytes_varint(&w->raw, options->exact);
	rt_bytes_varint(&w->raw, options->command ? argc + 1 : 0);
	for (size_t i = 0; i < argc; i++)
		put_string(&w->raw, options->command[i]);
	/* Each optional field comes after those before it, and is left out if it and all after it are 0. */
	const uint64_t facts[] = {options->zeroed, options->sync_only, options->vary,
	                          options->model,  options->values,    options->binary};
	size_t count = sizeof facts / sizeof *facts;
	while (count && !options->input && !facts[count - 1])
		count--;
	for (size_t i = 0; i < count; i++)
		rt_bytes_varint(&w->raw, facts[i]);
	if (options->input)
		put_string(&w->raw, options->input);
	struct rt_block block = {.kind = RT_BLOCK_HEAD};
	return writer_block(w, &block, err);
}

enum rt_status rt_writer_inexact(struct rt_writer *w, struct rt_error *err)
{
	rt_bytes_varint(&w->raw, w->pid);
	rt_bytes_varint(&w->raw, 0);
	rt_bytes_varint(&w->raw, 0);
	struct rt_block block = {.kind = RT_BLOCK_HEAD};
	return writer_block(w, &block, err);
}

void writer_thread_free(struct writer_thread *t)
{
	if (!t)
		return;
	rt_encoder_free(t->encoder);
	rt_ring_thread_release(&t->ring);
	free(t->name);
	free(t->label);
	free(t);
}

/* Frees everything, and removes the file unless it has its name. */
static void writer_free(struct rt_writer *w)
{
	rt_output_discard(&w->output);
	for (uint32_t i = 0; i < w->thread_count; i++)
		writer_thread_free(w->threads[i]);
	free(w->threads);
	set_release(&w->pcs);
	rt_symbol_table_free(w->symbols);
	rt_ring_free(w->ring);
	rt_ring_file_release(&w->last);
	rt_bytes_release(&w->raw);
	rt_bytes_release(&w->packed);
	rt_bytes_release(&w->index);
	ZSTD_freeCCtx(w->zstd);
	free(w);
}

enum rt_status rt_writer_create(const char *path, const struct rt_writer_options *options, struct rt_writer **out,
                                struct rt_error *err)
{
	struct rt_writer *w = calloc(1, sizeof *w);
	if (!w)
		return rt_error_set(err, RT_EMEMORY, "no memory to write '%s'", path ? path : "symbols");
	enum rt_status status = RT_OK;
	w->output = (struct rt_output){.fd = -1, .folder = -1};
	if (path)
		status = rt_output_create(&w->output, path, options->recording ? RT_OUTPUT_LONG : RT_OUTPUT_FILE, err);
	if (status) {
		free(w);
		return status;
	}
	w->recording = options->recording;
	w->binary = options->binary;
	w->zstd = ZSTD_createCCtx();
	w->symbols = rt_symbol_table_create();
	w->ring = options->ring ? rt_ring_create(options->ring) : NULL;
	if (!w->zstd || !w->symbols || (options->ring && !w->ring)) {
		writer_free(w);
		return rt_error_set(err, RT_EMEMORY, "no memory to write '%s'", path ? path : "symbols");
	}
	if (!path) {
		*out = w;
		return RT_OK;
	}
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, options->level ? options->level : 1);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
	status = write_head(w, options, err);
	if (status) {
		writer_free(w);
		return status;
	}
	*out = w;
	return RT_OK;
}

uint32_t rt_writer_threads(const struct rt_writer *w)
{
	return w->thread_count;
}

bool rt_writer_is_binary(const struct rt_writer *w)
{
	return w->binary;
}

const char *rt_writer_path(const struct rt_writer *w)
{
	return w->output.path;
}

void rt_writer_abort(struct rt_writer *w)
{
	if (w)
		writer_free(w);
}

/* The thread's state; created if absent. NULL without memory. */
static struct writer_thread *get_thread(struct rt_writer *w, uint32_t index)
{
	if (index >= RT_THREAD_MAX)
		return NULL;
	if (!vec_extend(&w->threads, &w->thread_cap, (uint64_t)index + 1, sizeof(struct writer_thread *)))
		return NULL;
	if (!w->threads[index]) {
		struct writer_thread *t = calloc(1, sizeof *t);
		if (!t)
			return NULL;
		t->index = t->parent = index;
		w->threads[index] = t;
		if (index >= w->thread_count)
			w->thread_count = index + 1;
	}
	return w->threads[index];
}

enum rt_status rt_writer_thread(struct rt_writer *w, uint32_t index, const char *name, uint32_t parent,
                                const char *label, struct rt_error *err)
{
	if (w->failure.status)
		return writer_fail(w, err);
	struct writer_thread *t = get_thread(w, index);
	char *name_copy = strdup(name), *label_copy = label ? strdup(label) : NULL;
	if (!t || !name_copy || (label && !label_copy)) {
		free(name_copy);
		free(label_copy);
		return writer_no_memory(w, err);
	}
	free(t->name);
	free(t->label);
	t->name = name_copy;
	t->label = label_copy;
	t->parent = parent;
	t->known = true;
	t->announced = false;
	w->settled = index < w->settled ? index : w->settled;
	w->announce = true;
	return RT_OK;
}

/*
 * Writes the missing declarations of threads. In the file thread indices are dense: a thread that is not declared
 * before a later one (its first records come later) has a number as its name until it is.
 */
static enum rt_status announce_threads(struct rt_writer *w, struct rt_error *err)
{
	struct rt_bytes *b = &w->raw;
	for (uint32_t i = w->settled; i < w->thread_count; i++) {
		struct writer_thread *t = w->threads[i];
		bool unknown = !t || !t->known;
		if (unknown ? i < w->announced : t->announced)
			continue;
		rt_bytes_varint(b, i);
		if (unknown) {
			char name[32];
			snprintf(name, sizeof name, "thread %" PRIu32, i);
			rt_bytes_varint(b, i);
			put_string(b, name);
			put_string(b, NULL);
			continue;
		}
		rt_bytes_varint(b, t->parent);
		put_string(b, t->name);
		put_string(b, t->label);
		t->announced = true;
	}
	/* One that is declared later begins here again: rt_writer_thread. */
	while (w->settled < w->thread_count && (!w->threads[w->settled] || w->threads[w->settled]->announced))
		w->settled++;
	w->announced = w->thread_count;
	w->announce = false;
	struct rt_block block = {.kind = RT_BLOCK_THREADS};
	return writer_block(w, &block, err);
}

static void close_chunk(struct rt_writer *w, struct writer_thread *t)
{
	*(t->older ? &t->older->newer : &w->oldest) = t->newer;
	*(t->newer ? &t->newer->older : &w->newest) = t->older;
	t->older = t->newer = NULL;
}

static void open_chunk(struct rt_writer *w, struct writer_thread *t)
{
	t->opened = w->chunks;
	t->older = w->newest;
	*(w->newest ? &w->newest->newer : &w->oldest) = t;
	w->newest = t;
}

enum rt_status writer_chunk(struct rt_writer *w, struct writer_thread *t, struct rt_error *err)
{
	if (w->announce || !t->known) {
		enum rt_status status = RT_OK;
		if (!t->known) {
			char name[32];
			snprintf(name, sizeof name, "thread %" PRIu32, t->index);
			status = rt_writer_thread(w, t->index, name, t->index, NULL, err);
		}
		if (!status)
			status = announce_threads(w, err);
		if (status)
			return status;
	}
	const struct rt_chunk_facts *f = rt_encoder_facts(t->encoder);
	struct rt_block block = {.kind = RT_BLOCK_CHUNK,
	                         .thread = t->index,
	                         .sequence = t->sequence++,
	                         .records = f->records,
	                         .events = f->events,
	                         .base_stamp = f->base_stamp,
	                         .first_stamp = f->first_stamp,
	                         .last_stamp = f->last_stamp,
	                         .ordinal = t->ordinal,
	                         .left_out = f->left_out,
	                         .lost = f->lost};
	w->open_records -= f->records;
	w->events += f->events;
	w->left_out += f->left_out;
	t->ordinal += f->events + f->left_out;
	if (!w->ring && !rt_encoder_each_pc(t->encoder, writer_add_pc, &w->pcs))
		return writer_no_memory(w, err);
	rt_encoder_finish(t->encoder, &w->raw);
	close_chunk(w, t);
	w->chunks++;
	if (!w->ring)
		return writer_block(w, &block, err);
	if (writer_pack(w, &block, err))
		return w->failure.status;
	bool kept = rt_ring_keep(w->ring, &t->ring, &block, w->packed.data + RT_BLOCK_HEADER_BYTES);
	return kept ? RT_OK : writer_no_memory(w, err);
}

/* Writes chunks that have been open for too long. */
static enum rt_status write_old_chunks(struct rt_writer *w, struct rt_error *err)
{
	enum rt_status status = RT_OK;
	while (!status && w->oldest &&
	       (w->chunks - w->oldest->opened > OPEN_CHUNKS_MAX || w->open_records > OPEN_RECORDS_MAX))
		status = writer_chunk(w, w->oldest, err);
	return status;
}

enum rt_status writer_encode(struct rt_writer *w, struct writer_thread *t, const struct rt_record *records, size_t n,
                             struct rt_error *err)
{
	while (n) {
		if (!rt_encoder_facts(t->encoder)->records)
			open_chunk(w, t);
		size_t taken = rt_encoder_add(t->encoder, records, n);
		if (taken == SIZE_MAX)
			return writer_no_memory(w, err);
		records += taken;
		n -= taken;
		w->open_records += taken;
		if (n && writer_chunk(w, t, err))
			return w->failure.status;
	}
	return RT_OK;
}

static enum rt_status add_records(struct rt_writer *w, struct writer_thread *t, const struct rt_record *records,
                                  size_t n, struct rt_error *err)
{
	if (!t->encoder && !(t->encoder = rt_encoder_create()))
		return writer_no_memory(w, err);
	enum rt_status status =
	    w->ring ? writer_ring_encode(w, t, records, n, err) : writer_encode(w, t, records, n, err);
	return status ? status : write_old_chunks(w, err);
}

enum rt_status rt_writer_records(struct rt_writer *w, uint32_t thread, const struct rt_record *records, size_t n,
                                 struct rt_error *err)
{
	if (w->failure.status)
		return writer_fail(w, err);
	struct writer_thread *t = get_thread(w, thread);
	if (!t)
		return writer_no_memory(w, err);
	return add_records(w, t, records, n, err);
}

enum rt_status rt_writer_thread_end(struct rt_writer *w, uint32_t thread, struct rt_error *err)
{
	if (w->failure.status)
		return writer_fail(w, err);
	struct writer_thread *t = thread < w->thread_count ? w->threads[thread] : NULL;
	enum rt_status status = RT_OK;
	if (t && t->encoder && rt_encoder_facts(t->encoder)->records)
		status = writer_chunk(w, t, err);
	if (t) {
		rt_encoder_free(t->encoder);
		t->encoder = NULL;
		rt_thread_state_trim(&t->ring.state);
		if (w->ring)
			writer_ring_end(w, t);
	}
	return status;
}

enum rt_status writer_open_chunks(struct rt_writer *w, struct rt_error *err)
{
	enum rt_status status = w->failure.status ? writer_fail(w, err) : RT_OK;
	while (!status && w->oldest)
		status = writer_chunk(w, w->oldest, err);
	return status;
}

enum rt_status rt_writer_flush(struct rt_writer *w, struct rt_error *err)
{
	if (!w->failure.status && w->recording && rt_output_removed(&w->output)) {
		rt_error_set(&w->failure, RT_ESYSTEM, "cannot write '%s': it was removed", w->output.path);
		errno = ENOENT;
	}
	if (w->failure.status)
		return writer_fail(w, err);
	return w->ring ? RT_OK : writer_open_chunks(w, err);
}

enum rt_status rt_writer_loaded(struct rt_writer *w, const struct rt_loaded *module, struct rt_error *err)
{
	if (w->failure.status)
		return writer_fail(w, err);
	rt_bytes_varint(&w->raw, module->start);
	rt_bytes_varint(&w->raw, module->end - module->start);
	put_string(&w->raw, module->path);
	put_string(&w->raw, module->build_id);
	struct rt_block block = {.kind = RT_BLOCK_LOADED};
	return writer_block(w, &block, err);
}

enum rt_status rt_writer_event(struct rt_writer *w, const struct rt_event *event, struct rt_error *err)
{
	if (w->failure.status)
		return writer_fail(w, err);
	struct writer_thread *t = get_thread(w, event->thread);
	if (!t)
		return writer_no_memory(w, err);
	/* Events come in global order; a stamp that would not read back in that order is raised as little as
	 * possible. */
	uint64_t stamp = event->stamp > w->last_stamp ? event->stamp : w->last_stamp;
	if (stamp == w->last_stamp && event->thread < w->last_thread)
		stamp++;
	w->last_stamp = stamp;
	w->last_thread = event->thread;

	struct rt_record r[4];
	size_t n = 0;
	bool sized = (rt_op_is_access(event->op) || event->op == RT_OP_FENCE) && event->arg >= 1 && event->arg <= 16;
	uint64_t gap = event->ordinal > t->next_ordinal ? event->ordinal - t->next_ordinal - 1 : 0;
	t->next_ordinal += gap + 1;
	unsigned skip = gap <= RT_RECORD_SKIP_MAX ? (unsigned)gap : 0;
	if (gap != skip)
		r[n++] = rt_record_make(RT_OP_SKIP, gap, 0, 0, 0);
	if (stamp != t->stamp || (event->arg && !sized))
		r[n++] = rt_record_ext(stamp, sized ? 0 : event->arg);
	t->stamp = stamp;
	if (event->flags & RT_F_VALUE)
		r[n++] = (struct rt_record){(uint64_t)RT_OP_VALUE << 48, event->value};
	unsigned aux = rt_record_aux(sized ? (unsigned)event->arg : 0, event->order, event->flags);
	r[n++] = rt_record_make(event->op, event->addr, event->pc, aux, skip);
	return add_records(w, t, r, n, err);
}

/* Writes everything that comes after the last chunk. */
static enum rt_status write_end(struct rt_writer *w, const struct rt_writer_result *result, struct rt_error *err)
{
	if (w->announce && announce_threads(w, err))
		return w->failure.status;
	if (w->symbols && !rt_symbol_table_write(w->symbols, &w->raw))
		return writer_no_memory(w, err);
	struct rt_block symbols = {.kind = RT_BLOCK_SYMBOLS};
	if (w->symbols && writer_block(w, &symbols, err))
		return w->failure.status;
	rt_bytes_varint(&w->raw, (uint64_t)result->exit_kind);
	rt_bytes_varint(&w->raw, rt_zigzag(result->exit_value));
	rt_bytes_varint(&w->raw, result->duration_ns);
	if (result->dropped || result->incomplete_why)
		rt_bytes_varint(&w->raw, result->dropped);
	if (result->incomplete_why)
		put_string(&w->raw, result->incomplete_why);
	struct rt_block end = {.kind = RT_BLOCK_END};
	if (writer_block(w, &end, err))
		return w->failure.status;
	uint64_t index_offset = w->offset;
	rt_bytes_add(&w->raw, w->index.data, w->index.len);
	w->raw.failed |= w->index.failed;
	struct rt_block index = {.kind = RT_BLOCK_INDEX, .records = w->blocks};
	if (writer_block(w, &index, err))
		return w->failure.status;
	uint8_t trailer[RT_TRAILER_BYTES];
	rt_trailer_put(trailer, index_offset);
	return writer_put(w, trailer, sizeof trailer, err);
}

enum rt_status rt_writer_finish(struct rt_writer *w, struct rt_writer_result *result, struct rt_error *err)
{
	enum rt_status status = w->ring ? writer_ring_complete(w, err) : writer_open_chunks(w, err);
	if (!status && w->ring) {
		status = writer_ring_write(w, err);
		result->dropped = w->last.dropped;
	}
	if (!status)
		status = write_end(w, result, err);
	result->events = w->events;
	result->left_out = w->left_out;
	result->bytes = w->offset;
	/* If data is written late, a full disk shows only here. */
	if (!status && w->recording && fsync(w->output.fd))
		status = writer_fail_system(w, err);
	if (!status)
		status = rt_output_commit(&w->output, err);
	writer_free(w);
	return status;
}
