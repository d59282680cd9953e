#!/bin/bash
# t_binary_values.sh BUILD: under Valgrind the values of a page that one thread alone has worked on at length are not
# recorded, but that it accesses each place is, twice; from another thread's first access on they are.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
[ -x "$(dirname "$racetrace")/../lib/racetrace/valgrind/racetrace-amd64-linux" ] || exit 0
cat >app.c <<'C'
#include <pthread.h>
enum { CELLS = 1024, ROUNDS = 20000 };
static volatile int page[CELLS] __attribute__((aligned(4096)));
static void *meet(void *arg)
{
	page[0] = 7777; /* @other */
	return arg;
}
static __attribute__((noinline)) int first(void)
{
	return page[0]; /* @seen */
}
int main(void)
{
	pthread_t a;
	int same = 0;
	for (int i = 1; i <= ROUNDS; i++)
		page[i % CELLS] = i; /* @alone */
	same |= first();
	pthread_create(&a, NULL, meet, NULL);
	while (first() != 7777)
		same |= page[1];
	pthread_join(a, NULL);
	page[1] = ROUNDS; /* @together */
	return same < 0;
}
C
gcc -g -O1 app.c -o app -pthread || exit 1
line() {
	grep -n "@$1 \*/" app.c | cut -d: -f1
}
"$racetrace" record --recorder=valgrind -o t.zst ./app >out 2>err || wrong "record: $(cat err)"
"$racetrace" dump t.zst | sed -nE 's/.* (read|write) +page[^ ]* \[4\]( =-?[0-9]+)? .*app\.c:([0-9]+):.*/\3\2/p' >accesses
at() { # LINE: the values of its accesses, "-" for none
	sed -n "s/^$1\$/-/p; s/^$1 =//p" accesses
}
recorded=$((16384 + 2 * 1024)) # the others repeat these
[ "$(at "$(line alone)" | grep -c '')" = $recorded ] || wrong "accesses are missing: $(at "$(line alone)" | grep -c '')"
[ "$("$racetrace" info --format json t.zst | jq .left_out)" -ge $((20000 - recorded)) ] || wrong "repeats are not counted"
[ "$(at "$(line alone)" | head -n 1)" = 1 ] || wrong "no value at the start: $(at "$(line alone)" | head -n 1)"
[ "$(at "$(line alone)" | tail -n 1)" = - ] || wrong "a value of memory that one thread had for long: $(at "$(line alone)" | tail -n 1)"
[ "$(at "$(line other)")" = 7777 ] || wrong "the other thread's value: $(at "$(line other)")"
[ "$(at "$(line together)")" = 20000 ] || wrong "a value behind it: $(at "$(line together)")"
[ "$(at "$(line seen)" | tail -n 1)" = 7777 ] || wrong "what ends the loop: $(at "$(line seen)")"
[ "$(at "$(line seen)" | head -n 1)" = - ] || wrong "a value before the page is shared: $(at "$(line seen)")"
exit $fail
