/*
 * Reading a trace: one handle for every source (trace.zst, RAPID STD, JSON lines), recognized by content.
 *
 * Events come in global order (see event.h). A trace can be read repeatedly (rt_trace_rewind). Each pass streams and
 * holds at most one decoded chunk for each open thread, so the file bounds the memory.
 */
#ifndef TRACEFMT_TRACE_H
#define TRACEFMT_TRACE_H

#include "lib/base/error.h"
#include "tracefmt/event.h"

#include <stdbool.h>
#include <stddef.h>

struct rt_trace;

/* Why the recorded program ended. */
enum rt_exit_kind { RT_EXIT_UNKNOWN, RT_EXIT_STATUS, RT_EXIT_SIGNAL };

/* The definition of a data race: the happens-before of C11 and C++11, or sequential consistency. */
enum rt_memory_model { RT_MODEL_C11, RT_MODEL_SC, RT_MODELS };

struct rt_thread {
	const char *name;  /* by creation: "main", "main.1", "main.1.2"; STD: as in the file. Never NULL */
	const char *label; /* the name that the program gave it (pthread_setname_np), or NULL */
	uint32_t parent;   /* index; own index if it has none */
	uint64_t events;   /* kept events of this thread, code events included */
	uint64_t left_out; /* repeats that were left out */
};

/* An irregularity of a trace that can be read anyway. One for each kind. */
struct rt_warning {
	const char *kind; /* "forked-again", "stray-release", "unknown-operation" */
	uint64_t count;   /* of events */
	uint64_t line;    /* of the first */
	char text[256];   /* about the first; printable */
};

struct rt_trace_info {
	const char *path;
	const char *format;         /* "racetrace", "std", "jsonl" */
	const char *const *command; /* NULL-terminated; NULL if unknown */
	enum rt_exit_kind exit_kind;
	int exit_value;       /* status or signal number */
	uint64_t duration_ns; /* 0: unknown */
	uint64_t pid;         /* 0: unknown */
	uint64_t events;      /* kept events, all threads */
	uint64_t left_out;    /* repeats that were left out, all threads */
	uint64_t lost;        /* events lost (LOST), all threads */
	uint64_t dropped;     /* events before the trace's start, which is in the middle of the run; 0: it is not */
	uint64_t file_bytes;
	uint32_t thread_count;
	const struct rt_thread *threads;
	bool exact;                 /* order is exact (serial recording, STD); else stamped */
	enum rt_memory_model model; /* C11 of a recorded program, SC of STD */
	bool sync_only;             /* of an uninstrumented program: no plain accesses */
	bool zeroed;                /* memory without a write before is known to hold 0 (STD) */
	bool values;                /* values of accesses are recorded (record --values) */
	bool binary;       /* of machine code without instrumentation: which loads and stores are atomic is unknown */
	uint32_t vary;     /* seed by which the recorder delayed new threads; 0: it did not */
	const char *input; /* what the program read from: a file's path, "terminal", "pipe", "socket", "closed",
	                      "other"; NULL: unknown */
	bool complete;     /* false: cut short; `incomplete_why` says how */
	const char *incomplete_why; /* NULL if complete */
	bool no_memory;             /* requested positions or names are missing for lack of memory */
#define RT_LOST_WHY "not all could be recorded, as its 'lost' events say"
	const struct rt_warning *warnings;
	uint32_t warning_count;
};

/* One level of a source position: [0] is the innermost inlined function. Strings are owned by the trace, may be NULL.
 */
struct rt_frame {
	const char *function; /* demangled */
	const char *file;
	const char *module;    /* file name of the executable or library */
	const char *text;      /* STD: the third field, verbatim; else NULL */
	uint32_t line, column; /* 0: unknown */
	uint64_t pc;
};

enum rt_memory_kind { RT_MEMORY_UNKNOWN, RT_MEMORY_GLOBAL, RT_MEMORY_HEAP, RT_MEMORY_STACK, RT_MEMORY_TLS };

/* A named stretch of memory with a fixed address (a global, a static; STD: a variable or lock). */
struct rt_variable {
	char name[256];   /* with members and indices: "queue.slot[3].next"; as far as DWARF describes it */
	uint64_t address; /* of the named member */
	uint64_t size;    /* of the named member; 0: unknown */
	const char *file; /* where it is declared, or NULL */
	uint32_t line;
};

/*
 * A thread-local variable is as far below this address as it is below the end of a thread's thread-local memory
 * (RT_OP_TLS). It is one variable with one address for all threads, outside of a program's memory.
 */
#define RT_TLS_END (RT_OPERAND_MAX + 1)

/* Of the variables in memory that a SHARED event names, less than this far behind its address: the address of each is
 * that of the region's function and the distance. */
#define RT_SHARED_MAX 4096

/* A loaded module; [start, end) is its address range. */
struct rt_module {
	uint64_t start, end;
	const char *path;
	bool plain;           /* it has code, which was not instrumented */
	const char *build_id; /* in hexadecimal; NULL: none, or unknown */
};

/* A module that the recorder saw loaded, in a trace that was cut short before its module table was written. */
struct rt_loaded {
	uint64_t start, end;
	const char *path, *build_id; /* build_id: in hexadecimal; NULL: none */
};

/*
 * A function of an instrumented module that has an atomic instruction which is not an event: of inline assembly, or of
 * uninstrumented code. The instruction is executed after an event of the same activation whose pc is below `from` at
 * the earliest, and before one whose pc is at least `until` at the latest. If end is start, it is a call: an ENTER with
 * this pc enters such a function. Or the code of a module that was not instrumented, as a whole: any stretch between
 * its events may have one. If it has none that orders something, it may all the same read and write.
 */
struct rt_hidden_atomic {
	uint64_t start, end, from, until;
	const char *function, *module; /* where the instruction is; NULL: unknown */
	bool may_lock;                 /* it may take a lock, which a plain store then releases */
	/* It has no atomic instruction: it may all the same read and write memory, or only one of the two. */
	bool orders_nothing, reads_nothing, writes_nothing;
};

/*
 * The pcs of a read and of the write that is its thread's next access, where the machine code shows that what is read
 * decides nothing but what is written there, as by `x++;`: it reaches no other memory, no address, no jump that depends
 * on it, no call and no result.
 */
struct rt_update {
	uint64_t read, write;
};

/* A name that the program's own source declares, of a class or structure, or a pointer or reference to one. */
enum rt_declared_kind { RT_DECLARED_MEMBER, RT_DECLARED_LOCAL, RT_DECLARED_GLOBAL, RT_DECLARED_KINDS };
struct rt_declared {
	enum rt_declared_kind kind;
	const char *of;   /* the class, by its own name, or the function, by its whole one; "": none */
	const char *name; /* "": a class that it inherits from */
	const char *type; /* the class that it is, has elements of, or points or refers to; "": none, or of several */
};

/* Options for traces of text. */
struct rt_trace_options {
	bool strict;       /* STD: refuse a trace that would be read with a warning */
	bool skip_unknown; /* STD: skip lines with unknown operations, with a warning */
};

/* A set of event numbers. */
struct rt_numbers {
	uint8_t *bits; /* by event number */
	uint64_t end;  /* numbers from here on are not in it */
};

/*
 * Opens path, "-" is standard input; a pipe is copied first (input.h). On RT_OK the caller owns *out. Errors name the
 * file, the place and how to fix it. rt_trace_open uses all options as false.
 */
enum rt_status rt_trace_open(const char *path, struct rt_trace **out, struct rt_error *err);
enum rt_status rt_trace_open_as(const char *path, const struct rt_trace_options *options, struct rt_trace **out,
                                struct rt_error *err);
/* The same for a descriptor from rt_input_open; takes ownership of fd, also on failure. path is for messages and
 * reports. */
enum rt_status rt_trace_open_input(int fd, const char *path, const struct rt_trace_options *options,
                                   struct rt_trace **out, struct rt_error *err);
/* "c11"; the spelling of JSON lines and --model. */
const char *rt_model_name(enum rt_memory_model model);

/* Frees it; NULL is allowed. */
void rt_trace_free(struct rt_trace *trace);
/* Gives it one more owner: it is freed by as many calls more. */
void rt_trace_share(struct rt_trace *trace);

/* Facts about the trace; borrowed, valid until rt_trace_free. */
const struct rt_trace_info *rt_trace_info(const struct rt_trace *trace);

/* RT_EMEMORY and a message if info.no_memory. Call it after positions and names were looked up: those calls report no
 * error themselves. */
enum rt_status rt_trace_memory(const struct rt_trace *trace, struct rt_error *err);

/* Called after each successful rt_trace_read with the number of the last event read. */
typedef void rt_trace_watcher(uint64_t number, void *arg);
/* watcher: NULL: none. */
void rt_trace_watch(struct rt_trace *trace, rt_trace_watcher *watcher, void *arg);

/* Makes rt_trace_read leave out operations whose bit (1 << op) is not in mask. They keep their number and ordinal. */
void rt_trace_select(struct rt_trace *trace, uint64_t mask);
#define RT_SELECT_ALL UINT64_MAX

/* Starts over: the next rt_trace_read returns the first event. */
enum rt_status rt_trace_rewind(struct rt_trace *trace, struct rt_error *err);

/* A place in a trace to which reading can return. */
struct rt_mark;
/* The place of the next event to read; the caller's. NULL: the source has none but its beginning, or no memory. */
struct rt_mark *rt_trace_mark(const struct rt_trace *trace);
/* Like rt_trace_rewind, to the mark of this trace; NULL: to the beginning. */
enum rt_status rt_trace_return(struct rt_trace *trace, const struct rt_mark *mark, struct rt_error *err);
void rt_mark_free(struct rt_mark *mark);

/*
 * Reads up to n next events in global order into events; *got is 0 only at the end. Damage ends the trace where it is
 * met (info->complete becomes false) and is not an error.
 */
enum rt_status rt_trace_read(struct rt_trace *trace, struct rt_event *events, size_t n, size_t *got,
                             struct rt_error *err);

/*
 * A pass: the events one after the other.
 *
 *	struct rt_pass pass;
 *	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e; e = rt_pass_next(&pass))
 *		...;
 *	return pass.status;
 */
/* Events that are read at once, on the stack: 18 KiB. */
enum { RT_PASS_EVENTS = 256 };

struct rt_pass {
	struct rt_trace *trace;
	struct rt_error *err;  /* borrowed */
	enum rt_status status; /* of reading; valid when the last call returned NULL */
	size_t at, got;
	struct rt_event events[RT_PASS_EVENTS];
};

/* The first event; starts over. NULL: there is none, or the trace cannot be read. The event is valid, and the caller's
 * to change, until the next call. */
struct rt_event *rt_pass_first(struct rt_pass *p, struct rt_trace *trace, struct rt_error *err);
/* The same from a mark on; NULL: the beginning. */
struct rt_event *rt_pass_from(struct rt_pass *p, struct rt_trace *trace, const struct rt_mark *mark,
                              struct rt_error *err);
/* Of the next events. */
struct rt_event *rt_pass_more(struct rt_pass *p);

/* The next one; NULL behind the last, or if the trace cannot be read any further. */
static inline struct rt_event *rt_pass_next(struct rt_pass *p)
{
	return p->at < p->got ? &p->events[p->at++] : rt_pass_more(p);
}

/* Frames of a position, innermost first; *count is 0 if none are known. Borrowed. */
const struct rt_frame *rt_trace_frames(const struct rt_trace *trace, uint64_t pc, size_t *count);
/* Like rt_trace_frames for a return address (the pc of ENTER): the recorder has already looked up the call, not the
 * instruction after it. */

/* Finds the fixed-address variable that covers addr. False if there is none. */
bool rt_trace_variable(const struct rt_trace *trace, uint64_t addr, struct rt_variable *out);
/* Name of a synchronisation object where the source has one that is not a variable's (STD locks); NULL otherwise. */
const char *rt_trace_object_name(const struct rt_trace *trace, uint64_t addr);
/* The modules that the source knows, by address. Borrowed, valid until rt_trace_free. */
const struct rt_module *rt_trace_modules(const struct rt_trace *trace, size_t *count);

/*
 * The modules from which positions of an incomplete trace can still be resolved; none if the trace has its positions.
 * Borrowed, valid until rt_trace_free.
 */
const struct rt_loaded *rt_trace_loaded(const struct rt_trace *trace, size_t *count);

/* A source file in its state when the run was recorded. */
struct rt_text_file {
	const char *path;
	uint64_t digest; /* rt_text_file_digest */
};
/* The readable source files of positions. Borrowed, valid until rt_trace_free. */
const struct rt_text_file *rt_trace_text_files(const struct rt_trace *trace, size_t *count);
/* XXH64, seed 0, of a regular file of at most 16 MiB. False if it is not such a file, or cannot be read. */
bool rt_text_file_digest(const char *path, uint64_t *digest);
/* The atomic instructions that are not events. Borrowed, as above. */
const struct rt_hidden_atomic *rt_trace_hidden_atomics(const struct rt_trace *trace, size_t *count);
const struct rt_update *rt_trace_updates(const struct rt_trace *trace, size_t *count); /* by read */
/* "member", "local", "global"; NULL: of no known kind. */
const char *rt_declared_kind_name(enum rt_declared_kind kind);
/* By kind, of, name: the order of rt_declared_compare. Borrowed, as above. */
int rt_declared_compare(const void *a, const void *b);
const struct rt_declared *rt_trace_declared(const struct rt_trace *trace, size_t *count);

#endif
