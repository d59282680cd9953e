/*
 * OpenMP beyond one region's loops: teams and distribute, simd reductions, targets that are the host, also as tasks
 * with dependences, and tasks outside of regions. No race.
 */
#include <omp.h>
#include <stdio.h>

enum { N = 64 };
static int squares[N], doubled[N], sum, simd_sum, alone, first, second, counted;

/* Each task is part of the one thread. */
static void outside(void)
{
	for (int i = 0; i < 4; i++) {
#pragma omp task
		alone += i;
	}
#pragma omp taskwait
	alone *= 2;
}

static void teams(void)
{
#pragma omp teams distribute parallel for num_teams(2) thread_limit(3) reduction(+ : sum)
	for (int i = 0; i < N; i++) {
		squares[i] = i * i;
		sum += i;
	}
#pragma omp parallel for simd num_threads(3) reduction(+ : simd_sum)
	for (int i = 0; i < N; i++)
		simd_sum += squares[i];
}

static void targets(void)
{
#pragma omp target teams distribute parallel for map(tofrom : doubled)
	for (int i = 0; i < N; i++)
		doubled[i] = 2 * i;
#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp task shared(first) depend(out : first)
		first = 1;
#pragma omp target map(tofrom : first, second) nowait depend(inout : first)
		second = ++first;
#pragma omp task shared(first, second) depend(in : first)
		counted = first + second;
#pragma omp taskwait
		printf("%d\n", counted);
	}
}

int main(void)
{
	outside();
	teams();
	targets();
	printf("%d %d %d %d\n", alone, sum, simd_sum, doubled[N - 1]);
	return 0;
}
