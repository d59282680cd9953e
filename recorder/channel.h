/*
 * The channel: shared memory between the recorder (in the program) and the collector (in `racetrace record`).
 *
 * One memfd: a header, an array of slots, then one ring a slot. A slot belongs to one live thread of the program; when
 * the thread has ended and the collector has drained the ring, the slot is free for another. The file is sparse:
 * untouched rings cost nothing.
 *
 * Which side does what, so that a program killed at any instruction loses nothing and nothing is read twice:
 * - Taking a slot: the lowest free one; raise slots_used above it; compare-and-swap FREE to
 *   TAKEN; fill it in; then, when the thread has been made, number it and set LIVE. A TAKEN slot has no records and no
 *   thread: leave it alone. A free slot has published and consumed 0 (the collector sees to it).
 * - Publishing: at the end of a block (padded with NONE) published goes up by one, release order. It may run ahead of
 *   consumed by the whole ring, not more. An EXT, its VALUE and their event never lie in two blocks.
 * - Ending: pad and publish the last block, write the final label, then state = ENDED, release order; ring the bell.
 * - Death: the collector also takes the rt_slot_rest() records of block `published` of each LIVE or ENDED slot, and
 * then counts `skipped` more repeats behind them.
 * - Ringing: bell += 1, then a (shared) futex wake if sleeping is set. Waiting for room: waiting = 1, look at consumed
 *   again, futex wait on waiting; the collector moves consumed, then swaps waiting to 0 and wakes if it was 1.
 * - A request: n = request += 1, ring the bell, futex wait until answer is n or later.
 *
 * The processes of a tree have a channel each, one behind another in the same file: channel i is at i * total_bytes.
 * A process that was forked, or that is a program which another one executed, takes the next one (rt_tree). The
 * collector makes some ahead, sees that one was taken by its `started`, and gives its memory back when the process is
 * dead; none is taken twice.
 *
 * A program that was started idle (runtime/idle.c) has made the channel itself, in a file of its own, and collectors
 * come and go. Each recording is a session, with a number of its own. A slot is muted (its limit is NULL) until its
 * thread joins the session: it begins the ring anew, then sets the slot's session. A slot of another session is not the
 * collector's. To end a session: take a stamp, session = 0, limit = NULL in all slots; what comes after that stamp is
 * dropped. A thread that gives a slot room looks at the session behind that.
 */
#ifndef RECORDER_CHANNEL_H
#define RECORDER_CHANNEL_H

#include "tracefmt/child.h"
#include "tracefmt/record.h"

#include <stdatomic.h>
#include <stdint.h>

#define RT_CHANNEL_MAGIC UINT64_C(0x31656361727474ff)
#define RT_CHANNEL_VERSION 2
/*
 * Removed from the environment by the recorder. Of the first process "FD:PID:FILTERS:PRELOAD": the file, rt_tree's
 * collector_pid and filters, and LD_PRELOAD as the user had it ("-": not set). Of what a process of the tree executes
 * "@FD:PID:FILTERS:NONCE:NAMESPACE:+" or "-": rt_tree's, and whether LD_LIBRARY_PATH was set behind rt_tree's folder.
 * If that runs under the Valgrind tool, ":PRELOAD" as well; with rt_tree's preload, "=PRELOAD".
 *
 * A program that is executed in a sandbox runs unrecorded, and tells so by what its filters surely allow, as the
 * dynamic linker does it: it opens the file for reading, and closes it.
 */
#define RT_CHANNEL_ENV "RACETRACE_CHANNEL"
#define RT_CHANNEL_FILE "racetrace" /* the memory file's name */
/* The environment's variable that makes a program start idle, its value, and the name of its memory file. */
#define RT_IDLE_ENV "RACETRACE"
#define RT_IDLE_WORD "idle"
#define RT_IDLE_FILE "racetrace-idle"
#define RT_IDLE_LINK "/memfd:" RT_IDLE_FILE
#define RT_CHANNEL_LINK "/memfd:" RT_CHANNEL_FILE

#define RT_BLOCK_RECORDS 64u /* each block begins with an EXT that carries the time */

enum rt_slot_state {
	RT_SLOT_FREE,  /* a thread of the program may take it */
	RT_SLOT_LIVE,  /* a thread writes into it */
	RT_SLOT_ENDED, /* the thread is done; collector drains, then sets FREE */
	RT_SLOT_TAKEN  /* its thread is about to be created; there is nothing to drain */
};

/*
 * The call of the kernel in which a thread may wait, if it is in one. Nothing is recorded of it unless the thread is
 * still there when the run ends: the collector then records what the thread waits for, if it saw it asleep in there.
 */
struct rt_call {
	_Atomic uint32_t kind;      /* enum rt_call_kind or below: written last before the call, and 0 behind it */
	uint32_t tid;               /* the kernel's number of the thread */
	int32_t descriptor;         /* -1: none */
	uint32_t holder;            /* thread that has the lock of a file, RT_CALL_NO_HOLDER: unknown */
	uint32_t own;               /* see rt_channel.shared; 0: others than the process's threads may end the wait */
	_Atomic uint32_t tries;     /* number of tries that have failed, from 1; 0: the thread sleeps in the kernel */
	uint64_t object, pc;        /* as of the BLOCK */
	const struct rt_record *at; /* rt_slot.cur at that time: the thread has recorded nothing since */
};
#define RT_CALL_OWN UINT32_MAX /* whatever is shared */
/* In place of a kind: a wait for the condition `object`, which sleeps at a futex inside. */
#define RT_CALL_CONDITION ((uint32_t)RT_CALL_COUNT)

struct rt_slot {
	/* The writing thread's own cache line, for the hot path. */
	_Alignas(64) struct rt_record *cur; /* next record; an address in the program */
	struct rt_record *limit;            /* end of the block; cur == limit: slow path; NULL: muted, or dead */
	uint64_t skipped;                   /* repeats left out since the last record; any number */
	struct rt_record *ring;             /* the ring's address in the program */
	struct rt_filter *filter;           /* repeat filter (private memory of the program) */
	uint64_t filter_epoch;              /* changes with each synchronisation of the thread */
	uint64_t last_stamp;
	uint64_t filter_mask; /* size of the filter in use, less one */

	/* Written by the program at block boundaries, read by the collector. Counts blocks since the slot was taken. */
	_Alignas(64) _Atomic uint64_t published; /* blocks [0, published) are complete */
	_Atomic uint32_t state;                  /* enum rt_slot_state */
	uint32_t thread;                         /* index of the thread, dense in order of FORK stamps */
	uint32_t parent;                         /* its parent's index */
	uint32_t child_number;                   /* n: the n-th thread that its parent created, from 1; child.h */
	uint32_t generation;                     /* how often the slot was taken */
	_Atomic uint32_t session;                /* that its thread has joined; 0: none */
	char label[16];                          /* pthread_setname_np */
	/* If watched: 1: other threads ran since the last record, which the next one's stamp has to tell. */
	uint32_t turned;

	/* Written by the collector. */
	_Alignas(64) _Atomic uint64_t consumed; /* blocks */
	_Atomic uint32_t waiting;               /* futex word: 1 while the thread waits for room; see below */

	_Alignas(64) struct rt_call call; /* written by the thread */
};

/* Requests of the program to the collector (rt_channel.request), answered by the same number in rt_channel.answer. */
struct rt_channel {
	uint64_t magic;
	uint32_t version;
	uint32_t slot_count;
	uint32_t ring_records;  /* a power of two, a multiple of RT_BLOCK_RECORDS */
	uint32_t exit_sleep_ms; /* options for the recorder: while threads live; ending.c */
	uint32_t vary;          /* seed; 0: off; vary.c */
	int32_t collector_pid;
	int32_t program_pid; /* set by the recorder when it starts */
	uint64_t slots_offset, rings_offset, total_bytes;
	uint64_t control_offset; /* see control.h; 0: none */

	/*
	 * The global clock: a hybrid of time stamp counter and logical clock. A synchronisation event's stamp is
	 * max(tsc, clock + 1), stored back by compare-and-swap: unique, in the order in which they took effect.
	 */
	_Alignas(64) _Atomic uint64_t clock;
	_Alignas(64) _Atomic uint32_t thread_count; /* next thread index */
	_Atomic uint32_t slots_used;                /* slots from here on were never taken */
	_Atomic uint32_t started;                   /* recorder is up */
	_Atomic uint32_t collector_gone; /* set by the first side that notices; hooks then drop their events */
	_Atomic uint32_t bell;     /* futex word: rung when a ring is half full, a thread ends, a request is made */
	_Atomic uint32_t sleeping; /* the collector sleeps on bell */
	_Atomic uint32_t request,
	    answer;                 /* futex words: "read my memory map now" (at start, after dlopen, before dlclose) */
	_Atomic uint32_t unseen;    /* unrecorded threads that no recorded thread created */
	_Atomic uint32_t executing; /* the process is about to execute another program */
	uint32_t sync_only; /* the program is not instrumented: without plain accesses; recorder's, but first one's */
	uint32_t values;    /* of accesses are recorded; value.c */
	uint32_t watched; /* by a Valgrind tool, which records the accesses; recorder's, but first one's; valgrind.c */
	uint32_t forked;  /* set by the recorder: the process began by fork, not by exec */

	/* Of an idle program. */
	uint32_t idle;         /* it has made the channel itself */
	_Atomic int32_t owner; /* number of the process that records it, or did last: it has the file locked (flock) */
	_Atomic uint32_t
	    session;       /* under way; 0: none. Set by the owner, or to 0 by a thread that finds the owner gone */
	uint32_t sessions; /* the last one's number */
	uint64_t begun;    /* stamp at which it began */
	_Atomic uint64_t ended; /* behind which a thread dropped events, as the owner seemed to be gone; 0: none did */

	/*
	 * Seccomp filters that the recorder does not see installed. May the program have some? Set by the collector
	 * with an answer, see confine.h. From then on it looks often whether a thread has asked: it sets `ask` from 0
	 * to its number and waits, without a system call, until that is 0 again. If it is confined, the collector has
	 * set that.
	 */
	_Atomic uint32_t may_confine, ask, confined;
	_Atomic uint32_t seen; /* most filters of a thread that the recorder knows of */
#define RT_MAY_CONFINE 1u
#define RT_MAY_BE_STRICT 2u /* by prctl: strict mode also forbids to read the time stamp counter */

	/*
	 * Number of times that descriptors of the process may have come to another one. rt_call.own is this + 1 when
	 * what the wait is for was made: only if it is still that, no other process has it.
	 */
	_Atomic uint32_t shared;
	/* 1: an epoll descriptor watches one that another process may have, perhaps since after the wait began. */
	_Atomic uint32_t others_watched;
	/* By turns: 1 while no thread has the turn or could have it, and none waits for a time. */
	_Atomic uint32_t standstill;
};

/* What all processes of a tree share: at RT_TREE_OFFSET of the file. All zeros: only the first process is recorded. */
#define RT_TREE_OFFSET 1024u
#define RT_FOLDER_SIZE 2048u
#define RT_SHELL_SIZE 640u
#define RT_ALONE_SIZE 128u
#define RT_PRELOAD_SIZE 32u
struct rt_tree {
	uint64_t nonce;                      /* distinguishes this recording's file from another's */
	int32_t collector_pid, collector_fd; /* location of the file: /proc/PID/fd/FD, whatever namespace /proc is of */
	_Atomic uint32_t made, taken;        /* channels; taken may run ahead, and then waits for made */
	_Atomic uint32_t bell;               /* futex word: rung when a channel was taken, and when it was started */
	_Atomic uint32_t forking;            /* processes that are starting */
	_Atomic uint32_t over;               /* no further process may join */
	_Atomic uint32_t beat;               /* counts up each half second while the collector runs */
	_Atomic uint32_t lost;               /* forked processes that a sandbox kept from being recorded */
	_Atomic uint32_t hidden;             /* programs that were executed where /proc is not mounted */
	_Atomic uint32_t alone;              /* enum rt_watch_file: why a program ran unrecorded; 0: none did */
	_Atomic uint32_t refused;            /* enum rt_watch_refusal */
	uint64_t refused_what;               /* of that: bytes of the mapping, or the first ones of the instruction */
	uint32_t filters;                    /* seccomp filters of the collector itself; see confined.h */
	uint64_t pid_namespace;              /* the inode of the collector's */
	uint32_t follows_plain;              /* what a watched process executes can run under the tool as well */
	/* What a shell has to do to execute what follows under the tool; "": it cannot be told. */
	char shell[RT_SHELL_SIZE];
	char alone_name[RT_ALONE_SIZE]; /* of that program */
	/* With `record --preload`: the recorder's name in the folder, with a slash. Executed programs get it, too. */
	char preload[RT_PRELOAD_SIZE];
	char folder[RT_FOLDER_SIZE]; /* of the recorders, for executed programs to find them; "": those are not recorded
	                              */
};
#define RT_TREE_PAGE 4096u /* channel 0's first page, which all processes map */
_Static_assert(sizeof(struct rt_channel) <= RT_TREE_OFFSET && RT_TREE_OFFSET + sizeof(struct rt_tree) <= RT_TREE_PAGE,
               "channel and tree share a page");

static inline struct rt_slot *rt_channel_slot(struct rt_channel *c, uint32_t i)
{
	return (struct rt_slot *)(void *)((char *)c + c->slots_offset) + i;
}
static inline struct rt_record *rt_channel_ring(struct rt_channel *c, uint32_t i)
{
	return (struct rt_record *)(void *)((char *)c + c->rings_offset) + (uint64_t)i * c->ring_records;
}
/* End of the block at hand, of a slot that has written a record. */
static inline struct rt_record *rt_slot_block_end(const struct rt_slot *s)
{
	return s->ring + ((s->cur - s->ring - 1) / RT_BLOCK_RECORDS + 1) * RT_BLOCK_RECORDS;
}
/* Number of records in the block that is not published yet: 0 to RT_BLOCK_RECORDS. Only for slots that no thread
 * writes any more. */
static inline uint32_t rt_slot_rest(const struct rt_channel *c, const struct rt_slot *s)
{
	uint64_t at = ((uint64_t)(uintptr_t)s->cur - (uint64_t)(uintptr_t)s->ring) / sizeof(struct rt_record);
	uint64_t rest = (at - s->published * RT_BLOCK_RECORDS) & (c->ring_records - 1);

	return rest <= RT_BLOCK_RECORDS ? (uint32_t)rest : 0;
}

#endif
