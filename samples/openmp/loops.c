/*
 * OpenMP: loops of every schedule that read what the loop before them wrote, with the barrier that each ends in;
 * sections, single, ordered, reductions. No race.
 */
#include <omp.h>
#include <stdio.h>

enum { N = 24 };

int a[N], b[N], c[N], d[N], e[N], left, right, order, shared, sum;

int main(void)
{
	omp_set_num_threads(3);
	omp_set_schedule(omp_sched_dynamic, 2);
#pragma omp parallel
	{
		int got;

#pragma omp for schedule(static)
		for (int i = 0; i < N; i++)
			a[i] = i;
#pragma omp for schedule(dynamic, 2)
		for (int i = 0; i < N; i++)
			b[i] = a[N - 1 - i];
#pragma omp for schedule(guided)
		for (int i = 0; i < N; i++)
			c[i] = b[N - 1 - i];
#pragma omp for schedule(runtime)
		for (int i = 0; i < N; i++)
			d[i] = c[N - 1 - i];
#pragma omp for schedule(static, 1) nowait
		for (int i = 0; i < N; i++)
			e[i] = d[N - 1 - i];
#pragma omp barrier
#pragma omp sections
		{
#pragma omp section
			left = e[0];
#pragma omp section
			right = e[N - 1];
		}
#pragma omp single
		shared = left + right;
#pragma omp single copyprivate(got)
		got = shared + 1;
#pragma omp for ordered schedule(dynamic)
		for (int i = 0; i < N; i++) {
#pragma omp ordered
			order += got * i;
		}
#pragma omp for reduction(+ : sum)
		for (int i = 0; i < N; i++)
			sum += order + e[i];
	}
#pragma omp parallel for schedule(dynamic) reduction(max : sum)
	for (int i = 0; i < N; i++)
		sum = a[i] > sum ? a[i] : sum;
	printf("%d %d\n", sum, order);
	return 0;
}
