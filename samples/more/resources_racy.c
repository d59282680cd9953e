/* Descriptors, mappings and heap blocks that one thread gives back while another uses them, or gives back as well. */
#include "both.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

static int fds[2];
PART(writes)
{
	return write(fds[1], "x", 1) == 1 ? NULL : fds; /* @pipe_use */
}
PART(closes)
{
	LATER;
	close(fds[1]); /* @pipe_close */
	return NULL;
}

/* The number may be another file's by then. */
static int file;
PART(closes_file)
{
	close(file); /* @file_close */
	return NULL;
}
PART(reads_file)
{
	char c;
	LATER;
	return read(file, &c, 1) < 0 ? NULL : fds; /* @file_use */
}

static int again;
PART(closes_first)
{
	close(again); /* @close_first */
	return NULL;
}
PART(closes_again)
{
	LATER;
	close(again); /* @close_again */
	return NULL;
}

static char *page;
PART(looks)
{
	return *(volatile char *)page ? NULL : fds; /* @page_use */
}
PART(unmaps)
{
	LATER;
	munmap(page, 4096); /* @page_unmap */
	return NULL;
}

/* What was there goes as another mapping comes in its place. */
static char *old;
PART(looks_at_old)
{
	return *(volatile char *)old ? NULL : fds; /* @old_use */
}
PART(maps_over)
{
	LATER;
	mmap(old, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); /* @old_over */
	return NULL;
}

/* The pointer gets to the other before the mapping does. */
static char *_Atomic fresh;
PART(maps)
{
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* @map */
	__atomic_store_n(&fresh, p, __ATOMIC_RELAXED);
	return NULL;
}
PART(uses_map)
{
	char *p;
	while (!(p = __atomic_load_n(&fresh, __ATOMIC_RELAXED)))
		usleep(1000);
	*p = 1; /* @map_use */
	return NULL;
}

/* Freed twice; each has its own cache of blocks, and takes one again before the C library notices. What they wait for
 * each other with orders nothing. Of a size that the caches have no other blocks of, which would get into two of them:
 * a thread that asks the C library for a thread's stack leaves it some of 32 bytes. */
enum { FREED_TWICE = 600 };
static char *block;
static char *volatile kept[2];
static _Thread_local char *volatile cached;
static int turn;
static void wait_for(int mine)
{
	while (__atomic_load_n(&turn, __ATOMIC_RELAXED) != mine)
		usleep(1000);
}
PART(frees)
{
	free(cached = malloc(200));
	free(block); /* @free_first */
	__atomic_store_n(&turn, 1, __ATOMIC_RELAXED);
	wait_for(2);
	kept[0] = malloc(FREED_TWICE);
	return NULL;
}
PART(frees_again)
{
	free(cached = malloc(200));
	wait_for(1);
	free(block); /* @free_second */
	kept[1] = malloc(FREED_TWICE);
	__atomic_store_n(&turn, 2, __ATOMIC_RELAXED);
	return NULL;
}

/* Grown by one while the other holds on to where it was. */
static char *grown;
PART(grows)
{
	LATER;
	grown = realloc(block, 100000); /* @grow */
	return NULL;
}
PART(holds_on)
{
	return *(volatile char *)block ? NULL : fds; /* @grow_use */
}

int main(void)
{
	if (pipe(fds))
		return 1;
	both(writes, closes);
	file = open("/dev/zero", O_RDONLY);
	both(closes_file, reads_file);
	again = open("/dev/zero", O_RDONLY);
	both(closes_first, closes_again);
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	both(looks, unmaps);
	old = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	both(looks_at_old, maps_over);
	both(maps, uses_map);
	block = malloc(FREED_TWICE);
	both(frees, frees_again);
	block = calloc(40, 1);
	both(holds_on, grows);
	return !grown;
}
