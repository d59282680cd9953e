/*
 * OpenMP: work so short that the first thread of the team could have all of it before the others come, which hides what
 * its parts do to one another: sections, and parts of loops that threads come for.
 */
#include <omp.h>
#include <stdio.h>

enum { N = 8 };

int done, seen, last, parity[2], scratch[4], sums[2], before, order;

static void fill(int from, int *sum)
{
	for (int i = 0; i < 4; i++)
		scratch[i] = from + i; /* @scratch */
	*sum = from;
}

int main(void)
{
	omp_set_num_threads(2);
#pragma omp parallel sections
	{
#pragma omp section
		done = 1; /* @done */
#pragma omp section
		seen = done; /* @seen */
	}
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < N; i++)
		last = i; /* @last */
#pragma omp parallel
	{
#pragma omp for schedule(guided)
		for (int i = 0; i < N; i++)
			parity[i % 2]++; /* @parity */
#pragma omp sections
		{
#pragma omp section
			fill(0, &sums[0]);
#pragma omp section
			fill(10, &sums[1]);
		}
	}
#pragma omp parallel for schedule(dynamic) ordered
	for (int i = 0; i < N; i++) {
		before = i; /* @before */
#pragma omp ordered
		order += i;
	}
	printf("%d %d %d %d %d\n", done, seen, last, parity[0], sums[0] + sums[1] + before + order);
	return 0;
}
