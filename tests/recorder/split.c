/*
 * A lock in memory that is mapped twice, while parts of the second mapping end; or, with an argument, memory of which
 * more parts are mapped once more than the recorder has room for, or, with a second one, are moved at once. See
 * tests/cli/t_order.sh.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
struct page {
	pthread_mutex_t lock;
	int count;
};
static _Atomic int done;
enum { PAGES = 200, MANY = 300, MOVED = 40 };
static void *work(void *arg)
{
	struct page *p = arg;
	do {
		pthread_mutex_lock(&p->lock);
		p->count++;
		pthread_mutex_unlock(&p->lock);
	} while (!done);
	return NULL;
}
static int map_many(int fd, size_t size)
{
	if (ftruncate(fd, (off_t)size * MANY) != 0 ||
	    mmap(NULL, size * MANY, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED)
		return 1;
	for (int i = 0; i < MANY; i++)
		if (mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)size * i) == MAP_FAILED)
			return 1;
	return 0;
}

/* Pages that are known each by itself, since each is mapped once more. */
static int move_many(size_t size)
{
	char *a = mmap(NULL, size * MOVED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *to = mmap(NULL, size * MOVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (a == MAP_FAILED || to == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < MOVED; i++)
		if (mremap(a + size * i, 0, size, MREMAP_MAYMOVE) == MAP_FAILED)
			return 1;
	return mremap(a, size * MOVED, size * MOVED, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to;
}

int main(int argc, char **argv)
{
	(void)argv;
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("pages", 0);
	pthread_t threads[2];
	if (fd < 0 || ftruncate(fd, (off_t)size * PAGES) != 0)
		return 1;
	if (argc > 1)
		return argc > 2 ? move_many(size) : map_many(fd, size);
	char *a = mmap(NULL, size * PAGES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	char *b = mmap(NULL, size * PAGES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pthread_mutexattr_t shared;
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&((struct page *)(void *)a)->lock, &shared);
	pthread_create(&threads[0], NULL, work, a);
	pthread_create(&threads[1], NULL, work, b);
	for (int i = PAGES; --i > 0;) {
		munmap(b + size * (size_t)i, size);
		usleep(50);
	}
	done = 1;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
