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

# recorded NAME racy|clean STATUS OUTPUT COMMAND...: with --preload; what is found is the one line, or nothing.
recorded() {
	local name=$1 kind=$2 status=$3 output=$4 got want='[]'
	shift 4
	rm -f t.zst
	"$racetrace" record --preload -o t.zst "$@" >out 2>err
	[ $? = "$status" ] || wrong "$name $kind: not its own status: $(cat err)"
	[ "$(cat out)" = "$output" ] && [ ! -s err ] || wrong "$name $kind: not its own output: $(cat out err)"
	got=$("$racetrace" analyze --format json t.zst |
		jq -c '[.anomalies[] | select(.verdict == "observed" or .verdict == "proved") | [.kind, (.events | map(.source.line))]] | unique')
	[ $kind = clean ] || want="[[\"race\",[$line,$line]]]"
	[ "$got" = "$want" ] || wrong "$name $kind: $got, not $want"
	"$racetrace" info --format json t.zst | jq -e '.sync_only | not' >/dev/null || wrong "$name: it is said to be of locks alone"
}
for kind in racy clean; do
	recorded host $kind 7 counted ./host ./libplugin.so $kind
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
