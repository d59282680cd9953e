/*
 * Input and output: the caller's memory, and the happens-before of pipes, socket pairs and event counters. The
 * objects of pairs and counters are numbers; the first that is given out is 9.
 */
#include "named.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

/* A pipe's object: made of its device and inode as recorder/objects.h says. */
static unsigned long mix(unsigned long x)
{
	x = (x ^ x >> 31) * 0x7fb5d329728ea185;
	return (x ^ x >> 27) * 0x81dadef4bc2dd44d;
}
static __attribute__((no_sanitize("thread"))) unsigned long of_pipe(int fd)
{
	struct stat is;
	MUST(fstat(fd, &is) == 0);
	return (1UL << 47) + (mix(mix(is.st_dev) + is.st_ino) >> 18);
}
/* By which the last writer's close comes before what meets the end. */
static __attribute__((no_sanitize("thread"))) unsigned long end_of(unsigned long pipe)
{
	return (1UL << 47) + (mix(pipe + (1UL << 47) + 1) >> 18);
}

static int fds[2], pair[2], counter;
static char out[32], in[32];

// expect main.1: hb-after pipe, write in=8, hb-after pipe, hb-after end
static __attribute__((no_sanitize("thread"))) void *reader(void *unused)
{
	MUST(read(fds[0], in, 32) == 8);
	MUST(read(fds[0], in, 32) == 0); /* the end, when the writer closes */
	return unused;
}

static __attribute__((no_sanitize("thread"))) int exchange(void)
{
	pthread_t t;
	uint64_t number = 7;

	// expect main: write fds=8, read out=8, hb-before pipe, hb-before end, hb-before end
	MUST(pipe(fds) == 0);
	NAME_AT(of_pipe(fds[0]), "pipe");
	NAME_AT(end_of(of_pipe(fds[0])), "end");
	MUST(pthread_create(&t, NULL, reader, NULL) == 0);
	MUST(write(fds[1], out, 8) == 8);
	int copy = dup(fds[1]);
	MUST(close(fds[1]) == 0 && close(copy) == 0);
	MUST(pthread_join(t, NULL) == 0);

	// expect main: write pair=8, read out=3, read out+16=4, hb-before pair-object, hb-after pair-object, write in=7
	struct iovec v[2] = {{out, 3}, {out + 16, 4}};
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	MUST(writev(pair[0], v, 2) == 7 && recv(pair[1], in, 32, 0) == 7);

	// expect main: hb-before counter-object, hb-after counter-object
	counter = eventfd(0, 0);
	MUST(write(counter, &number, 8) == 8 && eventfd_read(counter, &number) == 0 && number == 7);

	/* Files carry nothing from thread to thread. */
	// expect main: read out=9
	FILE *f = tmpfile();
	MUST(f && fwrite(out, 1, 9, f) == 9);
	return fclose(f);
}

int main(void)
{
	NAME(fds), NAME(pair), NAME(out), NAME(in);
	NAME_AT(out + 16, "out+16");
	NAME_AT(8, "pair-object"), NAME_AT(9, "counter-object");
	return exchange();
}
