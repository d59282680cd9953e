/* RAPID's STD text format, internals: the parser (parse.c) builds this, the source (std.c) reads it. */
#ifndef TRACEFMT_STD_STD_H
#define TRACEFMT_STD_STD_H

#include "lib/base/names.h"
#include "tracefmt/source.h"

/* 16 bytes an event (24 where values are recorded), so that ten million lines stay in memory between the passes. */
struct std_event {
	uint32_t number;   /* line */
	uint32_t position; /* pc: 0: empty; STD_LINE | a plain line number; or index into positions, from 1 */
	uint32_t object;   /* index into variables, locks or threads; regions: from 1, 0 is "no name" */
	uint32_t what;     /* thread << 8 | STD_HAS_VALUE | operation */
};
enum { STD_HAS_VALUE = 0x80, STD_THREADS_MAX = 1 << 24 };
/* Most files' locations are plain line numbers. Those are not interned: a million different ones cost 0.6 s of cache
 * misses. */
#define STD_LINE (UINT32_C(1) << 31)

enum std_warning { STD_FORKED_AGAIN, STD_STRAY_RELEASE, STD_UNKNOWN, STD_WARNINGS };

struct std_position;

struct std {
	struct rt_trace trace; /* first: this is a source */
	struct std_event *events;
	uint64_t *values; /* by event; NULL when the file has none */
	size_t count, room;
	struct names thread_names, variables, locks, regions, positions;
	struct rt_thread *threads;  /* by index into thread_names */
	struct std_position *asked; /* positions whose frame was requested, by pc */
	uint64_t *ordinals;         /* by thread: position of the current pass */
	size_t next;
	struct rt_warning warnings[STD_WARNINGS];
};

/* Reads fd, which it owns, into an empty std. On an error the caller frees what was built so far. */
enum rt_status std_parse(struct std *std, int fd, const char *path, const struct rt_trace_options *options,
                         struct rt_error *err);

#endif
