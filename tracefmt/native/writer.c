/* Writes trace.zst; see writer.h and docs/trace-format.md. */
#include "tracefmt/native/writer.h"

#include "lib/base/output.h"
#include "lib/base/set.h"
#include "lib/base/vec.h"
#include "tracefmt/native/file.h"
#include "tracefmt/native/symbols.h"
#include "tracefmt/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/*
 * The oldest open chunk is written after this many others, so that no thread is far behind when the writer is killed;
 * and when open chunks have this many records, so that many threads take no more memory than a few.
 */
enum { OPEN_CHUNKS_MAX = 16, OPEN_RECORDS_MAX = 8 << 20 };

struct writer_thread {
	char *name, *label;
	uint32_t parent, index;
	bool known, announced; /* declared in the file */
	struct rt_encoder *encoder;
	uint32_t sequence;                   /* chunks written */
	uint64_t ordinal;                    /* of the last event in a written chunk */
	uint64_t next_ordinal;               /* rt_writer_event: of the last event */
	uint64_t stamp;                      /* rt_writer_event: in effect */
	uint64_t opened;                     /* number of chunks written when this one began */
	struct writer_thread *older, *newer; /* open chunks, by age */
};

struct rt_writer {
	uint64_t pid;
	struct rt_output output;
	bool recording;
	int level;
	struct writer_thread **threads;
	uint32_t thread_count, thread_cap;
	bool announce; /* some thread is not announced */
	struct writer_thread *oldest, *newest;
	uint64_t open_records; /* in all open chunks */
	uint64_t chunks, offset, events, left_out, lost;
	uint64_t whole; /* where the last whole block ends */
	struct set pcs; /* that were written */
	struct rt_symbol_table *symbols;
	struct rt_bytes raw, packed, index;
	uint32_t blocks;
	ZSTD_CCtx *zstd;
	uint32_t last_thread; /* rt_writer_event: of the last event, and its stamp */
	uint64_t last_stamp;
	struct rt_error failure; /* the first one; every later call repeats it */
};

static enum rt_status fail(struct rt_writer *w, struct rt_error *err)
{
	if (err)
		*err = w->failure;
	return w->failure.status;
}

static enum rt_status fail_memory(struct rt_writer *w, struct rt_error *err)
{
	rt_error_set(&w->failure, RT_EMEMORY, "no memory to write '%s'", w->output.path ? w->output.path : "symbols");
	return fail(w, err);
}

static enum rt_status fail_system(struct rt_writer *w, struct rt_error *err)
{
	const char *stays = "";
	int error = errno;
	/* The file so far is a trace that was cut short. */
	if (w->recording && w->chunks && ftruncate(w->output.fd, (off_t)w->whole) == 0 && rt_output_name(&w->output))
		stays = "; what was written before stays there";
	rt_error_set(&w->failure, RT_ESYSTEM, "cannot write '%s': %s%s", w->output.path, strerror(error), stays);
	return fail(w, err);
}

static enum rt_status write_all(struct rt_writer *w, const void *data, size_t n, struct rt_error *err)
{
	for (const char *p = data; n;) {
		ssize_t k = write(w->output.fd, p, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return fail_system(w, err);
		p += k;
		n -= (size_t)k;
		w->offset += (uint64_t)k;
	}
	return RT_OK;
}

/* Writes a block, whose content is w->raw, and empties w->raw. */
static enum rt_status write_block(struct rt_writer *w, struct rt_block *block, struct rt_error *err)
{
	size_t bound = ZSTD_compressBound(w->raw.len);
	w->packed.len = 0;
	if (w->raw.failed || !rt_bytes_reserve(&w->packed, RT_BLOCK_HEADER_BYTES + bound))
		return fail_memory(w, err);
	if (block->kind != RT_BLOCK_CHUNK && w->raw.len > RT_SECTION_RAW_MAX) {
		rt_error_set(&w->failure, RT_EINPUT, "cannot write '%s': its tables exceed %u MiB", w->output.path,
		             RT_SECTION_RAW_MAX >> 20);
		return fail(w, err);
	}
	size_t n = ZSTD_compress2(w->zstd, w->packed.data + RT_BLOCK_HEADER_BYTES, bound, w->raw.data, w->raw.len);
	if (ZSTD_isError(n))
		return fail_memory(w, err);
	block->raw = (uint32_t)w->raw.len;
	block->packed = (uint32_t)n;
	block->offset = w->offset;
	w->raw.len = 0;
	rt_block_put(w->packed.data, block);
	if (block->kind != RT_BLOCK_INDEX) {
		uint64_t offset = htole64(block->offset);
		rt_bytes_add(&w->index, &offset, sizeof offset);
		rt_bytes_add(&w->index, w->packed.data, RT_BLOCK_HEADER_BYTES);
		w->blocks++;
	}
	enum rt_status status = write_all(w, w->packed.data, RT_BLOCK_HEADER_BYTES + n, err);
	if (!status)
		w->whole = w->offset;
	return status;
}

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
	enum rt_status status = write_all(w, header, sizeof header, err);
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
	return write_block(w, &block, err);
}

enum rt_status rt_writer_inexact(struct rt_writer *w, struct rt_error *err)
{
	rt_bytes_varint(&w->raw, w->pid);
	rt_bytes_varint(&w->raw, 0);
	rt_bytes_varint(&w->raw, 0);
	struct rt_block block = {.kind = RT_BLOCK_HEAD};
	return write_block(w, &block, err);
}

/* Frees everything, and removes the file unless it has its name. */
static void writer_free(struct rt_writer *w)
{
	rt_output_discard(&w->output);
	for (uint32_t i = 0; i < w->thread_count; i++) {
		struct writer_thread *t = w->threads[i];
		if (!t)
			continue;
		rt_encoder_free(t->encoder);
		free(t->name);
		free(t->label);
		free(t);
	}
	free(w->threads);
	set_release(&w->pcs);
	rt_symbol_table_free(w->symbols);
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
	w->zstd = ZSTD_createCCtx();
	w->symbols = rt_symbol_table_create();
	if (!w->zstd || !w->symbols) {
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
		return fail(w, err);
	struct writer_thread *t = get_thread(w, index);
	char *name_copy = strdup(name), *label_copy = label ? strdup(label) : NULL;
	if (!t || !name_copy || (label && !label_copy)) {
		free(name_copy);
		free(label_copy);
		return fail_memory(w, err);
	}
	free(t->name);
	free(t->label);
	t->name = name_copy;
	t->label = label_copy;
	t->parent = parent;
	t->known = true;
	t->announced = false;
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
	for (uint32_t i = 0; i < w->thread_count; i++) {
		struct writer_thread *t = w->threads[i];
		if (t && t->announced)
			continue;
		rt_bytes_varint(b, i);
		if (!t || !t->known) {
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
	w->announce = false;
	struct rt_block block = {.kind = RT_BLOCK_THREADS};
	return write_block(w, &block, err);
}

/* One to explain, unless it is 0. */
static bool note_pc(struct set *pcs, uint64_t pc)
{
	bool added;
	return !pc || set_add(pcs, pc, &added);
}

static bool add_pc(uint64_t pc, void *arg)
{
	return note_pc(arg, pc);
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

/* Writes the thread's open chunk, which has records. */
static enum rt_status write_chunk(struct rt_writer *w, struct writer_thread *t, struct rt_error *err)
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
	w->lost += f->lost;
	t->ordinal += f->events + f->left_out;
	if (!rt_encoder_each_pc(t->encoder, add_pc, &w->pcs))
		return fail_memory(w, err);
	rt_encoder_finish(t->encoder, &w->raw);
	close_chunk(w, t);
	w->chunks++;
	return write_block(w, &block, err);
}

/* Writes chunks that have been open for too long. */
static enum rt_status write_old_chunks(struct rt_writer *w, struct rt_error *err)
{
	enum rt_status status = RT_OK;
	while (!status && w->oldest &&
	       (w->chunks - w->oldest->opened > OPEN_CHUNKS_MAX || w->open_records > OPEN_RECORDS_MAX))
		status = write_chunk(w, w->oldest, err);
	return status;
}

static enum rt_status add_records(struct rt_writer *w, struct writer_thread *t, const struct rt_record *records,
                                  size_t n, struct rt_error *err)
{
	if (!t->encoder && !(t->encoder = rt_encoder_create()))
		return fail_memory(w, err);
	while (n) {
		if (!rt_encoder_facts(t->encoder)->records)
			open_chunk(w, t);
		size_t taken = rt_encoder_add(t->encoder, records, n);
		if (taken == SIZE_MAX)
			return fail_memory(w, err);
		records += taken;
		n -= taken;
		w->open_records += taken;
		if (n && write_chunk(w, t, err))
			return w->failure.status;
	}
	return write_old_chunks(w, err);
}

enum rt_status rt_writer_records(struct rt_writer *w, uint32_t thread, const struct rt_record *records, size_t n,
                                 struct rt_error *err)
{
	if (w->failure.status)
		return fail(w, err);
	struct writer_thread *t = get_thread(w, thread);
	if (!t)
		return fail_memory(w, err);
	return add_records(w, t, records, n, err);
}

enum rt_status rt_writer_thread_end(struct rt_writer *w, uint32_t thread, struct rt_error *err)
{
	if (w->failure.status)
		return fail(w, err);
	struct writer_thread *t = thread < w->thread_count ? w->threads[thread] : NULL;
	enum rt_status status = RT_OK;
	if (t && t->encoder && rt_encoder_facts(t->encoder)->records)
		status = write_chunk(w, t, err);
	if (t) {
		rt_encoder_free(t->encoder);
		t->encoder = NULL;
	}
	return status;
}

enum rt_status rt_writer_flush(struct rt_writer *w, struct rt_error *err)
{
	enum rt_status status = w->failure.status ? fail(w, err) : RT_OK;
	while (!status && w->oldest)
		status = write_chunk(w, w->oldest, err);
	return status;
}

enum rt_status rt_writer_loaded(struct rt_writer *w, const struct rt_loaded *module, struct rt_error *err)
{
	if (w->failure.status)
		return fail(w, err);
	rt_bytes_varint(&w->raw, module->start);
	rt_bytes_varint(&w->raw, module->end - module->start);
	put_string(&w->raw, module->path);
	put_string(&w->raw, module->build_id);
	struct rt_block block = {.kind = RT_BLOCK_LOADED};
	return write_block(w, &block, err);
}

enum rt_status rt_writer_event(struct rt_writer *w, const struct rt_event *event, struct rt_error *err)
{
	if (w->failure.status)
		return fail(w, err);
	struct writer_thread *t = get_thread(w, event->thread);
	if (!t)
		return fail_memory(w, err);
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

/* Reports a symbol table's failure. */
static enum rt_status symbol_result(struct rt_writer *w, bool ok, struct rt_error *err)
{
	if (w->failure.status)
		return fail(w, err);
	return ok ? RT_OK : fail_memory(w, err);
}

enum rt_status rt_writer_pc(struct rt_writer *w, uint64_t pc, struct rt_error *err)
{
	return symbol_result(w, note_pc(&w->pcs, pc), err);
}

enum rt_status rt_writer_symbols(struct rt_writer *w, struct rt_trace *trace, struct rt_error *err)
{
	if (w->failure.status)
		return fail(w, err);
	w->raw.len = 0;
	if (!rt_symbol_table_write(w->symbols, &w->raw) || w->raw.failed)
		return fail_memory(w, err);
	return trace->source->set_symbols ? trace->source->set_symbols(trace, w->raw.data, w->raw.len, err) : RT_OK;
}

enum rt_status rt_writer_position(struct rt_writer *w, uint64_t pc, const struct rt_frame *frames, size_t n,
                                  struct rt_error *err)
{
	return symbol_result(w, rt_symbol_table_position(w->symbols, pc, frames, n), err);
}

int rt_writer_each_pc(struct rt_writer *w, int (*f)(uint64_t pc, void *arg), void *arg)
{
	for (struct writer_thread *t = w->oldest; t; t = t->newer)
		if (!rt_encoder_each_pc(t->encoder, add_pc, &w->pcs))
			fail_memory(w, NULL);
	size_t n;
	uint64_t *pcs = set_sorted(&w->pcs, &n);
	if (!pcs) {
		fail_memory(w, NULL);
		return 0;
	}
	int result = 0;
	for (size_t i = 0; i < n && !result; i++)
		result = f(pcs[i], arg);
	free(pcs);
	return result;
}

enum rt_status rt_writer_type(struct rt_writer *w, const struct rt_type *type, uint32_t *index, struct rt_error *err)
{
	return symbol_result(w, rt_symbol_table_type(w->symbols, type, index), err);
}

enum rt_status rt_writer_variable(struct rt_writer *w, const char *name, uint64_t address, uint64_t size, uint32_t type,
                                  const char *file, uint32_t line, struct rt_error *err)
{
	return symbol_result(w, rt_symbol_table_variable(w->symbols, name, address, size, type, file, line), err);
}

enum rt_status rt_writer_object_name(struct rt_writer *w, uint64_t addr, const char *name, struct rt_error *err)
{
	return symbol_result(w, rt_symbol_table_object(w->symbols, addr, name), err);
}

enum rt_status rt_writer_module(struct rt_writer *w, uint64_t start, uint64_t end, uint64_t offset, const char *path,
                                bool plain, struct rt_error *err)
{
	return symbol_result(w, rt_symbol_table_module(w->symbols, start, end, offset, path, plain), err);
}

enum rt_status rt_writer_hidden_atomic(struct rt_writer *w, const struct rt_hidden_atomic *a, struct rt_error *err)
{
	return symbol_result(w, rt_symbol_table_hidden_atomic(w->symbols, a), err);
}

enum rt_status rt_writer_text_file(struct rt_writer *w, const char *path, uint64_t digest, struct rt_error *err)
{
	return symbol_result(w, rt_symbol_table_text_file(w->symbols, path, digest), err);
}

/* Writes everything that comes after the last chunk. */
static enum rt_status write_end(struct rt_writer *w, const struct rt_writer_result *result, struct rt_error *err)
{
	if (w->announce && announce_threads(w, err))
		return w->failure.status;
	if (!rt_symbol_table_write(w->symbols, &w->raw))
		return fail_memory(w, err);
	struct rt_block symbols = {.kind = RT_BLOCK_SYMBOLS};
	if (write_block(w, &symbols, err))
		return w->failure.status;
	rt_bytes_varint(&w->raw, (uint64_t)result->exit_kind);
	rt_bytes_varint(&w->raw, rt_zigzag(result->exit_value));
	rt_bytes_varint(&w->raw, result->duration_ns);
	struct rt_block end = {.kind = RT_BLOCK_END};
	if (write_block(w, &end, err))
		return w->failure.status;
	uint64_t index_offset = w->offset;
	rt_bytes_add(&w->raw, w->index.data, w->index.len);
	w->raw.failed |= w->index.failed;
	struct rt_block index = {.kind = RT_BLOCK_INDEX, .records = w->blocks};
	if (write_block(w, &index, err))
		return w->failure.status;
	uint8_t trailer[RT_TRAILER_BYTES];
	rt_trailer_put(trailer, index_offset);
	return write_all(w, trailer, sizeof trailer, err);
}

enum rt_status rt_writer_finish(struct rt_writer *w, struct rt_writer_result *result, struct rt_error *err)
{
	enum rt_status status = rt_writer_flush(w, err);
	if (!status)
		status = write_end(w, result, err);
	result->events = w->events;
	result->left_out = w->left_out;
	result->bytes = w->offset;
	/* If data is written late, a full disk shows only here. */
	if (!status && w->recording && fsync(w->output.fd))
		status = fail_system(w, err);
	if (!status)
		status = rt_output_commit(&w->output, err);
	writer_free(w);
	return status;
}
