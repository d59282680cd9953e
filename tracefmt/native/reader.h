/* The internals of the reader of trace.zst: finding the blocks (catalog.c) and merging the threads (reader.c). */
#ifndef TRACEFMT_NATIVE_READER_H
#define TRACEFMT_NATIVE_READER_H

#include "tracefmt/native/file.h"
#include "tracefmt/native/symbols.h"
#include "tracefmt/source.h"

#include <zstd.h>

/* A thread in the merge. */
struct rt_stream {
	struct rt_block *chunks;     /* in order; borrowed from the reader's array */
	uint32_t chunk_count, chunk; /* chunk: the next one to load */
	bool loaded;
	struct rt_bytes raw;
	struct rt_decoder decoder;
	uint64_t stamp, ordinal;
	bool gap;            /* repeats were left out since the last event that was returned */
	uint64_t arg, value; /* from records before their event that were not coded with it */
	unsigned pending;    /* RT_FLAG_EXT, RT_FLAG_VALUE: arg, value are valid */
	uint32_t events;     /* of the loaded chunk, so far */
};

/* An open thread in the heap. */
struct rt_next {
	uint64_t stamp;
	uint32_t thread;
};

struct rt_reader {
	struct rt_trace trace; /* first: rt_trace handles are these */
	int fd, failure;       /* failure: why the last bytes could not be read, if that was a system error */
	uint64_t size;
	uint32_t index_threads; /* capacity of the threads array */
	struct rt_thread *threads;
	char **command;
	struct rt_block *chunks; /* by thread, in order */
	size_t chunk_count, chunk_cap;
	struct rt_block symbols_block;
	bool no_memory; /* while the file was opened */
	bool has_symbols, has_head;
	bool joins_unknown;       /* of an old version: whether a join may have given up is not recorded, */
	bool posts_unknown;       /* or whether another process may post a semaphore */
	char *input;              /* the trace's info.input */
	struct rt_loaded *loaded; /* modules that were written while the program ran */
	size_t loaded_count, loaded_room;
	struct rt_symbols *symbols; /* parsed on demand */
	bool symbols_tried;
	struct rt_stream *streams;
	struct rt_next *heap;
	uint32_t heap_count;
	uint64_t number, live_bytes;
	bool ended;
	ZSTD_DCtx *zstd;
	struct rt_bytes packed, spare; /* spare: memory of a finished chunk, for the next one */
	char why[160];
};

/* Records that the trace is incomplete, and why; the first reason stays. */
void rt_reader_incomplete(struct rt_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same of what is damaged at offset, or could not be read just now. */
void rt_reader_damaged(struct rt_reader *r, uint64_t offset);
/* Decompresses a block's content into out, after checking its header again. RT_EINPUT if damaged; RT_EMEMORY. */
enum rt_status rt_reader_content(struct rt_reader *r, const struct rt_block *block, struct rt_bytes *out);
/* Finds the blocks, by index or by walking; sets the facts, threads and chunks. */
enum rt_status rt_reader_catalog(struct rt_reader *r, const char *path, struct rt_error *err);

#endif
