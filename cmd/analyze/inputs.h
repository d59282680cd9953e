/* The traces that a command is given: files, and folders of them. */
#ifndef CMD_ANALYZE_INPUTS_H
#define CMD_ANALYZE_INPUTS_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct cmd_inputs {
	char **paths;
	size_t count, room;
	bool folder; /* one of them was a folder */
};

/* Adds a file or, of a folder, its traces (.zst, also with a process's number behind it, .std, .stdv, .jsonl) in the
 * order of their names. TRACE.cache is left out behind its TRACE. RT_EINPUT: the folder has none; RT_EMEMORY. */
enum rt_status cmd_inputs_add(struct cmd_inputs *in, const char *path, struct rt_error *err);
void cmd_inputs_release(struct cmd_inputs *in);

#endif
