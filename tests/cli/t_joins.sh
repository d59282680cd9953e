#!/bin/bash
# A join in a deadlock that did not happen: each format names it, a schedule of it is valid, and a replay and RaceFuzzer
# confirm it in the program. A join that gives up is in none.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

cat >app.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg)
{
	pthread_mutex_lock(&state);
	pthread_mutex_unlock(&state);
	return arg;
}
int main(int n, char **arguments)
{
	pthread_t worker;
	struct timespec until;
	(void)arguments;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 30;
	pthread_create(&worker, NULL, work, NULL);
	usleep(300000);
	pthread_mutex_lock(&state);
	n == 1 ? pthread_join(worker, NULL) : pthread_timedjoin_np(worker, NULL, &until);
	return pthread_mutex_unlock(&state);
}
END
gcc -g -O1 -fsanitize=thread app.c -o app -lpthread || exit 1
run 0 record -o app.zst ./app
run 1 analyze --format json app.zst
holds '[.anomalies[] | [.kind, .pattern, .verdict]] == [["deadlock", "cycle-2", "proved"]]'
holds '.anomalies[0].events | map(.waits_for.thread // .lock) == ["state", "main.1"]'
holds '.findings[0] | .title == "main.1 acquires `state`, which main holds; main waits for the end of main.1" and [.places[].what] == ["acquires", "waits"]'
cp out report.json
run 0 schedule --verify --anomaly D1 --trace app.zst report.json
# The kind of a schedule that has none given.
jq '.anomalies[0].schedule | {schema, steps, goal}' report.json >steps.json
run 0 schedule --verify --trace app.zst steps.json
for format in text html sarif gcc; do
	run 1 analyze --format $format app.zst
	grep -q 'waits for the end of' out || wrong "$format says nothing of the join"
done
run 1 analyze --format dot --finding F1 app.zst
[ "$(grep -c 'class=own.*waits for' out)" = 2 ] || wrong "not two waits in the graph: $(cat out)"
run 0 suppress report.json F1
cp out suppressed
run 0 analyze --suppressions suppressed --format json app.zst

run 0 replay --format json app.zst --anomaly D1 -- ./app
holds '.anomalies[0] | .verdict == "confirmed" and .replay.outcome == "confirmed"'
run 1 explore --strategy racefuzzer --runs 4 --format json -- ./app
holds 'any(.anomalies[]; .kind == "deadlock" and .verdict == "confirmed")'

run 0 record -o timed.zst ./app timed
run 0 analyze --format json timed.zst
holds '.anomalies == []'

# The thread that is joined has been signalled, and takes its mutex again at the end of its wait.
cat >waits.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int go;
static void *work(void *arg)
{
	pthread_mutex_lock(&state);
	while (!go)
		pthread_cond_wait(&ready, &state);
	pthread_mutex_unlock(&state);
	return arg;
}
int main(void)
{
	pthread_t worker;
	pthread_create(&worker, NULL, work, NULL);
	usleep(300000);
	pthread_mutex_lock(&state);
	go = 1;
	pthread_cond_signal(&ready);
	pthread_mutex_unlock(&state);
	usleep(300000);
	pthread_mutex_lock(&state);
	pthread_join(worker, NULL);
	return pthread_mutex_unlock(&state);
}
END
gcc -g -O1 -fsanitize=thread waits.c -o waits -lpthread || exit 1
run 0 record -o waits.zst ./waits
run 1 analyze --format json waits.zst
holds '[.anomalies[] | [.verdict, .events[0].op]] | sort == [["proved", "acquire"], ["proved", "wait-end"]]'
for id in D1 D2; do
	run 0 replay --format json waits.zst --anomaly $id -- ./waits
	holds 'any(.anomalies[]; .id == "'$id'" and .verdict == "confirmed")'
done
exit $fail
