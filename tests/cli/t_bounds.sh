#!/bin/bash
# What a trace costs to read and to analyze is bounded by its size, however hostile it is: each of these is small, and
# would take minutes or gigabytes if something grew with the square of what is in it. Time is told by processor time,
# with much to spare; memory by what may be had.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
# (A sanitizer's shadow memory is larger than any limit, and its program is slow.)
san=
sanitized && san=yes

# bounded STATUS MEGABYTES ARGUMENT...: the program's address space and processor time are limited.
bounded() {
	local want=$1 megabytes=$2
	shift 2
	(
		[ -n "$san" ] || ulimit -v $((megabytes * 1024))
		[ -n "$san" ] || ulimit -t 60
		run "$want" "$@"
		exit $fail
	) || fail=1
}

# Threads that one thread makes, each writing one cell at one position: every two of them race.
awk 'BEGIN { n = 50000; for (i = 1; i <= n; i++) print "T0|fork(T" i ")|1"; for (i = 1; i <= n; i++) print "T" i "|w(x)|2" }' >forks.std
bounded 1 1000 analyze --stats --format json forks.std
cp err forks.stats
holds '.summary.race.observed == 1 and .limits.access_pairs.hit'
# The same at positions of their own.
awk 'BEGIN { n = 20000; for (i = 1; i <= n; i++) print "T0|fork(T" i ")|1"; for (i = 1; i <= n; i++) print "T" i "|w(x)|" i + 1 }' >places.std
bounded 1 1000 analyze --kinds race --format json places.std
holds '.summary.race.observed == 1000 and .limits.races_of_cell.hit'
# With few steps the searches end early and say so; what the rest of the trace shows is found.
awk 'BEGIN {
	for (i = 0; i < 4000; i++) for (t = 1; t <= 2; t++) {
		print "T" t "|acq(L" t ")|1"
		for (x = 0; x < 4; x++) print "T" t "|" ((i + x) % 2 ? "w" : "r") "(x" x ")|" 10 * i % 700 + x
		print "T" t "|rel(L" t ")|2"
	}
	print "T1|w(y)|7"; print "T2|w(y)|8"
}' >steps.std
run 1 analyze --format json --limit search_steps=100000 steps.std
holds '.limits.search_steps == {bound: 100000, hit: true} and .summary.asv.refuted == 0 and .summary.atomicity.refuted == 0'
holds '[.anomalies[] | select(.kind == "race") | [.events[].source.line] | sort] | index([[7, 8]])'
holds '.anomalies | map(.kind) | unique == ["asv", "race"]'
# So does the judging of a stamped trace with few events. An exact trace does not need it, nor do races that would need
# another read: their schedules are refused at once.
while read -r status judged first second; do
	awk -v first="$first" -v second="$second" 'BEGIN {
		for (i = 0; i < 300; i++) {
			print "T1|w(y" i ")|" 1000 + i
			print "T1|acq(L)|1"; print "T1|" first "|2"; print "T1|w(x)|3"; print "T1|rel(L)|4"
			print "T2|acq(L)|1"; print "T2|" second "|2"; print "T2|w(x)|3"; print "T2|rel(L)|4"
			print "T2|w(y" i ")|" 2000 + i
		}
	}' >judged.std
	run 0 convert -t jsonl judged.std
	sed '1s/"order":"exact"/"order":"stamped"/' out >judged.jsonl
	run "$status" analyze --format json --limit judged_events_total=5000 judged.std
	holds ".summary.race.$judged == 300 and (.limits.judged_events_total.hit | not)"
	run "$status" analyze --format json judged.jsonl
	holds ".summary.race.$judged == 300 and (.limits.judged_events_total.hit | not)"
	run "$status" analyze --format json --limit judged_events_total=5000 judged.jsonl
	if [ "$judged" = proved ]; then
		holds '.limits.judged_events_total.hit and .summary.race.proved < 100'
		holds '.summary.race | .proved + .predicted == 300 and .observed + .conditional + .refuted == 0'
		# What is checked in any trace is bounded, too, and so is what is made shorter, which decides nothing. Parts meet
		# the same budgets as the whole.
		run "$status" analyze --no-cache --format json --limit shortened_events_total=5000 judged.std
		holds '.limits.shortened_events_total.hit and .summary.race.proved == 300'
		run "$status" analyze --no-cache --format json --limit checked_events_total=20000 judged.std
		holds '.limits.checked_events_total.hit and .summary.race.proved < 100 and .summary.race.observed == 0'
		cp out whole
		for i in 1 2; do run 0 analyze --shard=$i/2 --limit checked_events_total=20000 -o $i.part judged.std; done
		run "$status" merge --format json 1.part 2.part
		cmp -s out whole || wrong "parts that meet a budget give another report than the whole"
	else
		holds '.summary.race.conditional == 300 and (.limits.judged_events_total.hit | not)'
	fi
done <<-'END'
	1 proved r(v) r(u)
	0 conditional r(x) r(x)
END
# Many cells of many positions. No prover is asked: there is nothing of interest in the proofs of all of them.
awk 'BEGIN { for (x = 0; x < 26; x++) for (i = 1; i <= 500; i++) print "T" i % 2 "|w(x" x ")|" 500 * x + i }' >cells.std
bounded 1 1000 analyze --kinds race --orders hb --only-orders --format json cells.std
[ "$(anomalies out)" = 25000 ] && [ "$(tail -n 1 out)" = '}' ] || wrong "cells: $(anomalies out) anomalies"
limits out >limits
claim 'cells: other limits' '.limits.anomalies == {bound: 25000, hit: true}' limits
# Threads that end before the next one begins cost what they do.
awk 'BEGIN { for (i = 1; i <= 18000; i++) { print "T0|fork(T" i ")|1"; for (j = 0; j < 15; j++) print "T" i "|w(x" j ")|3"; print "T0|join(T" i ")|2" } }' >short.std
bounded 0 1500 analyze --stats --max-memory 1G --format json short.std
cp err short.stats
# (None of their accesses can race with another: no bound is needed to say so.)
holds '.limits.access_pairs.hit | not'
# Many locks, held one inside the other: each acquire holds all before it.
awk 'BEGIN { n = 2000; for (t = 1; t < 3; t++) { for (i = 1; i <= n; i++) print "T" t "|acq(L" i ")|1"; for (i = 1; i <= n; i++) print "T" t "|w(x)|2"; for (i = n; i; i--) print "T" t "|rel(L" i ")|3" } }' >held.std
bounded 0 1000 analyze --kinds race,deadlock --format json held.std
# Calls inside one another, and ranges as large as an address can be.
awk 'BEGIN { print "{\"schema\":\"racetrace.events/1\"}"; for (i = 1; i <= 50000; i++) print "{\"op\":\"enter\",\"location\":\"" i "\"}" }' >calls.jsonl
bounded 0 500 analyze --format json calls.jsonl
awk 'BEGIN { print "{\"schema\":\"racetrace.events/1\"}"; for (i = 1; i <= 200; i++) print "{\"op\":\"write\",\"thread\":\"t" i % 2 "\",\"object\":\"0x1000\",\"arg\":281474976706000}" }' >ranges.jsonl
bounded 1 500 analyze --format json ranges.jsonl
# Threads that are declared again and again.
awk 'BEGIN { for (i = 1; i <= 20000; i++) print "T0|fork(T1)|1"; for (i = 2; i <= 20000; i++) { print "T" i "|w(x)|1"; print "T0|fork(T" i ")|1" } }' >again.std
bounded 1 1000 analyze --kinds race --format json again.std

# Every pair of events one by one: as many as the report says.
awk 'BEGIN { for (i = 1; i <= 1600; i++) print "T" i % 2 "|w(x)|" i }' >every.std
bounded 1 700 analyze --every --kinds race --orders hb --only-orders --format json every.std
# (Each is a line. jq would take most of a minute and gigabytes.)
[ "$(anomalies out)" = 500000 ] && grep -q '^"limits": .*"anomalies": {"bound": 500000, "hit": true}' out && [ "$(tail -n 1 out)" = '}' ] ||
	wrong "--every: $(anomalies out) anomalies, $(grep '^"limits"' out)"
# Of these SARIF has as many as code hosts take, and says so.
awk 'BEGIN { for (i = 1; i <= 320; i++) print "T" i % 2 "|w(x)|" i }' >results.std
bounded 1 300 analyze --every --kinds race --orders hb --only-orders --format sarif results.std
holds '.runs[0] | (.results | length) == 25000 and (.invocations[0].toolExecutionNotifications |
	map(.message.text) == ["600 of 25600 results are left out: as many as code hosts take are listed"])'
# Locks that are never released, each held at all events that follow.
awk 'BEGIN { n = 2000; for (t = 1; t < 3; t++) for (i = 1; i <= n; i++) print "T" t "|acq(L" t "." i ")|" i "\nT" t "|w(x" i ")|" n + i }' >hoard.std
bounded 1 300 analyze --kinds race --format json hoard.std
holds '.limits.event_locks == {bound: 64, hit: true} and ([.anomalies[].events[].locks | length] | max) == 64'
awk 'BEGIN { for (i = 1; i <= 9000; i++) print "T1|acq(L" i ")|1\nT1|w(x)|2" }' >hoard.std
bounded 3 300 analyze --format json hoard.std
grep -q 'too many locks are held at once' err || wrong "many locks are held: $(cat err)"
# Ranges that overlap, each cut at the ends of all others.
awk 'BEGIN { print "{\"schema\":\"racetrace.events/1\"}"; for (i = 1; i <= 20000; i++) print "{\"op\":\"write\",\"thread\":\"t" i % 2 "\",\"object\":" 65536 + 8 * i ",\"arg\":160000}" }' >overlap.jsonl
bounded 3 500 analyze --format json overlap.jsonl
grep -q 'the accesses overlap in too many ways' err || wrong "ranges that overlap: $(cat err)"

# What is too large is told before it is analyzed; the estimate is no less than what is taken then, and, where
# accesses are shared, not three times as much.
awk 'BEGIN {
	srand(3)
	for (i = 0; i < 20000; i++) {
		t = int(rand() * 8); l = int(rand() * 4)
		print "T" t "|acq(L" l ")|" l
		for (k = 0; k < 12; k++) print "T" t "|" (rand() < 0.3 ? "w" : "r") "(x" l "." int(rand() * 50) ")|" 10 + k
		print "T" t "|rel(L" l ")|" l
	}
}' >shared.std
awk 'BEGIN {
	for (i = 0; i < 600000; i++) {
		t = i % 8
		print "T" t "|" (i % 3 ? "r" : "w") "(own" t "." i % 977 ")|" i % 31
		if (i % 100 == 0)
			print "T" t "|acq(L)|40\nT" t "|w(x)|41\nT" t "|rel(L)|42"
	}
}' >private.std
for trace in shared forks short private; do
	if [ -e $trace.stats ]; then # it was analyzed above
		cp $trace.stats err
	else
		run 0 analyze --stats --fail-on never --format json "$trace.std"
	fi
	taken=$(sed -n 's/^memory-bytes //p' err)
	estimate=$(sed -n 's/^memory-estimate //p' err)
	[ -n "$san" ] || [ "$taken" -le "$estimate" ] || wrong "$trace takes $taken bytes, $estimate were estimated"
	[ -n "$san" ] || [ $trace != private ] || [ "$estimate" -le $((2 * taken)) ] || wrong "private: $estimate bytes were estimated, it takes $taken"
	[ -n "$san" ] || [ $trace = short ] || [ "$estimate" -le $((3 * taken)) ] || wrong "$trace: $estimate bytes were estimated, it takes $taken"
done
run 3 guards --max-memory 30M shared.std
grep -q "^racetrace: 'shared.std' has 280000 events: their analysis may need [0-9]* MB of memory, 31 MB are allowed: allow more with --max-memory SIZE" err ||
	wrong "what is too large is told as: $(cat err)"
[ "$(wc -l <err)" = 1 ] || wrong 'more than one line'
run 3 schedule --max-memory 30M shared.std
for size in 0 -1 x 1X 10MB 99999999999999T ''; do
	run 2 analyze --max-memory="$size" shared.std
	grep -q 'is not a size' err || wrong "--max-memory=$size: $(head -n 1 err)"
done
exit $fail
