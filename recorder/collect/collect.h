/*
 * The collector: drains the rings of a recorded program into a trace writer (the recorder page's "How it writes").
 * recorder/channel.h says how the two sides share their memory.
 */
#ifndef RECORDER_COLLECT_COLLECT_H
#define RECORDER_COLLECT_COLLECT_H

#include "recorder/collect/maps.h"
#include "tracefmt/writer.h"

struct collector;

struct collector_options {
	uint32_t slots;        /* threads alive at once */
	uint32_t ring_records; /* records a ring: a power of two, at least two blocks */
	uint32_t serial;       /* handed on to the recorder */
};

/* Makes the channel. On RT_OK *out is owned by the caller. */
enum rt_status collector_create(const struct collector_options *options, struct collector **out, struct rt_error *err);
void collector_free(struct collector *c);

/* The channel's file, for the program to inherit; closed with the collector. */
int collector_fd(const struct collector *c);

/*
 * Drains until collector_stop was called, then what is left, each record once. pid: whose memory map to read when the
 * recorder asks for it. If the writer fails, goes on draining, so that the program is not held up, and returns the
 * writer's error in the end.
 */
enum rt_status collector_run(struct collector *c, pid_t pid, struct rt_writer *w, struct rt_error *err);
/* Lets collector_run come to its end: the program is dead. For any thread or signal handler. */
void collector_stop(struct collector *c);

/* Did the recorder start in the program? */
bool collector_started(const struct collector *c);
/* How many threads' records were dropped because the program had written over what describes them. */
unsigned collector_broken(const struct collector *c);
/* What the program had loaded; borrowed. */
const struct modules *collector_modules(const struct collector *c);

#endif
