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
}' >large.std
run 1 analyze --stats --format json -o whole.json large.std
whole=$(sed -n 's/^memory-bytes //p' err)
run 1 analyze --max-memory 40M --stats --format json -o windows.json large.std
says "'large.std' would take more memory than is allowed: analyzed by"
taken=$(sed -n 's/^memory-bytes //p' err)
[ -n "${SAN:-}" ] || [ "$taken" -le $((40 << 20)) ] || wrong "40M are allowed, $taken bytes were taken ($whole by the whole)"
python3 - <<'END' || wrong "windows show something else"
import json
whole, windows = json.load(open('whole.json')), json.load(open('windows.json'))
runs = windows['runs']
assert len(runs) > 1, runs
assert runs[0]['first_event'] == 1 and runs[-1]['last_event'] == whole['trace']['events'], runs
assert all(a['last_event'] + 1 == b['first_event'] for a, b in zip(runs, runs[1:])), runs
strong = {'observed', 'proved'}
of = lambda r: {a['fingerprint']: a for a in r['anomalies'] if a['verdict'] in strong}
assert set(of(windows)) == set(of(whole)), (set(of(windows)), set(of(whole)))
kinds = {a['kind'] for a in of(windows).values()}
assert {'race', 'deadlock'} <= kinds, kinds
for a in windows['anomalies']:
    assert a['verdict'] not in ('refuted', 'conditional'), a
    for e in a['events']:
        run = runs[a['run'] - 1]
        assert run['first_event'] <= e['event'] <= run['last_event'], (e, run)
END
# A trace in racetrace's own file, whose reading begins anywhere, is the same.
run 0 convert -o large.zst large.std
run 1 analyze --max-memory 40M --format json -o own.json large.zst
findings() {
	python3 -c "import json, sys; print(*[sorted((a['kind'], a['pattern'], a['verdict'], tuple(e['event'] for e in a['events'])) for a in json.load(open(sys.argv[1]))['anomalies'])], sep='\n')" "$1"
}
[ "$(findings own.json)" = "$(findings windows.json)" ] || wrong "another report of large.zst: $(findings own.json)"
# The events are the trace's own, in each format.
run 1 analyze --max-memory 40M --format text large.std
grep -q 'seen in [0-9]* of [0-9]* windows, first in events 1 to ' out || wrong "$(cat out)"
for format in html sarif gcc; do
	run 1 analyze --max-memory 40M --format $format -o large.out large.std
done
run 3 analyze --max-memory 40M --all large.std
run 3 analyze --max-memory 40M --finding F1 large.std
says "allow more with --max-memory"
run 3 analyze --max-memory 40M --shard=1/2 -o 1.part large.std
run 3 schedule --max-memory 40M large.std
# Not even the smallest window: one line, and no report.
run 3 analyze --max-memory 1M -o none.json large.std
says "1 MB are allowed"
[ ! -e none.json ] || wrong "there is a report"
# Several traces: windows of one are beside the others.
head -n 1000 large.std >small.std
"$RACETRACE" analyze --max-memory 40M --format json -o many.json small.std large.std 2>err
grep -q '"name": "large.std, events 1 to ' many.json || wrong "no windows among several traces"
grep -q '"name": "small.std"' many.json || wrong "no small.std among several traces"
exit $fail
