#!/bin/bash
# t_binary_atomic.sh BUILD: what machine code does not tell from atomic accesses is never shown by a run, whatever the
# analysis calls it: here two relaxed accesses of which one would have to see another write.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
[ -x "$(dirname "$racetrace")/../lib/racetrace/valgrind/racetrace-amd64-linux" ] || exit 0
cat >app.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int made, *cached;
static int *get(void)
{
	if (!__atomic_load_n(&cached, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&m);
		__atomic_store_n(&cached, &made, __ATOMIC_RELAXED);
		pthread_mutex_unlock(&m);
	}
	return __atomic_load_n(&cached, __ATOMIC_RELAXED); /* @again */
}
static void *drop(void *arg)
{
	pthread_mutex_lock(&m);
	__atomic_store_n(&cached, (int *)0, __ATOMIC_RELAXED); /* @drop */
	pthread_mutex_unlock(&m);
	return arg;
}
static void *use(void *arg)
{
	usleep(50000);
	int *got = get();
	printf("%d\n", got == &made);
	return arg;
}
int main(void)
{
	pthread_t a, b;
	get();
	pthread_create(&a, NULL, drop, NULL);
	pthread_create(&b, NULL, use, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
C
gcc -g -O0 app.c -o app -pthread || exit 1
line() {
	grep -n "@$1 \*/" app.c | cut -d: -f1
}
"$racetrace" run --time-limit 5 --trace=t.zst -f json -o run.json ./app >out 2>err
[ $? = 0 ] || wrong "run: $(cat out err)"
jq -e '[.anomalies[] | select(.verdict != "predicted" and .verdict != "conditional")] == []' run.json >/dev/null ||
	wrong "a run shows it: $(jq -c '.anomalies[] | [.verdict, [.events[].source.line]]' run.json)"
"$racetrace" analyze --all --kinds race -f json t.zst |
	jq -e --argjson drop "$(line drop)" --argjson again "$(line again)" \
		'[.anomalies[] | select([.events[].source.line] == [$drop, $again]) | .verdict] == ["conditional"]' >/dev/null ||
	wrong 'the second look is not conditional: this tests nothing'
exit $fail
