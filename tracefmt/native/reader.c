/*
 * Reads trace.zst: merges the threads' chunks into the global order (record.h defines it: runs by their stamps, the
 * lower thread first among equals). A heap holds the open threads; the first one's events are decoded directly into the
 * caller's array while its stamps are before the second one's. A thread's chunk is in memory only between its first
 * stamp and its last event.
 */
#include "tracefmt/native/reader.h"
#include "lib/base/free.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* Most bytes of decoded chunks at once: some thousand threads with full chunks that columns hardly compress. */
#define LIVE_BYTES_MAX (UINT64_C(4) << 30)

static struct rt_reader *reader_of(const struct rt_trace *trace)
{
	return (struct rt_reader *)(uintptr_t)trace;
}

/* Releases the stream's chunk. */
static void unload(struct rt_reader *r, struct rt_stream *s)
{
	if (s->loaded)
		r->live_bytes -= s->raw.cap;
	s->loaded = false;
	rt_decoder_release(&s->decoder);
	if (s->raw.cap > r->spare.cap) {
		struct rt_bytes raw = s->raw;
		s->raw = r->spare;
		r->spare = raw;
	}
	rt_bytes_release(&s->raw);
}

static void file_free(struct rt_trace *trace)
{
	struct rt_reader *r = reader_of(trace);
	for (uint32_t i = 0; i < r->trace.info.thread_count; i++) {
		if (r->streams)
			unload(r, &r->streams[i]);
		free((char *)(uintptr_t)r->threads[i].name);
		free((char *)(uintptr_t)r->threads[i].label);
	}
	for (char **arg = r->command; arg && *arg; arg++)
		free(*arg);
	free(r->command);
	free(r->input);
	for (size_t i = 0; i < r->loaded_count; i++) {
		free((char *)(uintptr_t)r->loaded[i].path);
		free((char *)(uintptr_t)r->loaded[i].build_id);
	}
	free_all(r->loaded, r->threads, r->streams, r->heap, r->chunks);
	rt_symbols_free(r->symbols);
	rt_bytes_release(&r->packed);
	rt_bytes_release(&r->spare);
	ZSTD_freeDCtx(r->zstd);
	if (r->fd >= 0)
		close(r->fd);
	free(r);
}

static bool before(struct rt_next a, struct rt_next b)
{
	return a.stamp != b.stamp ? a.stamp < b.stamp : a.thread < b.thread;
}

static void sift_down(struct rt_reader *r, uint32_t i)
{
	struct rt_next x = r->heap[i];
	for (uint32_t child; (child = 2 * i + 1) < r->heap_count; i = child) {
		if (child + 1 < r->heap_count && before(r->heap[child + 1], r->heap[child]))
			child++;
		if (!before(r->heap[child], x))
			break;
		r->heap[i] = r->heap[child];
	}
	r->heap[i] = x;
}

static enum rt_status file_rewind(struct rt_trace *trace, struct rt_error *err)
{
	struct rt_reader *r = reader_of(trace);
	(void)err;
	r->heap_count = 0;
	r->number = 0;
	r->ended = false;
	for (uint32_t i = 0; i < r->trace.info.thread_count; i++) {
		struct rt_stream *s = &r->streams[i];
		unload(r, s);
		s->chunk = 0;
		s->ordinal = 0;
		s->pending = 0;
		s->gap = false;
		if (!s->chunk_count)
			continue;
		s->stamp = s->chunks[0].first_stamp;
		r->heap[r->heap_count++] = (struct rt_next){s->stamp, i};
	}
	for (uint32_t i = r->heap_count / 2; i-- > 0;)
		sift_down(r, i);
	return RT_OK;
}

static enum rt_status file_open(int fd, const char *path, const struct rt_trace_options *options, struct rt_trace **out,
                                struct rt_error *err)
{
	(void)options;
	struct rt_reader *r = calloc(1, sizeof *r);
	if (!r) {
		close(fd);
		return rt_error_set(err, RT_EMEMORY, "no memory to open '%s'", path);
	}
	struct stat st;
	enum rt_status status;
	r->fd = fd;
	if (fstat(r->fd, &st)) {
		status = rt_error_set(err, RT_ESYSTEM, "cannot open '%s': %s", path, strerror(errno));
	} else if (!(r->zstd = ZSTD_createDCtx())) {
		status = rt_error_set(err, RT_EMEMORY, "no memory to open '%s'", path);
	} else {
		r->size = (uint64_t)st.st_size;
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
		ZSTD_DCtx_setParameter(r->zstd, ZSTD_d_experimentalParam3, 1); /* ignore content checksums */
#endif
		status = rt_reader_catalog(r, path, err);
	}
	if (!status)
		status = file_rewind(&r->trace, err);
	if (status) {
		file_free(&r->trace);
		return status;
	}
	*out = &r->trace;
	return RT_OK;
}

/* Loads the stream's next chunk. RT_EINPUT: the trace ends here. */
static enum rt_status load(struct rt_reader *r, struct rt_stream *s)
{
	const struct rt_block *chunk = &s->chunks[s->chunk];
	bool memory = false;
	if (chunk->sequence != s->chunk || r->live_bytes + chunk->raw > LIVE_BYTES_MAX)
		return RT_EINPUT;
	s->raw = r->spare;
	memset(&r->spare, 0, sizeof r->spare);
	enum rt_status status = rt_reader_content(r, chunk, &s->raw);
	if (status)
		return status;
	s->loaded = true;
	r->live_bytes += s->raw.cap;
	if (!rt_decoder_init(&s->decoder, s->raw.data, s->raw.len, chunk->base_stamp, &memory)) {
		unload(r, s);
		return memory ? RT_EMEMORY : RT_EINPUT;
	}
	s->events = 0;
	s->ordinal = chunk->ordinal;
	s->chunk++;
	return RT_OK;
}

/* State of a read. */
struct reading {
	struct rt_event *out, *end;
	uint64_t mask;
	struct rt_next limit; /* the second thread's place: stop before a run that comes after it */
};

enum run_end { RUN_FULL, RUN_BEHIND, RUN_CHUNK_END, RUN_DAMAGED };

/* The next record is a literal: takes it, unless it begins a run that comes after the limit. *taken says which. */
static enum run_end take_literal(struct rt_stream *s, unsigned flag, uint32_t thread, struct rt_next limit, bool *taken)
{
	struct rt_record record;
	if (!rt_decoder_peek_literal(&s->decoder, flag, &record))
		return RUN_DAMAGED;
	*taken = true;
	if (rt_record_op(record) == RT_OP_EXT) {
		s->stamp = record.w1 > s->stamp ? record.w1 : s->stamp;
		*taken = !before(limit, (struct rt_next){s->stamp, thread});
		if (!*taken)
			return RUN_BEHIND;
		s->arg = rt_record_operand(record);
		s->pending |= RT_FLAG_EXT;
	} else if (rt_record_op(record) == RT_OP_VALUE) {
		s->value = record.w1;
		s->pending |= RT_FLAG_VALUE;
	} else if (rt_record_op(record) == RT_OP_SKIP) {
		s->ordinal += rt_record_operand(record);
		s->gap = true;
	}
	rt_decoder_take_literal(&s->decoder, flag);
	return RUN_BEHIND;
}

static inline void put_event(struct rt_event *e, struct rt_step step, uint32_t thread)
{
	uint64_t w1 = step.site->w1;
	unsigned aux = (unsigned)(w1 >> 48);
	e->addr = step.operand;
	e->pc = w1 & RT_OPERAND_MAX;
	e->arg = aux & 31;
	e->value = 0;
	e->thread = thread;
	e->op = step.site->op;
	e->order = (aux >> 5) & 7;
	e->flags = (uint8_t)(aux >> 8);
	e->reserved = 0;
}

/* The arg and value that were recorded before the event, in its own group (flag) or apart (pending). */
static void put_prefix(struct rt_event *e, const struct rt_stream *s, unsigned flag, const struct rt_site *site)
{
	unsigned given = flag | s->pending;
	if (!e->arg && given & RT_FLAG_EXT)
		e->arg = flag & RT_FLAG_EXT ? site->arg : s->arg;
	if (e->flags & RT_F_VALUE && given & RT_FLAG_VALUE)
		e->value = flag & RT_FLAG_VALUE ? site->value : s->value;
}

/* Decodes the loaded chunk's events into the reading until it must stop. */
static enum run_end run_stream(struct rt_reader *r, struct rt_stream *s, uint32_t thread, struct reading *in)
{
	/* State that changes with each event is in local variables whose address does not escape, so in registers. */
	struct rt_decoder *d = &s->decoder;
	struct rt_step step = {.from = d->from, .at = d->recent.at};
	struct rt_site *sites = d->sites;
	struct rt_event *out = in->out, *out_end = in->end;
	const uint8_t *flag_end = d->flag_end, *at = d->flag;
	const uint64_t mask = in->mask;
	uint64_t number = r->number, ordinal = s->ordinal, stamp = s->stamp;
	unsigned gap = s->gap;
	enum run_end result = RUN_CHUNK_END;
	for (; at < flag_end; at++) {
		unsigned flag = *at;
		if (__builtin_expect(out == out_end, 0)) {
			result = RUN_FULL;
			break;
		}
		if (__builtin_expect(flag & RT_FLAG_LITERAL, 0)) {
			bool taken = false;
			s->ordinal = ordinal;
			s->stamp = stamp;
			s->gap = gap;
			result = take_literal(s, flag, thread, in->limit, &taken);
			ordinal = s->ordinal;
			gap = s->gap;
			stamp = s->stamp;
			if (!taken)
				break;
			result = RUN_CHUNK_END;
			continue;
		}
		if (__builtin_expect(flag & RT_FLAG_EXT, 0)) {
			uint64_t next = rt_decoder_peek_stamp(d);
			stamp = next > stamp ? next : stamp;
			if (before(in->limit, (struct rt_next){stamp, thread})) {
				result = RUN_BEHIND;
				break;
			}
		}
		if (__builtin_expect(!rt_decoder_next(d, flag, sites, &step), 0)) {
			result = RUN_DAMAGED;
			break;
		}
		unsigned op = step.site->op;
		number++;
		ordinal += step.site->skip + 1u;
		gap |= step.site->skip;
		/* Operations of a newer minor version are counted, not returned. */
		if (op < RT_OP_COUNT && mask >> op & 1) {
			put_event(out, step, thread);
			out->number = number;
			out->ordinal = ordinal;
			out->stamp = stamp;
			out->gap = gap;
			gap = 0;
			if (__builtin_expect((flag & (RT_FLAG_EXT | RT_FLAG_VALUE)) | s->pending, 0))
				put_prefix(out, s, flag, step.site);
			out++;
		}
		s->pending = 0;
	}
	d->flag = at;
	d->from = step.from;
	d->recent.at = step.at;
	in->out = out;
	s->events += (uint32_t)(number - r->number);
	r->number = number;
	s->ordinal = ordinal;
	s->stamp = stamp;
	s->gap = gap;
	return result;
}

/* The trace ends here, at damage. */
static void end_damaged(struct rt_reader *r, const struct rt_block *chunk)
{
	rt_reader_damaged(r, chunk->offset);
	r->ended = true;
}

/* One turn of the thread that is first. */
static enum rt_status advance(struct rt_reader *r, struct reading *in)
{
	uint32_t thread = r->heap[0].thread;
	struct rt_stream *s = &r->streams[thread];
	in->limit = (struct rt_next){UINT64_MAX, UINT32_MAX};
	for (uint32_t i = 1; i <= 2 && i < r->heap_count; i++)
		if (before(r->heap[i], in->limit))
			in->limit = r->heap[i];
	if (!s->loaded) {
		enum rt_status status = load(r, s);
		if (status == RT_EMEMORY)
			return status;
		if (status) {
			end_damaged(r, &s->chunks[s->chunk]);
			return RT_OK;
		}
	}
	switch (run_stream(r, s, thread, in)) {
	case RUN_FULL:
		return RT_OK;
	case RUN_BEHIND:
		break;
	case RUN_DAMAGED:
		end_damaged(r, &s->chunks[s->chunk - 1]);
		return RT_OK;
	case RUN_CHUNK_END:
		unload(r, s);
		if (s->events != s->chunks[s->chunk - 1].events) {
			end_damaged(r, &s->chunks[s->chunk - 1]);
			return RT_OK;
		}
		if (s->chunk == s->chunk_count)
			r->heap[0] = r->heap[--r->heap_count];
		else if (s->chunks[s->chunk].first_stamp > s->stamp)
			s->stamp = s->chunks[s->chunk].first_stamp;
	}
	if (r->heap_count && r->heap[0].thread == thread)
		r->heap[0].stamp = s->stamp;
	if (r->heap_count)
		sift_down(r, 0);
	return RT_OK;
}

/* Joins that may have given up, and waits that another process may have ended: they are no deadlock's. */
static void doubt_waits(const struct rt_reader *r, struct rt_event *events, const struct rt_event *end)
{
	for (struct rt_event *e = events; e < end; e++)
		if ((r->joins_unknown && e->op == RT_OP_JOIN) || (r->posts_unknown && e->op == RT_OP_SEM_WAIT))
			e->flags |= RT_F_TIMED;
}

static enum rt_status file_read(struct rt_trace *trace, struct rt_event *events, size_t n, size_t *got,
                                struct rt_error *err)
{
	struct rt_reader *r = reader_of(trace);
	struct reading in = {.out = events, .end = events + n, .mask = trace->mask};
	while (in.out < in.end && r->heap_count && !r->ended) {
		if (advance(r, &in))
			return rt_error_set(err, RT_EMEMORY, "no memory to read '%s'", trace->info.path);
	}
	if (r->joins_unknown || r->posts_unknown)
		doubt_waits(r, events, in.out);
	*got = (size_t)(in.out - events);
	return RT_OK;
}

/* Where a thread's reading is, and so the whole trace's. */
struct mark_stream {
	uint32_t chunk;
	bool loaded, gap;
	unsigned pending;
	size_t flags; /* loaded: of the chunk, that are left to decode */
	uint64_t stamp, ordinal, arg, value;
};
struct rt_mark {
	uint64_t number;
	uint32_t heap_count;
	bool ended;
	struct rt_next *heap; /* behind the streams */
	struct mark_stream streams[];
};

static struct rt_mark *file_mark(const struct rt_trace *trace)
{
	const struct rt_reader *r = reader_of(trace);
	size_t threads = trace->info.thread_count;
	struct rt_mark *m = calloc(1, sizeof *m + threads * (sizeof *m->streams + sizeof *m->heap));
	if (!m)
		return NULL;
	m->number = r->number;
	m->ended = r->ended;
	m->heap_count = r->heap_count;
	m->heap = (struct rt_next *)(void *)(m->streams + threads);
	if (r->heap_count)
		memcpy(m->heap, r->heap, r->heap_count * sizeof *m->heap);
	for (size_t i = 0; i < threads; i++) {
		const struct rt_stream *s = &r->streams[i];
		size_t flags = s->loaded ? (size_t)(s->decoder.flag_end - s->decoder.flag) : 0;
		m->streams[i] = (struct mark_stream){s->chunk, s->loaded,  s->gap, s->pending, flags,
		                                     s->stamp, s->ordinal, s->arg, s->value};
	}
	return m;
}

/* Decodes the stream's chunk again, up to where it was. */
static enum rt_status return_stream(struct rt_reader *r, uint32_t thread, const struct mark_stream *m)
{
	struct rt_stream *s = &r->streams[thread];
	struct rt_event none;
	struct reading in = {.out = &none, .end = &none + 1, .mask = 0, .limit = {UINT64_MAX, UINT32_MAX}};
	enum rt_status status = RT_OK;
	s->chunk = m->chunk - m->loaded;
	if (m->loaded)
		status = load(r, s);
	if (m->loaded && !status) {
		const uint8_t *end = s->decoder.flag_end;
		s->decoder.flag_end = end - m->flags;
		if ((size_t)(end - s->decoder.flag) < m->flags || run_stream(r, s, thread, &in) != RUN_CHUNK_END)
			status = RT_EINPUT;
		s->decoder.flag_end = end;
	}
	s->stamp = m->stamp;
	s->ordinal = m->ordinal;
	s->gap = m->gap;
	s->pending = m->pending;
	s->arg = m->arg;
	s->value = m->value;
	return status;
}

static enum rt_status file_return(struct rt_trace *trace, const struct rt_mark *mark, struct rt_error *err)
{
	struct rt_reader *r = reader_of(trace);
	enum rt_status status = file_rewind(trace, err);
	for (uint32_t i = 0; i < trace->info.thread_count && !status; i++)
		status = return_stream(r, i, &mark->streams[i]);
	r->number = mark->number;
	r->ended = mark->ended;
	r->heap_count = mark->heap_count;
	if (mark->heap_count)
		memcpy(r->heap, mark->heap, mark->heap_count * sizeof *r->heap);
	if (status == RT_EMEMORY)
		return rt_error_set(err, RT_EMEMORY, "no memory to read '%s'", trace->info.path);
	return status ? rt_error_set(err, RT_EINPUT, "'%s' changed while it was read", trace->info.path) : RT_OK;
}

/* Parses the symbols on demand; NULL if there are none. */
static const struct rt_symbols *get_symbols(const struct rt_trace *trace)
{
	struct rt_reader *r = reader_of(trace);
	if (r->symbols_tried || !r->has_symbols)
		return r->symbols;
	r->symbols_tried = true;
	struct rt_bytes raw = {0};
	enum rt_status status = rt_reader_content(r, &r->symbols_block, &raw);
	if (!status)
		status = rt_symbols_parse(raw.data, raw.len, &r->symbols);
	if (!status)
		rt_symbols_set_builds(r->symbols, r->loaded, r->loaded_count);
	if (status == RT_EMEMORY)
		r->trace.info.no_memory = true;
	else if (status)
		rt_reader_incomplete(r, "its table of source positions %s%s",
		                     r->failure ? "cannot be read: " : "is damaged",
		                     r->failure ? strerror(r->failure) : "");
	rt_bytes_release(&raw);
	return r->symbols;
}

static const struct rt_frame *file_frames(const struct rt_trace *trace, uint64_t pc, size_t *count)
{
	return rt_symbols_frames(get_symbols(trace), pc, count);
}

static bool file_variable(const struct rt_trace *trace, uint64_t addr, struct rt_variable *out)
{
	return rt_symbols_variable(get_symbols(trace), addr, out);
}

static const char *file_object_name(const struct rt_trace *trace, uint64_t addr)
{
	return rt_symbols_object(get_symbols(trace), addr);
}

static const struct rt_module *file_modules(const struct rt_trace *trace, size_t *count)
{
	return rt_symbols_modules(get_symbols(trace), count);
}

static const struct rt_hidden_atomic *file_hidden_atomics(const struct rt_trace *trace, size_t *count)
{
	return rt_symbols_hidden_atomics(get_symbols(trace), count);
}

static const struct rt_update *file_updates(const struct rt_trace *trace, size_t *count)
{
	return rt_symbols_updates(get_symbols(trace), count);
}

static const struct rt_declared *file_declared(const struct rt_trace *trace, size_t *count)
{
	return rt_symbols_declared(get_symbols(trace), count);
}

static const struct rt_text_file *file_text_files(const struct rt_trace *trace, size_t *count)
{
	return rt_symbols_text_files(get_symbols(trace), count);
}

static const struct rt_loaded *file_loaded(const struct rt_trace *trace, size_t *count)
{
	const struct rt_reader *r = reader_of(trace);
	*count = r->has_symbols || r->symbols ? 0 : r->loaded_count;
	return r->loaded;
}

static enum rt_status file_set_symbols(struct rt_trace *trace, const uint8_t *data, size_t n, struct rt_error *err)
{
	struct rt_reader *r = reader_of(trace);
	if (r->has_symbols || r->symbols)
		return RT_OK;
	enum rt_status status = rt_symbols_parse(data, n, &r->symbols);
	return status ? rt_error_set(err, status, "cannot keep the positions of '%s'", trace->info.path) : RT_OK;
}

static bool file_probe(const unsigned char *start, size_t n)
{
	return rt_file_header_probe(start, n);
}

_Static_assert(RT_OP_COUNT <= 64, "rt_trace_select has a bit for each operation");

const struct rt_source rt_source_file = {.name = "racetrace",
                                         .probe = file_probe,
                                         .open = file_open,
                                         .free = file_free,
                                         .rewind = file_rewind,
                                         .read = file_read,
                                         .ahead = true,
                                         .mark = file_mark,
                                         .go = file_return,
                                         .frames = file_frames,
                                         .variable = file_variable,
                                         .object_name = file_object_name,
                                         .modules = file_modules,
                                         .text_files = file_text_files,
                                         .hidden_atomics = file_hidden_atomics,
                                         .updates = file_updates,
                                         .declared = file_declared,
                                         .loaded = file_loaded,
                                         .set_symbols = file_set_symbols};
