/*
 * OpenMP: tasks that are waited for by taskwait, by the end of their group, by a barrier, by what depends on them, and
 * taskloops; that an event ends; that exclude each other; that are not deferred; that use the same stack and what is
 * local to a thread, as one thread runs many. No race.
 */
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 16 };

int exclusive, included, sum;
int by_number[8];
pthread_key_t key;
_Thread_local int scratch, *cache;
int one, two, inner, outer, late, first, second, third, cells[N], total, detached;

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

static void exclude(void)
{
#pragma omp task depend(out : exclusive)
	exclusive = 1;
	for (int i = 0; i < 4; i++) {
#pragma omp task depend(mutexinoutset : exclusive)
		exclusive += i;
	}
#pragma omp task depend(in : exclusive)
	sum = exclusive;
#pragma omp taskwait
	sum += exclusive;
}

static void include(int n)
{
#pragma omp task if (0)
	included += n;
	included += n;
#pragma omp task final(n > 0)
	{
#pragma omp task
		included += n;
		included += n;
	}
#pragma omp taskwait
}

static int fill(int n)
{
	int local[64];

	for (int i = 0; i < 64; i++)
		local[i] = n + i;
	errno = n;
	scratch = local[n] + errno;
	if (!cache)
		cache = calloc(1, sizeof *cache);
	*cache += scratch;
	return scratch;
}

static void count(int n)
{
	int *own = pthread_getspecific(key);

	if (!own) {
		own = calloc(1, sizeof *own);
		pthread_setspecific(key, own);
	}
	*own += n;
}

static void stacks(void)
{
	for (int i = 0; i < 8; i++) {
#pragma omp task
		by_number[omp_get_thread_num()] += i;
#pragma omp task
		count(i);
	}
#pragma omp taskwait
#pragma omp taskgroup task_reduction(+ : sum)
	for (int i = 0; i < 8; i++) {
#pragma omp task in_reduction(+ : sum)
		sum += fill(i);
		fill(i + 8);
	}
}

/* clang-format off */ /* version 14 takes braces behind a pragma for others */
/* Another thread, which is none of OpenMP's, ends the task. */
static omp_event_handle_t event;
static sem_t begun;
static void *outside(void *unused)
{
	sem_wait(&begun);
	detached = 1;
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
#pragma omp task depend(in : detached)
	total += detached;
#pragma omp taskwait
	pthread_join(thread, NULL);
}

int main(void)
{
	pthread_key_create(&key, free);
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
			exclude();
			include(1);
			stacks();
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
	sem_init(&begun, 0, 0);
#pragma omp parallel num_threads(2)
#pragma omp single
	detach();
#pragma omp parallel num_threads(1)
	{
		stacks();
		exclude();
	}
	printf("%d %d %d %d %d %d %d\n", one, inner, first, total, late, included, sum);
	return 0;
}
