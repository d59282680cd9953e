/* OpenMP: critical sections of different names, one side without its lock, a nested lock released too early. */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

int critical, locked, nested, counted;

static omp_lock_t lock;
static omp_nest_lock_t nest;

static void one(void)
{
#pragma omp critical(one)
	critical++; /* @one */
	omp_set_lock(&lock);
	locked++; /* @locked */
	omp_unset_lock(&lock);
	omp_set_nest_lock(&nest);
	nested++; /* @held */
	omp_unset_nest_lock(&nest);
#pragma omp atomic /* @atomic */
	counted++;
}

static void other(void)
{
	usleep(20000);
#pragma omp critical(other)
	critical++; /* @other */
	locked++;   /* @bare */
	omp_set_nest_lock(&nest);
	omp_set_nest_lock(&nest);
	omp_unset_nest_lock(&nest);
	omp_unset_nest_lock(&nest);
	nested++;  /* @after */
	counted++; /* @plain */
}

int main(void)
{
	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(2)
	if (omp_get_thread_num())
		one();
	else
		other();
	printf("%d %d %d %d\n", critical, locked, nested, counted);
	return 0;
}
