#!/bin/bash
# t_binary_forms.sh BUILD: a program without instrumentation is recorded in whatever form it comes: at a fixed address or
# not, without symbols, with debug information of its own file, as a script, by a path with blanks, as a daemon.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
[ -x "$(dirname "$racetrace")/../lib/racetrace/valgrind/racetrace-amd64-linux" ] || exit 0

cat >app.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int shared;
static void *work(void *unused)
{
	shared++;
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t t;
	if (argc > 1 && !strcmp(argv[1], "daemon") && daemon(1, 1))
		return 9;
	if (argc > 1 && !strcmp(argv[1], "twice")) {
		if (fork())
			return 3;
		setsid();
		if (fork())
			_exit(4);
		usleep(100000);
	}
	pthread_create(&t, NULL, work, NULL);
	shared++;
	return pthread_join(t, NULL);
}
C
mkdir 'with blanks'
gcc -g -O1 app.c -o app -pthread && gcc -g -O1 -no-pie app.c -o fixed -pthread && cp app 'with blanks/an app' &&
	strip app -o stripped && objcopy --only-keep-debug app apart.debug && strip app -o apart &&
	objcopy --add-gnu-debuglink=apart.debug apart && cp app owned && chmod u+s owned || exit 1
printf '#!/bin/sh\n"%s/with blanks/an app"\nexec ./stripped\n' "$PWD" >script && chmod +x script

# recorded STATUS TRACES PATTERN COMMAND...: as many traces, and in one of them a race with such a place.
recorded() {
	local status=$1 traces=$2 pattern=$3 got
	shift 3
	rm -f t.zst*
	timeout 100 "$racetrace" record -o t.zst "$@" >out 2>err </dev/null
	got=$?
	[ $got = "$status" ] || wrong "$*: status $got, not $status: $(cat err)"
	[ "$(find . -name 't.zst*' | wc -l)" = "$traces" ] || wrong "$*: $(echo t.zst*), not $traces traces"
	for file in t.zst*; do
		"$racetrace" analyze --format text "$file"
	done >report
	grep -qE "^  $pattern" report && grep -q '^F1 error, observed' report || wrong "$*: no $pattern: $(cat report)"
}
recorded 0 1 'app.c:8 in work' ./app
recorded 0 1 'app.c:8 in work' ./fixed
recorded 0 1 'app.c:8 in work' './with blanks/an app'
recorded 0 1 'app.c:8 in work' ./apart
recorded 0 1 'stripped\+0x[0-9a-f]{4}: ' ./stripped
for address in $(grep -oE '^  stripped\+0x[0-9a-f]+' report | sed 's/.*+//'); do
	addr2line -fe app "$address"
done >lines
grep -q '^work$' lines && grep -q '^main$' lines || wrong "addresses in a module: $(cat lines report)"
recorded 0 3 'app.c:8 in work' ./script
recorded 0 2 'app.c:8 in work' ./app daemon
recorded 3 3 'app.c:8 in work' ./app twice

rm -f t.zst*
"$racetrace" record -o t.zst ./owned >out 2>err && wrong 'a setuid bit is ignored'
[ "$(cat err)" = "racetrace: './owned' has a setuid or setgid bit or capabilities, with which Valgrind runs no program: record a copy without" ] &&
	[ ! -e t.zst ] || wrong "setuid: $(cat err)"
exit $fail
