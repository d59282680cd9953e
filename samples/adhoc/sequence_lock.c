/*
 * A sequence lock of plain counters: odd while the writer writes. The reader looks at the data only if it has seen an
 * even number that is not the one before any writing, so it comes after the write. The numbers race, the data cannot.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile unsigned sequence;
static int low, high;

static void *write_both(void *arg)
{
	usleep(20000);
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
		before = sequence; /* @ask */
		if (before && before % 2 == 0) {
			*(int *)sum = low;      /* @get_low */
			*(int *)sum += high;    /* @get_high */
			if (sequence == before) /* @again */
				return NULL;
		}
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
