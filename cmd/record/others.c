/* Waiting for what a program leaves behind; see others.h. */
#include "cmd/record/others.h"

#include "cmd/record/common.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

enum { PATIENCE_MS = 2000 }; /* before the message that names the processes */

static void say_left_behind(struct tree *t, const char *before, const char *behind)
{
	pid_t pids[8];
	size_t n = tree_alive(t, pids, 8);
	if (!n) /* only their traces are still to be written */
		return;
	fprintf(stderr, "racetrace: %s process", before);
	for (size_t i = 0; i < n && i < 8; i++)
		fprintf(stderr, "%s %ld", i ? "," : "", (long)pids[i]);
	fprintf(stderr, "%s%s\n", n > 8 ? " and others" : "", behind);
}

void others_wait(struct tree *t)
{
	const struct timespec none = {0, 0};
	unsigned waited = 0, step = 50;
	sigset_t set;
	record_block_ends(&set);
	while (tree_wait(t, step)) {
		if (sigtimedwait(&set, NULL, &none) > 0) {
			say_left_behind(t, "the recording is interrupted; unrecorded from here on:", "");
			tree_abandon(t);
			break;
		}
		waited += step;
		if (waited == PATIENCE_MS)
			say_left_behind(t, "waiting for the processes that the program left behind:",
			                " (an interrupt ends the recording)");
	}
}

void others_say_unrecorded(size_t n)
{
	if (n > 1)
		fprintf(stderr, "racetrace: %zu more process%s not recorded either\n", n - 1,
		        n == 2 ? " was" : "es were");
}
