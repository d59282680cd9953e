/* A block is freed while a thread has yet to use it, and its memory is handed out again before the thread does. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static char *untouched, *touched;
char *again, *filled;

static void *use(void *unused)
{
#ifndef FIXED
	usleep(20000);
#endif
	untouched[8] = 1; // @stale
	touched[8] = 1;   // @other
	return unused;
}

int main(void)
{
	pthread_t t;
	untouched = malloc(200);
	touched = malloc(600);
	char *first = untouched, *second = touched;
	pthread_create(&t, NULL, use, NULL);
#ifdef FIXED
	pthread_join(t, NULL);
#endif
	free(first);
	free(second);
	again = malloc(200); // @again
	filled = malloc(600);
	filled[8] = 2; // @fill
#ifndef FIXED
	pthread_join(t, NULL);
#endif
	free(again);
	free(filled);
	return 0;
}
