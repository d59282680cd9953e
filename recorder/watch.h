/*
 * What the recorder in the program says to the Valgrind tool, by client requests. It is there whether the program runs
 * under the tool or not: elsewhere a request does nothing.
 */
#ifndef RECORDER_WATCH_H
#define RECORDER_WATCH_H

#include <stdint.h>

/* Plain accesses at a pc whose place in the table of interest is not 0 are shown to the scheduler. */
#define RT_INTEREST_SIZE 16384u
#define RT_INTEREST_PLACE(pc) (((pc) ^ (pc) >> 14) & (RT_INTEREST_SIZE - 1))

/* What a thread that takes turns is stopped before. */
struct rt_watch_stop {
	uint64_t at, size, pc;
	uint32_t op;
};

/* Client requests are numbered from 'R' << 24 | 'T' << 16. */
enum rt_watch_request {
	/*
	 * Of each thread, when it begins to be recorded. struct rt_slot **self: where the thread keeps its slot;
	 * struct rt_channel **channel; struct rt_tree **tree; struct rt_shared_table *shared; bool *twice: it is
	 * of use. Result: 1.
	 */
	RT_WATCH_THREAD = 'R' << 24 | 'T' << 16,
	/* const char *path: a file that is to be executed. Result: enum rt_watch_file. */
	RT_WATCH_FILE,
	/*
	 * Of each thread of the controlled recorder. int32_t *patience: plain accesses that it may make before it is
	 * stopped anyway; const unsigned char *interest: the table; struct rt_watch_stop *stop: filled in before the
	 * thread is made to call the function that is the last argument, which restores all registers and returns to
	 * the address on top of the stack, 128 bytes below which the stack is free.
	 */
	RT_WATCH_TURNS,
	/* const struct rt_children *children: of the process. Result: 1. */
	RT_WATCH_CHILDREN,
	/* Result: 1: Valgrind has room for another thread. It ends a program that makes one where it has not. */
	RT_WATCH_ROOM
};

/* How a file is executed: by itself, as the tool's program, or by itself because it cannot be that. */
enum rt_watch_file {
	RT_FILE_ALONE,
	RT_FILE_WATCHED,
	RT_FILE_STATIC,
	RT_FILE_32_BIT,
	RT_FILE_ADDRESS,
	RT_FILE_TRACED /* a debugger would see the tool in its place */
};

/* What Valgrind refuses the program: a mapping of such a size or more, an instruction that it does not know. */
enum rt_watch_refusal { RT_REFUSED_NONE, RT_REFUSED_MAPPING, RT_REFUSED_INSTRUCTION };
#define RT_REFUSED_SIZE (UINT64_C(64) << 30)

#endif
