#!/bin/bash
# t_failed_try.sh [BUILD]: an observed race behind tries that failed: its schedule has the thread that holds the lock,
# which nothing else needs, and replay follows it.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

cat >held.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x, done;
__attribute__((no_sanitize("thread"))) static void *holds(void *unused)
{
	pthread_mutex_lock(&m);
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
		usleep(1000);
	pthread_mutex_unlock(&m);
	return unused;
}
static void *tries(void *unused)
{
	if (pthread_mutex_trylock(&m))
		x++;
	else
		pthread_mutex_unlock(&m);
	return unused;
}
__attribute__((no_sanitize("thread"))) static void tell(void)
{
	__atomic_store_n(&done, 1, __ATOMIC_RELAXED);
}
int main(void)
{
	pthread_t holder, t[2];
	pthread_create(&holder, NULL, holds, NULL);
	usleep(300000);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, tries, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	tell();
	return pthread_join(holder, NULL);
}
END
gcc -g -O1 -fsanitize=thread held.c -o held -lpthread || wrong "held.c does not compile"
run 0 record -o held.zst ./held
run 0 analyze -f json --fail-on never held.zst
holds '[.anomalies[] | select(.schedule)] | length >= 1 and all(.verdict == "observed" and any(.schedule.steps[]; .thread == "main.1"))'
run 0 schedule held.zst
mv out held.json
run 0 schedule --verify held.json --trace held.zst
run 0 replay --attempts 1 --format json held.zst
holds '[.anomalies[] | select(.replay)] | length >= 1 and all(.replay.was == "observed" and all(.replay.results[]; .outcome == "confirmed"))'
exit $fail
