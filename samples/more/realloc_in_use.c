/* A block that is made smaller, and so stays where it is, while another thread writes to it by the old pointer. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static char *before, *after;

static void *work(void *unused)
{
	before[1] = 1; // @before
	usleep(20000);
	after[1] = 1; // @after
	return unused;
}

int main(void)
{
	pthread_t t;
	before = malloc(1000);
	after = malloc(1000);
	char *old = after;
	pthread_create(&t, NULL, work, NULL);
#ifdef FIXED
	pthread_join(t, NULL);
#endif
	char *kept = realloc(old, 800); // @early
	usleep(10000);
	char *late = realloc(before, 800); // @late
#ifndef FIXED
	pthread_join(t, NULL);
#endif
	free(kept);
	free(late);
	return 0;
}
