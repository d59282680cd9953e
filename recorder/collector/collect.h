/*
 * The collector: drains the rings of a recorded program into a trace writer (the recorder page's "How it writes").
 * recorder/channel.h says how the two sides share their memory.
 */
#ifndef RECORDER_COLLECTOR_COLLECT_H
#define RECORDER_COLLECTOR_COLLECT_H

#include "recorder/collector/maps.h"
#include "tracefmt/native/writer.h"

struct collector;
struct rt_tree;
struct rt_control;

/* How the threads are to take turns; recorder/control.h. */
struct collector_control {
	const char *strategy;
	uint64_t seed;
	uint32_t flags;
	const void *input; /* the strategy's */
	size_t input_bytes;
};

struct collector_options {
	uint32_t slots;                          /* threads alive at once */
	uint32_t ring_records;                   /* records a ring: a power of two, at least two blocks */
	uint32_t exit_sleep_ms, vary;            /* handed on to the recorder */
	const struct collector_control *control; /* of the first process, or of all; NULL: threads run as they come */
	bool watched;                            /* by a Valgrind tool, which records the accesses */
	bool sync_only;                          /* for the first process: its program is not instrumented */
	bool values;                             /* handed on to the recorder */
	/* Called, by any thread, as soon as a trace cannot be written any further: the error becomes told. NULL: not.
	 */
	void (*tell)(struct rt_error *error);
};

/* An empty file for channels, for the program to inherit. *fd is the caller's. */
enum rt_status collector_file(int *fd, struct rt_error *err);
/*
 * Makes the channel with this number in the file, which grows and stays the caller's. On RT_OK *out is owned by the
 * caller.
 */
enum rt_status collector_create(int fd, uint32_t number, const struct collector_options *options,
                                struct collector **out, struct rt_error *err);
void collector_free(struct collector *c);
/*
 * The channel of a process that was started idle (RACETRACE=idle), which only one collector has at a time. *fd is the
 * file's, the caller's. On RT_OK *out is owned by the caller. What the process does is recorded from collector_begin
 * on; collector_run, which has to follow, takes it until it is stopped, and the process goes on idle.
 */
enum rt_status collector_attach(pid_t pid, const struct collector_options *options, int *fd, struct collector **out,
                                struct rt_error *err);
void collector_begin(struct collector *c);
/*
 * Gives the channel's memory back to the system, except that of number 0. Only for a channel that no process uses:
 * never used, or its process is dead or has executed another program. A mapped channel would turn to zeros under the
 * process's hooks.
 */
void collector_reclaim(struct collector *c);

/*
 * Drains until collector_stop is called, then the rest, each record once. in_proc (find.h): whose memory map to read
 * when the recorder asks for it. If the writer fails, continues to drain, so that the program is not held up, and
 * returns the writer's error at the end. Also ends when the process has executed another program (collector_replaced).
 */
enum rt_status collector_run(struct collector *c, pid_t in_proc, struct rt_writer *w, struct rt_error *err);
/* Makes collector_run finish: the program is dead. For any thread or signal handler. */
void collector_stop(struct collector *c);

/* What came of control. NULL: there was none. To be read when the program is dead. */
const struct rt_control *collector_control(const struct collector *c);

/* Makes it check the channel at once. */
void collector_wake(struct collector *c);

/* True if the recorder started in the program. */
bool collector_started(const struct collector *c);
/* The number of the process in which it did, in that process's PID namespace. */
pid_t collector_told(const struct collector *c);
/* The number in /proc (find.h); 0: no process has the channel, so it is dead. */
pid_t collector_find(const struct collector *c);
/* True if the process began by fork, false if by exec. */
bool collector_forked(const struct collector *c);
/* True if its program is not instrumented. */
bool collector_sync_only(const struct collector *c);
/* True if a Valgrind tool records the process's accesses. */
bool collector_watched(const struct collector *c);
/* True if the process has executed another program. */
bool collector_replaced(const struct collector *c);
/* Number of threads that it had, at least. */
size_t collector_threads(const struct collector *c);
/* Makes the process go on unrecorded, without a message. */
void collector_abandon(struct collector *c);
/* The data that all processes share, in the channel with number 0. */
struct rt_tree *collector_tree(const struct collector *c);
/* Number of threads whose records were dropped because the program had overwritten their slots. */
unsigned collector_broken(const struct collector *c);
/* Functions with atomic instructions that are not events, as resolver_hidden_atomics names them; NULL: none. */
const char *collector_hidden_atomics(const struct collector *c);
void collector_name_hidden_atomics(struct collector *c, const char *names);
/* The modules that the program had loaded; borrowed. */
const struct modules *collector_modules(const struct collector *c);

#endif
