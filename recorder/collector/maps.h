/* The modules (executable, shared libraries) of a running process, gathered from its /proc/PID/maps. */
#ifndef RECORDER_COLLECTOR_MAPS_H
#define RECORDER_COLLECTOR_MAPS_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* One module: the file that is mapped from offset 0 at start; [start, end) spans its file-backed mappings. */
struct module {
	uint64_t start, end;
	char *path;
	bool code; /* part of it is executable */
};

/* A zeroed struct is empty. A module is kept once seen: events may be in a library that was unloaded. */
struct modules {
	struct module *items;
	size_t count, capacity;
};

/* Adds the process's new mappings. */
enum rt_status modules_read(struct modules *m, pid_t pid, struct rt_error *err);
/* The same from an open file in the format of /proc/PID/maps. */
enum rt_status modules_parse(struct modules *m, FILE *maps, struct rt_error *err);
/* Frees the contents. */
void modules_release(struct modules *m);

#endif
