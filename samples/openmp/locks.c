/* OpenMP: critical sections, named and not, locks, nested locks and atomics, each around a counter. No race. */
#include <omp.h>
#include <stdio.h>

int unnamed, named, locked, nested, counted;

static omp_lock_t lock;
static omp_nest_lock_t nest;

static void add(int n)
{
	omp_set_nest_lock(&nest);
	nested += n;
	omp_unset_nest_lock(&nest);
}

int main(void)
{
	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
#pragma omp parallel for num_threads(3)
	for (int i = 0; i < 12; i++) {
#pragma omp critical
		unnamed += i;
#pragma omp critical(name)
		named += i;
		if (i % 2)
			omp_set_lock(&lock);
		else
			while (!omp_test_lock(&lock))
				;
		locked += i;
		omp_unset_lock(&lock);
		omp_set_nest_lock(&nest);
		add(i);
		nested += i;
		omp_unset_nest_lock(&nest);
#pragma omp atomic
		counted += i;
	}
	omp_destroy_lock(&lock);
	omp_destroy_nest_lock(&nest);
	printf("%d %d %d %d %d\n", unnamed, named, locked, nested, counted);
	return 0;
}
