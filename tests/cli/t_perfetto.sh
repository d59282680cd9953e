#!/bin/bash
# t_perfetto.sh [BUILD]: `convert -t perfetto` draws critical sections as slices, hand-overs of locks and creations of threads as flows.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

cat >t.std <<'STD'
main|fork(T1)|1
main|acq(m)|2
main|w(x)|3
main|acq(n)|4
main|rel(n)|5
main|rel(m)|6
T1|acq(m)|7
T1|w(x)|8
T1|rel(m)|9
T1|acq(m)|10
T1|rel(m)|11
main|acq(n)|12
STD
run 0 convert -t perfetto t.std
quiet
holds '[.traceEvents[] | select(.ph == "M").args.name] == ["main", "T1"]'
holds '[.traceEvents[] | select(.ph == "X") | [.tid, .name, .ts, .dur]] == [[1, "n", 4, 1], [1, "m", 2, 4], [2, "m", 7, 2], [2, "m", 10, 1], [1, "n", 12, 1]]'
# From the fork to the first event, and from the one release to another thread's acquire; a thread's own is none.
holds '[.traceEvents[] | select(.ph == "s") | [.name, .tid, .ts, .id]] == [["creation", 1, 1, 1], ["hand-over", 1, 6, 2]]'
holds '[.traceEvents[] | select(.ph == "f") | [.name, .tid, .ts, .id]] == [["creation", 2, 7, 1], ["hand-over", 2, 7, 2]]'
holds 'all(.traceEvents[]; .pid == 1 and .tid > 0)'
run 0 convert -o t.perfetto t.std
cmp -s t.perfetto <("$RACETRACE" convert -t perfetto t.std) || wrong "the suffix makes another file"

# A wait for a condition releases its mutex, and acquires it again.
cat >wait.jsonl <<'JSONL'
{"schema":"racetrace.events/1"}
{"op":"fork","thread":"main","object":"main.1"}
{"op":"acquire","object":"m","thread":"main"}
{"op":"wait-begin","object":"c","arg":"m","thread":"main"}
{"op":"acquire","object":"m","thread":"main.1"}
{"op":"signal","object":"c","thread":"main.1"}
{"op":"release","object":"m","thread":"main.1"}
{"op":"wait-end","object":"c","arg":"m","thread":"main"}
{"op":"release","object":"m","thread":"main"}
JSONL
run 0 convert -t perfetto wait.jsonl
holds '[.traceEvents[] | select(.ph == "X") | [.tid, .name, .ts, .dur]] == [[1, "m", 2, 1], [2, "m", 4, 2], [1, "m", 7, 1]]'
holds '[.traceEvents[] | select(.ph == "s" and .name == "hand-over") | [.tid, .ts]] == [[1, 3], [2, 6]]'

# A name that wants to end the text, and a recorded program.
printf '%s\n' '{"schema":"racetrace.events/1"}' '{"op":"acquire","object":"a\"b\u001b"}' '{"op":"release","object":"a\"b\u001b"}' >evil.jsonl
run 0 convert -t perfetto evil.jsonl
holds '[.traceEvents[] | select(.ph == "X")] | length == 1'
gcc -g -fsanitize=thread "$top/samples/hidden.c" -o hidden && "$RACETRACE" record -o h.zst ./hidden >/dev/null || exit 1
run 0 convert -t perfetto h.zst
holds '[.traceEvents[] | select(.ph == "X")] | length >= 2'
holds '[.traceEvents[] | select(.ph == "f").name] | index("creation") != null'

# A schedule: main's first event of the goal comes last though the trace has it first; times are places in the schedule.
cat >s.std <<'STD'
main|fork(T1)|1
main|w(x)|2
main|acq(m)|3
main|w(z)|4
main|rel(m)|5
T1|acq(m)|6
T1|w(z)|7
T1|rel(m)|8
T1|w(x)|9
STD
run 0 schedule --perfetto --anomaly R1 s.std
quiet
holds '[.traceEvents[] | select(.ph == "X" and .name == "m")] | length >= 1 and all(.dur >= 1)'
holds '[.traceEvents[] | select(.ph == "i")] | [.[].args.event] | sort == [2, 9]'
holds '[.traceEvents[] | select(.ph == "i")] | map(.name) == ["goal: write x", "goal: write x"]'
holds '([.traceEvents[] | select(.ph == "i").ts] | min) > ([.traceEvents[] | select(.ph == "X").ts] | max)'
holds '[.traceEvents[] | select(.ph == "s") | .name] | index("creation") != null'
run 1 analyze -f json s.std
cp out s.json
run 0 schedule --perfetto --anomaly R1 s.json
holds '[.traceEvents[] | select(.ph == "i")] | length == 2'
exit $fail
