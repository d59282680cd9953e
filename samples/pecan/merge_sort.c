/*
 * Merge sort: halves are sorted by threads of their own while there are threads to spare. After the program of this
 * name in PECAN's Table 1 (from IBM's ConTest suite).
 *
 * The bug: the count of spare threads is looked at and changed by all of them with no lock, so more threads may be
 * begun than allowed, or threads be lost. The look and the change are meant to be atomic. What is sorted does not race:
 * fork and join order it.
 *
 * In the recorded run there are threads enough, and the looks are far apart. `merge_sort [THREADS [ITEMS]]`.
 */
#include "../../recorder/racetrace.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct part {
	int *items, *scratch;
	size_t count;
};

int spare;
static size_t smallest; /* half that is worth a thread */

static void sort(const struct part *p);

static void *sort_thread(void *part)
{
	usleep(50000); /* the one who began this thread looks first */
	sort(part);
	return NULL;
}

static int take_thread(void)
{
	int taken = 0;

	racetrace_region_begin();
	if (spare > 0) { /* @look */
		spare--; /* @take */
		taken = 1;
	}
	racetrace_region_end();
	return taken;
}

static void merge(const struct part *p, size_t half)
{
	size_t i = 0, j = half, n = 0;

	while (i < half || j < p->count)
		if (j == p->count || (i < half && p->items[i] <= p->items[j]))
			p->scratch[n++] = p->items[i++];
		else
			p->scratch[n++] = p->items[j++];
	memcpy(p->items, p->scratch, n * sizeof *p->items);
}

static void sort(const struct part *p)
{
	size_t half = p->count / 2;
	struct part left = {p->items, p->scratch, half}, right = {p->items + half, p->scratch + half, p->count - half};
	pthread_t thread;

	if (p->count < 2)
		return;
	if (half >= smallest && take_thread()) {
		if (pthread_create(&thread, NULL, sort_thread, &left))
			exit(1);
		sort(&right);
		pthread_join(thread, NULL);
	} else {
		sort(&left);
		sort(&right);
	}
	merge(p, half);
}

int main(int argc, char **argv)
{
	size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 16, inversions = 0;
	struct part all = {calloc(count + 1, sizeof(int)), calloc(count + 1, sizeof(int)), count};

	spare = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 3;
	smallest = count / 4;
	for (size_t i = 0; i < count; i++)
		all.items[i] = (int)(i * 7919 % (count + 1));
	sort(&all);
	for (size_t i = 1; i < count; i++)
		inversions += all.items[i - 1] > all.items[i];
	printf("%zu inversions\n", inversions);
	free(all.items);
	free(all.scratch);
	return 0;
}
