/*
 * Memory that is mapped at several addresses: each thread uses another one. A page of a file twice, a ring that goes on
 * where it begins, a segment attached twice, a mapping copied by mremap; and what stays when the first mapping goes.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

enum { PAGE = 4096 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *twice[2], *ring, *attached[2], *copied[2], *views[3], *shared[2];
static pthread_barrier_t barrier;
static volatile size_t length = 64; /* the compiler leaves the call */

#ifndef FIXED
#define LOCK
#define UNLOCK
#else
#define LOCK pthread_mutex_lock(&mutex)
#define UNLOCK pthread_mutex_unlock(&mutex)
#endif

/* Nothing orders the two after the first barrier but what is between the macros. */
static void both(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t t[2];
	pthread_create(&t[0], NULL, first, NULL);
	pthread_create(&t[1], NULL, second, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
}

static void *writes(void *unused)
{
	pthread_barrier_wait(&barrier);
	LOCK;
	twice[0][8] = 1;                     /* @twice */
	memset(ring + PAGE - 32, 1, length); /* @ring: into the second half */
	attached[0][8] = 1;                  /* @attached */
	copied[0][8] = 1;                    /* @copied */
	views[1][8] = 1;                     /* @view */
	((volatile char *)shared[0])[0]++;   /* @own: the other has the next byte */
	UNLOCK;
	return unused;
}

static void *reads(void *unused)
{
	char sum = 0;
	pthread_barrier_wait(&barrier);
	LOCK;
	sum += twice[1][8];                /* @twice_read */
	sum += ring[16];                   /* @ring_read */
	sum += attached[1][8];             /* @attached_read */
	sum += copied[1][8];               /* @copied_read */
	sum += views[2][8];                /* @view_read */
	((volatile char *)shared[1])[1]++; /* @other */
	UNLOCK;
	return sum == 99 ? &barrier : unused;
}

/* One mapping of a page goes while another thread uses the other; its address gets other memory. */
static void *unmaps(void *unused)
{
	pthread_barrier_wait(&barrier);
	munmap(shared[0], PAGE);
	char *other = mmap(shared[0], PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	other[64] = 1;
	return unused;
}

static void *uses(void *unused)
{
	pthread_barrier_wait(&barrier);
	shared[1][64] = 1;
	usleep(10000);
	shared[1][64] = 2;
	return unused;
}

static void *map(int fd, off_t offset)
{
	return mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
}

int main(void)
{
	int file = memfd_create("pages", 0), id = shmget(IPC_PRIVATE, PAGE, 0600);
	if (ftruncate(file, 4 * PAGE) != 0 || id < 0)
		return 1;
	pthread_barrier_init(&barrier, NULL, 2);
	for (int i = 0; i < 2; i++) {
		twice[i] = map(file, 0);
		shared[i] = map(file, (off_t)3 * PAGE);
		attached[i] = shmat(id, NULL, 0);
	}
	ring = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 2; i++)
		mmap(ring + (ptrdiff_t)i * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, PAGE);
	copied[0] = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	copied[1] = mremap(copied[0], 0, PAGE, MREMAP_MAYMOVE);
	if (copied[1] == MAP_FAILED) /* Valgrind has no such call */
		copied[1] = copied[0];
	for (int i = 0; i < 3; i++)
		views[i] = map(file, (off_t)2 * PAGE);
	munmap(views[0], PAGE);
	both(writes, reads);
	both(unmaps, uses);
	shmctl(id, IPC_RMID, NULL);
	return 0;
}
