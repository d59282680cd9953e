/* A stream into memory that says when there is none: open_memstream's loses what does not fit without an error. */
#ifndef LIB_BASE_MEMORY_FILE_H
#define LIB_BASE_MEMORY_FILE_H

#include "lib/base/bytes.h"

#include <stdio.h>

/* What is written is added to *to, which must outlive the stream and is the caller's. fclose fails, and to->failed is
 * set, if not all found room. NULL without memory. */
FILE *rt_memory_file(struct rt_bytes *to);

#endif
