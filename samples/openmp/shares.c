/*
 * OpenMP: the same short work as in shares_racy.c, with atomic accesses, a lastprivate variable, a reduction and
 * memory of each section's own. No race.
 */
#include <omp.h>
#include <stdio.h>

enum { N = 8 };

int done, seen, last, parity[2], sums[2];

static void fill(int from, int *sum)
{
	volatile int scratch[4];

	for (int i = 0; i < 4; i++)
		scratch[i] = from + i;
	*sum = scratch[0];
}

int main(void)
{
	omp_set_num_threads(2);
#pragma omp parallel sections
	{
#pragma omp section
#pragma omp atomic write
		done = 1;
#pragma omp section
#pragma omp atomic read
		seen = done;
	}
#pragma omp parallel for schedule(dynamic) lastprivate(last)
	for (int i = 0; i < N; i++)
		last = i;
#pragma omp parallel
	{
#pragma omp for schedule(guided) reduction(+ : parity)
		for (int i = 0; i < N; i++)
			parity[i % 2]++;
#pragma omp sections
		{
#pragma omp section
			fill(0, &sums[0]);
#pragma omp section
			fill(10, &sums[1]);
		}
	}
	printf("%d %d %d %d %d\n", done, seen, last, parity[0], sums[0] + sums[1]);
	return 0;
}
