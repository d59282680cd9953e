#!/bin/bash
# A release of a lock that the thread does not hold is none: it orders nothing, frees nothing and hides no deadlock; a
# hold that another thread ends all the same protects nothing but keeps its place. In STD and in JSON lines.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

# analyze TEXT FILTER: of the trace in both formats the filter is true.
analyze() {
	printf '%s\n' "$1" | tr ' ' '\n' | sed 's/$/|/' | awk '{ print $0 NR }' >a.std
	"$RACETRACE" convert --to jsonl a.std >a.jsonl 2>/dev/null
	for file in a.std a.jsonl; do
		"$RACETRACE" analyze --all --format json --fail-on never $file >out 2>err || wrong "$1: $(cat err)"
		jq -e "$2" out >/dev/null || wrong "$file: $1: not so: $2: $(jq -c '.anomalies[] | [.kind, .verdict, [.events[].event]]' out)"
	done
}
races='[.anomalies[] | select(.kind == "race") | {key: ([.events[].event] | map(tostring) | join(" ")), value: .verdict}] | from_entries'
deadlocks='[.anomalies[] | select(.kind == "deadlock") | [.verdict, ([.events[].event] | sort)]]'

# Another thread's, while the holder goes on.
analyze 'A|acq(L) A|w(x) B|rel(L) A|w(x) A|rel(L) B|acq(L) B|w(x) B|rel(L)' "($races) == {}"
analyze 'A|acq(L) A|w(x) B|rel(L) B|w(x) A|rel(L)' "($races) == {\"2 4\": \"observed\"}"
# Nobody's.
analyze 'A|acq(L) A|w(x) A|rel(L) B|rel(L) B|w(x)' "($races) == {\"2 5\": \"observed\"}"
# Before and after a cycle.
cycle='A|acq(L) A|acq(M) A|rel(M) A|rel(L) B|acq(M) B|acq(L) B|rel(L) B|rel(M)'
analyze "$cycle C|acq(L) B|rel(L)" "($deadlocks) == [[\"proved\", [2, 6]]]"
analyze "C|acq(M) C|rel(M) B|rel(M) $cycle" "($deadlocks) == [[\"proved\", [5, 9]]]"
# Handed over: ordered with what takes the lock next; the hold is no part of a cycle, since another thread may end it.
analyze 'A|acq(L) A|w(x) B|w(y) B|rel(L) C|acq(L) C|r(y) C|rel(L)' "($races) == {}"
analyze 'A|acq(L) A|w(x) B|rel(L) A|w(x) C|acq(L) C|w(x) C|rel(L)' "($races)[\"4 6\"] == \"observed\""
analyze 'A|acq(L) A|acq(M) A|rel(M) B|rel(L) C|acq(L) C|rel(L) D|acq(M) D|acq(L) D|rel(L) D|rel(M)' "($deadlocks) == []"
analyze "C|acq(L) D|rel(L) $cycle" "($deadlocks) == [[\"proved\", [4, 8]]]"
analyze "$cycle C|acq(L) D|rel(L) E|acq(L) E|rel(L)" "($deadlocks) == [[\"proved\", [2, 6]]]"

# A thread that waits for a lock need not wait for the release that handed the lock over; its schedule is valid, too.
analyze 'A|acq(L) A|acq(M) A|rel(M) A|r(u) A|rel(L) C|acq(L) C|w(z) D|rel(L) B|acq(M) B|acq(L) B|w(z) B|rel(L) B|w(u) B|rel(M)' \
	"($deadlocks) == [[\"proved\", [2, 10]]]"
"$RACETRACE" schedule --verify --anomaly D1 --trace a.std out >valid 2>&1 || wrong "$(cat valid)"
exit $fail
