#!/bin/bash
# t_hookless.sh [BUILD]: threads that take turns, one of which spins on what no hook shows, as a lock in an uninstrumented library: others go on after a
# while, sooner where one has spun before; a replay that holds all others is stuck.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
. "$top/tests/spent.sh"

gcc -g -O1 -shared -fPIC -xc - -o libflag.so <<'C' || exit 1
void flag_wait(volatile int *flag, int value) { while (*flag != value) continue; }
void flag_set(volatile int *flag, int value) { *flag = value; }
C
program() {
	gcc -g -O1 -fsanitize=thread -xc - -o "$1" -L. -lflag "-Wl,-rpath,$PWD" -pthread || exit 1
}

# The flag orders both accesses, which no hook shows: the race's other order cannot be had.
program once <<'C'
#include <pthread.h>
void flag_wait(volatile int *flag, int value);
void flag_set(volatile int *flag, int value);
static volatile int ready;
int data;
static void *use(void *arg)
{
	flag_wait(&ready, 1);
	data++;
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, use, NULL);
	data = 1;
	flag_set(&ready, 1);
	return pthread_join(t, NULL);
}
C
run 1 explore --runs 5 --timeout 300 -f json -- ./once
holds 'any(.runs[]; .strategy == "predict") and all(.runs[]; .end == "exit status 0")'
run 0 record --serial=1 -o once.zst ./once
run 1 replay --resolve first --attempts 1 --timeout 300 -f json once.zst
holds '[.anomalies[].replay.results[]?.outcome] == ["stuck"]'

# Two threads that take turns by the flag alone, ten times each: half a second of processor time for the first spin at each place, not for each.
program often <<'C'
#include <pthread.h>
void flag_wait(volatile int *flag, int value);
void flag_set(volatile int *flag, int value);
static volatile int turn;
int data;
static void *play(void *arg)
{
	int own = arg != NULL;
	for (int i = 0; i < 10; i++) {
		flag_wait(&turn, own);
		data++;
		flag_set(&turn, !own);
	}
	return NULL;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, play, &data);
	play(NULL);
	return pthread_join(t, NULL);
}
C
spent before && begun=$spent
run 0 record --serial=1 -o often.zst ./often
spent after
[ $((spent - begun)) -lt 8 ] || wrong "20 spins took $((spent - begun)) s of processor time"
exit $fail
