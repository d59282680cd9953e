#!/bin/bash
# t_binary_calls.sh BUILD: while a thread waits in the kernel under the Valgrind tool, by io_uring_enter, others run.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
[ -x "$(dirname "$racetrace")/../lib/racetrace/valgrind/racetrace-amd64-linux" ] || exit 0
cat >app.c <<'C'
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static int fd, pipes[2];
static char got;
static void *wait_for_byte(void *arg)
{
	return (void *)syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}
int main(void)
{
	struct io_uring_params p = {0};
	pthread_t t;
	void *submitted = NULL;
	if ((fd = syscall(SYS_io_uring_setup, 1, &p)) < 0 || pipe(pipes))
		return 77;
	struct io_uring_sqe *e = mmap(NULL, p.sq_entries * sizeof *e, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
	char *ring = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(unsigned), PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	*e = (struct io_uring_sqe){.opcode = IORING_OP_READ, .fd = pipes[0], .addr = (unsigned long)&got, .len = 1};
	__atomic_store_n((unsigned *)(ring + p.sq_off.tail), 1, __ATOMIC_RELEASE);
	pthread_create(&t, NULL, wait_for_byte, NULL);
	usleep(200000);
	write(pipes[1], "x", 1);
	pthread_join(t, &submitted);
	printf("%c %ld\n", got, (long)submitted);
	return got != 'x';
}
C
gcc -g -O1 -Wno-unused-result app.c -o app -lpthread || exit 1
timeout 20 ./app >plain
[ $? != 77 ] || exit 0 # not in this kernel, or forbidden
[ "$(cat plain)" = 'x 1' ] || { echo "the program without Valgrind: $(cat plain)"; exit 1; }
timeout -k 5 60 "$racetrace" record --recorder=valgrind -o t.zst ./app >out 2>err
status=$?
[ $status = 0 ] && cmp -s plain out || wrong "status $status, output '$(cat out)': $(tail -n 2 err)"
exit $fail
