#!/bin/bash
# t_windows.sh [BUILD]: a trace that would take more memory than is allowed is analyzed by windows. They take no more than
# that, cover the trace, and show nothing that the whole trace does not.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

# Eight threads under a lock each; now and then two meet without one, and locks are taken in both orders.
awk 'BEGIN {
	for (t = 1; t < 8; t++) print "T0|fork(T" t ")|1"
	for (i = 0; i < 60000; i++) {
		t = i % 8
		print "T" t "|acq(L)|10\nT" t "|w(a" i % 61 ")|11\nT" t "|r(a" i % 61 ")|12\nT" t "|w(b" i % 61 ")|13\nT" t "|rel(L)|14"
		if (i % 5000 == 77) print "T1|w(x)|20\nT2|r(x)|21"
		if (i % 5000 == 99) print "T1|acq(A)|30\nT1|acq(B)|31\nT1|rel(B)|32\nT1|rel(A)|33\nT2|acq(B)|34\nT2|acq(A)|35\nT2|rel(A)|36\nT2|rel(B)|37"
	}
	print "T1|acq(C)|40\nT1|acq(D)|41\nT1|rel(D)|42\nT1|rel(C)|43\nT2|acq(D)|44\nT2|acq(C)|45\nT2|rel(C)|46\nT2|rel(D)|47"
}' >large.std
run 1 analyze --stats --format json -o whole.json large.std
whole=$(sed -n 's/^memory-bytes //p' err)
run 1 analyze --max-memory 40M --stats --format json -o windows.json large.std
says "'large.std' would take more memory than is allowed: analyzed by"
taken=$(sed -n 's/^memory-bytes //p' err)
sanitized || # (A sanitizer takes more.)
	[ "$taken" -le $((40 << 20)) ] || wrong "40M are allowed, $taken bytes were taken ($whole by the whole)"
jq -e '.runs | length > 1 and .[0].first_event == 1 and all(range(1; length) as $i | .[$i - 1].last_event + 1 == .[$i].first_event; .)' \
	windows.json >/dev/null || wrong "windows with gaps: $(jq -c '[.runs[] | [.first_event, .last_event]]' windows.json)"
[ "$(jq '.runs[-1].last_event' windows.json)" = "$(jq .trace.events whole.json)" ] || wrong "windows end before the trace"
shown() {
	jq -c '[.anomalies[] | select(.verdict == "observed" or .verdict == "proved") | [.kind, .fingerprint]] | unique[]' "$1"
}
[ "$(shown windows.json)" = "$(shown whole.json)" ] || wrong "windows show $(shown windows.json), the whole $(shown whole.json)"
for kind in race deadlock; do
	shown windows.json | grep -q "\"$kind\"" || wrong "windows show no $kind"
done
jq -c '.runs as $runs | .anomalies[] | $runs[.run - 1] as $run |
	select(.verdict == "refuted" or .verdict == "conditional" or any(.events[]; .event < $run.first_event or .event > $run.last_event))' \
	windows.json >odd
[ ! -s odd ] || wrong "refuted, conditional or outside of its window: $(head -n 3 odd)"
# Schedules of later windows come after what was recorded before them, and are schedules of the whole trace.
jq -e '[.anomalies[] | select(.run > 1 and .verdict == "proved" and .schedule.recorded > 0)] | length > 0' windows.json >/dev/null ||
	wrong "no schedule of a later window"
for id in $(jq -r '.anomalies[] | select(.run > 1 and .schedule) | .id' windows.json); do
	run 0 schedule --verify --anomaly "$id" windows.json
	grep -qx valid out || wrong "schedule of $id: $(cat out)"
done
# A trace in racetrace's own file, whose reading begins anywhere, is the same.
run 0 convert -o large.zst large.std
run 1 analyze --max-memory 40M --format json -o own.json large.zst
findings() {
	jq -c '[.anomalies[] | [.kind, .pattern, .verdict, [.events[].event]]] | sort[]' "$1"
}
[ "$(findings own.json)" = "$(findings windows.json)" ] || wrong "another report of large.zst: $(findings own.json)"
# The events are the trace's own, in each format.
run 1 analyze --max-memory 40M --format text large.std
grep -q 'seen in [0-9]* of [0-9]* windows, first in events 1 to ' out || wrong "$(cat out)"
run 1 analyze --max-memory 40M --format gcc -o large.out large.std
# Pictures and code flows of later windows say that what was recorded before comes first.
run 1 analyze --max-memory 40M -f html=large.html -f sarif=large.sarif large.std
grep -qE "Before that the trace's events 1.{1,3}[0-9]+ happen as recorded" large.html &&
	grep -qE '<rect class="turn" x="6" .*>1.{1,3}[0-9]+ as recorded</text>' large.html || wrong "a picture without what comes before it"
jq -e '[.runs[0].results[].codeFlows[]?.message.text | select(test("^after events 1-[0-9]+ as recorded: a schedule that shows it"))] | length > 0' \
	large.sarif >/dev/null || wrong "no code flow says what comes before it: $(jq -c '[.runs[0].results[].codeFlows[]?.message.text] | unique' large.sarif)"
run 3 analyze --max-memory 40M --all large.std
run 3 analyze --max-memory 40M --finding F1 large.std
says "allow more with --max-memory"
run 3 analyze --max-memory 40M --shard=1/2 -o 1.part large.std
run 3 schedule --max-memory 40M large.std
# Not even the smallest window: one line, and no report.
run 3 analyze --max-memory 1M -o none.json large.std
says "1 MB are allowed"
[ ! -e none.json ] || wrong "there is a report"
# Nor does what is found take more, however much that is: then fewer anomalies are kept, which the report says.
awk 'BEGIN {
	for (t = 1; t < 8; t++) print "T0|fork(T" t ")|1"
	s = 1
	for (i = 0; i < 100000; i++) {
		s = (s * 1103515245 + 12345) % 2147483648; t = int(s / 65536) % 8
		s = (s * 1103515245 + 12345) % 2147483648; v = int(s / 65536) % 40
		s = (s * 1103515245 + 12345) % 2147483648; l = int(s / 65536) % 100
		print "T" t "|" (l % 3 ? "r" : "w") "(v" v ")|" 10 + v * 100 + l
	}
}' >racy.std
for most in 30 40; do
	run 1 analyze --max-memory ${most}M --stats --format json -o racy.json racy.std
	taken=$(sed -n 's/^memory-bytes //p' err)
	sanitized || [ "$taken" -le $((most << 20)) ] || wrong "${most}M are allowed, $taken bytes were taken"
	limits racy.json | jq -e '.limits.anomalies.hit and .limits.anomalies.bound < 25000' >/dev/null || wrong "no limit on anomalies in ${most}M"
done
# Several traces: windows of one are beside the others.
head -n 1000 large.std >small.std
"$RACETRACE" analyze --max-memory 40M --format json -o many.json small.std large.std 2>err
grep -q '"name": "large.std, events 1 to ' many.json || wrong "no windows among several traces"
grep -q '"name": "small.std"' many.json || wrong "no small.std among several traces"
# At once, each has a share of the memory, and all of it where the share does not suffice.
mv err many.err
for jobs in 2 4; do
	run 1 analyze --max-memory 40M --jobs $jobs --format json -o jobs.json small.std large.std
	cmp -s jobs.json many.json || wrong "$jobs jobs: another report: $(diff jobs.json many.json | head -n 3)"
	cmp -s err many.err || wrong "$jobs jobs: $(diff err many.err)"
done
# Processes that prove have their memory, too: as many as there is room for.
run 1 analyze --no-cache --stats --jobs 4 --max-memory 2G --format json -o jobs.json large.std
says "jobs 4"
need=$(sed -n 's/^memory-estimate //p' err)
run 1 analyze --no-cache --stats --jobs 4 --max-memory $((need + (1 << 20))) --format json -o few.json large.std
grep -q '^jobs ' err && wrong "no room for processes: $(grep '^jobs ' err)"
[ "$(shown few.json)" = "$(shown jobs.json)" ] || wrong "fewer jobs: another report"
# keeps STATUS NAME OPTION...: the analysis of NAME.std takes no more than 40M. (A sanitizer takes more: nothing is run.)
keeps() {
	local status=$1 name=$2 taken
	shift 2
	sanitized && return 1
	run "$status" analyze --no-cache --max-memory 40M --stats --format json -o "$name.json" "$@" "$name.std"
	taken=$(sed -n 's/^memory-bytes //p' err)
	[ "$taken" -le $((40 << 20)) ] || wrong "$name.std: 40M are allowed, $taken bytes were taken"
}
# Each order keeps a clock of every synchronisation: what many threads take is foreseen, and kept.
awk 'BEGIN {
	for (t = 1; t < 20; t++) print "T0|fork(T" t ")|1"
	s = 1
	for (i = 0; i < 30000; i++) {
		s = (s * 1103515245 + 12345) % 2147483648; t = int(s / 65536) % 20
		s = (s * 1103515245 + 12345) % 2147483648; l = int(s / 65536) % 8
		print "T" t "|acq(L" l ")|10\nT" t "|r(v" l ")|11\nT" t "|w(v" l ")|12\nT" t "|rel(L" l ")|13"
		if (i % 1000 == 0) print "T" t "|" (i % 2000 ? "w" : "r") "(z)|20"
	}
}' >locks.std
if ! sanitized; then
	run 0 analyze --no-cache --stats --format json -o locks.json locks.std
	taken=$(sed -n 's/^memory-bytes //p' err) need=$(sed -n 's/^memory-estimate //p' err)
	[ "$taken" -le "$need" ] || wrong "locks.std: $taken bytes were taken, $need foreseen"
	keeps 0 locks
fi
# Nor do the pairs of accesses that ASVs are made of take more.
awk 'BEGIN {
	for (t = 1; t < 4; t++) print "T0|fork(T" t ")|1"
	for (i = 0; i < 400; i++) {
		print "T" i % 4 "|acq(L" i % 4 ")|10"
		for (v = 0; v < 50; v++) print "T" i % 4 "|" ((i + v) % 3 ? "w" : "r") "(v" v ")|" 100 + i * 50 + v
		print "T" i % 4 "|rel(L" i % 4 ")|11"
	}
}' >pairs.std
if keeps 0 pairs --kinds asv --budget 1,1 --fail-on never; then
	limits pairs.json | jq -e '.limits | .anomalies.hit and (.region_accesses.hit | not)' >/dev/null || wrong "pairs.std: limits: $(jq -c .limits pairs.json)"
fi
# Nor does it take more to look at many pairs of accesses of one cell, where no further race is kept.
awk 'BEGIN {
	for (t = 1; t < 8; t++) print "T0|fork(T" t ")|1"
	s = 1
	for (i = 0; i < 60000; i++) {
		s = (s * 1103515245 + 12345) % 2147483648; t = int(s / 65536) % 8
		s = (s * 1103515245 + 12345) % 2147483648; l = int(s / 65536) % 3000
		print "T" t "|" (l % 2 ? "r" : "w") "(v)|" 10 + l
	}
}' >one.std
if keeps 1 one --kinds race --limit anomalies=300; then
	jq -e '.limits.access_pairs.hit' one.json >/dev/null || wrong "one.std: no limit on pairs was hit"
fi
# Reads that see another thread's write have clocks, too, which are large where there are many threads.
awk 'BEGIN {
	for (t = 1; t < 200; t++) print "T0|fork(T" t ")|1"
	s = 1
	for (i = 0; i < 40000; i++) {
		s = (s * 1103515245 + 12345) % 2147483648; t = int(s / 65536) % 200
		print "T" t "|" (i % 2 ? "r" : "w") "(v)|" 10 + i % 40
	}
}' >many.std
keeps 1 many --kinds race
# (With a sanitizer the whole takes so much more that a share suffices for fewer anomalies.)
if ! sanitized; then
	whole_too=$((whole + (64 << 20)))
	run 1 analyze --max-memory $whole_too --format json -o many.json large.std small.std large.std
	run 1 analyze --max-memory $whole_too --jobs 3 --format json -o jobs.json large.std small.std large.std
	quiet
	cmp -s jobs.json many.json || wrong "shares of $whole_too: another report"
	# Limits are those of all of the memory, whether a share reaches its own (10,003 races) or not.
	grep -E 'fork|\(v[0-9]\)' racy.std >some.std
	for traces in "large.std small.std large.std" "small.std some.std small.std"; do
		run 1 analyze --max-memory 600M --kinds race --format json -o many.json $traces
		run 1 analyze --max-memory 600M --kinds race --jobs 3 --format json -o jobs.json $traces
		quiet
		cmp -s jobs.json many.json || wrong "shares of 600M, $traces: another report"
	done
	[ "$(anomalies jobs.json)" -gt 5000 ] || wrong "too few races for a share to be short of memory"
fi
# Many threads that take each of many locks: a section that reads little is remembered in little room.
awk 'BEGIN { for (t = 0; t < 4; t++) for (i = 0; i < 10000; i++) print "T" t "|acq(L" i ")|1\nT" t "|r(x)|2\nT" t "|rel(L" i ")|3" }' >locks.std
run 0 analyze --max-memory 44M --stats --format json -o locks.json locks.std
taken=$(sed -n 's/^memory-bytes //p' err)
sanitized || [ "$taken" -le $((44 << 20)) ] || wrong "many locks: 44M are allowed, $taken bytes were taken"
# What does not fit at all is told by its name, and the others are reported.
run 3 analyze --max-memory 1M --jobs 2 -f json small.std large.std
says "'large.std' has [0-9]* events: their analysis may need"
exit $fail
