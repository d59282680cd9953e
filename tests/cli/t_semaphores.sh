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

run 0 record -o shared.zst ./app shared
run 0 analyze --format json shared.zst
holds '.anomalies == []'
exit $fail
