/* ticks FILE: one write each millisecond, of ever another cell, and how many there were, in FILE. Ends at FILE.end. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CELLS = 100000, OTHERS = 200 };
static volatile int cells[CELLS], others[OTHERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *early(void *arg)
{
	for (int i = 0; i < OTHERS; i++)
		others[i] = i;
	pthread_mutex_lock(&lock); /* it waits for ever, so its ring is never full */
	return arg;
}

int main(int argc, char **argv)
{
	char end[1000];
	pthread_t thread;
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0666) : -1;
	if (fd < 0 || ftruncate(fd, sizeof(int)) != 0)
		return 1;
	volatile int *count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	snprintf(end, sizeof end, "%s.end", argv[1]);
	pthread_mutex_lock(&lock);
	pthread_create(&thread, NULL, early, NULL);
	int i = 0;
	while (i < CELLS && access(end, F_OK) != 0) {
		cells[i] = i;
		*count = ++i;
		usleep(1000);
	}
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	return 5;
}
