/* A stream into memory; see memory_file.h. */
#include "lib/base/memory_file.h"

#include <sys/types.h>

static ssize_t add(void *to, const char *data, size_t n)
{
	struct rt_bytes *bytes = to;
	rt_bytes_add(bytes, data, n);
	return bytes->failed ? 0 : (ssize_t)n;
}

FILE *rt_memory_file(struct rt_bytes *to)
{
	return fopencookie(to, "w", (cookie_io_functions_t){.write = add});
}
