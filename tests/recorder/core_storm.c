/*
 * A timer's signals interrupt the program in the middle of hooks, and their handler makes accesses, calls and atomic
 * operations of its own. Everything is counted by the program too: the sums must be equal, and nothing lost.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#define CELLS (1u << 20)
static short mine[CELLS], handlers[CELLS];
static unsigned ticks, made;
static int counter, other;

static __attribute__((noinline)) void touch(short *cells, unsigned i)
{
	cells[i & (CELLS - 1)] = 1;
}

static void handler(int sig)
{
	(void)sig;
	ticks++;
	for (int i = 0; i < 10; i++)
		touch(handlers, made++);
	__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
}

int main(int argc, char **argv)
{
	struct itimerval every = {{0, 60}, {0, 60}}, off = {{0, 0}, {0, 0}};
	struct sigaction act = {.sa_handler = handler};
	unsigned n = (unsigned)atoi(argv[1]);

	(void)argc;
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (unsigned i = 0; i < n; i++) {
		touch(mine, i);
		if (i % 4 == 0)
			__atomic_fetch_add(i % 8 ? &counter : &other, 1, __ATOMIC_RELAXED);
	}
	setitimer(ITIMER_REAL, &off, NULL);
	if (ticks < 100) {
		printf("the timer was too slow to prove anything\n");
		return 1;
	}
	printf("expect write2 %u\nexpect enter %u\nexpect leave %u\nexpect atomic-rmw %u\nexpect lost-events 0\n",
	       n + made, n + made + ticks + 1, n + made + ticks + 1, ticks + (n + 3) / 4);
	return 0;
}
