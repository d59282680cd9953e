/* Memory moved into files; see spill.h. */
#include "lib/base/spill.h"

#include "lib/base/output.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void spill(void *array, size_t bytes)
{
	enum { SMALL = 1 << 20 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = ((uintptr_t)array + page - 1) / page * page, end = ((uintptr_t)array + bytes) / page * page;
	const char *folder = getenv("TMPDIR");
	if (!array || end < first + SMALL)
		return;
	int fd = open(folder && *folder ? folder : "/var/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	/* It takes the array's place only once it is mapped: that has no step which fails for want of memory. */
	void *copy = rt_write_all(fd, (void *)first, end - first)
	                 ? mmap(NULL, end - first, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0)
	                 : MAP_FAILED;
	if (copy != MAP_FAILED &&
	    mremap(copy, end - first, end - first, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)first) == MAP_FAILED)
		munmap(copy, end - first);
	close(fd);
}
