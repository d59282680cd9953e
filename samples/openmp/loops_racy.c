/*
 * OpenMP: loops, sections and a single that do not wait (nowait) although the next reads what they write, a sum without
 * a reduction. All threads read, so whichever wrote, another one races with it.
 */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 12 };

int a[N], b[N], c[N], d[N], e[N], left, last, sum;

int main(void)
{
	omp_set_num_threads(3);
#pragma omp parallel
	{
		int me = omp_get_thread_num();

#pragma omp for schedule(static) nowait
		for (int i = 0; i < N; i++)
			a[i] = i; /* @static */
		usleep(1000);
#pragma omp for schedule(static)
		for (int i = 0; i < N; i++)
			b[i] = a[N - 1 - i]; /* @other_way */
#pragma omp for schedule(dynamic) nowait
		for (int i = 0; i < N; i++) {
			c[i] = i; /* @dynamic */
			usleep(1000);
		}
		for (int i = 0; i < N; i++)
			d[me] += c[i]; /* @others */
#pragma omp barrier
#pragma omp sections nowait
		{
#pragma omp section
			left = d[0]; /* @section */
#pragma omp section
			usleep(1000);
		}
		e[me] += left; /* @after_section */
#pragma omp single nowait
		last = 1;      /* @single */
		e[me] += last; /* @after_single */
#pragma omp barrier
		usleep(1000 * (unsigned)me);
		sum += me; /* @sum */
	}
	printf("%d %d %d\n", sum, last, e[0]);
	return 0;
}
