/*
 * OpenMP: tasks that are waited for by taskwait, by the end of their group, by a barrier, by what depends on them, and
 * taskloops. No race.
 */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 16 };

int one, two, inner, outer, late, first, second, third, cells[N], total;

static int fibonacci(int n)
{
	int x, y;

	if (n < 2)
		return n;
#pragma omp task shared(x) firstprivate(n)
	x = fibonacci(n - 1);
#pragma omp task shared(y) firstprivate(n)
	y = fibonacci(n - 2);
#pragma omp taskwait
	return x + y;
}

static void groups(void)
{
#pragma omp taskgroup
	{
#pragma omp task
		{
#pragma omp task
			{
				usleep(2000);
				inner = 1;
			}
			outer = 1;
		}
	}
	inner += outer;
}

static void chain(void)
{
#pragma omp task depend(out : first)
	{
		usleep(2000);
		first = 1;
	}
#pragma omp task depend(in : first) depend(out : second)
	second = first + 1;
#pragma omp task depend(in : first) depend(out : third)
	third = first + 2;
#pragma omp task depend(in : second, third) depend(inout : first)
	first = second + third;
#pragma omp taskwait
}

int main(void)
{
#pragma omp parallel num_threads(3)
	{
#pragma omp single
		{
#pragma omp task
			{
				usleep(2000);
				one = 1;
			}
#pragma omp task
			two = 1;
#pragma omp taskwait
			one += two;
			groups();
			chain();
			total = fibonacci(6);
#pragma omp taskloop grainsize(2)
			for (int i = 0; i < N; i++)
				cells[i] = i;
			for (int i = 0; i < N; i++)
				total += cells[i];
		}
#pragma omp single nowait
#pragma omp task
		{
			usleep(2000);
			late = 1;
		}
#pragma omp barrier
#pragma omp single nowait
		{
			total += late;
#pragma omp task
			{
				usleep(2000);
				late = 2;
			}
		}
	}
	printf("%d %d %d %d %d\n", one, inner, first, total, late);
	return 0;
}
