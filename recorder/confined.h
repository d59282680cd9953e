/*
 * The text of a thread's file /proc/PID/task/TID/status, and how many seccomp filters it says the thread has. Both
 * sides ask for those: the recorder before it makes a call of its own in a program that was executed, the collector for
 * a running one.
 */
#ifndef RECORDER_CONFINED_H
#define RECORDER_CONFINED_H

#include <stdint.h>

#define RT_FILTERS_UNKNOWN UINT32_MAX /* the file cannot be read */
#define RT_STATUS_MAX 8192u           /* enough for the text */

/* The text behind a line's name, which ends with a colon, and blanks; "": there is no such line. */
static inline const char *rt_status_text(const char *status, const char *name)
{
	while (*status) {
		const char *a = status, *b = name;

		while (*b && *a == *b)
			a++, b++;
		if (!*b) {
			while (*a == ' ' || *a == '\t')
				a++;
			return a;
		}
		while (*status && *status++ != '\n')
			;
	}
	return status;
}

/* The number that a text begins with; 0: none. */
static inline uint64_t rt_status_number(const char *text)
{
	uint64_t n = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		n = n * 10 + (uint64_t)(*text - '0');
	return n;
}

/* Kernels before 5.9 tell only whether there are any. Strict mode counts as one. */
static inline uint32_t rt_status_filters(const char *status)
{
	uint64_t mode = rt_status_number(rt_status_text(status, "Seccomp:"));
	uint64_t n = rt_status_number(rt_status_text(status, "Seccomp_filters:"));

	return mode && !n ? 1 : (uint32_t)n;
}

#endif
