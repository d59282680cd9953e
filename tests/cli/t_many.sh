#!/bin/bash
# Many accesses of one cell: as long as there is room, the list is that of all pairs; then it is bounded, spread and says so.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

# 60 threads, two locks, nine positions: many classes of accesses, few races.
awk 'BEGIN {
	srand(7)
	for (i = 0; i < 220; i++) {
		t = int(rand() * 60); lock = int(rand() * 4); write = rand() < 0.4
		if (lock < 2) print "T" t "|acq(L" lock ")|1"
		print "T" t "|" (write ? "w" : "r") "(x)|" 10 + int(rand() * 9)
		if (lock < 2) print "T" t "|rel(L" lock ")|2"
	}
}' >some.std
positions='[.anomalies[] | .pattern + " " + ([.events[].source.line] | sort | map(tostring) | join(" "))] | unique'
"$RACETRACE" analyze --kinds race --all --every --fail-on never --format json some.std | jq -c "$positions" >every
run 0 analyze --kinds race --all --fail-on never --format json some.std
jq -c "$positions" out >folded
cmp every folded || wrong 'folded races are not at the positions of all pairs'
[ "$(jq length every)" -gt 50 ] || wrong "too few races to compare: $(cat every)"
holds '.limits.races_of_cell == {bound: 1000, hit: false}'

# Each access at a position of its own.
awk 'BEGIN { for (i = 0; i < 8000; i++) print "T" i % 8 "|w(x)|" i + 1 }' >many.std
run 1 analyze --kinds race --format json many.std
holds '.limits.races_of_cell == {bound: 1000, hit: true}'
holds '(.anomalies | length) == 1000 and (.summary.race.observed == 1000)'
holds '[.anomalies[].events[].thread] | unique | length == 8'
# (A sanitizer's shadow memory is larger than any limit.)
sanitized || (
	ulimit -v 1000000
	run 1 analyze --format text many.std
	exit $fail
) || fail=1
run 1 analyze --format text many.std
grep -q '1000' out || wrong 'text does not count them'
# One of several threads, that are far apart in the trace: pairs of all threads are among those listed.
awk 'BEGIN { for (t = 0; t < 10; t++) for (i = 0; i < 200; i++) { print "T" t "|r(x)|" 2 * (200 * t + i); print "T" t "|w(x)|" 2 * (200 * t + i) + 1 } }' >apart.std
run 1 analyze --kinds race --format json apart.std
holds '.limits.races_of_cell.hit and (.anomalies | length) > 100 and (.summary.race.refuted == 0)'
holds '[.anomalies[] | [.events[].thread] | sort] | unique | length == 45'
exit $fail
