#!/bin/bash
# t_process.sh BUILD: each process of a tree gets its own trace, in which its own races are found; in the race-free twin
# there is none. The programs are those of tests/process.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE

gcc -D_GNU_SOURCE -g -O1 -fsanitize=thread "$top/tests/process/tree.c" -o tree -pthread || exit 1
line=$(grep -n '@count' "$top/tests/process/tree.c")
line=${line%%:*}

# races TRACE: how many races with a proof there are at the line that counts, and how many anomalies elsewhere.
races() {
	"$racetrace" analyze --format json "$1" | jq -r --argjson line "$line" '[.anomalies[] |
		if .kind == "race" and ([.events[].source.line] | all(. == $line))
		then (if .verdict == "observed" or .verdict == "proved" then "race" else empty end)
		else "other" end] | "\(map(select(. == "race")) | length) \(map(select(. == "other")) | length)"'
}

# check WAY STATUS COUNTING TRACES: records both twins. COUNTING processes count; TRACES are left in all. The traces of
# those that count have the race, others nothing.
check() {
	local way=$1 status=$2 counting=$3 traces=$4 kind got
	for kind in racy clean; do
		rm -f t.zst*
		timeout 60 "$racetrace" record -o t.zst ./tree "$way" $kind >out 2>err </dev/null
		got=$?
		[ $got = "$status" ] || wrong "$way $kind: status $got, not $status"
		[ ! -s err ] || wrong "$way $kind: it says: $(head -n 3 err)"
		! grep 'status' out || wrong "$way $kind: another process's status is not its own"
		[ "$(grep -c counts out)" = "$counting" ] || wrong "$way $kind: not $counting processes: $(cat out)"
		[ "$(find . -name 't.zst*' | wc -l)" = "$traces" ] || wrong "$way $kind: not $traces traces: $(echo t.zst*)"
		for trace in t.zst*; do
			zstd -tq "$trace" || wrong "$way $kind: $trace is not whole"
			got=$(races "$trace")
			# The first process counts only where its program does.
			if [ $kind = clean ] || { [ "$trace" = t.zst ] && [ "$way" != exec ]; }; then
				pid=none
			else
				pid=${trace#t.zst.}
				[ "$way" != exec ] || pid=$(sed -n 's/ is replaced//p' out)
				grep -q "^${pid%.*} counts" out || wrong "$way $kind: $trace is of no process that counts"
			fi
			if [ $pid = none ]; then
				[ "$got" = '0 0' ] || wrong "$way $kind: $trace has what is not there: $got"
			else
				[[ $got == [1-9]*\ 0 ]] || wrong "$way $kind: $trace does not have its race: $got"
			fi
		done
	done
}
check fork 3 1 2
check threads 3 5 6
check holding 3 1 2
check handler 3 1 2
check exec 7 2 2
check vfork 3 1 2
check number 3 1 2
check spawn 3 1 2
check system 3 1 2
check popen 3 1 2
check plain 3 0 1
check daemon 0 1 2
check leave 3 1 2

# ---- The names ----
mkdir names
"$racetrace" record -v -o names/t ./tree exec racy >out 2>err
pid=$(sed -n 's/ is replaced//p' out)
[ "$(cd names && echo *)" = "t t.$pid" ] || wrong "traces of a process that became another program: $(cd names && echo *)"
for trace in t t."$pid"; do
	grep -q "^racetrace: names/$trace: [0-9]* events" err || wrong "--verbose does not speak of $trace: $(cat err)"
done
[ "$(wc -l <err)" = 2 ] || wrong "--verbose says: $(cat err)"
"$racetrace" info --format json "names/t.$pid" | jq -e '.command[1:] == ["only", "racy"]' >/dev/null ||
	wrong "the second trace does not have its own command"

# ---- Only the first ----
for way in fork exec spawn daemon; do
	rm -f t.zst*
	# To a file of its own: what the program leaves behind writes to it when the test has gone on.
	TSAN_OPTIONS=report_bugs=0 timeout 90 "$racetrace" record --no-children -o t.zst ./tree $way racy >"out.$way" 2>err
	[ "$(echo t.zst*)" = t.zst ] || wrong "--no-children, $way: $(echo t.zst*)"
	[ ! -s err ] || wrong "--no-children, $way: $(cat err)"
done

# ---- What an executed program sees ----
cat >shows.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
	char *const alone[] = {"X=1", NULL};
	if (argc > 1 && !strcmp(argv[1], "system"))
		return system("./shows") != 0;
	if (argc > 1 && !strcmp(argv[1], "exec"))
		execl("./shows", "./shows", "again", (char *)NULL);
	if (argc > 1 && !strcmp(argv[1], "alone"))
		execle("./shows", "./shows", "last", (char *)NULL, alone);
	if (argc > 1 && !strcmp(argv[1], "missing"))
		return execlp("./no-such", "./no-such", (char *)NULL) != -1;
	for (char **e = environ; *e; e++)
		if (**e != '_')
			puts(*e);
	return 0;
}
END
gcc -g -fsanitize=thread shows.c -o shows || exit 1
for path in - '' /nowhere /nowhere:/else; do
	for way in system exec alone missing; do
		set -- TSAN_OPTIONS=report_bugs=0
		[ "$path" = - ] || set -- "$@" LD_LIBRARY_PATH="$path"
		env "$@" ./shows $way >want
		want=$?
		env "$@" "$racetrace" record -o e.zst ./shows $way >out 2>err
		[ $? = $want ] || wrong "an executed program's status, $way"
		sort out | diff - <(sort want) || wrong "LD_LIBRARY_PATH '$path', $way: the environment differs"
		[ ! -s err ] || wrong "$way says: $(cat err)"
		rm -f e.zst*
	done
done

# ---- Waiting ----
cat >stays.c <<'END'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	if (fork() == 0) {
		FILE *f = fopen("fifo", "r");
		for (volatile int i = 0; i < 1000; i++)
			;
		return f ? fgetc(f) : 1;
	}
	return 5;
}
END
gcc -g -fsanitize=thread stays.c -o stays && mkfifo fifo || exit 1
rm -f t.zst*
"$racetrace" record -o t.zst ./stays 2>err &
recorder=$!
for _ in $(seq 100); do
	grep -q 'waiting' err && break
	sleep 0.1
done
grep -qE '^racetrace: waiting for the processes that the program left behind: process [0-9]+ \(an interrupt ends the recording\)$' err ||
	wrong "it does not say what it waits for: $(cat err)"
[ -s t.zst ] || wrong 'the first trace is not there while others are waited for'
kill -TERM $recorder
wait $recorder
[ $? = 5 ] || wrong 'an interrupt while others are waited for does not leave the status'
[ "$(find . -name 't.zst.*' | wc -l)" = 1 ] && zstd -tq t.zst.* || wrong "no trace of what was interrupted: $(echo t.zst*)"
echo a >fifo # the process is still there
sed -n '2,$p' err | grep -vxE 'racetrace: the recording is interrupted; unrecorded from here on: process [0-9]+' && wrong "more is said: $(cat err)"
[ "$(wc -l <err)" = 2 ] || wrong "it does not say who goes on unrecorded: $(cat err)"
exit $fail
