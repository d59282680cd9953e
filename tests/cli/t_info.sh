#!/bin/bash
# racetrace info: every fact, in both formats; wrong use and bad input.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

cat >a.std <<'END'
T1|acq(L)|1
T1|w(x)|2
T1|rel(L)|3
T1|fork(T2)|4
T2|r(x)|5
END
run 0 info --format json a.std
quiet
holds '.events == 5 and .left_out == 0 and .lost == 0 and .command == null and .exit == null and .duration_ns == 0'
holds '.threads == [{name: "T1", label: null, parent: null, events: 4, left_out: 0},
	{name: "T2", label: null, parent: "T1", events: 1, left_out: 0}]'
holds '.kinds == {read: 1, write: 1, acquire: 1, release: 1, fork: 1} and .groups == {memory: 2, lock: 2, thread: 1}'
holds ".bytes == $(wc -c <a.std) and (.bytes_per_event - .bytes / 5 | fabs) < 0.001"
holds '.order == "exact" and .complete == true and .format == "std" and .path == "a.std"'

cat >b.jsonl <<'END'
{"schema":"racetrace.events/1","command":["./app","\u001b[31m x"],"exit":{"signal":11},"duration_ns":1500000000,"order":"stamped","left_out":7,"lost":3,"events":9,"threads":[{"name":"main","label":"\u001b[2J","left_out":7}]}
{"op":"write","object":"x"}
END
run 0 info -f json b.jsonl
holds '.events == 1 and .left_out == 7 and .lost == 3 and .command[0] == "./app" and .exit == {signal: 11}'
holds '.duration_ns == 1500000000 and .order == "stamped" and .complete == false and .format == "jsonl"'
run 0 info b.jsonl
grep -q 'command    ./app ' out || wrong 'no command'
grep -q 'exit       signal 11' out || wrong 'no exit'
grep -q 'duration   1.500 s' out || wrong 'no duration'
grep -q 'complete   no' out || wrong 'not incomplete'
grep -qP '\x1b' out && wrong 'a control character reached the terminal'

run 0 info --help
grep -q 'Usage: racetrace info' out || wrong 'no usage in --help'
quiet
run 2 info
says 'no trace given'
run 2 info a.std b.jsonl
says "too many arguments: 'b.jsonl'"
run 2 info --format yaml a.std
says "'yaml' is not a format"
run 2 info --no-such-option a.std
run 3 info missing.std
one_line
says "^racetrace: cannot open 'missing.std': No such file or directory$"
: >empty
run 3 info empty
one_line
says "'empty' is empty"
head -c 1000 "$RACETRACE" >binary
run 3 info binary
one_line
says "'binary' is not a trace"
printf 'T1|w(x)|1\nfoo(L)\n' >bad.std
run 3 info bad.std
one_line
says "^racetrace: 'bad.std' line 2: 'foo\(L\)' is not an STD event"
run 3 info .
one_line
exit $fail
