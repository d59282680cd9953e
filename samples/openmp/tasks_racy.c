/*
 * OpenMP: a task that is not waited for, a grandchild that taskwait does not wait for, siblings without a dependence,
 * and a taskloop without its group.
 */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 6 };

int one, grandchild, siblings, cells[N], total;

/* Tasks begin when another thread comes for them: the one that made them is slow. */
static void other_thread(void)
{
	usleep(20000);
}

int main(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp task
		one = 1; /* @task */
		other_thread();
		total = one; /* @parent */
#pragma omp taskwait
#pragma omp task
		{
#pragma omp task
			{
				usleep(30000);
				grandchild = 1; /* @grandchild */
			}
			usleep(10000);
		}
		other_thread();
#pragma omp taskwait
		total += grandchild; /* @too_early */
#pragma omp taskgroup
		{
#pragma omp task depend(in : total)
			{
				usleep(10000);
				siblings++; /* @sibling */
			}
#pragma omp task depend(in : total)
			{
				usleep(10000);
				siblings++; /* @sister */
			}
			other_thread();
		}
#pragma omp taskloop nogroup grainsize(1)
		for (int i = 0; i < N; i++)
			cells[i] = i; /* @loop */
		other_thread();
		for (int i = 0; i < N; i++)
			total += cells[i]; /* @not_waited */
	}
	printf("%d\n", total);
	return 0;
}
