#!/bin/bash
# t_schedule.sh [BUILD]: `racetrace schedule` prints an anomaly's schedule, unfolds it, and judges right and wrong ones.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE

# expect STATUS ARGUMENT...: runs schedule with the input as it is, its output in out and err.
expect() {
	local want=$1 status
	shift
	"$racetrace" schedule "$@" >out 2>err
	status=$?
	[ $status = "$want" ] || wrong "schedule $*: status $status, not $want: $(head -n 3 out err)"
}
says() {
	grep -qF -- "$1" err || wrong "no '$1' in: $(cat err)"
	[ "$(wc -l <err)" = 1 ] || wrong "more than one line: $(cat err)"
}
# steps TEXT: "T1 1-4 T2 1-2" as the steps of a schedule in JSON; goal TEXT: "T1 5 T2 3".
steps() {
	set -- $1
	local separator=
	printf '{"schema": "racetrace.schedule/1", "steps": ['
	while [ $# -gt 0 ]; do
		printf '%s{"thread": "%s", "from": %s, "to": %s}' "$separator" "$1" "${2%-*}" "${2#*-}"
		separator=,
		shift 2
	done
	printf ']'
}
goal() {
	set -- $1
	local separator=
	printf ', "goal": ['
	while [ $# -gt 0 ]; do
		printf '%s{"thread": "%s", "ordinal": %s}' "$separator" "$1" "$2"
		separator=,
		shift 2
	done
	printf ']'
}
# judge TRACE STEPS GOAL [KIND] <<< what the one line of the answer must begin with
judge() {
	local want status
	read -r want
	{
		steps "$2"
		goal "$3"
		[ $# -lt 4 ] || printf ', "kind": "%s"' "$4"
		printf '}\n'
	} >schedule.json
	"$racetrace" schedule --verify schedule.json --trace "$1" >out 2>err
	status=$?
	case $(cat out) in
	"$want"*) ;;
	*) wrong "$1: $2: $3: '$(cat out err)', not '$want'" ;;
	esac
	[ "$(wc -l <out)" = 1 ] || wrong "not one line: $(cat out)"
	case $want in
	valid) [ $status = 0 ] ;;
	*) [ $status = 1 ] ;;
	esac || wrong "$1: $2: status $status"
}

# T1's accesses to own, T2's to mine are no part of what is analyzed: they count all the same.
cat >locks.std <<'END'
T0|fork(T1)|1
T0|fork(T2)|2
T1|w(own)|3
T1|acq(L)|4
T1|w(x)|5
T1|rel(L)|6
T1|w(y)|7
T2|w(mine)|8
T2|acq(L)|9
T2|r(x)|10
T2|rel(L)|11
T2|w(y)|12
T0|join(T1)|13
T0|join(T2)|14
END
judge locks.std 'T0 1-2 T1 1-4 T2 1-4' 'T1 5 T2 5' <<<valid
judge locks.std 'T0 1-2 T1 1-4 T2 1-4' 'T1 5 T2 5' race <<<valid
judge locks.std 'T0 1-1 T1 1-3 T0 2-2 T1 4-4 T2 1-4' 'T1 5 T2 5' <<<valid
# The events that fail, each for its reason.
judge locks.std 'T0 1-2 T1 1-3 T2 1-3' 'T1 5 T2 5' <<<'not valid: T2 2 (event 9, acquire L, 9): the lock is held by another thread: see T1 2 (event 4, acquire L, 4)'
judge locks.std 'T0 1-2 T2 1-4 T1 1-4' 'T1 5 T2 5' <<<'not valid: T2 3 (event 10, read x, 10): the read sees another write'
judge locks.std 'T0 1-2 T1 1-2 T1 4-4 T2 1-4' 'T1 5 T2 5' <<<'not valid: T1 4 (event 6, release L, 6): the event is not its thread'
judge locks.std 'T0 1-2 T1 2-4 T2 1-4' 'T1 5 T2 5' <<<'not valid: T1 2 (event 4, acquire L, 4): the event is not its thread'
judge locks.std 'T0 1-1 T2 1-1 T0 2-2 T1 1-4 T2 2-4' 'T1 5 T2 5' <<<'not valid: T2 1 (event 8, write mine, 8): the thread has not been created at this point: see T0 2'
judge locks.std 'T0 1-3 T1 1-4' 'T1 5 T2 5' <<<'not valid: T0 3 (event 13, join T1, 13): the thread that is joined has events left'
judge locks.std 'T0 1-2 T1 1-4 T2 1-3' 'T1 5 T2 5' <<<'not valid: T2 5 (event 12, write y, 12): a goal event is not its thread'
judge locks.std 'T0 1-2 T1 1-5 T2 1-4' 'T1 5 T2 5' <<<'not valid: T1 5 (event 7, write y, 7): a goal event is not its thread'
judge locks.std 'T0 1-2 T2 1-1' 'T1 1 T2 2' race <<<'not valid: T1 1 (event 3, write own, 3): the goal'
judge locks.std 'T0 1-2 T1 1-99' 'T1 5 T2 5' <<<'not valid: T1 6: there is no such event'
judge locks.std 'T0 1-2 T1 1-4' 'T1 99 T2 5' <<<'not valid: T1 99: there is no such event'
judge locks.std 'T0 1-2 T9 1-4' 'T1 5 T2 5' <<<"not valid: thread 'T9': there is no such event"
# What is said of a schedule is its first fault.
judge locks.std 'T0 1-2 T1 1-3 T2 1-2 T2 4-4' 'T1 5 T2 5' <<<'not valid: T2 2 (event 9, acquire L, 9): the lock is held'

# Sequences: in order, to the last event.
judge locks.std 'T0 1-2 T1 1-5 T2 1-5' 'T1 5 T2 5' sequence <<<valid
judge locks.std 'T0 1-2 T1 1-5 T2 1-5' 'T2 5 T1 5' sequence <<<'not valid: T1 5 (event 7, write y, 7): the goal'"'"'s events occur in another order'
judge locks.std 'T0 1-2 T1 1-4 T2 1-5' 'T1 5 T2 5' sequence <<<'not valid: T2 5 (event 12, write y, 12): the goal'"'"'s events occur in another order'
judge locks.std 'T0 1-2 T1 1-5 T2 1-5 T0 3-3' 'T1 5 T2 5' sequence <<<'not valid: '
# A goal event that saw another write may not run on: who knows what the thread would do.
cat >frozen.std <<'END'
T1|w(x)|1
T2|r(x)|2
T2|w(y)|3
T1|r(y)|4
END
judge frozen.std 'T2 1-2 T1 1-1' 'T2 1 T2 2 T1 1' sequence <<<valid
judge frozen.std 'T2 1-2 T1 1-1' 'T2 1 T1 1' sequence <<<'not valid: T2 2 (event 3, write y, 3): the thread'"'"'s goal event saw another write'

# A deadlock: each stands before the acquire that the other blocks.
cat >deadlock.std <<'END'
T1|acq(L)|1
T1|acq(M)|2
T1|rel(M)|3
T1|rel(L)|4
T2|acq(M)|5
T2|acq(L)|6
T2|rel(L)|7
T2|rel(M)|8
END
judge deadlock.std 'T1 1-1 T2 1-1' 'T1 2 T2 2' <<<valid
judge deadlock.std 'T1 1-1' 'T1 2 T2 1' <<<'not valid: T1 2 (event 2, acquire M, 2): a goal event is not blocked'
judge deadlock.std 'T1 1-1 T2 1-2' 'T1 2 T2 2' <<<'not valid: T2 2 (event 6, acquire L, 6): the lock is held'

# Conditions, semaphores, barriers.
cat >sync.jsonl <<'END'
{"schema":"racetrace.events/1"}
{"op":"fork","object":"main.1"}
{"op":"acquire","object":"m","thread":"main.1"}
{"op":"wait-begin","object":"c","arg":"m","thread":"main.1"}
{"op":"acquire","object":"m"}
{"op":"signal","object":"c"}
{"op":"release","object":"m"}
{"op":"wait-end","object":"c","arg":"m","thread":"main.1"}
{"op":"release","object":"m","thread":"main.1"}
{"op":"sem-post","object":"s"}
{"op":"sem-wait","object":"s","thread":"main.1"}
{"op":"write","object":"x"}
{"op":"write","object":"x","thread":"main.1"}
END
if "$racetrace" info sync.jsonl >out 2>err; then
	judge sync.jsonl 'main 1-1 main.1 1-2 main 2-5 main.1 3-5' 'main 6 main.1 6' <<<valid
	judge sync.jsonl 'main 1-1 main.1 1-3' 'main 6 main.1 6' <<<'not valid: main.1 3 (event 7, wait-end c): the wait ends before its signal'
	judge sync.jsonl 'main 1-4 main.1 1-3' 'main 6 main.1 6' <<<'not valid: main.1 3 (event 7, wait-end c): the wait ends before its signal'
	judge sync.jsonl 'main 1-1 main.1 1-2 main 2-4 main.1 3-5' 'main 6 main.1 6' <<<'not valid: main.1 5 (event 10, sem-wait s): the semaphore'
else
	wrong "sync.jsonl is no trace: $(cat err)"
fi

# Every schedule of every report is valid, whichever way it is asked for; and a report's own words are given back.
printf '%s\n' 'T1|w(x)|a.c:1' 'T2|w(x)|b.c:2' >two.std
# Locks that are destroyed later: their acquires access them, too.
cat >destroyed.jsonl <<'END'
{"schema":"racetrace.events/1","order":"exact","complete":true,"threads":["main","main.1"]}
{"op":"fork","object":"main.1"}
{"op":"acquire","object":"0x100","flags":["object"],"pc":"0x10"}
{"op":"acquire","object":"0x200","flags":["object"],"pc":"0x11"}
{"op":"release","object":"0x200","flags":["object"]}
{"op":"release","object":"0x100","flags":["object"]}
{"thread":"main.1","op":"acquire","object":"0x200","flags":["object"],"pc":"0x20"}
{"thread":"main.1","op":"acquire","object":"0x100","flags":["object"],"pc":"0x21"}
{"thread":"main.1","op":"release","object":"0x100","flags":["object"]}
{"thread":"main.1","op":"release","object":"0x200","flags":["object"]}
{"op":"join","object":"main.1"}
{"op":"write","object":"0x100","arg":1,"flags":["object"]}
{"op":"write","object":"0x200","arg":1,"flags":["object"]}
END
# A report writes names that are not UTF-8 otherwise than the trace.
printf '%s\n' $'T\xcd\xcb1|w(x)|1' $'T\xcd\xcc2|w(x)|2' >bytes.std
schedules=0
for trace in "$top"/tests/golden/hand/*.std two.std destroyed.jsonl bytes.std; do
	"$racetrace" analyze --format json "$trace" >report.json 2>/dev/null
	for id in $(jq -r '.anomalies[] | select(.schedule) | .id' report.json); do
		schedules=$((schedules + 1))
		expect 0 --anomaly "$id" report.json
		mv out schedule.json
		jq -e --arg id "$id" --slurpfile s schedule.json '.anomalies[] | select(.id == $id) |
			.schedule.steps == $s[0].steps and .schedule.goal == $s[0].goal' report.json >/dev/null ||
			wrong "$trace: $id: printed otherwise than reported"
		expect 0 --verify --trace "$trace" - <schedule.json
		[ "$(cat out)" = valid ] || wrong "$trace: $id: $(cat out)"
	done
done
[ $schedules -gt 50 ] || wrong "only $schedules schedules were tried"
"$racetrace" analyze --format json two.std >report.json
"$racetrace" schedule report.json >from_report
expect 0 two.std
cmp -s out from_report || wrong "the trace's schedule is not its report's"

# Event by event: as dump says it, in the schedule's order, the goal marked.
"$racetrace" dump locks.std >dump
{
	steps 'T0 1-2 T2 1-1 T1 1-4 T2 2-4'
	goal 'T2 5 T1 5'
	echo '}'
} >schedule.json
expect 0 --expand schedule.json --trace locks.std
for number in 1 2 8 3 4 5 6 9 10 11 12 7; do
	sed -n "${number}p" dump
done >want
sed 's/  <- goal$//' out | cmp -s - want || wrong "--expand: $(diff out want)"
[ "$(grep -c ' <- goal$' out)" = 2 ] || wrong "--expand does not mark the goal"
for bad in 'T0 1-2 T2 2-3' 'T0 1-2 T2 1-9' 'T0 1-2 T7 1-1'; do
	{
		steps "$bad"
		goal 'T2 5 T1 5'
		echo '}'
	} >schedule.json
	expect 3 --expand schedule.json --trace locks.std
	says "'schedule.json': step 2: "
done

# A recorded program: functions and the threads' own memory count, and repeats that were left out.
cat >program.c <<'END'
#include <pthread.h>
static int shared;
static void *worker(void *unused)
{
	volatile int own[16] = {0};
	for (int i = 0; i < 16; i++)
		own[i] += i;
	shared++;
	return unused;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, worker, 0);
	pthread_create(&b, 0, worker, 0);
	pthread_join(a, 0);
	return pthread_join(b, 0);
}
END
gcc -g -fsanitize=thread program.c -o program && "$racetrace" record -o program.zst ./program || wrong "cannot record"
"$racetrace" analyze --format json program.zst >report.json
for id in $(jq -r '.anomalies[] | select(.schedule) | .id' report.json); do
	expect 0 --verify report.json --anomaly "$id"
	expect 0 --expand report.json --anomaly "$id"
	[ "$(grep -c ' <- goal$' out)" = 2 ] || wrong "$id: no goal: $(tail -n 2 out)"
	awk '{ if ($3 != last[$2] + 1) bad = 1; last[$2] = $3 } END { exit bad }' out ||
		jq -e '.trace.left_out > 0' report.json >/dev/null || wrong "$id: events are missing: $(cat out)"
done

# Bad input: one line, the right status.
expect 2
expect 2 report.json report.json
# A release of a hold that was handed over is two events to the analysis; its schedule may go on between them.
cat >handed.std <<'END'
T2|acq(L)|1
T1|rel(L)|2
T1|acq(L)|3
T1|w(z)|4
T1|w(x)|5
T1|rel(L)|6
T2|r(z)|7
T3|acq(L)|8
T3|rel(L)|9
T3|w(x)|10
END
"$racetrace" analyze --kinds race --format json handed.std -o handed.json 2>/dev/null
id=$(jq -r '.anomalies[] | select(.verdict == "proved" and .pattern == "w-w") | .id' handed.json)
[ -n "$id" ] || wrong 'the race behind a handed-over hold is not proved'
"$racetrace" schedule --verify --anomaly "$id" --trace handed.std handed.json >out 2>err
[ "$(cat out)" = valid ] || wrong "the schedule of $id: $(cat out)"

expect 2 --verify --expand report.json
expect 2 --anomaly R99 report.json
says "there is no anomaly 'R99'"
expect 2 --verify schedule.json
says "give it with --trace"
expect 3 missing.json
says "cannot open 'missing.json': No such file"
expect 3 .
says 'Is a directory'
expect 3 --verify schedule.json --trace missing.std
says "cannot open 'missing.std'"
malformed() {
	printf '%s' "$1" >bad.json
	expect 3 --verify bad.json --trace locks.std
	says "'bad.json': $2"
}
malformed '{' 'line 1, column 1: '
malformed '{}' "no schedule: 'steps' and 'goal' must be lists"
malformed '{"steps": [], "goal": []}' 'the goal must be 1 to 16 events'
malformed '{"steps": [{}], "goal": [{}]}' "step 1: no thread's name"
malformed '{"steps": [{"thread": "T1", "from": 0, "to": 4}], "goal": [{}]}' "step 1: 'from' and 'to'"
malformed '{"steps": [{"thread": "T1", "from": 1, "to": 99999999999999999999}], "goal": [{}]}' 'line 1, '
malformed '{"steps": [{"thread": "T1", "from": 5, "to": 4}], "goal": [{}]}' "step 1: 'from' is after 'to'"
malformed '{"steps": [], "goal": [{"thread": "T1", "ordinal": "1"}]}' "goal 1: 'ordinal' must be"
malformed '{"steps": [], "goal": [{"thread": "T1", "ordinal": 1}], "kind": "crash"}' 'the kind must be race, sequence'
malformed '{"steps": [], "goal": [{"thread": "T1", "ordinal": 1}], "kind": "race"}' "a race's goal must be two events"
printf '{"schema": "racetrace.schedule/2"}' >bad.json
expect 3 bad.json
says "neither a report nor a schedule of this version"
# A report that says of a schedule that is there that it is left out; with an id, and without.
for anomaly in '"id": "R7", ' ''; do
	printf '{"schema": "racetrace.report/1", "anomalies": [{%s"schedule_left_out": 3, "schedule": %s}]}' "$anomaly" "$(steps "T1 1-2"; goal "T1 2")}" >both.json
	expect 2 both.json
	grep -q null err && wrong "$(cat err)"
done
says "has left out the schedule of 'an anomaly without id'"

exit $fail
