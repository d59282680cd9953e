/*
 * Critical: a critical section made by hand. After the program of this name in PECAN's Table 1 (from IBM's ConTest
 * suite).
 *
 * The bug: between the look at `busy` and its setting another thread may look, and both are in. From the look to the
 * reset is meant to be atomic, which the annotation says; nothing makes it so.
 *
 * In the recorded run one thread has left when the next one looks.
 */
#include "../../recorder/racetrace.h"
#include "run.h"

int busy;
long entered;

static void enter_and_leave(int thread, int round)
{
	(void)thread;
	(void)round;
	racetrace_region_begin();
	if (!busy) {       /* @look */
		busy = 1;  /* @enter */
		entered++; /* @inside */
		busy = 0;  /* @leave */
	}
	racetrace_region_end();
}

int main(int argc, char **argv)
{
	static part *const parts[] = {enter_and_leave};

	run(argc, argv, parts, 1, 2);
	printf("entered %ld times\n", entered);
	return 0;
}
