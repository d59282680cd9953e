/* A stream into memory that reports a lack of memory; open_memstream drops the rest without an error. */
#ifndef LIB_BASE_MEMORY_FILE_H
#define LIB_BASE_MEMORY_FILE_H

#include "lib/base/bytes.h"

#include <stdio.h>

/* Opens a stream that appends to *to, which is borrowed and must outlive it. If memory runs out, fclose fails and
 * to->failed is set. NULL without memory. */
FILE *rt_memory_file(struct rt_bytes *to);

#endif
