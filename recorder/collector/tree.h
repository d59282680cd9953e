/*
 * The processes of a recorded program: the first one, whose recording the caller runs, and all that it forks or
 * executes, each of which gets a collector and a trace. recorder/channel.h says how they join.
 */
#ifndef RECORDER_COLLECTOR_TREE_H
#define RECORDER_COLLECTOR_TREE_H

#include "recorder/collector/collect.h"

struct tree;

struct tree_options {
	struct collector_options rings;
	const char *output;  /* names traces: name.h */
	const char *folder;  /* where the recorders are; NULL: only the first process is recorded */
	uint64_t ring;       /* as in rt_writer_options */
	const char *shell;   /* NULL, or what a shell has to do to execute something by the tool */
	bool follows_plain;  /* the first process's tool can run what it executes */
	const char *preload; /* NULL, or the recorder in the folder that all executed programs preload */
};

/* Strings are borrowed for the tree's life. On RT_OK the caller owns *out. */
enum rt_status tree_create(const struct tree_options *options, struct tree **out, struct rt_error *err);
/* The same for a process that was started idle, which alone is recorded: collector_attach. */
enum rt_status tree_attach(const struct tree_options *options, pid_t pid, struct tree **out, struct rt_error *err);
/* The channels' file, for the first process to inherit. */
int tree_fd(const struct tree *t);
/* The first process's; borrowed. */
struct collector *tree_first(const struct tree *t);
/* From here on processes may join. first: the first process's trace; others are FIRST.PID unless the name has %p, and
 * the second of one process has .2 at its end. */
enum rt_status tree_start(struct tree *t, const char *first, struct rt_error *err);

/* The processes that are still recorded, at most n, besides the first; returns their number. */
size_t tree_alive(struct tree *t, pid_t *pids, size_t n);
/* Waits for a change, at most for this time. False: no process is recorded any more, or about to be. */
bool tree_wait(struct tree *t, unsigned milliseconds);
/* Makes all of them go on unrecorded. Their traces end here. */
void tree_abandon(struct tree *t);

/* One process's trace, for tree_end. */
struct tree_trace {
	const char *path; /* NULL: it has left none, on purpose */
	pid_t pid;
	struct rt_writer_result result;
	struct rt_error error; /* why there is none */
	unsigned broken;       /* collector_broken */
};
/* How many processes have left no trace because of an error, of which the first alone was told. */
size_t tree_unrecorded(struct tree *t);
/* Ends the recording; then f is called for each process but the first, in the order in which they came. */
void tree_end(struct tree *t, void (*f)(const struct tree_trace *trace, void *arg), void *arg);
/* Ends the recording, if it has not ended. NULL is allowed. */
void tree_free(struct tree *t);

/* What is left to do when a collector has come to its end: source positions, then the file. The writer is freed. */
enum rt_status tree_finish(struct tree *t, struct collector *c, struct rt_writer *w, struct rt_writer_result *result,
                           struct rt_error *err);

#endif
