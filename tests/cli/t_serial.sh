#!/bin/bash
# t_serial.sh [BUILD]: `record --serial`: one thread at a time. The same seed gives the same run, another one may give
# another; deadlocks are told and ended, spin loops end, and pauses take no time.
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/text.sh"

build() {
	local compiler=${CC:-gcc} more=()
	case $1 in *.cpp) compiler=${CXX:-g++} ;; esac
	grep -q '^#pragma omp' "$1" && more=(-fopenmp)
	$compiler -g -O1 -fsanitize=thread -Wno-tsan "${more[@]}" "$1" -o "$2" -pthread -lm || exit 1
}

# same PROGRAM RUNS: dumps of as many runs of a seed are equal byte by byte.
same() {
	local run first="" sum
	rm -f same.zst
	for ((run = 1; run <= $2; run++)); do
		timeout 300 "$RACETRACE" record --serial=7 -o same.zst "./$1" >out 2>err </dev/null
		"$RACETRACE" dump same.zst >same.dump 2>/dev/null
		sum=$(cksum <same.dump)
		[ -n "$first" ] || cp same.dump first.dump
		: "${first:=$sum}"
		[ "$sum" = "$first" ] || {
			wrong "$1: run $run of a seed differs from the first: $(diff first.dump same.dump | head -n 4)"
			return
		}
	done
	[ -s same.dump ] || wrong "$1: nothing was recorded"
}

for name in bounded_queue ring_buffer semaphore_lock singleton survey_fig4 thread_pool refcount; do
	build "$top/samples/$name.c" $name
	same $name "${RT_SERIAL_RUNS:-5}"
done

# Nor do the digits of a process id, where they can be chosen.
for last in 500 15000; do
	echo $last >/proc/sys/kernel/ns_last_pid
	run 0 record --serial=7 -o pid.zst ./refcount
	"$RACETRACE" dump pid.zst | cksum
done >sums 2>/dev/null
[ "$(sort -u sums | wc -l)" = 1 ] || wrong "the process id's length changes the run"

# Nor does what a controlled child is told of the recording.
cat >parent.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	int status;
	if (fork() == 0) {
		execl("./refcount", "./refcount", (char *)0);
		_exit(9);
	}
	return wait(&status) < 0 || status;
}
END
gcc -g -fsanitize=thread parent.c -o parent || wrong "parent does not compile"
for i in 1 2 3 4 5; do
	rm -f child.zst*
	run 0 record --serial=7 --children=controlled -o child.zst ./parent
	"$RACETRACE" dump child.zst.[0-9]* | cksum
done >sums
[ "$(sort -u sums | wc -l)" = 1 ] || wrong "five runs of a controlled child differ: $(cat sums)"
! grep -q ' 0$' sums || wrong "there is no trace of a controlled child"

# Some two of a few seeds differ.
for seed in 1 2 3 4 5; do
	run 0 record --serial=$seed -o seed.zst ./ring_buffer
	"$RACETRACE" dump seed.zst | cksum
done >sums
[ "$(sort -u sums | wc -l)" -gt 1 ] || wrong "five seeds give the same run of ring_buffer"

# The order is exact, and info says so.
run 0 record --serial -o a.zst ./bounded_queue
"$RACETRACE" analyze --format json a.zst | jq -e '.trace.order == "exact"' >/dev/null || wrong "the order is not exact"

# A deadlock: told, ended, and in the trace.
build "$top/tests/cases/real_deadlock.c" deadlock
run 124 record --serial --outcome=outcome.json -o d.zst ./deadlock
says "^racetrace: deadlock: none of the 2 threads can go on"
"$RACETRACE" analyze --format json d.zst | jq -e '[.anomalies[] | select(.kind == "deadlock" and .verdict == "observed")] | length == 1' \
	>/dev/null || wrong "analyze does not see the deadlock"

[ "$(jq -c '[.end, .status, [.threads[] | [.thread, .state, .operation, .object, .locks[0]]]]' outcome.json)" = \
	'["deadlock",null,[["main","blocked","acquire","b","a"],["main.1","blocked","acquire","a","b"]]]' ] ||
	wrong "the outcome of the deadlock: $(cat outcome.json)"
broken=$(jq -nr --slurpfile schema "$top/docs/outcome.schema.json" --slurpfile value outcome.json -f "$top/tests/cli/schema.jq" 2>&1)
[ -z "$broken" ] || wrong "the outcome is not of its schema: $(head -n 5 <<<"$broken")"
jq -e '.threads[0].stack[0] | test("real_deadlock.c:24")' outcome.json >/dev/null || wrong "no stack in the outcome"
run 2 record --outcome=outcome.json ./deadlock
run 2 record --fix-time ./deadlock

cat >spin.c <<'END'
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static volatile int plain;
static atomic_int flag, lock, done;
static int count;
static void *spins(void *unused)
{
	while (!atomic_load(&flag)) /* until main stores it */
		;
	while (!plain)
		;
	for (int i = 0; i < 20; i++) {
		while (atomic_exchange(&lock, 1))
			;
		count++;
		atomic_store(&lock, 0);
	}
	atomic_fetch_add(&done, 1);
	return unused;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, spins, NULL);
	sleep(100); /* in no time */
	atomic_store(&flag, 1);
	plain = 1;
	while (atomic_load(&done) < 3)
		sched_yield();
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", count);
	return 0;
}
END
build spin.c spin
for seed in 1 2 3; do
	timeout 300 "$RACETRACE" record --serial=$seed -o s.zst ./spin >out 2>err
	[ "$(cat out)" = 60 ] || wrong "seed $seed: spin loops print '$(cat out)', not 60: $(head -3 err)"
done
same spin 3

# OpenMP: teams come back from libgomp together.
for name in locks loops_racy; do
	build "$top/samples/openmp/$name.c" omp_$name
	same omp_$name 3
done
# A thread ends in libgomp while others begin.
build "$top/samples/openmp/teams.c" omp_teams
for seed in 2 3 4; do
	timeout 300 "$RACETRACE" record --serial=$seed -o t.zst ./omp_teams >out 2>err
	prints $'4\n12 2016 85344 126'
done

# A signal that a thread is sent before its first event is handled behind that.
cat >sent.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
static sem_t handled;
static void handle(int sig)
{
	(void)sig;
	sem_post(&handled);
}
static void *waits(void *unused)
{
	sem_wait(&handled);
	return unused;
}
int main(void)
{
	pthread_t t[8];
	sem_init(&handled, 0, 0);
	signal(SIGUSR1, handle);
	for (int i = 0; i < 8; i++) {
		pthread_create(&t[i], NULL, waits, NULL);
		pthread_kill(t[i], SIGUSR1);
	}
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
build sent.c sent
same sent 5
[ "$("$RACETRACE" dump same.zst | grep -c sem-post)" = 8 ] || wrong "sent: not each of eight handlers was recorded"

# In an exact trace a read sees the last write before it. For a copy GCC calls the hook of the write before that of the
# read: no other thread comes in between.
cat >copies.c <<'END'
#include <pthread.h>
static struct cell { long value; } cells[2];
static void __attribute__((noinline)) copy(struct cell *to, const struct cell *from) { *to = *from; }
static void *worker(void *own)
{
	struct cell next = {(long)own};
	for (int i = 0; i < 25000; i++) {
		next.value += 2;
		copy(&cells[0], &next);
		copy(&cells[1], &cells[0]);
	}
	return 0;
}
int main(void)
{
	pthread_t threads[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, worker, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	return 0;
}
END
build copies.c copies
run 0 record --serial=1 -o copies.zst ./copies
# What a call of the C library writes has none: main's threads are created.
"$RACETRACE" dump --format jsonl copies.zst 2>err | grep -v '"thread":"main"' | sed -nE 's/.*"op":"(read|write)","object":"([^"]*)".*"value":([0-9]+).*/\1 \2 \3/p; t; s/.*"op":"write".*/write without value/p' >values
awk '$1 == "write" { last[$2] = $3 } $1 == "read" && ($2 in last) && last[$2] != $3 { wrong++ } END { exit wrong > 0 }' values ||
	wrong 'a read does not see the last write before it'
[ "$(wc -l <values)" -gt 150000 ] || wrong "only $(wc -l <values) values"
grep -c 'without value' values >none
[ "$(cat none)" = 0 ] || wrong "$(cat none) writes have no value"

# Waits for conditions that end without a signal: if asked for.
for kind in 1 2 3 4 5; do
	${CC:-gcc} -g -O1 -fsanitize=thread -Wno-tsan -DKIND=$kind "$top/tests/cases/serial_kinds.c" -o kind$kind -pthread || exit 1
done
for seed in 1 2 3 4 5 6 7 8 9 10; do
	"$RACETRACE" record --serial=$seed -o k.zst ./kind1
done >out 2>&1
[ ! -s out ] || wrong "without --spurious: $(head -n 1 out)"
for seed in 1 2 3 4 5 6 7 8 9 10; do
	"$RACETRACE" record --serial=$seed --spurious -o k.zst ./kind1
done >out 2>&1
grep -q EARLY out || wrong "--spurious: each wait had its signal"
run 2 record --spurious ./kind1

# What is mapped at two addresses is one object, for turns too.
for seed in 1 2 3; do
	run 0 record --serial=$seed -o k.zst ./kind5
done

# System V semaphores are known: their threads wait by turns. A child may give one as well.
"$RACETRACE" record -o k.zst ./kind2 >out 2>&1
if [ $? != 77 ]; then
	for again in 1 2 3; do # the trace has the system's number of the semaphores
		run 0 record --serial --outcome=outcome.json -o k.zst ./kind2
		prints 8
		jq -c '[.steps, .decisions]' outcome.json
	done >decisions
	[ "$(sort -u decisions | wc -l)" = 1 ] || wrong "semop: a seed gives different runs"
	run 0 record --serial -o k.zst ./kind4
fi

# Children, free or controlled.
for how in free controlled; do
	rm -f k.zst*
	run 0 record --serial=3 --children=$how -o k.zst ./kind3
	for trace in k.zst*; do
		"$RACETRACE" analyze --format json $trace | jq -r .trace.order
	done >orders
	[ "$(wc -l <orders)" = 2 ] || wrong "--children=$how: $(wc -l <orders) traces"
	[ "$how" = controlled ] && want=2 || want=1
	[ "$(grep -c exact orders)" = $want ] || wrong "--children=$how: $(tr '\n' ' ' <orders)"
done
for again in 1 2 3; do
	rm -f k.zst*
	run 0 record --serial=3 --children=controlled -o k.zst ./kind3
	for trace in k.zst*; do
		"$RACETRACE" dump $trace | cksum
	done | sort
done >sums
[ "$(sort -u sums | wc -l)" = 2 ] || wrong "--children=controlled: a seed gives different runs"
run 2 record --serial --children=some ./kind3

# A controlled child's run does not depend on what its parent's scheduler did before.
cat >before.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count, rounds;
static void *counts(void *unused)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		count++;
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}
static void two(int n)
{
	pthread_t t[2];
	rounds = n;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, counts, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}
int main(int argc, char **argv)
{
	(void)argc;
	two(atoi(argv[1]));
	if (fork() == 0) {
		two(40);
		_exit(0);
	}
	wait(NULL);
	return 0;
}
END
build before.c before
for strategy in random pct racefuzzer; do
	for n in 1 5 40 400; do
		rm -f k.zst*
		run 0 record --serial=3 --strategy=$strategy --children=controlled -o k.zst ./before $n
		jq -c '[.[] | .thread]' <("$RACETRACE" dump --format jsonl k.zst.* 2>err | sed 1d | jq -s .) | cksum
	done >sums
	[ "$(sort -u sums | wc -l)" = 1 ] || wrong "$strategy: a child's run depends on its parent's: $(tr '\n' ' ' <sums)"
done

exit $fail
