/*
 * What the recorder in the program says to the Valgrind tool, by client requests. It is there whether the program runs
 * under the tool or not: elsewhere a request does nothing.
 */
#ifndef RECORDER_WATCH_H
#define RECORDER_WATCH_H

/* Client requests are numbered from 'R' << 24 | 'T' << 16. */
enum rt_watch_request {
	/*
	 * Of each thread, when it begins to be recorded. struct rt_slot **self: where the thread keeps its slot;
	 * struct rt_channel **channel; struct rt_tree **tree; struct rt_shared *shared, the table; bool *twice: it is
	 * of use. Result: 1.
	 */
	RT_WATCH_THREAD = 'R' << 24 | 'T' << 16,
	/* const char *path: a file that is to be executed. Result: 1: as the tool's program; 0: by itself. */
	RT_WATCH_FILE
};

#endif
