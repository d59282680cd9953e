/* The inside of the reader of trace.zst: finding the blocks (catalog.c) and merging the threads (reader.c). */
#ifndef TRACEFMT_NATIVE_READER_H
#define TRACEFMT_NATIVE_READER_H

#include "tracefmt/native/file.h"
#include "tracefmt/native/symbols.h"
#include "tracefmt/source.h"

#include <zstd.h>

/* A thread on its way through the merge. */
struct rt_stream {
	struct rt_block *chunks;     /* in order; borrowed from the reader's array */
	uint32_t chunk_count, chunk; /* chunk: the next one to load */
	bool loaded;
	struct rt_bytes raw;
	struct rt_decoder decoder;
	uint64_t stamp, ordinal;
	uint64_t arg, value; /* from records that stood before their event without being coded with it */
	unsigned pending;    /* RT_FLAG_EXT, RT_FLAG_VALUE: arg, value are to be used */
	uint32_t events;     /* of the loaded chunk, so far */
};

/* A live thread in the heap. */
struct rt_next {
	uint64_t stamp;
	uint32_t thread;
};

struct rt_reader {
	struct rt_trace trace; /* first: rt_trace handles are these */
	int fd;
	uint64_t size;
	uint32_t index_threads; /* threads that the threads array has room for */
	struct rt_thread *threads;
	char **command;
	struct rt_block *chunks; /* by thread, in order */
	size_t chunk_count, chunk_cap;
	struct rt_block symbols_block;
	bool no_memory; /* while the file was opened */
	bool has_symbols, has_head;
	struct rt_loaded *loaded; /* modules that were written while the program ran */
	size_t loaded_count;
	struct rt_symbols *symbols; /* parsed when first asked for */
	bool symbols_tried;
	struct rt_stream *streams;
	struct rt_next *heap;
	uint32_t heap_count;
	uint64_t number, live_bytes;
	bool ended;
	ZSTD_DCtx *zstd;
	struct rt_bytes packed, spare; /* spare: room of a chunk that is done, for the next one */
	char why[160];
};

/* Notes that the trace is not whole, and why; the first reason stays. */
void rt_reader_incomplete(struct rt_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reads the file at offset: n bytes into data. False if there are fewer or the system refuses. */
bool rt_reader_bytes(struct rt_reader *r, uint64_t offset, void *data, size_t n);
/* Decompresses a block's content into out, after checking its header again. RT_EINPUT if damaged; RT_EMEMORY. */
enum rt_status rt_reader_content(struct rt_reader *r, const struct rt_block *block, struct rt_bytes *out);
/* Finds the blocks, by index or by walking; fills in the facts, threads and chunks. */
enum rt_status rt_reader_catalog(struct rt_reader *r, const char *path, struct rt_error *err);

#endif
