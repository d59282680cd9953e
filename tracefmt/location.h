/* Source positions given as one text, such as STD's third field. */
#ifndef TRACEFMT_LOCATION_H
#define TRACEFMT_LOCATION_H

#include "tracefmt/trace.h"

/*
 * Sets text, file, function, line and column of a zeroed frame: NUMBER is a line, FILE:LINE and FILE:LINE:COLUMN are
 * split, any other text is a function. text is kept, not copied; file is room for length + 1 bytes that lives as long
 * as the frame.
 */
void rt_location_parse(const char *text, size_t length, char *file, struct rt_frame *frame);

#endif
