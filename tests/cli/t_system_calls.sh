#!/bin/bash
# t_system_calls.sh [BUILD]: one system call of `record` fails (tests/faults/calls.c), each in turn: the program has its
# own status, or has not run and that of `record` says so; at most one line is said, one if anything is missing; there is
# no crash, no waiting, no temporary file. One of RT_FAULTS (5) calls. Then the same of commands that read a trace: what
# they say is whole, or one line says what is missing. There one of RT_FAULTS * 10 calls fails in each way, or of 5 if RT_FAULTS is 1.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
gcc -O1 -g -D_GNU_SOURCE "$top/tests/faults/calls.c" -o calls || exit 1
gcc -g -O1 -fsanitize=thread "$top/tests/faults/program.c" -o program -pthread || exit 1
if sanitized; then # which makes calls of its own, and does not work when traced
	exit 0
fi
mkdir run
"$PWD/calls" "$RACETRACE" record -o run/t.zst -- ./program run/ran 3>list
[ $? = 7 ] || wrong "traced, the status is not the program's"
grep -q '^failed' list && wrong "a call has failed without being asked to"
count=$(wc -l <list)
[ "$count" -gt 200 ] || wrong "only $count calls"

# check N: the N-th call fails.
missed=0
check() {
	local status trace
	rm -rf run
	mkdir run
	timeout -s KILL 60 ./calls -n "$1" "$RACETRACE" record -o run/t.zst -- ./program run/ran 3>list 2>err >out </dev/null
	status=$?
	grep -q '^failed' list || { missed=$((missed + 1)); return; } # fewer calls this time
	trace="call $1, $(cat list), status $status, $(head -n 3 err)"
	if [ -e run/ran ]; then
		[ $status = 7 ] || wrong "not the program's status: $trace"
	else
		[[ $status = 3 || $status = 126 || $status = 127 ]] || wrong "the program has not run: $trace"
		[ -s err ] || wrong "nothing is said: $trace"
	fi
	[ "$(wc -l <err)" -le 1 ] || wrong "more than one line: $trace"
	[ ! -s err ] || grep -q '^racetrace: ' err || wrong "not the usual form: $trace"
	if [ -e run/t.zst ]; then
		"$RACETRACE" info run/t.zst >out 2>&1 || wrong "unreadable: $trace"
		[ -s err ] || grep -q '^complete *yes' out || wrong "incomplete in silence: $trace"
	elif [ ! -s err ]; then
		wrong "no trace, in silence: $trace"
	fi
	[ -z "$(find run -name '*.part')" ] || wrong "a temporary file is left: $trace"
}

step=${RT_FAULTS:-5}
for n in $(seq $((1 + RANDOM % step)) "$step" "$count"); do
	check "$n"
done
[ "$missed" -lt $((count / step / 4)) ] || wrong "$missed calls did not come"

# reads KIND ARGUMENT...: racetrace with them, while a call fails in the way of KIND (no name: as it does most often).
"$RACETRACE" record -o t.zst -- ./program
[ $? = 7 ] || wrong "no trace"
"$RACETRACE" analyze --all -f json -o report.json t.zst
sparse=$((step == 1 ? 5 : step * 10))
reads() {
	local way=(${1:+-e "$1"}) kind=$1 want status n what
	shift
	rm -f written want.written
	./calls "${way[@]}" "$RACETRACE" "$@" 3>list >want.out 2>want.err </dev/null
	want=$?
	[ ! -e written ] || mv written want.written
	count=$(wc -l <list)
	for n in $(seq $((1 + RANDOM % sparse)) $sparse "$count"); do
		rm -f written
		timeout -s KILL 60 ./calls -n "$n" "${way[@]}" "$RACETRACE" "$@" 3>list >out 2>err </dev/null
		status=$?
		grep -q '^failed' list || continue
		what="$*: call $n, $kind, $(cat list), status $status, $(head -n 3 err)"
		[ "$(wc -l <err)" -le 1 ] || wrong "more than one line: $what"
		if grep -q 'cannot be read\|^complete *no' err out; then
			[ $status -le 4 ] || wrong "a trace that cannot be read: $what"
		elif [ $status = $want ]; then
			cmp -s want.out out || wrong "another output: $what"
			[ ! -e want.written ] || cmp -s want.written written || wrong "another file: $what"
		else
			[ $status = 3 ] && grep -q '^racetrace: ' err && [ ! -e written ] || wrong "neither whole nor refused: $what"
		fi
		[ -z "$(find . -name '*.part*')" ] || wrong "a temporary file is left: $what"
	done
}
for kind in "" EINTR EAGAIN ENOMEM ENOSPC EMFILE EIO short; do
	reads "$kind" analyze --all --format json -o written t.zst
	reads "$kind" convert -t racetrace -o written t.zst
	reads "$kind" schedule --anomaly R1 t.zst
	reads "$kind" merge -o written report.json report.json
	reads "$kind" dump t.zst
	reads "$kind" info t.zst
done
exit $fail
