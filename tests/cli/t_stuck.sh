#!/bin/bash
# t_stuck.sh [BUILD]: runs that come to a standstill (samples/more/stuck.c), however they end, are said to be deadlocks and
# hangs, with what each thread waits for; those of samples/more/stuck_fixed.c are not. What led there is in the trace.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
here=$top racetrace=$RACETRACE tmp=$SCRATCH

for program in stuck stuck_fixed; do
	"${CC:-gcc}" -g -O1 -fsanitize=thread -Wno-tsan "$here/samples/more/$program.c" -o "$tmp/$program" -pthread || exit 1
done

# marker NAME: the line with the comment.
marker() {
	grep -n "@$1 \*/" "$here/samples/more/stuck.c" | cut -d: -f1
}

# check PROGRAM STATUS ANALYZED EXPECTED MODE...: EXPECTED has the anomaly's kind, pattern and verdict, then where the
# threads are: those of its events, in any order, and after a / those of the others that are stuck.
look() {
	local program=$1 status=$2 analyzed=$3 expected=$4 name got at
	shift 4
	name=$program-${*// /-}
	timeout 60 "$racetrace" record -o "$tmp/$name.zst" -- "$tmp/$program" "$@" >/dev/null 2>"$tmp/$name.err"
	at=$?
	[ $at = "$status" ] || { echo "$program $*: recorded with status $at, not $status"; return 1; }
	timeout 60 "$racetrace" analyze --format json "$tmp/$name.zst" >"$tmp/$name.json"
	at=$?
	[ $at = "$analyzed" ] || { echo "$program $*: analyze ended with status $at, not $analyzed"; return 1; }
	got=$(jq -r '[.anomalies[] | "\(.kind) \(.pattern) \(.verdict) "
		+ ([.events[].source.line] | sort | join(" ")) + " / " + ([.stuck[]?.source.line] | sort | join(" "))]
		| join("; ")' "$tmp/$name.json")
	[ "$got" = "$expected" ] && return
	echo "$program $*: expected '$expected', got '$got'"
	return 1
}

# The same, without what bash says of signals.
check() {
	look "$@" 2>/dev/null
}

# at MARKER...: their lines, sorted.
at() {
	local name
	for name; do marker "$name"; done | sort -n | tr '\n' ' ' | sed 's/ $//'
}
# times N WORD: the word so often.
times() {
	local i
	for ((i = 0; i < $1; i++)); do echo "$2"; done
}
deadlock() { # PATTERN THREADS MARKER... -- MARKER...: of the ring; of those behind it
	local pattern=$1 ring=() behind=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do ring+=("$1"); shift; done
	[ $# -gt 0 ] && shift
	behind=("$@")
	echo "deadlock $pattern observed $(at "${ring[@]}") / $([ ${#behind[@]} -gt 0 ] && at "${behind[@]}")"
}
hang() { # PATTERN MARKER...
	local pattern=$1
	shift
	echo "hang $pattern observed $(at "$@") / "
}

# shellcheck disable=SC2046
{
	check stuck 142 1 "$(deadlock cycle-2 ring ring -- join)" ring2 &
	check stuck 142 1 "$(deadlock cycle-3 ring ring ring -- join)" ring3 &
	check stuck 142 1 "$(deadlock cycle-5 $(times 5 ring) -- join)" ring5 &
	check stuck 142 1 "$(deadlock cycle $(times 16 ring) -- $(times 4 ring) join)" ring20 &
	check stuck 142 1 "$(deadlock cycle-1 self -- join)" self &
	check stuck 142 1 "$(deadlock cycle-2 hold_and_join want -- join_first)" hold-and-join &
	check stuck 142 1 "$(deadlock cycle-1 upgrade -- join)" upgrade &
	check stuck 142 1 "$(deadlock cycle-2 reader writer -- join)" reader-writer &
	check stuck 142 1 "$(deadlock cycle-2 again between -- join)" read-again &
	check stuck 142 1 "$(deadlock cycle-2 hold_spin want_spin -- join)" spin &
	wait_all() { local job; for job in $(jobs -p); do wait "$job" || fail=1; done; }
	wait_all
	check stuck 142 1 "$(deadlock cycle-2 c11 c11 -- join)" c11 &
	check stuck 142 1 "$(deadlock cycle-2 hold_file want_file -- join)" file &
	check stuck 142 1 "$(deadlock cycle-1 again_once -- join)" once &
	check stuck 142 1 "$(deadlock cycle-1 again_call_once -- join)" call-once &
	check stuck 142 1 "$(deadlock cycle-3 join_ring join_ring join_ring)" join-ring &
	check stuck 142 1 "$(deadlock cycle-2 join join_main)" main &
	check stuck 142 1 "$(hang condition wait_signal join)" signal &
	check stuck 142 1 "$(hang condition wait_first join)" one-signal &
	check stuck 142 1 "$(hang semaphore wait_post join)" post &
	check stuck 142 1 "$(hang barrier wait_party join)" party &
	check stuck 142 1 "$(hang condition inner outer join)" monitor &
	check stuck 142 1 "$(hang lock kept)" kept &
	wait_all
	# Killed, and left by a handler that runs in a thread that waits.
	check stuck 137 1 "$(deadlock cycle-2 ring ring -- join)" ring2 kill &
	check stuck 137 1 "$(hang semaphore wait_post join)" post kill &
	check stuck 14 1 "$(deadlock cycle-2 ring ring -- join)" ring2 leave &
	check stuck 14 1 "$(hang semaphore wait_post join)" post leave &
	for mode in try timed poll read-again pool leave; do
		check stuck_fixed 0 0 "" $mode &
	done
	for mode in long-timed sleep handler shared timer; do
		check stuck_fixed 142 0 "" $mode &
	done
	wait_all
}

# What tried and what waited in vain is in the trace, and stays there as JSON lines and back.
waits() {
	"$racetrace" dump --kind blocking "$@" | awk '{ print $4, $6, $7, $8, $9 }' | sed 's/ [^ ]*:[0-9]*:.*//' | sort | uniq -c |
		sed 's/^ *//; s/ *$//'
}
waits "$tmp/stuck_fixed-try.zst" | grep -qx '2 try-failed for acquire' ||
	{ echo "failed tries:"; waits "$tmp/stuck_fixed-try.zst"; fail=1; }
waits "$tmp/stuck_fixed-timed.zst" | grep -qx '2 unblock for acquire timeout' ||
	{ echo "waits in vain:"; waits "$tmp/stuck_fixed-timed.zst"; fail=1; }
"$racetrace" convert --to jsonl -o "$tmp/ring3.jsonl" "$tmp/stuck-ring3.zst" || fail=1
diff <(waits "$tmp/stuck-ring3.zst") <(waits "$tmp/ring3.jsonl") || fail=1
diff <("$racetrace" analyze --anomalies --format text "$tmp/stuck-ring3.zst" | sed '/^rank/d; /events of/d; /modules\|instrumented/d') \
	<("$racetrace" analyze --anomalies --format text "$tmp/ring3.jsonl" | sed '/^rank/d; /events of/d; /modules\|instrumented/d') || fail=1

# All formats say which thread waits for what.
for word in 'main.1 waits for m\[1\], which main.2 holds' 'and so these can never go on' 'main waits for the end of thread main.1'; do
	"$racetrace" analyze --anomalies --format text "$tmp/stuck-ring2.zst" | grep -q "$word" || { echo "text: no '$word'"; fail=1; }
	[ "${word#*and so}" = "$word" ] || continue
	for format in html sarif; do
		"$racetrace" analyze --format $format "$tmp/stuck-ring2.zst" | grep -q "${word%%, which*}" ||
			{ echo "$format: no '${word%%, which*}'"; fail=1; }
	done
done
"$racetrace" analyze --format sarif "$tmp/stuck-signal.zst" | jq -e '.runs[0].results[0] | .ruleId == "hang" and .level == "error"' >/dev/null ||
	{ echo "sarif: no hang"; fail=1; }
# Its schedule is the run, which the judge accepts.
for mode in ring3 self upgrade once join-ring hold-and-join main; do
	"$racetrace" schedule --verify --anomaly D1 "$tmp/stuck-$mode.json" | grep -qx valid ||
		{ echo "$mode: the schedule is not valid"; fail=1; }
done

# The run is repeated: the same threads wait for each other again.
for mode in ring2 hold-and-join spin; do
	"$racetrace" replay --attempts 1 --format json "$tmp/stuck-$mode.zst" |
		jq -e '[.anomalies[].replay | select(.)] | length == 1 and all(.outcome == "confirmed")' >/dev/null ||
		{ echo "$mode: the deadlock is not confirmed"; fail=1; }
done

# Many threads cost no more than a few each: 12,000 wait for a signal, at a barrier, and for a lock whose holder joins one of them.
many() {
	awk -v kind="$1" -v n=12000 'BEGIN {
		say = "{\"op\":\"%s\",\"thread\":\"%s\",\"object\":\"%s\"%s}\n"
		print "{\"schema\":\"racetrace.events/1\"}"
		for (i = 1; i <= n; i++)
			printf say, "fork", "main", "main." i, ""
		if (kind == "lock")
			printf say, "acquire", "main", "m", ""
		for (i = 1; i <= n; i++) {
			t = "main." i
			if (kind == "condition") {
				printf say, "acquire", t, "m", ""
				printf say, "wait-begin", t, "c", ",\"arg\":\"m\""
				printf say, "block", t, "c", ",\"for\":\"wait-end\""
			} else if (kind == "barrier") {
				printf say, "barrier-arrive", t, "b", ",\"arg\":" n + 1
				printf say, "block", t, "b", ",\"for\":\"barrier-leave\""
			} else {
				printf say, "block", t, "m", ",\"for\":\"acquire\""
			}
		}
		printf say, "block", "main", "main.1", ",\"for\":\"join\""
	}'
}
for kind in condition barrier lock; do
	many $kind >"$tmp/many.jsonl"
	(ulimit -t 4; exec "$racetrace" analyze --format json "$tmp/many.jsonl") >"$tmp/many.json"
	jq -e --arg kind $kind '.anomalies | length == 1 and (.[0] | .verdict == "observed" and (.events | length) + (.stuck | length) == 12001)' \
		"$tmp/many.json" >/dev/null || { echo "many threads ($kind) are not found to be stuck within 4 s"; fail=1; }
done
exit $fail
