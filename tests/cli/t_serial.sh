#!/bin/bash
# t_serial.sh [BUILD]: `record --serial`: one thread at a time. The same seed gives the same run, another one may give
# another; deadlocks are told and ended, spin loops end, and pauses take no time.
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/text.sh"

build() {
	local compiler=${CC:-gcc}
	case $1 in *.cpp) compiler=${CXX:-g++} ;; esac
	$compiler -g -O1 -fsanitize=thread -Wno-tsan "$1" -o "$2" -pthread -lm || exit 1
}

# same PROGRAM RUNS: dumps of as many runs of a seed are equal byte by byte.
same() {
	local run first sum
	for ((run = 1; run <= $2; run++)); do
		timeout 20 "$RACETRACE" record --serial=7 -o same.zst "./$1" >out 2>err </dev/null
		"$RACETRACE" dump same.zst >same.dump 2>/dev/null
		sum=$(cksum <same.dump)
		: "${first:=$sum}"
		[ "$sum" = "$first" ] || {
			wrong "$1: run $run of a seed differs from the first"
			return
		}
	done
	[ -s same.dump ] || wrong "$1: nothing was recorded"
}

for name in bounded_queue ring_buffer semaphore_lock singleton survey_fig4 thread_pool refcount; do
	build "$top/samples/$name.c" $name
	same $name "${RT_SERIAL_RUNS:-5}"
done

# Some two of a few seeds differ.
for seed in 1 2 3 4 5; do
	run 0 record --serial=$seed -o seed.zst ./ring_buffer
	"$RACETRACE" dump seed.zst | cksum
done | sort -u >sums
[ "$(wc -l <sums)" -gt 1 ] || wrong "five seeds give the same run of ring_buffer"

# The order is exact, and info says so.
run 0 record --serial -o a.zst ./bounded_queue
"$RACETRACE" analyze --format json a.zst | jq -e '.trace.order == "exact"' >/dev/null || wrong "the order is not exact"

# A deadlock: told, ended, and in the trace.
build "$top/tests/cases/real_deadlock.c" deadlock
run 124 record --serial -o d.zst ./deadlock
says "^racetrace: deadlock: none of the 2 threads can go on"
"$RACETRACE" analyze --format json d.zst | jq -e '[.anomalies[] | select(.kind == "deadlock" and .verdict == "observed")] | length == 1' \
	>/dev/null || wrong "analyze does not see the deadlock"

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
	sleep(100); /* nobody waits so long */
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
	timeout 20 "$RACETRACE" record --serial=$seed -o s.zst ./spin >out 2>err
	[ "$(cat out)" = 60 ] || wrong "seed $seed: spin loops print '$(cat out)', not 60: $(head -3 err)"
done
same spin 3
exit $fail
