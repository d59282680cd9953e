#!/bin/bash
# t_preload.sh BUILD: an instrumented library in a program that is not: record refuses it and says how, and with --preload it is
# recorded, host's threads and all. Python's ctypes is tried if there is a Python.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
gcc -g -O1 "$top/tests/process/host.c" -o host -ldl -pthread &&
	gcc -g -O1 -fsanitize=thread -fPIC -shared "$top/tests/process/hosted.c" -o libplugin.so || exit 1
line=$(grep -n '@count' "$top/tests/process/hosted.c" | cut -d: -f1)

"$racetrace" record --recorder=tsan ./host ./libplugin.so clean >out 2>err
[ $? = 3 ] && grep -q 'record --preload if it loads a library that is' err && [ ! -s out ] || wrong "not refused: $(cat err)"

# judged NAME racy|clean TRACE: what is found is the race of the one line, or nothing. Whether a lost update of that line is
# proved, too, depends on which thread's turn it was: what reads would see otherwise proves nothing.
judged() {
	local got want='[]'
	got=$("$racetrace" analyze --format json "$3" |
		jq -c --arg kind "$2" --argjson line "$line" '[.anomalies[] | select(.verdict == "observed" or .verdict == "proved") | [.kind, (.events | map(.source.line))]]
			| unique | map(select(. != ["atomicity", [$line, $line, $line]] or $kind == "clean"))')
	[ "$2" = clean ] || want="[[\"race\",[$line,$line]]]"
	[ "$got" = "$want" ] || wrong "$1 $2: $got, not $want"
}

# recorded NAME racy|clean STATUS OUTPUT COMMAND...: with --preload.
recorded() {
	local name=$1 kind=$2 status=$3 output=$4
	shift 4
	rm -f t.zst*
	"$racetrace" record --preload -o t.zst "$@" >out 2>err
	[ $? = "$status" ] || wrong "$name $kind: not its own status: $(cat err)"
	[ "$(cat out)" = "$output" ] && [ ! -s err ] || wrong "$name $kind: not its own output: $(cat out err)"
	judged "$name" $kind t.zst
	"$racetrace" info --format json t.zst | jq -e '.sync_only | not' >/dev/null || wrong "$name: it is said to be of locks alone"
}
for kind in racy clean; do
	recorded host $kind 7 counted ./host ./libplugin.so $kind
done

# ---- Behind scripts: the shell executes the host, starts it, or has another shell start it ----
printf '#!/bin/sh\nexec ./host "$@"\n' >executes
printf '#!/bin/sh\nname=$(echo host | tr a-z a-z)\nLD_PRELOAD= ./$name "$@"\nstatus=$?\ntrue | cat\nexit $status\n' >starts
printf '#!/bin/sh\nexec ./by_shell "$@"\n' >asks
cat >by_shell.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
int main(int argc, char **argv)
{
	char command[200];
	snprintf(command, sizeof command, "./host %s %s", argv[1], argv[2]);
	return argc == 3 ? WEXITSTATUS(system(command)) : 1;
}
END
gcc by_shell.c -o by_shell && chmod +x executes starts asks || exit 1
for script in executes starts asks; do
	for kind in racy clean; do
		rm -f t.zst*
		"$racetrace" record --preload -o t.zst "./$script" ./libplugin.so $kind >out 2>err
		[ $? = 7 ] && [ "$(cat out)" = counted ] && [ ! -s err ] || wrong "$script $kind: $(cat out err)"
		traces=(t.zst.*)
		[ ${#traces[@]} = 1 ] || wrong "$script $kind: traces ${traces[*]}"
		judged "$script" $kind "${traces[0]}"
	done
done

python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
if [ -n "$python" ]; then
	cat >use.py <<'END'
import ctypes, sys, threading
plugin = ctypes.CDLL(sys.argv[1])
racy = int(sys.argv[2] == "racy")
threads = [threading.Thread(target=plugin.count, args=(racy,)) for _ in range(2)]
for t in threads: t.start()
plugin.run(racy)
for t in threads: t.join()
print("counted")
END
	for kind in racy clean; do
		recorded python $kind 0 counted "$python" use.py ./libplugin.so $kind
	done
fi
exit $fail
