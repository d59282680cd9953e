#!/bin/bash
# t_replay_runs.sh [BUILD]: what replay runs: another build of the program, with the recorded input; with each of its options.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
CC=${CC:-gcc}

# compiled NAME SOURCE: an instrumented program.
compiled() {
	$CC -g -fsanitize=thread "$2" -o "$1" -lpthread || wrong "$2 does not compile"
}
# all_confirmed: everything that was replayed is.
all_confirmed() {
	jq -e '[.anomalies[] | select(.replay)] | length >= 1 and all(.verdict == "confirmed" and .replay.results[0].outcome == "confirmed" and .replay.results[0].way == "schedule")' out >/dev/null ||
		wrong "$1: $(jq -c '[.anomalies[] | [.id, .verdict, .replay]]' out | head -c 1500)"
}

# --- Another build: a function was added in front, so that code and variables are elsewhere, and lines are others.
mkdir rebuilt
for name in hidden racefuzzer_fig1 pecan_fig1; do
	compiled $name "$top/samples/$name.c"
	run 0 record --serial -o $name.zst ./$name
	{
		printf 'int added[1000];\nint add(int x)\n{\n\tadded[x] = 1;\n\treturn added[x / 2];\n}\n'
		cat "$top/samples/$name.c"
	} >rebuilt/$name.c
	compiled rebuilt/$name rebuilt/$name.c
	run 0 replay --attempts 1 $name.zst -- rebuilt/$name
	says "rebuilt/$name' is not the build that was recorded"
	all_confirmed "rebuilt $name"
done
# The same build under another name.
cp hidden renamed
run 0 replay --attempts 1 hidden.zst -- ./renamed
all_confirmed renamed
# One in which the racing line is no more.
grep -v 'ready = ' "$top/samples/hidden.c" >rebuilt/gone.c
compiled rebuilt/hidden rebuilt/gone.c
run 1 replay --attempts 1 hidden.zst -- rebuilt/hidden
holds '.anomalies[0].replay | .outcome == "failed" and (.results[0].why | test("the other build has no .*hidden.c:[0-9]+"))'

# --- Searching for an atomicity violation: its schedule does not apply, since the other thread writes only when it is told to; a second
# round of the loop, which the recorded run did not have, lets it.
cat >rounds.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int x, told;
static int rounds = 1;
static void *reads(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&lock);
		int once = x;
		int again = x; /* differs? */
		pthread_mutex_unlock(&lock);
		told = once == again;
		usleep(1000);
	}
	return arg;
}
static void *writes(void *arg)
{
	usleep(50000);
	for (int i = 0; i < 20; i++) {
		if (told)
			x = 1;
		usleep(500);
	}
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t a, b;
	(void)argv;
	rounds = argc > 1 ? 40 : 1;
	pthread_create(&a, NULL, reads, NULL);
	pthread_create(&b, NULL, writes, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
END
compiled rounds rounds.c
run 0 record --serial -o rounds.zst ./rounds
run 0 replay --verdict conditional,predicted rounds.zst -- ./rounds twice
holds '[.anomalies[] | select(.kind == "atomicity" and .replay)] | length >= 1 and all(.verdict == "confirmed")'
holds '[.anomalies[] | select(.kind == "atomicity") | .replay.results[] | select(.way == "search" and .outcome == "confirmed")] | length >= 1'
exit $fail
