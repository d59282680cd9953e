/* A stream that breaks lines at a terminal's width, at blanks. */
#ifndef LIB_REPORT_TEXT_WRAP_H
#define LIB_REPORT_TEXT_WRAP_H

#include "lib/base/bytes.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct wrap {
	FILE *to;
	uint32_t width; /* in columns */
	bool whole;     /* the line at hand stays whole, as one that is copied into a shell does; set by the user */
	struct rt_bytes line; /* it, so far */
};

/* Opens the stream; w and w->to must outlive it. fclose prints an unfinished line. NULL without memory. */
FILE *wrap_open(struct wrap *w);

#endif
