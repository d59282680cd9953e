#!/bin/bash
# t_happens_before.sh [BUILD]: threads that are ordered by what they send each other, by what runs at exit, or by malloc, are not
# said to race, and are by nothing else. What only a racing flag orders races, whichever write the read of the flag saw.
# RT_FLAG_RUNS: recordings of that (10).
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE tmp=$SCRATCH
cd "$top" || exit 1

# check SOURCE OUTPUT RACES
check() {
	local got compiler=${CC:-gcc}
	[ "${1##*.}" = cpp ] && compiler=${CXX:-g++}
	"$compiler" -g -O1 -D_GNU_SOURCE -fsanitize=thread "tests/recorder/$1" -o "$tmp/program" -pthread || return 1
	got=$("$racetrace" record -o "$tmp/trace" -- "$tmp/program") || { echo "$1: ended with status $?"; return 1; }
	[ "$got" = "$2" ] || { echo "$1: printed '$got', not '$2'"; return 1; }
	"$racetrace" analyze --format json "$tmp/trace" >"$tmp/report"
	got=$(jq -r '[.anomalies[] | .variable.name] | unique | join(", ")' "$tmp/report")
	[ "$got" = "$3" ] || { echo "$1: races on '$got', not on '$3'"; return 1; }
}

# The use of the block and its free follow the flag's race. They are unordered unless main took the lock jm last: then that
# orders them in this run, and they are predicted.
check_flag() {
	local last want got status
	gcc -g -O1 -fsanitize=thread tests/cases/flag_then_free.c -o "$tmp/program" -pthread || return 1
	for _ in $(seq "${RT_FLAG_RUNS:-10}"); do
		"$racetrace" record -o "$tmp/trace" -- "$tmp/program" >"$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
		last=$("$racetrace" dump --cell jm --kind acquire "$tmp/trace" | awk 'END { print $2 }')
		want='["observed",true]'
		[ "$last" != main ] || want='["predicted",true]'
		# (On a busy machine main looks at the flag ten thousand times. What is proved of that does not matter here.)
		"$racetrace" analyze --kinds race --limit built_events_total=100000 --format json "$tmp/trace" >"$tmp/report"
		status=$?
		[ $status = 1 ] || { echo "flag_then_free: analyze ended with status $status"; return 1; }
		got=$(jq -c '(.anomalies | map(select(.variable.name == "alive") | .id)) as $causes | .anomalies[] |
			select(.variable.name != "alive") |
			[.verdict, (.follows.races | length > 0 and all(IN($causes[])))]' "$tmp/report" | sort -u)
		[ "$got" = "$want" ] || { echo "flag_then_free: '$got', not '$want', where $last was the last to lock jm"; return 1; }
	done
}

check_flag || fail=1
check fds.c '' unrelated || fail=1
check exit.cpp destroyed later || fail=1
check heap.c '' 'heap block from main (heap.c:51) + 2500' || fail=1
exit $fail
