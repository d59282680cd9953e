/*
 * Repeats: of one access in a loop two are kept; synchronisation starts anew; every access is recorded or counted.
 * A function call is never left out.
 */
#include <pthread.h>
#include <stdio.h>

static volatile short cell;
static volatile short many[100000];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) void touch(void)
{
	cell = 1;
}

int main(void)
{
	for (int i = 0; i < 100000; i++)
		touch();
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&lock);
		for (int k = 0; k < 10; k++)
			touch();
		pthread_mutex_unlock(&lock);
	}
	/* The table grows on the way, and keeps its word: 20 rounds, of which the last 18 are left out once it is
	 * large. */
	for (int i = 0; i < 20; i++)
		for (int k = 0; k < 100000; k++)
			(void)many[k];
	/* When the table grows, what is in it already may be kept two times more. */
	printf("at-least write2 %d\nat-most write2 %d\nexpect enter %d\n", 2 + 2 * 50, 4 + 2 * 50, 100000 + 500 + 1);
	printf("at-least accesses %d\nat-most accesses %d\n", 2100500, 2100600);
	printf("at-most read2 %d\n", 400000);
	return 0;
}
