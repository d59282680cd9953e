#!/bin/bash
# t_sweeps.sh [BUILD]: predict makes one run for all atomicity violations and ASVs of a run before, and one for all its deadlocks: the next one, if they are
# many.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

program() {
	gcc -g -O1 -fsanitize=thread -xc - -o "$1" -pthread || exit 1
}

# Threads wait before the second section of each atomicity violation.
program many <<'C'
#include <pthread.h>
static struct counter { pthread_mutex_t m; int value; } of[5];
#define ADD(x)                       \
	pthread_mutex_lock(&x.m);    \
	got = x.value;               \
	pthread_mutex_unlock(&x.m);  \
	pthread_mutex_lock(&x.m);    \
	x.value = got + 1;           \
	pthread_mutex_unlock(&x.m)
static void *add(void *arg)
{
	int got;
	ADD(of[0]);
	ADD(of[1]);
	ADD(of[2]);
	ADD(of[3]);
	ADD(of[4]);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 5; i++)
		pthread_mutex_init(&of[i].m, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
run 1 explore --runs 2 -f json -- ./many
holds '[.anomalies[] | select(.kind == "atomicity" and .verdict == "observed") | .events[0].source.line] | unique | length == 5'

# So they do before the second of two variables that another thread sets together. Which of those that have met goes on is a coin.
program asv <<'C'
#include <pthread.h>
#define SECTION(m, what)             \
	pthread_mutex_lock(&m);      \
	what;                        \
	pthread_mutex_unlock(&m)
#define PAIR(i)                                                                                                   \
	static struct { pthread_mutex_t size_lock, room_lock, setting, getting; int size, room; } of##i;         \
	static void *set##i(void *arg)                                                                           \
	{                                                                                                        \
		SECTION(of##i.setting, SECTION(of##i.size_lock, of##i.size = 1); SECTION(of##i.room_lock, of##i.room = 1)); \
		return arg;                                                                                      \
	}                                                                                                        \
	static void *get##i(void *arg)                                                                           \
	{                                                                                                        \
		int got = 0;                                                                                     \
		SECTION(of##i.getting, SECTION(of##i.size_lock, got += of##i.size); SECTION(of##i.room_lock, got += of##i.room)); \
		return got ? arg : NULL;                                                                         \
	}
PAIR(0)
PAIR(1)
PAIR(2)
PAIR(3)
PAIR(4)
int main(void)
{
	static void *(*const all[])(void *) = {set0, get0, set1, get1, set2, get2, set3, get3, set4, get4};
	pthread_t t[10];
	for (int i = 0; i < 10; i++)
		pthread_create(&t[i], NULL, all[i], NULL);
	for (int i = 0; i < 10; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
# Notes: the lock of the section guards neither.
run 0 explore --runs 2 -f json -- ./asv
holds '.runs[1].strategy == "racefuzzer" and (.runs[1].repeat | test("^racetrace explore .*--runs=2 "))'
holds '[.anomalies[] | select(.kind == "asv" and .verdict == "observed" and .run == 2) | .events[0].source.line] | unique | length >= 2'

# With a lock they wait before the next: five pairs of threads are in deadlocks at the end of one run.
program deadlocks <<'C'
#include <pthread.h>
static pthread_mutex_t of[5][2];
#define BOTH(name, a, b)                       \
	static void *name(void *arg)           \
	{                                      \
		pthread_mutex_lock(&a);        \
		pthread_mutex_lock(&b);        \
		pthread_mutex_unlock(&b);      \
		pthread_mutex_unlock(&a);      \
		return arg;                    \
	}
#define PAIR(i) BOTH(forth##i, of[i][0], of[i][1]) BOTH(back##i, of[i][1], of[i][0])
PAIR(0)
PAIR(1)
PAIR(2)
PAIR(3)
PAIR(4)
int main(void)
{
	static void *(*const all[])(void *) = {forth0, back0, forth1, back1, forth2, back2, forth3, back3, forth4, back4};
	pthread_t t[10];
	for (int i = 0; i < 10; i++)
		pthread_mutex_init(&of[i / 2][i % 2], NULL);
	for (int i = 0; i < 10; i++)
		pthread_create(&t[i], NULL, all[i], NULL);
	for (int i = 0; i < 10; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
run 1 explore --runs 2 -f json -- ./deadlocks
holds '.runs[1].strategy == "racefuzzer" and .runs[1].end == "deadlock" and (.runs[1].repeat | test("^racetrace explore .*--runs=2 "))'
holds '[.anomalies[] | select(.kind == "deadlock" and .verdict == "observed" and .run == 2) | .events[0].source.line] | unique | length == 5'
# What repeats the run in which they happened is said, too.
run 1 explore --runs 2 -- ./deadlocks
[ "$(grep -cE '^  seen in 2 of 2 runs, first in run 1: .*; observed first in run 2: racetrace explore .*--runs=2 ' out)" = 5 ] || wrong "text: $(cat out)"
exit $fail
