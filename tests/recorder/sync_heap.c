/* The heap and the address space. The blocks are big enough to be mapped one by one, so no two ever share an address.
 */
#include "named.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIG 1000000

int main(void)
{
	void *p[10];
	const size_t page = 4096;
	volatile size_t many = (size_t)-1 / 2;
	/* So that freeing one does not make malloc stop mapping the others. */
	MUST(mallopt(M_MMAP_THRESHOLD, 100000) == 1);

	// expect main: alloc a=1000000, alloc b=1000002, write b=1000002, alloc c=1000003, alloc d=1000064
	// expect main: alloc e=1000005
	p[0] = malloc(BIG);
	p[1] = calloc(2, BIG / 2 + 1);
	MUST(posix_memalign(&p[2], 64, BIG + 3) == 0);
	p[3] = aligned_alloc(64, BIG + 64);
	p[4] = memalign(4096, BIG + 5);
	// expect main: alloc f=1000006, alloc g=1000007, alloc h=1000008, alloc i=1000010
	p[5] = valloc(BIG + 6);
	p[6] = pvalloc(BIG + 7);
	p[7] = realloc(NULL, BIG + 8);
	p[8] = reallocarray(NULL, 10, BIG / 10 + 1);
	for (int i = 0; i < 9; i++) {
		char name[2] = {(char)('a' + i), 0};
		MUST(p[i]);
		NAME_AT(p[i], name);
	}
	((char *)p[1])[9] = 1;

	/* A failed realloc leaves the block; one that works gives it back. */
	errno = 0;
	// expect main: write a=4096+free, free a, alloc a=1003504
	MUST(realloc(p[0], many) == NULL && errno == ENOMEM);
	MUST(reallocarray(p[0], many, 3) == NULL && errno == ENOMEM);
	// expect main: write a=4096+free, free a, alloc a=500000, write a=4096
	MUST(realloc(p[0], BIG / 2) == p[0]);

	// expect main: write a=4096+free, free a
	// expect main: write b=4096+free, free b, write c=4096+free, free c, write d=4096+free, free d
	// expect main: write e=4096+free, free e, write f=4096+free, free f, write g=4096+free, free g
	// expect main: write h=4096+free, free h, write i=4096+free, free i
	for (int i = 0; i < 9; i++)
		free(p[i]);
	free(NULL);

	// expect main: map j=12288, write j=12288, map raw=4096, write raw=4096
	// expect main: write tail=4096+free, unmap tail=4096
	// expect main: write raw=4096+free, unmap raw=4096, write j=8192+free, unmap j=8192
	char *m = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(m != MAP_FAILED);
	long raw = syscall(SYS_mmap, NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NAME_AT(m, "j"), NAME_AT(m + 2 * page, "tail"), NAME_AT(raw, "raw");
	MUST(mremap(m, 3 * page, 2 * page, 0) == m);
	MUST(syscall(SYS_munmap, raw, page) == 0);
	MUST(munmap(m, 2 * page) == 0);
	MUST(munmap(m + 1, page) == -1 && errno == EINVAL);
	return 0;
}
