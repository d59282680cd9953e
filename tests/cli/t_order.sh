#!/bin/bash
# t_order.sh [BUILD]: synchronisation events of a crowd of threads stand in an order in which they can have happened.
# RT_ORDER_RUNS: recordings under load (60).
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE tmp=$SCRATCH
cd "$top" || exit 1
"${CC:-gcc}" -g -O1 -D_GNU_SOURCE -fsanitize=thread tests/recorder/order.c -o "$tmp/order" -pthread || exit 1
"$racetrace" record -o "$tmp/trace" -- "$tmp/order" || { echo "the program ended with status $?"; exit 1; }
"$racetrace" dump --format jsonl --kind lock,condition,semaphore,barrier,heap "$tmp/trace" |
	grep '"number"' |
	sed -E 's/.*"number":([0-9]+),"thread":"([^"]*)".*"op":"([^"]*)","object":"([^"]*)"(,"arg":"?([^",}]*)"?)?.*/\1 \2 \3 \4 \6/' |
	awk '
	function wrong(what) { if (wrongs++ < 10) print "event " $1 ": " what ": " $0 }
	function acquire(lock) { if (lock in holder || readers[lock] > 0) wrong("held by " holder[lock]); holder[lock] = $2 }
	function release(lock) {
		if ((lock in holder) && holder[lock] == $2) delete holder[lock]
		else if (reads[lock, $2] > 0) { reads[lock, $2]--; readers[lock]-- }
		else wrong("not held")
	}
	{ seen[$3]++ }
	$3 == "acquire" { acquire($4) }
	$3 == "release" { release($4) }
	$3 == "acquire-shared" { if ($4 in holder) wrong("held by " holder[$4]); readers[$4]++; reads[$4, $2]++ }
	$3 == "wait-begin" { release($5) }
	$3 == "wait-end" { acquire($5) }
	$3 == "sem-init" { value[$4] = $5 }
	$3 == "sem-post" { value[$4]++ }
	$3 == "sem-wait" { if (--value[$4] < 0) wrong("below zero") }
	$3 == "alloc" { if (live[$4]) wrong("given to two"); live[$4] = 1 }
	$3 == "free" { if (known[$4] && !live[$4]) wrong("given back twice"); live[$4] = 0; known[$4] = 1 }
	$3 == "barrier-arrive" { arrived[$4]++ }
	$3 == "barrier-leave" { left[$4]++; if (left[$4] > int(arrived[$4] / $5) * $5) wrong("left too early") }
	END {
		split("acquire release acquire-shared wait-begin wait-end sem-init sem-post sem-wait alloc free " \
			"barrier-arrive barrier-leave broadcast", all)
		for (i in all) if (!seen[all[i]]) { print "no " all[i]; wrongs++ }
		if (seen["sem-wait"] != 8 * 400 || seen["barrier-leave"] != 8 * 8) { print "events are missing"; wrongs++ }
		exit wrongs > 0
	}' || exit 1

# Memory has one address at all times, also while parts of a mapping of it end.
"${CC:-gcc}" -g -O1 -D_GNU_SOURCE -fsanitize=thread tests/recorder/split.c -o "$tmp/split" -pthread || exit 1
"$racetrace" record -o "$tmp/trace" -- "$tmp/split" || exit 1
"$racetrace" dump --kind lock "$tmp/trace" | awk '$4 == "acquire" { print $5 }' | sort | uniq -c >"$tmp/locks"
[ "$(wc -l <"$tmp/locks")" = 1 ] || { echo "one lock has several addresses: $(cat "$tmp/locks")"; exit 1; }
# Where it is known is told of the whole mapping, and then of each of the 199 parts that end: never of one that stays.
"$racetrace" dump --kind alias "$tmp/trace" >"$tmp/aliases"
[ "$(wc -l <"$tmp/aliases")" = 200 ] || { echo "mappings are told $(wc -l <"$tmp/aliases") times"; exit 1; }
[ -z "$("$racetrace" dump --kind lost "$tmp/trace")" ] || { echo "something is lost"; exit 1; }
for how in many "many moved"; do
	# shellcheck disable=SC2086
	"$racetrace" record -o "$tmp/trace" -- "$tmp/split" $how 2>"$tmp/said" || exit 1
	"$racetrace" dump --kind lost "$tmp/trace" 2>"$tmp/said" | grep -q ' lost ' || { echo "too many mappings are not said: $how"; exit 1; }
done

# Under load, with small rings, so that threads wait for room: the order of what a mutex orders is that which the program
# saw. The number of writes of c before the last look at it is the c that was printed.
"${CC:-gcc}" -g -O1 -fsanitize=thread tests/cases/cond_wake_order.c -o "$tmp/wake" -pthread || exit 1
while :; do :; done &
load=$!
trap 'kill "$load"; finish' EXIT
for ((i = 0; i < ${RT_ORDER_RUNS:-60}; i++)); do
	printed=$("$racetrace" record -r 4 -o "$tmp/trace" -- "$tmp/wake") || exit 1
	recorded=$("$racetrace" dump "$tmp/trace" |
		awk '$5 == "c" && $4 == "write" { n++ } $5 == "c" && $4 == "read" && $2 == "main" { seen = n } END { print seen + 0 }')
	[ "$printed" = "$recorded" ] || { echo "run $i: $printed printed, $recorded in the trace"; exit 1; }
done
