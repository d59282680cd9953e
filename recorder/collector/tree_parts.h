/* What the parts of tree.h share: tree.c has the channels, the acceptor and the end, process.c the recording of one
 * process. */
#ifndef RECORDER_COLLECTOR_TREE_PARTS_H
#define RECORDER_COLLECTOR_TREE_PARTS_H

#include "recorder/channel.h"
#include "recorder/collector/hidden_cache.h"
#include "recorder/collector/tree.h"

#include <pthread.h>
#include <stdatomic.h>

struct process {
	struct tree *tree;
	struct collector *collector;
	struct tree_trace trace;
	pid_t in_proc; /* find.h */
	char *path;
	char **command;
	pthread_t thread;
	_Atomic bool begun;
	_Atomic bool settled; /* path is what it will be */
	_Atomic bool done;
	bool joined;
	bool gone; /* no process had its channel any more when it was searched for */
	bool over; /* dead or another program when the trace was done: no process uses the channel */
};

struct tree {
	struct tree_options options;
	char *first; /* the first process's trace */
	int fd;
	struct rt_tree *shared;
	struct process **processes; /* under lock: moves */
	size_t count, capacity;
	pthread_mutex_t lock;
	pthread_mutex_t resolving;   /* elfutils is not thread-safe */
	struct hidden_cache atomics; /* under resolving */
	pthread_t acceptor;
	bool started;
	_Atomic bool stop;
	_Atomic bool namespaces;   /* the number of some process differs between its namespace and this one */
	_Atomic size_t unrecorded; /* processes that leave no trace because of an error */
	bool full;                 /* no more channels can be made */
	int notify;                /* of the file; negative: none */
	bool said;                 /* that a process runs unrecorded, in a sandbox */
	_Atomic bool unresolved;   /* true if it was said that a trace has no source positions */
};

/* Wakes all that wait for a change. */
void tree_ring(struct tree *t);
/* The process with this number, from 0 on; NULL: there are no more. */
struct process *tree_process(struct tree *t, size_t i);

/* A process has started in the channel: begins to record it. If that fails, it goes on unrecorded. */
void process_begin(struct process *p);
/* Waits until its recording has ended, and frees the channel; the trace's facts stay. */
void process_reap(struct process *p);
/* NULL is allowed. */
void process_free(struct process *p);

#endif
