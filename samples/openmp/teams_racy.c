/*
 * The same with a fault in each: a sum of teams without a reduction, a simd loop that leaves what any iteration wrote,
 * a target that another thread does not wait for.
 */
#include <omp.h>
#include <stdio.h>

enum { N = 64 };
static int squares[N], sum, last, first, second;

static void __attribute__((noinline)) add(int i)
{
	sum += i; /* @sum */
}

static void teams(void)
{
#pragma omp teams distribute parallel for num_teams(1) thread_limit(3) num_threads(3)
	for (int i = 0; i < N; i++)
		add(i);
#pragma omp parallel for simd num_threads(3)
	for (int i = 0; i < N; i++)
		last = squares[i]; /* @last */
}

static void targets(void)
{
#pragma omp parallel num_threads(3)
	{
		if (omp_get_thread_num() == 0) {
#pragma omp target map(tofrom : first) nowait
			first = 1; /* @target */
		} else {
#pragma omp critical
			second += first; /* @other */
		}
	}
}

int main(void)
{
	teams();
	targets();
	printf("%d %d %d\n", sum, last, second);
	return 0;
}
