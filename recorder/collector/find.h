/*
 * Finds the process that maps a shared memory file. A process itself knows its number only in its own PID namespace. So
 * does /proc, which may be another namespace's than the caller's: `unshare --pid` leaves it as it was. Numbers "in
 * /proc" are those that the names of its folders are made of.
 */
#ifndef RECORDER_COLLECTOR_FIND_H
#define RECORDER_COLLECTOR_FIND_H

#include <stdbool.h>
#include <sys/types.h>

/* A part of a shared memory file, which one process maps. */
struct mapping {
	ino_t inode;
	off_t offset;
};

/* The number in /proc of a process of the caller's namespace. 0: it has none. */
pid_t process_in_proc(pid_t pid);
/* The number in the caller's namespace of a process that has this number in /proc. 0: unknown. */
pid_t process_number(pid_t in_proc);

/* True if the process maps it. *known: its memory map could be read. (If not, the result is false.) */
bool process_maps(pid_t in_proc, const struct mapping *m, bool *known);
/*
 * The number in /proc of the process that maps it; `told` is the number that it gave. 0: none maps it, so it is dead.
 * If a map may not be read, the number given is used if that process is no older than the caller.
 */
pid_t process_find(pid_t told, const struct mapping *m);

/* Its command line, NULL-terminated, each word and the list the caller's; NULL if that cannot be read. */
char **process_command(pid_t pid);
void process_command_free(char **command);

#endif
