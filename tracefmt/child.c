/* Names of recorded threads; see child.h. */
#include "tracefmt/child.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASK "task"

int rt_child_name(char *name, size_t size, const char *parent, uint32_t number)
{
	bool task = number > RT_CHILD_TASK;
	return snprintf(name, size, "%s.%s%" PRIu32, parent, task ? TASK : "", task ? number - RT_CHILD_TASK : number);
}

uint32_t rt_child_number(const char *name)
{
	const char *dot = strrchr(name, '.');
	if (!dot)
		return 0;
	bool task = !strncmp(dot + 1, TASK, sizeof TASK - 1);
	uint32_t number = (uint32_t)strtoul(dot + (task ? sizeof TASK : 1), NULL, 10);
	return task && number ? RT_CHILD_TASK + number : number;
}
