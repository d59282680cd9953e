/*
 * How many seccomp filters a thread has, from the text of its file /proc/PID/task/TID/status. Both sides ask: the
 * recorder before it makes a call of its own in a program that was executed, the collector for a running one.
 */
#ifndef RECORDER_CONFINED_H
#define RECORDER_CONFINED_H

#include <stdint.h>

#define RT_FILTERS_UNKNOWN UINT32_MAX /* the file cannot be read */
#define RT_STATUS_MAX 8192u           /* enough for the text */

/* The number behind a line's name, which ends with a colon; 0: there is no such line. */
static inline uint32_t rt_status_number(const char *status, const char *name)
{
	uint32_t n = 0;

	for (const char *line = status; *line; line++) {
		const char *a = line, *b = name;

		while (*b && *a == *b)
			a++, b++;
		if (!*b) {
			while (*a == ' ' || *a == '\t')
				a++;
			while (*a >= '0' && *a <= '9')
				n = n * 10 + (uint32_t)(*a++ - '0');
			return n;
		}
		while (*line && *line != '\n')
			line++;
		if (!*line)
			break;
	}
	return 0;
}

/* Kernels before 5.9 tell only whether there are any. Strict mode counts as one. */
static inline uint32_t rt_status_filters(const char *status)
{
	uint32_t mode = rt_status_number(status, "Seccomp:"), n = rt_status_number(status, "Seccomp_filters:");

	return mode && !n ? 1 : n;
}

#endif
