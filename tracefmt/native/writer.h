/*
 * Writing trace.zst. Threads' records come in any interleaving; each thread's own are in its order. Used by the
 * collector (raw records from the rings) and by convert (events).
 */
#ifndef TRACEFMT_NATIVE_WRITER_H
#define TRACEFMT_NATIVE_WRITER_H

#include "lib/base/error.h"
#include "tracefmt/record.h"
#include "tracefmt/trace.h"

struct rt_writer;

struct rt_writer_options {
	const char *const *command; /* NULL-terminated, or NULL */
	uint64_t pid;
	bool exact;                 /* order is exact */
	enum rt_memory_model model; /* C11 for a recorded program */
	bool sync_only;             /* plain accesses were not recorded */
	bool zeroed;                /* memory begins as 0 */
	bool recording;             /* a long run: RT_OUTPUT_LONG */
	bool values;                /* values of accesses are recorded */
	bool binary;                /* the program was not instrumented; see rt_trace_info */
	uint32_t vary;              /* seed by which threads were delayed; 0: they were not */
	const char *input;          /* what standard input is, as in struct rt_trace_info; NULL: unknown */
	int level;                  /* zstd level; 0: the default, 1 */
	uint64_t ring;              /* the trace is the last part of the run, of about this many bytes; 0: all of it */
};

/* Creates the file (output.h), which gets its name in rt_writer_finish. On RT_OK the caller owns *out. path NULL:
 * without a file, for rt_writer_symbols only. */
enum rt_status rt_writer_create(const char *path, const struct rt_writer_options *options, struct rt_writer **out,
                                struct rt_error *err);

/* Declares thread `index` (dense, from 0, before its records). name and label are copied; label may be NULL. */
enum rt_status rt_writer_thread(struct rt_writer *w, uint32_t index, const char *name, uint32_t parent,
                                const char *label, struct rt_error *err);

/* Appends records of one thread, whole events only (an EXT and its event are never split between calls). */
enum rt_status rt_writer_records(struct rt_writer *w, uint32_t thread, const struct rt_record *records, size_t n,
                                 struct rt_error *err);
/* Ends a thread: writes its open chunk and frees its memory. */
enum rt_status rt_writer_thread_end(struct rt_writer *w, uint32_t thread, struct rt_error *err);
/* Writes everything so far, so that it survives if the writer is killed. A ring is written at the end only. */
enum rt_status rt_writer_flush(struct rt_writer *w, struct rt_error *err);
/* Of a ring: drops what came so far. The trace begins here. */
enum rt_status rt_writer_begin(struct rt_writer *w, struct rt_error *err);
/*
 * Records immediately that a module is loaded, so that positions can be resolved even if the writer is killed.
 * build_id: in hexadecimal; NULL: it has none.
 */
enum rt_status rt_writer_loaded(struct rt_writer *w, const struct rt_loaded *module, struct rt_error *err);
/* Appends one event (for converters); ordinal gaps become skips; number is ignored. */
enum rt_status rt_writer_event(struct rt_writer *w, const struct rt_event *event, struct rt_error *err);

/* Adds a pc for rt_writer_each_pc; the pcs of written events are known. */
enum rt_status rt_writer_pc(struct rt_writer *w, uint64_t pc, struct rt_error *err);
/* Position of a pc: n frames, innermost first. Copied. Once for each pc. */
enum rt_status rt_writer_position(struct rt_writer *w, uint64_t pc, const struct rt_frame *frames, size_t n,
                                  struct rt_error *err);
/* Calls f for every distinct pc that was written, in rising order (for the collector to resolve). Stops at non-zero.
 * -1: no memory. */
int rt_writer_each_pc(struct rt_writer *w, int (*f)(uint64_t pc, void *arg), void *arg);

/* Leaves all symbols out, what was added included: readers look for them by the modules (rt_trace_loaded). */
void rt_writer_leave_out_symbols(struct rt_writer *w);

/* A type, for naming members: of kind base/pointer (0 members), struct/union (members), array (one member: the element,
 * count). */
struct rt_member {
	const char *name; /* NULL: array element or anonymous */
	uint64_t offset;
	uint32_t type; /* index of its type, RT_NO_TYPE if unknown */
};
#define RT_NO_TYPE UINT32_MAX
struct rt_type {
	uint64_t size;
	uint64_t count; /* arrays: number of elements; else 0 */
	const struct rt_member *members;
	size_t member_count;
};
/* Adds a type; *index is its number. Copied. Members may refer to types that are added later. */
enum rt_status rt_writer_type(struct rt_writer *w, const struct rt_type *type, uint32_t *index, struct rt_error *err);
/* A variable with a fixed address. Copied. */
enum rt_status rt_writer_variable(struct rt_writer *w, const char *name, uint64_t address, uint64_t size, uint32_t type,
                                  const char *file, uint32_t line, struct rt_error *err);
/* A name for a synchronisation object (STD locks). */
enum rt_status rt_writer_object_name(struct rt_writer *w, uint64_t addr, const char *name, struct rt_error *err);
/* A function with an atomic instruction that is not an event. */
enum rt_status rt_writer_hidden_atomic(struct rt_writer *w, const struct rt_hidden_atomic *a, struct rt_error *err);
enum rt_status rt_writer_update(struct rt_writer *w, const struct rt_update *u, struct rt_error *err);
/* A declared name; each once. Copied. */
enum rt_status rt_writer_declared(struct rt_writer *w, const struct rt_declared *d, struct rt_error *err);
/* A loaded module: [start, end) of the address space, file offset of start, path. plain: as in struct rt_module. */
enum rt_status rt_writer_module(struct rt_writer *w, uint64_t start, uint64_t end, uint64_t offset, const char *path,
                                bool plain, struct rt_error *err);

/* A source file that positions are in. Copied. */
enum rt_status rt_writer_text_file(struct rt_writer *w, const char *path, uint64_t digest, struct rt_error *err);

/* Gives an incomplete trace the positions, variables and so on that were written here. */
enum rt_status rt_writer_symbols(struct rt_writer *w, struct rt_trace *trace, struct rt_error *err);

struct rt_writer_result {
	enum rt_exit_kind exit_kind;
	int exit_value;
	uint64_t duration_ns;
	uint64_t events, left_out, bytes; /* filled in by finish */
	uint64_t dropped;                 /* events before the trace's start; of a ring filled in by finish */
	const char *incomplete_why;       /* of the trace that this is made from; NULL: that is complete */
};

/* The order is not exact after all. */
enum rt_status rt_writer_inexact(struct rt_writer *w, struct rt_error *err);
/* Writes the rest, the metadata and the index, syncs, renames. Frees the writer, whatever the result. */
enum rt_status rt_writer_finish(struct rt_writer *w, struct rt_writer_result *result, struct rt_error *err);
/*
 * Drops the writer and removes the file. If the file could not be written any further (a full disk), what was written
 * is kept under the file's name and can be read. NULL is allowed.
 */
void rt_writer_abort(struct rt_writer *w);

/* Number of threads that were declared. */
uint32_t rt_writer_threads(const struct rt_writer *w);
/* As its options say. */
bool rt_writer_is_binary(const struct rt_writer *w);
/* The file's name, valid as long as the writer: as given, or numbered (RT_OUTPUT_LONG). */
const char *rt_writer_path(const struct rt_writer *w);

#endif
