/* The state of a collector: made by channel.c, used by collect.c. */
#ifndef RECORDER_COLLECTOR_COLLECTOR_H
#define RECORDER_COLLECTOR_COLLECTOR_H

#include "recorder/channel.h"
#include "recorder/collector/collect.h"
#include "recorder/collector/waits.h"

#define LABEL_SIZE (sizeof(((struct rt_slot *)0)->label) + 1)

/* The collector's own state of a slot, which the program cannot reach. */
struct view {
	uint64_t consumed; /* blocks */
	uint32_t thread, parent;
	char label[LABEL_SIZE];
	struct wait_view wait;
	bool declared; /* the writer knows the thread */
	bool broken;   /* its data was invalid: ignored until the end */
	bool past;     /* its next records are behind the session */
};

struct collector {
	struct rt_channel *channel;
	struct rt_control *control; /* NULL: none */
	struct view *views;
	char **names; /* by thread index; NULL: not declared */
	size_t names_size;
	struct modules modules;
	size_t modules_told; /* number of them in the file */
	size_t modules_seen; /* whose code was looked at */
	uint32_t filters;    /* seccomp filters of the first process: the collector's own */
	uint64_t flushed;    /* ns */
	uint64_t looked;     /* ns: last round of waits.c */
	uint32_t look_at;    /* slot that the next round begins with */
	/* Copies of the channel's own fields, which the program may overwrite. */
	uint32_t slot_count, ring_blocks;
	uint64_t slots_offset, rings_offset, total_bytes;
	void (*tell)(struct rt_error *error);
	int fd;
	ino_t inode;
	off_t offset; /* of the channel in the file */
	pid_t pid;    /* in /proc (find.h) */
	bool replaced;
	bool attached;    /* the program has made the channel: attach.c */
	bool owns;        /* and no other collector may attach */
	bool told_start;  /* the trace says that it begins in the middle of the run */
	uint32_t session; /* of an attached one; else 0, as in the slots */
	uint64_t until;   /* stamp behind which records are dropped */
	_Atomic bool stop;
	unsigned broken;          /* slots dropped */
	char *hidden_atomics;     /* NULL: none */
	struct rt_writer *writer; /* NULL once it failed */
	struct rt_error error;
};

/* Of an attached channel: begins the session, when everything is ready for its records; and ends it. Not the records:
 * those of its slots up to c->until are still to be taken. */
void attach_begin(struct collector *c);
void attach_end(struct collector *c);
/* Behind that, and for any collector: another one may attach. */
void attach_release(struct collector *c);

#endif
