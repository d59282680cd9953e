/* Finds the process that maps a shared memory file. A process itself knows its number only in its own PID namespace. */
#ifndef RECORDER_COLLECTOR_FIND_H
#define RECORDER_COLLECTOR_FIND_H

#include <stdbool.h>
#include <sys/types.h>

/* A part of a shared memory file, which one process maps. */
struct mapping {
	ino_t inode;
	off_t offset;
};

/* True if the process maps it. *known: its memory map could be read. (If not, the result is false.) */
bool process_maps(pid_t pid, const struct mapping *m, bool *known);
/*
 * The process that maps it, as a number in the caller's namespace; `told` is the number that it gave. 0: none maps it,
 * so it is dead. If a map may not be read, the number given is used if that process is no older than the caller.
 */
pid_t process_find(pid_t told, const struct mapping *m);

#endif
