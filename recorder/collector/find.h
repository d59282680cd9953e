/* Which process is it? Its own word is its number in its own PID namespace. */
#ifndef RECORDER_COLLECTOR_FIND_H
#define RECORDER_COLLECTOR_FIND_H

#include <stdbool.h>
#include <sys/types.h>

/* A part of a shared memory file, which one process maps. */
struct mapping {
	ino_t inode;
	off_t offset;
};

/* True if the process maps it. *known: could its memory map be read? (If not, false.) */
bool process_maps(pid_t pid, const struct mapping *m, bool *known);
/*
 * The process that maps it, as a number in the caller's namespace; `told` is its own word. 0: none does, so it is dead.
 * One whose map may not be read is taken at its word if it is no older than the caller.
 */
pid_t process_find(pid_t told, const struct mapping *m);

#endif
