/* Reads parts of files, for a tool that has no C library. */
#ifndef RECORDER_VALGRIND_FILE_H
#define RECORDER_VALGRIND_FILE_H

#include "recorder/valgrind/kernel.h"
#include "recorder/valgrind/platform.h"

#include <stdbool.h>
#include <stdint.h>
#include <valgrind/pub_tool_basics.h>
#include <valgrind/pub_tool_mallocfree.h>

static inline bool file_read(long fd, uint64_t offset, void *to, uint64_t size)
{
	return kernel_call(SYS_pread64, fd, (long)to, (long)size, (long)offset) == (long)size;
}

/* Freed by the caller (VG_(free)). NULL: the file does not have it. */
static inline void *file_part(long fd, uint64_t offset, uint64_t size)
{
	enum { MOST = 1 << 28 };
	void *p = size && size < MOST ? VG_(malloc)("racetrace.file", size) : NULL;
	if (p && file_read(fd, offset, p, size))
		return p;
	VG_(free)(p);
	return NULL;
}

#endif
