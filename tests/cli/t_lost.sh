#!/bin/bash
# t_lost.sh [BUILD]: threads that could not be recorded. The trace says so, and nothing is observed of what they may have
# ordered.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
racetrace=$(cd "${1:-${BUILD:-$top/build}}" && pwd)/bin/racetrace
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
fail=0
"${CC:-gcc}" -g -O1 -fsanitize=thread "$top/tests/recorder/lost.c" -o lost -pthread || exit 1

# verdicts TRACE: "variable verdict reasons" of each race.
verdicts() {
	"$racetrace" analyze --format json --kinds race "$1" 2>/dev/null |
		jq -r '.anomalies[] | "\(.variable.name // .subject.name // .name) \(.verdict) \([.reasons[]?.reason] | join(","))"' | sort
}

# check HOW OPTION...: what is recorded with the option, of a program that makes its third thread so.
check() {
	"$racetrace" record "${@:2}" -o t.zst -- ./lost "$1" 2>err || { echo "$1: status $?"; cat err; fail=1; }
	"$racetrace" info t.zst >info 2>/dev/null
	"$racetrace" dump --format jsonl t.zst >t.jsonl 2>/dev/null
	"$racetrace" convert -o back.zst t.jsonl 2>/dev/null
}

check pthread
grep -q '^complete *yes' info || { echo "nothing is lost: $(cat info)"; fail=1; }
[ "$(verdicts t.zst)" = "together observed " ] || { echo "all recorded: $(verdicts t.zst)"; fail=1; }
for how in pthread; do
	check $how -t 2
	grep -q '^complete *no' info || { echo "$how: $(cat info)"; fail=1; }
	grep -q '"op":"lost","object":"0x3"' t.jsonl || { echo "$how: no lost event"; fail=1; }
	for trace in t.zst t.jsonl back.zst; do
		[ "$(verdicts $trace)" = "handed predicted unrecorded-thread
together observed " ] || { echo "$how, $trace: $(verdicts $trace)"; fail=1; }
	done
done
exit $fail
