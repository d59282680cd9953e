#!/bin/bash
# t_racefuzzer.sh [BUILD]: explore --strategy=racefuzzer creates races, atomicity violations and violations of sets of locations.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

build() {
	gcc -g -O1 -fsanitize=thread -Wno-tsan "$top/samples/$1.c" -o "${1##*/}" -pthread || exit 1
}
build racefuzzer_fig1
build hidden

# racefuzzer: a real race is created in each run, a false alarm in none; the error of figure 2 in half of the runs.
run 1 explore --strategy racefuzzer --runs 31 -f json -- ./racefuzzer_fig1
holds '.trials.patterns | length == 2 and map(.created == .runs) == [true, false] and .[1].created == 0 and all(.runs == 10)'
holds '.trials.plain_runs == 11 and .findings[0].verdict == "confirmed"'
mv out pairs.json
run 1 explore --strategy racefuzzer --runs 9 --pairs pairs.json -f json -- ./racefuzzer_fig1
holds '.trials.patterns | length == 1 and .[0].created == 4'
run 1 explore --strategy racefuzzer --runs 5 -- ./racefuzzer_fig1
grep -qE '^  real +2 of 2: race of racefuzzer_fig1.c:19 and racefuzzer_fig1.c:27, seed 2$' out || wrong "the table: $(grep -A4 patterns out)"
run 2 explore --strategy racefuzzer --pairs ./hidden -- ./racefuzzer_fig1
says "is not a JSON report"

# With several inputs each aim's runs count for it, and confirm it, not one of an input before; and --pairs is for all of them.
cat >inputs.c <<'C'
#include <pthread.h>
#include <string.h>
static int first, second, third;
static void *of_a(void *arg) { first++; return arg; }
static void *of_b(void *arg) { second++; third++; return arg; }
int main(int argc, char **argv)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, argc > 1 && strstr(argv[1], "/a") ? of_a : of_b, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}
C
gcc -g -fsanitize=thread inputs.c -o inputs -pthread || exit 1
mkdir -p corpus
touch corpus/a corpus/b
run 1 explore --strategy racefuzzer --runs 6 --inputs corpus -f json -- ./inputs @@
holds '.trials.patterns | map(.runs) == [2, 2, 1, 1, 1, 1]'
holds '.trials.patterns | map(.created > 0) | all'
mv out pairs.json
run 1 explore --strategy racefuzzer --runs 3 --inputs corpus --pairs <(cat pairs.json) -f json -- ./inputs @@
holds '.trials.patterns | map(.runs > 0) == [true, true, true, true, false, false]'

# Sequences: threads are held at the events of a region until those between have come, whatever locks they need for them,
# though one of them waits for a long while before it begins.
for name in string_buffer event_queue cache multiplexer; do
	build pecan/$name
	run 1 explore --strategy racefuzzer --runs 15 -f json -- ./$name
	holds '.trials.patterns | length > 0 and all(.created > 0)'
	holds '[.anomalies[] | select(.kind == "atomicity" or .kind == "asv")] | all(.verdict == "confirmed")'
done

# Two objects at the same positions, in loops: each pattern that is proved is created at the first try.
build pecan/list
run 1 explore --strategy racefuzzer --runs 18 -f json -- ./list
holds '.trials.patterns | length > 10'
holds '[.trials.patterns[] | select(.created == 0) | .fingerprint] as $not | [.anomalies[] | select(.verdict == "proved" and
	(.fingerprint as $f | $not | index($f)))] == []'

# A thread that has done its part of a sequence may end before the others have done theirs.
build pecan/account
run 1 explore --strategy racefuzzer --runs 28 -f json -- ./account
holds '.trials.patterns | length > 20 and all(.created > 0)'

# Time is no order: what comes first only after a pause is created all the same.
build pecan_fig5_racy
run 1 explore --strategy racefuzzer --runs 150 -f json -- ./pecan_fig5_racy
holds '.trials.patterns | length == 1 and .[0].created > 0'

# A deadlock in which one of the threads takes its mutex at the end of a wait is created as any other.
cat >ended_wait.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static int ready;
static void *tell(void *arg)
{
	pthread_mutex_lock(&inner);
	ready = 1;
	pthread_cond_signal(&told);
	pthread_mutex_unlock(&inner);
	usleep(100000);
	pthread_mutex_lock(&inner);
	pthread_mutex_lock(&outer);
	pthread_mutex_unlock(&outer);
	pthread_mutex_unlock(&inner);
	return arg;
}
int main(void)
{
	pthread_t teller;
	pthread_mutex_lock(&outer);
	pthread_mutex_lock(&inner);
	pthread_create(&teller, NULL, tell, NULL);
	while (!ready)
		pthread_cond_wait(&told, &inner);
	pthread_mutex_unlock(&inner);
	pthread_mutex_unlock(&outer);
	return pthread_join(teller, NULL);
}
END
gcc -g -O1 -fsanitize=thread ended_wait.c -o ended_wait -lpthread || exit 1
run 1 explore --strategy racefuzzer --runs 3 -f json -- ./ended_wait
holds '.trials.patterns | map([.kind, .created]) == [["deadlock", 1]]'

# A server's workers that poll for minutes are not waited for while all others are kept at a race: those are freed.
cat >polls.c <<'END'
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
static int hits;
static int has(int fd)
{
	struct pollfd p = {fd, POLLIN, 0};
	return poll(&p, 1, 300000) == 1;
}
static void *serve(void *arg)
{
	char c;
	int fd = *(int *)arg;
	while (has(fd) && read(fd, &c, 1) == 1) {
		hits++;
		write(fd, &c, 1);
	}
	return arg;
}
int main(void)
{
	enum { WORKERS = 3 };
	pthread_t t[WORKERS];
	int fds[WORKERS][2];
	char c = 'x';
	for (int i = 0; i < WORKERS; i++) {
		socketpair(AF_UNIX, SOCK_STREAM, 0, fds[i]);
		pthread_create(&t[i], NULL, serve, &fds[i][1]);
		write(fds[i][0], &c, 1);
	}
	for (int i = 0; i < WORKERS; i++) {
		has(fds[i][0]);
		read(fds[i][0], &c, 1);
		close(fds[i][0]);
		pthread_join(t[i], NULL);
	}
	return 0;
}
END
gcc -g -O1 -fsanitize=thread polls.c -o polls -lpthread || exit 1
run 1 explore --strategy racefuzzer --runs 6 --timeout 10 -f json -- ./polls
holds '[.findings[].kinds] == [["race"]] and .trials.patterns[0].created > 0'
exit $fail
