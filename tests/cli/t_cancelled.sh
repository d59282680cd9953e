#!/bin/bash
# t_cancelled.sh [BUILD]: what unwinds the stack of a thread that is cancelled or ends reads tables of its own, none of
# the program's memory: a schedule that changed threads at such reads could not be followed by turns.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

cat >ends.c <<'END'
#include <pthread.h>
#include <unistd.h>
static int x;
static void *sleeps(void *unused)
{
	for (;;)
		usleep(1000);
	return unused;
}
static void *exits(void *unused)
{
	pthread_exit(unused);
}
static void *adds(void *unused)
{
	x++;
	return unused;
}
int main(void)
{
	pthread_t sleeper, leaver, adder;
	pthread_create(&sleeper, NULL, sleeps, NULL);
	pthread_create(&leaver, NULL, exits, NULL);
	pthread_create(&adder, NULL, adds, NULL);
	pthread_cancel(sleeper);
	pthread_join(sleeper, NULL);
	pthread_join(leaver, NULL);
	x++;
	pthread_join(adder, NULL);
	return x != 2;
}
END
gcc -g -fsanitize=thread ends.c -o ends -lpthread || wrong "ends.c does not compile"
for how in "" --serial=3; do
	run 0 record $how -o ends.zst ./ends
	run 0 dump ends.zst
	! grep -E ' main\.[12] .* read ' out || wrong "accesses of the unwinder${how:+ ($how)}"
	run 0 replay --attempts 1 --format json ends.zst
	jq -e '[.anomalies[] | select(.replay) | .replay.outcome] | length >= 1 and all(. == "confirmed")' out >/dev/null || wrong "not all are confirmed${how:+ ($how)}"
done
exit $fail
