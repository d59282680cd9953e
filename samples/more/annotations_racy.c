/* racetrace.h: annotations about another object and a lock that only one side takes explain nothing. */
#include "../../recorder/racetrace.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int message, counter, ignored;
static int word, flag, other;

static void *worker(void *unused)
{
	usleep(20000);
	racetrace_happens_after(&other);
	message++; /* @after */
	racetrace_acquired(&word, 0);
	counter++; /* @locked */
	racetrace_released(&word);
	ignored++; /* @later */
	return unused;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, worker, NULL);
	message = 1; /* @before */
	racetrace_happens_before(&flag);
	counter++; /* @bare */
	racetrace_ignore_begin(RACETRACE_WRITES);
	racetrace_ignore_end(RACETRACE_WRITES);
	ignored++; /* @soon */
	pthread_join(t, NULL);
	printf("%d %d %d\n", message, counter, ignored);
	return 0;
}
