#!/bin/bash
# t_replay_calls.sh [BUILD]: tasks, joins, pthread_once and cancellation under a scheduler: what comes behind them is reached by the first run.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
CC=${CC:-gcc}

# compiled NAME SOURCE: an instrumented program.
compiled() {
	$CC -g -fsanitize=thread "$2" -o "$1" -lpthread || wrong "$2 does not compile"
}

# --- By turns, too, a task is a thread of its own, and which thread gets a section or a part of a loop is repeated.
cat >turns.c <<'END'
#include <omp.h>
#include <stdio.h>
static int by_tasks, by_section, by_part, seen[3];
int main(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp task
		by_tasks++;
#pragma omp task
		by_tasks++;
	}
#pragma omp parallel num_threads(3)
	{
		int me = omp_get_thread_num();
#pragma omp sections nowait
		{
#pragma omp section
			by_section = 1;
#pragma omp section
			seen[0] = 2;
		}
		seen[me] += by_section;
	}
#pragma omp parallel num_threads(3)
	{
		int me = omp_get_thread_num();
#pragma omp for schedule(dynamic) nowait
		for (int i = 0; i < 3; i++)
			by_part = i;
		seen[me] += by_part;
	}
	printf("%d\n", by_tasks > 0);
	return 0;
}
END
gcc -g -O1 -fsanitize=thread -fopenmp turns.c -o turns || wrong "turns.c does not compile"
run 0 record --serial=2 -o turns.zst ./turns
run 0 replay --attempts 1 --resolve first --verdict observed,proved -f json turns.zst
holds '[.anomalies[] | select(.replay)] | all(.replay.results[0] | .outcome == "confirmed" and .way == "schedule")'
for line in 12 20 32; do
	holds "any(.anomalies[] | select(.replay) | .events[]; .source.line == $line)"
done
# --- What comes behind joins that are tried, a routine of pthread_once that another thread waits for, and a cancelled thread's way through its
# calls is reached by the first run.
compiled pthreads_racy "$top/samples/more/pthreads_racy.c"
for seed in 1 3 11; do
	run 0 record --serial=$seed -o pthreads.zst ./pthreads_racy
	run 0 analyze -f json --fail-on never pthreads.zst
	for id in $(jq -r '.anomalies[] | select(.variable.name == ("by_key", "by_cleanup")) | .id' out); do
		run 0 replay --attempts 1 --resolve first --anomaly "$id" -f json pthreads.zst
		holds '[.anomalies[] | select(.replay)] | length == 1 and .[0].verdict == "confirmed"'
	done
done
# --- A thread that OpenMP's library makes is made without a turn: no step of a schedule ends there.
cat >single.c <<'END'
int one, two;
int main(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp task
		one = 1;
		two = one;
	}
	return two > 1;
}
END
gcc -g -O1 -fsanitize=thread -fopenmp single.c -o single || wrong "single.c does not compile"
for seed in 3 7 11; do
	run 0 record --serial=$seed -o single.zst ./single
	run 0 replay --attempts 1 --resolve first -f json single.zst
	holds '[.anomalies[].replay | select(.)] | length == 1 and .[0].outcome == "confirmed"'
done
# --- Whether a thread has memory of its own, of which it tells with its end, is up to the C library: it may keep the stacks of threads that ended.
compiled kernel_racy "$top/samples/more/kernel_racy.c"
run 0 record --serial=11 -o kernel.zst ./kernel_racy
run 0 analyze -f json --fail-on never kernel.zst
cp out kernel.json
# A thread that wakes another until one slept: the one that sleeps goes first. The third comes after that.
for variable in zero woken raw; do
	run 0 replay --attempts 1 --resolve first --anomaly "$(jq -r ".anomalies[] | select(.variable.name == \"$variable\") | .id" kernel.json | head -n 1)" -f json kernel.zst
	holds '[.anomalies[].replay | select(.)] | length == 1 and .[0].outcome == "confirmed"'
done
# --- A thread that ends without an access at which the schedule only changes threads, as where a library's threads free what they share.
cat >lacks.c <<'END'
#include <pthread.h>
#include <unistd.h>
static int shared, shown;
static void *last(void *unused)
{
	if (access("tick", F_OK) == 0)
		shown = 1;
	return unused;
}
static void *adds(void *unused) { shared++; return unused; }
int main(void)
{
	pthread_t t[3];
	pthread_create(&t[0], NULL, last, NULL);
	usleep(1000);
	for (int i = 1; i < 3; i++)
		pthread_create(&t[i], NULL, adds, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
compiled lacks lacks.c
touch tick
run 0 record --serial=1 -o lacks.zst ./lacks
run 0 analyze -f json --fail-on never lacks.zst
jq '.anomalies[] | select(.schedule) | .schedule | .steps = [{thread: "main", from: 1, to: 7}, {thread: "main.1", from: 1, to: 6}, {thread: "main", from: 8, to: 17}] + .steps[1:]' out >lacks.json
rm tick
run 0 replay --attempts 1 --resolve first --trace lacks.zst lacks.json -- ./lacks
holds '.outcome == "confirmed"'
# --- Which of OpenMP's threads comes for a task depends on when they go into the library; a task that none comes for waits until others end. One thread
# alone runs all tasks of the last region, so that two of them never meet.
gcc -g -O1 -fsanitize=thread -fopenmp "$top/samples/openmp/tasks_racy.c" -o tasks_racy || wrong "tasks_racy.c does not compile"
for seed in 13 41; do
	run 0 record --serial=$seed -o tasks.zst ./tasks_racy
	run 0 replay --attempts 1 --resolve first --verdict observed,proved -f json tasks.zst
	holds '[.anomalies[] | select(.replay and .variable.name != "alone")] | length >= 8 and all(.replay.outcome == "confirmed")'
done
# --- A task on a stack that is not its thread's is part of that thread, by turns as well, and the slot that it was to have is free.
cat >stacks.c <<'END'
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>
static ucontext_t back, inside;
static int x[64];
static void *other(void *a) { usleep(1000); return a; }
static void work(void)
{
	for (int r = 0; r < 8; r++)
#pragma omp parallel num_threads(2)
#pragma omp single
	for (int i = 0; i < 4; i++)
#pragma omp task
	{
		pthread_t t;
		pthread_create(&t, NULL, other, NULL);
		x[r * 4 + i]++;
		pthread_join(t, NULL);
	}
}
int main(void)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = malloc(1 << 20);
	inside.uc_stack.ss_size = 1 << 20;
	inside.uc_link = &back;
	makecontext(&inside, work, 0);
	swapcontext(&back, &inside);
	return x[0] != 1;
}
END
gcc -g -O1 -fsanitize=thread -fopenmp stacks.c -o stacks || wrong "stacks.c does not compile"
timeout 60 "$RACETRACE" record --serial=1 -o stacks.zst ./stacks || wrong "tasks on a stack of their own: status $?"
# --- What a thread does when it is cancelled comes after the cancellation.
cat >cancelled.c <<'END'
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
enum { WAYS = 8 };
static int told[WAYS], seen, no_data[2];
static sem_t never, ready;
static pthread_key_t key;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static void see(void *what)
{
	seen += *(int *)what;
}
static void *waits(void *what)
{
	char c;
	if (what == &told[3]) {
		pthread_setspecific(key, what);
		for (;;)
			read(no_data[0], &c, 1);
	}
	pthread_cleanup_push(see, what);
	if (what == &told[0])
		pause();
	if (what == &told[1])
		sem_wait(&never);
	if (what == &told[2])
		sleep(60);
	if (what == &told[4])
		read(no_data[0], &c, 1);
	if (what == &told[5])
		poll(&(struct pollfd){no_data[0], POLLIN, 0}, 1, -1);
	if (what == &told[6]) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
		sem_post(&ready);
		usleep(10000);
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
		for (volatile int i = 0;; i++)
			;
	}
	pthread_mutex_lock(&mutex);
	for (;;)
		pthread_cond_wait(&condition, &mutex);
	pthread_cleanup_pop(0);
	return NULL;
}
int main(void)
{
	sem_init(&never, 0, 0);
	sem_init(&ready, 0, 0);
	if (pipe(no_data) != 0 || pthread_key_create(&key, see) != 0)
		return 2;
	for (int i = 0; i < WAYS; i++) {
		pthread_t t;
		pthread_create(&t, NULL, waits, &told[i]);
		usleep(1000);
		if (i == 6)
			sem_wait(&ready);
		told[i] = 1;
		pthread_cancel(t);
		pthread_join(t, NULL);
	}
	return seen != WAYS;
}
END
gcc -g -O1 -fsanitize=thread cancelled.c -o cancelled -lpthread || wrong "cancelled.c does not compile"
for how in "" --serial=3; do
	run 0 record $how -o cancelled.zst ./cancelled
	run 0 analyze --fail-on predicted -f json cancelled.zst
done
# A thread that is not cancelled, as it cannot be, does nothing after the cancellation, whatever it waits for.
cat >uncancelled.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>
static int x;
static sem_t never, ready;
static pthread_t t;
static __attribute__((no_sanitize("thread"))) void *cancels(void *unused)
{
	pthread_cancel(t);
	return unused;
}
static __attribute__((no_sanitize("thread"), noinline)) void await(int *flag)
{
	while (!__atomic_load_n(flag, __ATOMIC_RELAXED))
		usleep(100);
}
static int cancelled;
static __attribute__((no_sanitize("thread"), noinline)) void tell(int *flag)
{
	__atomic_store_n(flag, 1, __ATOMIC_RELAXED);
}
static void *goes_on(void *unused)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	sem_post(&ready);
	await(&cancelled);
	sem_timedwait(&never, &(struct timespec){1, 0});
	pthread_testcancel();
	usleep(1);
	x++;
	return unused;
}
int main(void)
{
	sem_init(&never, 0, 0);
	sem_init(&ready, 0, 0);
	pthread_create(&t, NULL, goes_on, NULL);
	sem_wait(&ready);
	x++;
	cancels(NULL);
	tell(&cancelled);
	pthread_join(t, NULL);
	return x != 2;
}
END
gcc -g -O1 -fsanitize=thread uncancelled.c -o uncancelled -lpthread || wrong "uncancelled.c does not compile"
run 0 record -o uncancelled.zst ./uncancelled
run 1 analyze --fail-on observed -f json uncancelled.zst
exit $fail
