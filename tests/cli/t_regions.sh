#!/bin/bash
# A lock that is held for nearly all of a thread's life, and that no other thread holds at an access of the variable, makes
# no unit of work: nothing above predicted. The same of variables that are accessed by atomic operations alone.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

# turns N: main's critical section, N reads of x by line; then what is written by T: the rest of the arguments.
turns() {
	local n=$1
	shift
	printf '%s\n' 'main|fork(T)|1' 'main|acq(G)|2'
	for ((i = 0; i < n; i++)); do echo "main|r(x)|3"; done
	printf '%s\n' 'main|rel(G)|4' "$@"
}
verdicts='[.anomalies[] | select(.kind == "atomicity") | .verdict]'
reasons='[.anomalies[] | select(.kind == "atomicity") | .reasons[]?.reason]'
analyze() {
	"$RACETRACE" analyze --kinds atomicity --format json --fail-on never "$1" >out 2>err || wrong "$(cat err)"
	holds "$2"
}
turns 40 'T|w(x)|5' >long.std
analyze long.std "($verdicts) == [\"predicted\"] and ($reasons | index(\"unguarded\"))"
turns 40 'T|acq(G)|6' 'T|r(x)|7' 'T|rel(G)|8' 'T|w(x)|5' >guarded.std
analyze guarded.std "($verdicts) == [\"proved\"]"
turns 4 'T|w(x)|5' >short.std
analyze short.std "($verdicts) == [\"proved\"]"
# Half of the thread's life is not all of it. (Of reads in a row at one place two are kept.)
{ turns 40 'T|w(x)|5'; for ((i = 0; i < 40; i++)); do echo "main|r(x)|$((9 + i % 2))"; done; } >half.std
analyze half.std "($verdicts) == [\"proved\"]"

for op in atomic-load read; do
	{
		echo '{"schema":"racetrace.events/1"}'
		echo '{"op":"fork","thread":"main","object":"T"}'
		echo '{"op":"acquire","thread":"main","object":"G"}'
		for line in 1 2; do echo "{\"op\":\"$op\",\"thread\":\"main\",\"object\":\"x\",\"location\":\"a.c:$line\"}"; done
		echo '{"op":"release","thread":"main","object":"G"}'
		echo '{"op":"atomic-store","thread":"T","object":"x","location":"a.c:3"}'
	} >$op.jsonl
done
analyze atomic-load.jsonl "($verdicts) == [\"predicted\"] and ($reasons | index(\"unguarded\"))"
analyze read.jsonl "($verdicts) == [\"proved\"]"
# That the block is freed in the end makes it no plain variable.
{
	cat atomic-load.jsonl
	echo '{"op":"end","thread":"T"}'
	echo '{"op":"join","thread":"main","object":"T"}'
	echo '{"op":"write","thread":"main","object":"x","flags":["free"],"location":"a.c:4"}'
} >freed.jsonl
analyze freed.jsonl "($verdicts) == [\"predicted\"] and ($reasons | index(\"unguarded\"))"

# A check and its act in two critical sections: LINES are T's, one word an event: OP,OBJECT,LOCATION; another thread writes x.
check() {
	local expected=$1 op object where
	shift
	{
		echo '{"schema":"racetrace.events/1"}'
		echo '{"op":"fork","thread":"main","object":"T"}'
		for event in "$@"; do
			IFS=, read -r op object where <<<"$event"
			echo "{\"op\":\"$op\",\"thread\":\"T\"${object:+,\"object\":\"$object\"},\"location\":\"${where:-a.c:1}\"}"
		done
		for event in ${MAIN:-acquire,L write,x write,y release,L}; do
			IFS=, read -r op object <<<"$event"
			echo "{\"op\":\"$op\",\"thread\":\"main\",\"object\":\"$object\",\"location\":\"a.c:99\"}"
		done
	} >check.jsonl
	"$RACETRACE" analyze --kinds atomicity --format json --fail-on never check.jsonl >out 2>err || wrong "$(cat err)"
	[ "$(jq -c '[.anomalies[] | .pattern, .verdict]' out)" = "$expected" ] || wrong "$*: not $expected: $(jq -c '[.anomalies[] | .pattern, .verdict]' out)"
}
found='["check-w-act","proved"]'
look="acquire,L read,x,a.c:5 release,L"
call="enter,,a.c:3"
check "$found" $call $look acquire,L write,x release,L leave
check "$found" $call enter $look leave enter acquire,L read,x,a.c:7 write,x,a.c:7 release,L leave leave
# Not in one call; in one that no source of the program makes.
check '[]' $call $look leave $call acquire,L write,x release,L leave
check '[]' $look acquire,L write,x release,L
check '[]' enter,,/usr/include/x.h:3 $look acquire,L write,x release,L leave
# Looked at again; with another section in between; the first one writes; the lock does not guard; a wait in between.
check '[]' $call $look acquire,L read,x,a.c:7 write,x,a.c:8 release,L leave
check '[]' $call $look acquire,L release,L acquire,L write,x release,L leave
check '[]' $call acquire,L read,x write,y release,L acquire,L write,x release,L leave
MAIN='write,x' check '[]' $call $look acquire,L write,x release,L leave
check '[]' $call $look sem-post,s acquire,L write,x release,L leave

# --regions functions: what callees do is the work of the call that main or the thread's routine makes.
functions() {
	local expected=$1 op object where
	shift
	{
		echo '{"schema":"racetrace.events/1"}'
		echo '{"op":"fork","thread":"main","object":"T"}'
		for event in "$@"; do
			IFS=, read -r op object where <<<"$event"
			echo "{\"op\":\"$op\",\"thread\":\"T\"${object:+,\"object\":\"$object\"},\"location\":\"${where:-a.c:1}\"}"
		done
		for event in acquire,L write,x release,L; do
			IFS=, read -r op object <<<"$event"
			echo "{\"op\":\"$op\",\"thread\":\"main\",\"object\":\"$object\",\"location\":\"a.c:99\"}"
		done
	} >functions.jsonl
	"$RACETRACE" analyze --regions functions --kinds atomicity --format json --fail-on never functions.jsonl >out 2>err || wrong "$(cat err)"
	[ "$(jq -c '[.anomalies[] | select(.pattern | startswith("check") | not) | .pattern]' out)" = "$expected" ] || wrong "functions: $*: not $expected: $(jq -c '[.anomalies[].pattern]' out)"
}
get='enter,,b.c:1 acquire,L read,x,b.c:2 release,L leave'
routine='enter,,/usr/lib/start.c:1'
functions '["r-w-r"]' $routine $call $get $get leave leave
functions '["r-w-r"]' $routine $call enter $get leave enter $get leave leave leave
# Two calls that the routine makes are no unit.
functions '[]' $routine $call $get leave $call $get leave leave
# What the routine does itself is one.
functions '["r-w-r"]' $routine acquire,L read,x release,L acquire,L read,x,a.c:7 release,L leave
exit $fail
