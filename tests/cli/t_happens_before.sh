#!/bin/bash
# t_happens_before.sh [BUILD]: threads that are ordered by what they send each other, by what runs at exit, or by malloc, are not
# said to race, and are by nothing else.
set -u
cd "$(dirname "$0")/../.." || exit 1
racetrace=${1:-${BUILD:-build}}/bin/racetrace
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
fail=0

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

check fds.c '' unrelated || fail=1
check exit.cpp destroyed later || fail=1
check heap.c '' 'heap block from main (heap.c:51) + 2500' || fail=1
exit $fail
