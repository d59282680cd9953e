/* Trace sources: one file for each format, one line in sources[] (trace.c). The importers' side of trace.h. */
#ifndef TRACEFMT_SOURCE_H
#define TRACEFMT_SOURCE_H

#include "tracefmt/trace.h"

/* A source embeds this as its first member. The select mask is kept here; everything else belongs to the source. */
struct rt_trace {
	const struct rt_source *source;
	struct rt_trace_info info; /* filled in by open; the source owns the strings, trace.c the path */
	uint64_t mask;
	rt_trace_watcher *watcher; /* NULL: none */
	void *watcher_arg;
	uint32_t shares; /* owners besides the first */
};

struct rt_source {
	const char *name;
	/* True if the first n bytes of a file look like this format. Called in the order of the table. */
	bool (*probe)(const unsigned char *start, size_t n);
	/* Takes ownership of fd, an input at its beginning, also on failure. path is for messages. */
	enum rt_status (*open)(int fd, const char *path, const struct rt_trace_options *options, struct rt_trace **out,
	                       struct rt_error *err);
	void (*free)(struct rt_trace *trace);
	enum rt_status (*rewind)(struct rt_trace *trace, struct rt_error *err);
	enum rt_status (*read)(struct rt_trace *trace, struct rt_event *events, size_t n, size_t *got,
	                       struct rt_error *err);
	bool ahead; /* reading and the functions from `frames` on do not meet, once the first frames were asked for */
	/* Both NULL: reading begins at the beginning only. A mark is one block of memory. */
	struct rt_mark *(*mark)(const struct rt_trace *trace);
	enum rt_status (*go)(struct rt_trace *trace, const struct rt_mark *mark, struct rt_error *err);
	const struct rt_frame *(*frames)(const struct rt_trace *trace, uint64_t pc, size_t *count);
	bool (*variable)(const struct rt_trace *trace, uint64_t addr, struct rt_variable *out);
	const char *(*object_name)(const struct rt_trace *trace, uint64_t addr);
	/* NULL: it has none. (All five.) *count is 0 before. */
	const struct rt_module *(*modules)(const struct rt_trace *trace, size_t *count);
	const struct rt_text_file *(*text_files)(const struct rt_trace *trace, size_t *count);
	const struct rt_hidden_atomic *(*hidden_atomics)(const struct rt_trace *trace, size_t *count);
	const struct rt_update *(*updates)(const struct rt_trace *trace, size_t *count);
	const struct rt_declared *(*declared)(const struct rt_trace *trace, size_t *count);
	/* NULL: it has none. (Both.) The second copies its arguments. */
	const struct rt_loaded *(*loaded)(const struct rt_trace *trace, size_t *count);
	enum rt_status (*set_symbols)(struct rt_trace *trace, const uint8_t *data, size_t n, struct rt_error *err);
};

extern const struct rt_source rt_source_file; /* trace.zst */
extern const struct rt_source rt_source_jsonl;
extern const struct rt_source rt_source_std; /* std.c; accepts any text, so it is the last */

#endif
