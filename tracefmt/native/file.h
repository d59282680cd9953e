/*
 * trace.zst as bytes: blocks (docs/trace-format.md). A block is a skippable zstd frame, its header, mostly followed by
 * a zstd frame, its content. Shared by writer and reader.
 */
#ifndef TRACEFMT_NATIVE_FILE_H
#define TRACEFMT_NATIVE_FILE_H

#include "tracefmt/native/column.h"

#define RT_FILE_MAJOR 1 /* a reader refuses a newer one */
#define RT_FILE_MINOR 17
#define RT_FILE_MINOR_JOINS 13 /* from this one on joins that may give up have RT_F_TIMED */
#define RT_FILE_MINOR_POSTS 15 /* and waits for semaphores that other processes may post */

enum rt_block_kind {
	RT_BLOCK_HEAD = 1, /* process id, order, command */
	RT_BLOCK_THREADS,  /* declarations of threads; the last one of a thread counts */
	RT_BLOCK_CHUNK,    /* records of one thread */
	RT_BLOCK_SYMBOLS,  /* positions, variables, names, modules */
	RT_BLOCK_END,      /* exit, duration */
	RT_BLOCK_INDEX,    /* the headers of all blocks before it, with their offsets */
	RT_BLOCK_LOADED    /* modules that the program has loaded so far, while it runs */
};

struct rt_block {
	uint32_t kind;
	uint32_t thread;   /* CHUNK: its thread */
	uint32_t sequence; /* CHUNK: number of this thread's chunks before it */
	uint32_t records, events;
	uint32_t raw;    /* content, decompressed */
	uint32_t packed; /* zstd frame */
	uint64_t base_stamp, first_stamp, last_stamp;
	uint64_t ordinal; /* CHUNK: of the thread's last event before it */
	uint64_t left_out, lost;
	uint64_t offset; /* of the skippable frame in the file; only in the index, not in the header */
};

/* Sizes of the skippable frames, with their own eight bytes. */
enum { RT_FILE_HEADER_BYTES = 32, RT_BLOCK_HEADER_BYTES = 96, RT_TRAILER_BYTES = 32, RT_INDEX_ENTRY_BYTES = 104 };
#define RT_SECTION_RAW_MAX (256u << 20) /* content of a block that is not a chunk */
#define RT_SECTION_RATIO_MAX 4096u      /* and how much larger than its frame it may be, past the first 64 KiB */
#define RT_THREAD_MAX (1u << 22)

void rt_file_header_put(uint8_t out[RT_FILE_HEADER_BYTES]);
/* True if the first n bytes begin as a trace does. The version is not checked. */
bool rt_file_header_probe(const uint8_t *data, size_t n);
/* Versions from a complete header that was probed. */
void rt_file_header_version(const uint8_t data[RT_FILE_HEADER_BYTES], unsigned *major, unsigned *minor);

void rt_block_put(uint8_t out[RT_BLOCK_HEADER_BYTES], const struct rt_block *block);
/* False: not a block header, a wrong checksum, or sizes out of bounds. offset is not changed. */
bool rt_block_get(const uint8_t data[RT_BLOCK_HEADER_BYTES], struct rt_block *block);

void rt_trailer_put(uint8_t out[RT_TRAILER_BYTES], uint64_t index_offset);
bool rt_trailer_get(const uint8_t data[RT_TRAILER_BYTES], uint64_t *index_offset);

#endif
