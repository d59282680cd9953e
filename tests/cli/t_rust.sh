#!/bin/bash
# t_rust.sh BUILD: names of Rust's functions are readable, in both of its manglings, and what its atomic types do is
# atomic. The program is in C, with names as rustc makes them, and without debug information.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
[ -x "$(dirname "$racetrace")/../lib/racetrace/valgrind/racetrace-amd64-linux" ] || exit 0
cat >app.c <<'C'
#include <pthread.h>
#include <unistd.h>
#define RUST(symbol) __asm__(symbol) __attribute__((noinline))
#define HASH "17h0123456789abcdefE"
int ready, data, racy, line;
int load(const int *p) RUST("_ZN4core4sync6atomic11atomic_load" HASH);
void store(int *p, int value) RUST("_RNvNtNtCs1234_4core4sync6atomic12atomic_store");
void *produce(void *arg) RUST("_ZN3app4main28_$u7b$$u7b$closure$u7d$$u7d$" HASH);
void *consume(void *arg) RUST("_RNvXCs1234_3appNtB2_4WorkNtB2_3Run3run");
int load(const int *p)
{
	return *(volatile const int *)p;
}
void store(int *p, int value)
{
	*(volatile int *)p = value;
}
void *produce(void *arg)
{
	data = 1;
	store(&ready, 1);
	racy = 1;
	return arg;
}
void *consume(void *arg)
{
	while (!load(&ready))
		usleep(1000);
	racy = data;
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, produce, NULL);
	pthread_create(&b, NULL, consume, NULL);
	pthread_join(a, NULL);
	return pthread_join(b, NULL);
}
C
gcc -O1 app.c -o app -pthread || exit 1
"$racetrace" record --recorder=valgrind -o t.zst ./app >out 2>err || wrong "record: $(cat err)"
"$racetrace" analyze --all --kinds race --fail-on never -f json t.zst >report.json
[ "$(jq -r '[.anomalies[].variable.name] | unique | join(" ")' report.json)" = racy ] || wrong "what atomic types order: $(jq -c '[.anomalies[] | [.verdict, .variable.name]]' report.json)"
jq -r '.findings[].title' report.json >titles
for name in 'closure in app::main' '<app::Work as app::Run>::run'; do
	grep -qF "\`$name\`" titles || wrong "no '$name': $(cat titles)"
done

# Of the copies in Rust's own libraries there is only a line.
sed -e '/^int load(const int \*p)$/,/^}/{s/^{/{\n#line 2592 "\/rustc\/library\/core\/src\/sync\/atomic.rs"/;s/^}/#line 20 "app.c"\n}/}' \
	-e '/^void store(int \*p, int value)$/,/^}/{s/^{/{\n#line 2578 "\/rustc\/library\/core\/src\/sync\/atomic.rs"/;s/^}/#line 24 "app.c"\n}/}' \
	-e 's/RUST("[^)]*)/__attribute__((noinline))/' app.c >line.c
gcc -g -O1 line.c -o line -pthread || exit 1
"$racetrace" record --recorder=valgrind -o t.zst ./line >out 2>err || wrong "record: $(cat err)"
"$racetrace" analyze --all --kinds race --fail-on never -f json t.zst >report.json
[ "$(jq -r '[.anomalies[].variable.name] | unique | join(" ")' report.json)" = racy ] || wrong "by lines: $(jq -c '[.anomalies[] | [.verdict, .variable.name]]' report.json)"
exit $fail
