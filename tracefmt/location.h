/* Source positions that are given as one text, as STD's third field is. */
#ifndef TRACEFMT_LOCATION_H
#define TRACEFMT_LOCATION_H

#include "tracefmt/trace.h"

/*
 * Fills in text, file, function, line and column of a zeroed frame: NUMBER is a line, FILE:LINE and FILE:LINE:COLUMN
 * are what they look like, any other text is a function. text is kept, not copied; file is room for length + 1 bytes
 * that lives as long as the frame.
 */
void rt_location_parse(const char *text, size_t length, char *file, struct rt_frame *frame);

#endif
