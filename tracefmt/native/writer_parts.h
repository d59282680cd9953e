/* What the parts of writer.h share: writer.c has threads, chunks and records, writer_block.c the blocks of the file,
 * writer_ring.c the last part of a run, writer_symbols.c what positions and addresses are called. */
#ifndef TRACEFMT_NATIVE_WRITER_PARTS_H
#define TRACEFMT_NATIVE_WRITER_PARTS_H

#include "lib/base/output.h"
#include "lib/base/set.h"
#include "tracefmt/native/file.h"
#include "tracefmt/native/ring_file.h"
#include "tracefmt/native/symbols.h"
#include "tracefmt/native/writer.h"

#include <zstd.h>

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
	struct writer_thread *ended_later;   /* the next one of those that have ended; see rt_writer.ended */
	struct rt_ring_thread ring;
};

struct rt_writer {
	uint64_t pid;
	struct rt_output output;
	bool recording, binary;
	struct writer_thread **threads;
	uint32_t thread_count, thread_cap;
	uint32_t settled;   /* the threads before this one are announced */
	uint32_t announced; /* threads that the file names, if only by a number */
	bool announce;      /* some thread is not announced */
	struct writer_thread *oldest, *newest;
	struct writer_thread *ended,
	    *ended_last;       /* with a ring: threads to be forgotten when that has nothing of them */
	uint64_t open_records; /* in all open chunks */
	uint64_t chunks, offset, events, left_out;
	uint64_t whole; /* where the last whole block ends */
	struct set pcs; /* that were written */
	struct rt_symbol_table *symbols;
	struct rt_bytes raw, packed, index;
	uint32_t blocks;
	ZSTD_CCtx *zstd;
	uint32_t last_thread; /* rt_writer_event: of the last event, and its stamp */
	uint64_t last_stamp;
	struct rt_ring *ring;     /* NULL: chunks are written at once */
	struct rt_ring_file last; /* of the ring, once it is complete */
	struct rt_error failure;  /* the first one; every later call repeats it */
};

/* Returns the first failure, and says it. */
enum rt_status writer_fail(struct rt_writer *w, struct rt_error *err);
enum rt_status writer_no_memory(struct rt_writer *w, struct rt_error *err);
/* By errno. The file so far is left as a trace that was cut short. */
enum rt_status writer_fail_system(struct rt_writer *w, struct rt_error *err);
enum rt_status writer_put(struct rt_writer *w, const void *data, size_t n, struct rt_error *err);
/* The two halves of writer_block. Compresses w->raw, a block's content, to w->packed, behind room for its header, and
 * empties w->raw. */
enum rt_status writer_pack(struct rt_writer *w, struct rt_block *block, struct rt_error *err);
/* Writes a block whose frame is in w->packed, behind room for its header. */
enum rt_status writer_put_packed(struct rt_writer *w, struct rt_block *block, struct rt_error *err);
/* Writes a block, whose content is w->raw, and empties w->raw. */
enum rt_status writer_block(struct rt_writer *w, struct rt_block *block, struct rt_error *err);
/* Codes records; chunks that are full are written, or kept in the ring. */
enum rt_status writer_encode(struct rt_writer *w, struct writer_thread *t, const struct rt_record *records, size_t n,
                             struct rt_error *err);
/* Frees what is known of a thread. NULL is allowed. */
void writer_thread_free(struct writer_thread *t);
/* With a ring: the thread has ended. */
void writer_ring_end(struct rt_writer *w, struct writer_thread *t);
/* The same if there is a ring. */
enum rt_status writer_ring_encode(struct rt_writer *w, struct writer_thread *t, const struct rt_record *records,
                                  size_t n, struct rt_error *err);
/* Writes the thread's open chunk, which has records; all of them. */
enum rt_status writer_chunk(struct rt_writer *w, struct writer_thread *t, struct rt_error *err);
enum rt_status writer_open_chunks(struct rt_writer *w, struct rt_error *err);
/* No record comes any more: what the ring has is what the trace will have. Again: without effect. */
enum rt_status writer_ring_complete(struct rt_writer *w, struct rt_error *err);
/* Writes the chunks of the complete ring. */
enum rt_status writer_ring_write(struct rt_writer *w, struct rt_error *err);
/* Adds a pc, unless it is 0, to those to explain; arg: their set. False without memory. */
bool writer_add_pc(uint64_t pc, void *arg);

#endif
