/* What was proved of a trace, kept in a file beside it for the next analysis of the same trace. */
#ifndef CMD_ANALYZE_CACHE_H
#define CMD_ANALYZE_CACHE_H

#include "cmd/analyze/options.h"
#include "lib/base/output.h"

#include <sys/stat.h>

struct cmd_cache {
	struct cache cache; /* for analysis_options.cache */
	struct parts *parts;
	struct part part;
	struct rt_output out;
	bool writing;
	const char *trace; /* borrowed */
	struct stat state; /* of its file, when it was hashed */
};

/*
 * Opens TRACE.cache: what is known, if it was written by this program for this trace and the options that matter, or
 * room for what will be. Where there is no such file and none can be made, the cache is empty. memory: as in
 * analysis_options, of this one of maybe several traces. opened: the trace's file just before it was opened; with
 * another or a changed one now the cache is empty. Ended by cmd_cache_end.
 */
void cmd_cache_open(struct cmd_cache *c, const struct analyze_settings *s, uint64_t memory, const char *trace,
                    const struct stat *opened);
/*
 * Keeps what was written if the analysis has decided all candidates, that took long, and the trace's file is still the
 * same. a: NULL if there is none.
 */
void cmd_cache_end(struct cmd_cache *c, const struct analysis *a);
/* Removes the cache of a trace that is removed, if there is one. */
void cmd_cache_remove(const char *trace);

#endif
