/*
 * OpenMP: a task that is not waited for, a grandchild that taskwait does not wait for, siblings without a dependence,
 * a dependence that cousins do not have, one that excludes no reader, a taskloop without its group, and an event that
 * has not come. Which thread runs which task, and when, makes no difference: one alone runs all of them in the last
 * region.
 */
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 6 };

int one, grandchild, siblings, cells[N], total, cousins, excluded, alone, seen, detached;

/* Tasks begin when another thread comes for them: the one that made them is slow. */
static void other_thread(void)
{
	usleep(20000);
}

/* Another thread, which is none of OpenMP's, ends the task. */
static omp_event_handle_t event;
static sem_t begun;
static void *outside(void *unused)
{
	sem_wait(&begun);
	detached = 1; /* @outside */
	omp_fulfill_event(event);
	return unused;
}
static void detach(void)
{
	omp_event_handle_t e;
	pthread_t thread;
	pthread_create(&thread, NULL, outside, NULL);
#pragma omp task detach(e) depend(out : detached)
	{
		event = e;
		sem_post(&begun);
	}
	other_thread();
	total += detached; /* @not_fulfilled */
#pragma omp taskwait
	pthread_join(thread, NULL);
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
#pragma omp taskgroup
		for (int i = 0; i < 2; i++) {
#pragma omp task
			{
#pragma omp task depend(inout : cousins)
				cousins++; /* @cousin */
			}
		}
#pragma omp taskgroup
		{
#pragma omp task depend(mutexinoutset : excluded)
			excluded++; /* @excluding */
#pragma omp task depend(mutexinoutset : excluded)
			excluded++; /* @excluding_too */
#pragma omp task
			seen = excluded; /* @reader */
		}
#pragma omp taskloop nogroup grainsize(1)
		for (int i = 0; i < N; i++)
			cells[i] = i; /* @loop */
		other_thread();
		for (int i = 0; i < N; i++)
			total += cells[i]; /* @not_waited */
	}
	sem_init(&begun, 0, 0);
#pragma omp parallel num_threads(2)
#pragma omp single
	detach();
#pragma omp parallel num_threads(1)
	for (int i = 0; i < 2; i++) {
#pragma omp task
		{
			int local[4] = {0};
			for (int k = 0; k < 4; k++)
				local[k] += i;
			alone += local[i]; /* @alone */
		}
	}
	printf("%d %d %d %d %d\n", total, cousins, excluded, alone, seen);
	return 0;
}
