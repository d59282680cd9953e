/*
 * The racy twin of sequence_lock.c: it reads first and asks afterwards whether that was right. The sum is right in the
 * end, but by the C standard the reads race with the writes.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#ifndef SHARED
#define SHARED volatile /* sequence_lock_atomic.c: _Atomic, the data's too */
#define DATA
#endif

static SHARED unsigned sequence;
static DATA int low, high;

static void *write_both(void *arg)
{
	usleep(200000);
	sequence = 1; /* @begin */
	low = 20;     /* @low */
	high = 22;    /* @high */
	sequence = 2; /* @end */
	return arg;
}

static void *read_both(void *sum)
{
	unsigned before;

	for (;;) {
		before = sequence;                                   /* @ask */
		*(int *)sum = low;                                   /* @get_low */
		*(int *)sum += high;                                 /* @get_high */
		if (before && before % 2 == 0 && sequence == before) /* @again */
			return NULL;
		usleep(3000);
	}
}

int main(void)
{
	pthread_t w, r;
	int sum = 0;

	pthread_create(&w, NULL, write_both, NULL);
	pthread_create(&r, NULL, read_both, &sum);
	pthread_join(w, NULL);
	pthread_join(r, NULL);
	printf("sum = %d\n", sum);
	return sum != 42;
}
