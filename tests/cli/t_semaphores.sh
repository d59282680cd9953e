#!/bin/bash
# Semaphores as locks in a deadlock that did not happen: each format names it, a schedule of it is valid, and a replay and
# RaceFuzzer confirm it. One that another process may post is in none.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

cat >app.c <<'EOF'
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
static sem_t disk, net;
static int copies;
static void *upload(void *arg)
{
	sem_wait(&disk);
	sem_wait(&net);
	copies++;
	sem_post(&net);
	sem_post(&disk);
	return arg;
}
static void *download(void *arg)
{
	sem_wait(&net);
	sem_wait(&disk);
	copies++;
	sem_post(&disk);
	sem_post(&net);
	return arg;
}
int main(int n, char **arguments)
{
	pthread_t a, b;
	(void)arguments;
	sem_init(&disk, n > 1, 1);
	sem_init(&net, n > 1, 1);
	pthread_create(&a, NULL, upload, NULL);
	usleep(300000);
	pthread_create(&b, NULL, download, NULL);
	pthread_join(a, NULL);
	return pthread_join(b, NULL);
}
EOF
gcc -g -O1 -fsanitize=thread app.c -o app -lpthread || exit 1
run 0 record -o app.zst ./app
run 1 analyze --format json app.zst
holds '[.anomalies[] | [.kind, .pattern, .verdict]] == [["deadlock", "cycle-2", "proved"]]'
holds '.anomalies[0].events | map([.op, .lock, .locks[].name]) == [["sem-wait", "net", "disk"], ["sem-wait", "disk", "net"]]'
holds '.findings[0].title | endswith("acquire the next: `net` -> `disk` -> `net`")'
cp out report.json
run 0 schedule --verify --anomaly D1 --trace app.zst report.json
jq '.anomalies[0].schedule | {schema, steps, goal}' report.json >steps.json
run 0 schedule --verify --trace app.zst steps.json
for format in text html sarif gcc; do
	run 1 analyze --format $format app.zst
	grep -q 'acquire' out || wrong "$format says nothing of it"
done
run 1 analyze --format text --anomaly D1 app.zst
grep -q 'waits for net, which main.2 holds' out || wrong "not whom it waits for: $(cat out)"
run 1 analyze --format dot --finding F1 app.zst
[ "$(grep -c 'class=own.*waits for' out)" = 2 ] || wrong "not two waits in the graph: $(cat out)"

run 0 replay --format json app.zst --anomaly D1 -- ./app
holds '.anomalies[0] | .verdict == "confirmed" and .replay.outcome == "confirmed"'
run 1 explore --strategy racefuzzer --runs 4 --format json -- ./app
holds 'any(.anomalies[]; .kind == "deadlock" and .verdict == "confirmed")'

# Waits for a once-routine and for a post.
cat >waits.c <<'EOF'
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
static pthread_mutex_t config = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t done;
static void load(void)
{
	pthread_mutex_lock(&config);
	pthread_mutex_unlock(&config);
}
static void *work(void *arg)
{
	pthread_once(&once, load);
	load();
	sem_post(&done);
	return arg;
}
int main(void)
{
	pthread_t worker;
	sem_init(&done, 0, 0);
	pthread_create(&worker, NULL, work, NULL);
	usleep(300000);
	pthread_mutex_lock(&config);
	pthread_once(&once, load);
	sem_wait(&done);
	pthread_mutex_unlock(&config);
	return pthread_join(worker, NULL);
}
EOF
gcc -g -O1 -fsanitize=thread waits.c -o waits -lpthread || exit 1
run 0 record -o waits.zst ./waits
run 1 analyze --format json waits.zst
holds '[.anomalies[] | [.verdict, .events[1].op, .events[1].waits_for.operation]] | unique == [["proved", "once-seen", "once-seen"], ["proved", "sem-wait", "sem-wait"]]'
# The names of the operations are those of the trace format; what people read has words.
for format in text html dot sarif; do
	"$RACETRACE" analyze --fail-on never --anomalies -f $format waits.zst >said 2>err
	! grep -qE '(once|sem)-(seen|wait)' said || wrong "$format: $(grep -oE '.{40}(once|sem)-(seen|wait)' said | head -2)"
done
holds '[.findings[].title] | any(endswith("main waits for the routine of `once`, which main.1 runs")) and any(endswith("main waits for a post of `done`, which main.1 is to give"))'
cp out waits.json
for id in D1 D2; do
	run 0 schedule --verify --anomaly $id --trace waits.zst waits.json
	run 0 replay --format json waits.zst --anomaly $id -- ./waits
	holds 'any(.anomalies[]; .id == "'$id'" and .verdict == "confirmed")'
done

# The threads wait for one another, until a third one posts as it did not in the recorded run: that is no deadlock.
cat >third.c <<'EOF'
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t done;
static void *work(void *arg)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	sem_post(&done);
	return arg;
}
static void *helps(void *arg)
{
	char **arguments = arg;
	while (arguments && *arguments[1] == 'r')
		usleep(1000);
	if (arguments)
		sem_post(&done);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t worker, third;
	sem_init(&done, 0, 0);
	pthread_create(&worker, NULL, work, NULL);
	pthread_create(&third, NULL, helps, argc > 1 ? argv : NULL);
	usleep(300000);
	pthread_mutex_lock(&lock);
	sem_wait(&done);
	pthread_mutex_unlock(&lock);
	pthread_join(third, NULL);
	return pthread_join(worker, NULL);
}
EOF
gcc -g -O1 -fsanitize=thread third.c -o third -lpthread || exit 1
run 0 record -o third.zst ./third
run 0 replay --format json third.zst --anomaly D1
holds '.anomalies[0] | .verdict == "confirmed" and .replay.results[0].end.kind == "deadlock"'
run 1 replay --format json --attempts 1 third.zst --anomaly D1 -- ./third x
holds '.anomalies[0] | .verdict == "proved" and .replay.outcome == "diverged" and (.replay.results[0].why | test("waited for one another, but not for ever: exit status 0"))'
run 1 replay --format json --attempts 1 --timeout 2 third.zst --anomaly D1 -- ./third runs
holds '.anomalies[0] | .verdict == "proved" and .replay.outcome == "timeout" and (.replay.results[0].why | test("wait for one another, but another one still runs"))'

# So are those with a wait at a barrier or for a signal, where the threads would go on if all came.
gcc -g -O1 -fsanitize=thread "$top/samples/more/wait_lock.c" -o wait_lock -lpthread || exit 1
run 0 record -o wait_lock.zst ./wait_lock
run 0 replay --format json wait_lock.zst
holds '[.anomalies[] | [.verdict, .replay.results[0].end.kind]] | unique == [["confirmed", "deadlock"]]'
holds '[.anomalies[].events[].op] | index("barrier-leave")'
holds '[.anomalies[].events[] | select(.op == "wait-end") | .waits_for.text] == ["waits for a signal of filled"]'

# confirms SAMPLE FILTER: replays what is found in it, of which the filter is true; its first schedule can be checked.
confirms() {
	g++ -g -O1 -fsanitize=thread "$top/samples/more/$1.cpp" -o "$1" -lpthread || exit 1
	run 0 record -o "$1.zst" "./$1"
	run 0 replay --format json "$1.zst"
	holds "$2"
	run 0 schedule "$1.zst" --anomaly D1
	cp out "$1.json"
	run 0 schedule --verify --trace "$1.zst" "$1.json"
}
# Of a static local callers look at the guard; of a future, at the word that says that its result is there.
confirms static_lock '.anomalies[0] | [.verdict, .replay.results[0].end.kind] == ["confirmed", "deadlock"] and .events[1].op == "atomic-load" and .events[1].waits_for.operation == "once-seen"'
confirms future_lock '[.anomalies[] | [.verdict, .replay.results[0].end.kind]] == [range(2) | ["confirmed", "deadlock"]] and all(.anomalies[]; [.events[].waits_for.operation] | index("atomic-load"))'

run 0 record -o shared.zst ./app shared
run 0 analyze --format json shared.zst
holds '.anomalies == []'
exit $fail
